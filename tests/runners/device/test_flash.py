# SPDX-License-Identifier: Apache-2.0
"""An image in flash, written by a flash algorithm that runs on the core."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from conftest import REPOSITORY
from device_bench import board_entry, make_bench
from hand_module import SIZE, expected_output, hand_conversion

from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.device.board_state import BoardState
from runners.device.boards import load_boards
from runners.device.device import DeviceRunner
from runners.measurement import Stimulus
from runners.toolchain import find_arm_compiler

PLATFORM = "apollo510_evb"


@pytest.mark.usefixtures("tools")
def test_an_image_in_flash_is_written_verified_and_counted(tmp_path, monkeypatch):
    algorithm = tmp_path / "algorithm.elf"
    source = REPOSITORY / "tests" / "virtual_board" / "flash_algorithm.c"
    flags = [
        "-mcpu=cortex-m55",
        "-mthumb",
        "-O1",
        "-nostdlib",
        "-fpie",
        "-Wl,-Ttext=0",
        "-Wl,--entry=0",
    ]
    subprocess.run([find_arm_compiler().path, *flags, source, "-o", algorithm], check=True)
    bench = make_bench(tmp_path / "bench", monkeypatch, {"a": PLATFORM})
    monkeypatch.setenv("HELIA_VIRTUAL_FLASH", str(algorithm))
    memories = board_entry(PLATFORM, "a")["memories"]
    memories["mram"]["flash"] = True
    bench.change("a", target="virtual_flash", memories=memories, code_memory="mram", start="jump")

    x = np.random.default_rng(5).integers(-128, 128, (1, SIZE), dtype=np.int8)
    runner = DeviceRunner(load_platform(PLATFORM), boards=bench.boards)
    result = runner.measure(
        hand_conversion(load_platform(PLATFORM)), Stimulus((x,)), MeasureSettings(timeout_s=20)
    )
    assert result.measurement.status == "ok", result.measurement.reason
    np.testing.assert_array_equal(result.outputs[0], expected_output(x))
    assert BoardState(load_boards(bench.boards)["a"].probe_id).flash_writes() == 1
