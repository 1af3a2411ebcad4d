# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import struct
import zlib

import numpy as np
import pytest
from conftest import REPOSITORY
from hypothesis import given
from hypothesis import strategies as st

from runners.firmware_result import (
    GUARD_NAMES,
    MAX_WINDOWS,
    RESULT_BYTES,
    STATUS_NAMES,
    MalformedResult,
    encode_stimulus,
    parse_result,
)

ID = bytes(range(20))
OUTPUTS = b"abcdefgh"


def dump(**change: int) -> bytes:
    """Gives a good result struct with the outputs behind it, with some words changed."""
    words = {
        "magic": 0x53525448, "version": 2, "size": RESULT_BYTES, "status": 0, "detail": 0,
        "operator": 0xFFFF_FFFF, "id": 0, "counter": 0, "check": 0, "n_operators": 2,
        "n_inputs": 1, "n_outputs": 1, "output_bytes": len(OUTPUTS),
        "crc": zlib.crc32(OUTPUTS), "runs": 3, "differing": 0, "stack": 4096, "used": 100,
        **{f"fault{n}": 0 for n in range(8)}, "windows": 1,
        **{f"window{n}": 0 for n in range(MAX_WINDOWS)}, **{f"ticks{n}": 0 for n in range(MAX_WINDOWS)},
        "check_ticks": 0, "caches": 0, "n_events": 0, **{f"event{n}": 0 for n in range(4)},
    } | change  # fmt: skip
    parts = [ID if name == "id" else struct.pack("<I", word) for name, word in words.items()]
    return b"".join(parts) + OUTPUTS


def parse(data: bytes):
    return parse_result(data, build_id=ID, output_bytes=len(OUTPUTS))


def test_reads_what_the_firmware_writes():
    result = parse(dump(status=7, operator=1, fault4=0x1235, windows=2, window1=9))
    assert (result.status, result.failed_operator, result.runs) == ("fault", 1, 3)
    assert result.fault["pc"] == 0x1235
    assert result.window_cycles == (0, 9)
    assert result.outputs == OUTPUTS
    assert (result.counter, result.caches, result.events) == ("none", (), {})


@pytest.mark.parametrize(
    "change",
    [
        {"magic": 0}, {"version": 1}, {"size": 4}, {"status": 8}, {"output_bytes": 4},
        {"crc": 1}, {"windows": MAX_WINDOWS + 1}, {"counter": 3}, {"n_events": 5},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_words_are_noticed(change):
    with pytest.raises(MalformedResult):
        parse(dump(**change))


def test_result_of_another_image_is_noticed():
    with pytest.raises(MalformedResult, match="another image"):
        parse_result(dump(), build_id=ID[::-1], output_bytes=len(OUTPUTS))


@given(st.binary(max_size=RESULT_BYTES + 20))
def test_garbage_is_noticed(data):
    with pytest.raises(MalformedResult):
        parse(data)


@given(st.integers(0, RESULT_BYTES + len(OUTPUTS) - 1))
def test_torn_dump_is_noticed(size):
    with pytest.raises(MalformedResult):
        parse(dump()[:size])


@given(st.integers(0, len(OUTPUTS) * 8 - 1))
def test_changed_outputs_are_noticed(bit):
    data = bytearray(dump())
    data[RESULT_BYTES + bit // 8] ^= 1 << bit % 8
    with pytest.raises(MalformedResult, match="checksum"):
        parse(bytes(data))


def test_names_are_those_of_the_header():
    header = (REPOSITORY / "runners" / "firmware" / "result.h").read_text()
    statuses = re.findall(r"HELIA_STATUS_(\w+) = (\d)", header)
    assert [(name.lower(), int(value)) for name, value in statuses] == [
        (name, value) for value, name in enumerate(STATUS_NAMES)
    ]
    assert len(re.findall(r"HELIA_GUARD_\w+ = \d", header)) == len(GUARD_NAMES)


def test_inputs_are_padded_and_counted():
    data = encode_stimulus(
        [np.arange(3, dtype=">i2"), np.zeros(16, np.int8)], warmups=2, repeats=5, per_operator=True
    )
    assert struct.unpack_from("<6I", data)[2:] == (32, 2, 5, 1)
    assert data[32:38] == bytes([0, 0, 1, 0, 2, 0])
    assert len(data) == 32 + 32
