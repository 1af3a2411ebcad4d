# SPDX-License-Identifier: Apache-2.0
"""The memory contract with the firmware, host side: writes the stimulus, reads the result.

The layouts are those of ``firmware/result.h``.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runners.build import padded_bytes

_STIMULUS_MAGIC = 0x534D5448
_STIMULUS_VERSION = 1
_RESULT_MAGIC = 0x53525448
_RESULT_VERSION = 2
MAX_WINDOWS = 256
EVENT_NAMES = ("instructions", "data_cache_refills", "mve_instructions", "backend_stall_cycles")

_HEAD = struct.Struct("<4I2i20s11I")
_FAULT = struct.Struct("<8I")
_WINDOWS = struct.Struct(f"<I{MAX_WINDOWS}I")
_TICKS = struct.Struct(f"<{MAX_WINDOWS}I")
_TAIL = struct.Struct(f"<3I{len(EVENT_NAMES)}I")
RESULT_BYTES = _HEAD.size + _FAULT.size + _WINDOWS.size + _TICKS.size + _TAIL.size

COUNTER_NAMES = ("none", "cyccnt", "timer")
CACHE_NAMES = {1: "instruction", 2: "data"}

STATUS_NAMES = (
    "ok",
    "running",
    "bad_stimulus",
    "wrong_layout",
    "init_failed",
    "run_failed",
    "guard_broken",
    "fault",
)
GUARD_NAMES = {1: "the output buffer", 2: "the stimulus buffer", 3: "the end of the stack"}


class MalformedResult(Exception):
    """The dump is not what the firmware of this version writes."""


@dataclass(frozen=True)
class FirmwareResult:
    """The result struct, read; field names as in ``result.h``.

    Attributes:
        outputs: Bytes of all outputs, one after another.
    """

    status: str
    detail: int
    failed_operator: int
    build_id: bytes
    counter: str
    counter_check: int
    counter_check_ticks: int
    n_operators: int
    runs: int
    differing_runs: int
    stack_bytes: int
    stack_used_bytes: int
    fault: dict[str, int]
    window_cycles: tuple[int, ...]
    window_ticks: tuple[int, ...]
    caches: tuple[str, ...]
    events: dict[str, int]
    outputs: bytes


def encode_stimulus(
    inputs: Sequence[NDArray[Any]], *, warmups: int, repeats: int, per_operator: bool
) -> bytes:
    """Gives the bytes that a host writes to ``helia_stimulus`` before reset.

    Args:
        inputs: The model's inputs, in its own types and shapes.
        warmups: Runs before the timed ones.
        repeats: Timed runs.
        per_operator: Whether one more run with callbacks follows.
    """
    body = b"".join(_padded(array) for array in inputs)
    header = struct.pack(
        "<8I", _STIMULUS_MAGIC, _STIMULUS_VERSION, len(body), warmups, repeats, per_operator, 0, 0
    )
    return header + body


def _padded(array: NDArray[Any]) -> bytes:
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
    return data.ljust(padded_bytes(len(data)), b"\0")


def parse_result(dump: bytes, *, build_id: bytes, output_bytes: int) -> FirmwareResult:
    """Reads a result struct and the outputs behind it.

    Args:
        dump: The bytes at ``helia_result``, then those at ``helia_outputs``.
        build_id: Build id of the image that was loaded.
        output_bytes: Size of all outputs.

    Raises:
        MalformedResult: If a size, magic, version, build id or checksum is not what it must be.
    """
    if len(dump) != RESULT_BYTES + output_bytes:
        raise MalformedResult(f"{len(dump)} bytes, not {RESULT_BYTES + output_bytes}")
    magic, version, size, status, detail, failed_operator, image_id, *head = _HEAD.unpack_from(dump)
    counter, check, n_operators, _, _, outputs_size, crc32, runs, differing, stack, used = head
    if (magic, version, size) != (_RESULT_MAGIC, _RESULT_VERSION, RESULT_BYTES):
        raise MalformedResult(f"magic 0x{magic:08x}, version {version}, {size} bytes")
    if image_id != build_id:
        raise MalformedResult(
            f"it comes from another image: {image_id.hex()}, not {build_id.hex()}"
        )
    if status >= len(STATUS_NAMES) or counter >= len(COUNTER_NAMES):
        raise MalformedResult(f"unknown status {status} or counter {counter}")
    names = ("cfsr", "hfsr", "mmfar", "bfar", "pc", "lr", "psr", "sp")
    fault = dict(zip(names, _FAULT.unpack_from(dump, _HEAD.size), strict=True))
    n_windows, *windows = _WINDOWS.unpack_from(dump, _HEAD.size + _FAULT.size)
    ticks = _TICKS.unpack_from(dump, _HEAD.size + _FAULT.size + _WINDOWS.size)
    check_ticks, caches, n_events, *events = _TAIL.unpack_from(dump, RESULT_BYTES - _TAIL.size)
    outputs = dump[RESULT_BYTES:]
    if outputs_size != output_bytes or n_windows > MAX_WINDOWS or n_events > len(events):
        raise MalformedResult(
            f"{outputs_size} output bytes, {n_windows} windows, {n_events} events"
        )
    if runs > 0 and zlib.crc32(outputs) != crc32 and STATUS_NAMES[status] == "ok":
        raise MalformedResult(f"the outputs do not have the checksum 0x{crc32:08x}")
    return FirmwareResult(
        status=STATUS_NAMES[status],
        detail=detail,
        failed_operator=failed_operator,
        build_id=image_id,
        counter=COUNTER_NAMES[counter],
        counter_check=check,
        counter_check_ticks=check_ticks,
        n_operators=n_operators,
        runs=runs,
        differing_runs=differing,
        stack_bytes=stack,
        stack_used_bytes=used,
        fault=fault,
        window_cycles=tuple(windows[:n_windows]),
        window_ticks=ticks[:n_windows],
        caches=tuple(name for bit, name in CACHE_NAMES.items() if caches & bit),
        events=dict(zip(EVENT_NAMES, events[:n_events], strict=False)),
        outputs=outputs,
    )
