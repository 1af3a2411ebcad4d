# SPDX-License-Identifier: Apache-2.0
"""What the end of the emulator's process says, with small programs in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from runners.failure import CandidateFailure
from runners.image import Image
from runners.simulator.emulator import EmulatorSettings, run_image

SYMBOLS = {"helia_stimulus": 0x100, "helia_markers": 0x200}

ENDS = {
    "exits without a result": ("exit 0", "unknown", "result", "without a result"),
    "leaves no timing report": ("echo x > dump.bin", "unknown", "result", "timing report"),
    "leaves a broken timing report": (
        "echo x > dump.bin; echo '{' > timing.json", "unknown", "result", "timing report"
    ),
    "refuses": ("echo 'no such machine' >&2; exit 1", "rig_bad", "run", "exit code 1"),
    "crashes": ("kill -SEGV $$", "rig_bad", "run", "SIGSEGV"),
    "aborts": ("kill -ABRT $$", "rig_bad", "run", "SIGABRT"),
    "locks up": ("echo 'qemu: fatal: Lockup' >&2; kill -ABRT $$", "plan_bad", "run", "locked up"),
    "gets no processor": ("sleep 5", "rig_bad", "run", "processor time"),
    "works on and on": ("while :; do :; done", "plan_bad", "run", "did not end"),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_end(end, tmp_path):
    script, status, stage, reason = ENDS[end]
    program = tmp_path / "emulator"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.raises(CandidateFailure, match=reason) as caught:
        run(program, tmp_path)
    assert (caught.value.status, caught.value.stage) == (status, stage)


def test_program_that_does_not_start_is_the_rigs_fault(tmp_path):
    with pytest.raises(CandidateFailure, match="does not start") as caught:
        run(tmp_path / "nothing", tmp_path)
    assert caught.value.status == "rig_bad"


def test_results_of_an_earlier_run_are_not_read_again(tmp_path):
    for name in ("dump.bin", "timing.json"):
        (tmp_path / name).write_text("old")
    with pytest.raises(CandidateFailure, match="without a result"):
        run(Path("/bin/true"), tmp_path)


def run(program: Path, directory: Path):
    image = Image(directory / "image.elf", "", b"", {}, 0, SYMBOLS, ())
    settings = EmulatorSettings(program, "none", directory / "p.so", directory / "p.txt", 1.0)
    return run_image(settings, image, b"", directory, marker_count=4)
