# SPDX-License-Identifier: Apache-2.0
"""An error at each of the first transfers of a session: a clean outcome each time, never a false result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY
from device_bench import make_bench
from hand_module import SIZE, hand_conversion

from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.device.device import DeviceRunner
from runners.device.job import read_job, to_json
from runners.measurement import Stimulus

STEPS = {"apollo4p_evb": 1, "apollo510_evb": 4}
"""By platform: how far apart the positions are."""
POSITIONS = 100
"""Connecting takes 81 transfers."""
BEFORE_RUNNING = {"no_target", "no_probe", "wrong_target", "load_failed", "not_started"}


@pytest.mark.usefixtures("tools", "shared_sessions")
@pytest.mark.parametrize("name", STEPS)
def test_an_error_at_each_transfer(tmp_path, monkeypatch, name):
    bench = make_bench(tmp_path, monkeypatch, {"a": name})
    kept = tmp_path / "kept"
    settings = MeasureSettings(timeout_s=5, keep_dir=kept)
    platform = load_platform(name)
    runner = DeviceRunner(platform, boards=bench.boards)
    stimulus = Stimulus((np.zeros((1, SIZE), np.int8),))
    good = runner.measure(hand_conversion(platform), stimulus, settings).measurement
    assert good.status == "ok", good.reason
    job_path = kept / "session0" / "job.json"
    job = read_job(job_path.read_text("utf-8"))
    image = replace(
        job.image, path=str(kept / "image.elf"), stimulus_path=str(kept / "stimulus.bin")
    )
    job_path.write_text(to_json(replace(job, image=image, probe=job.probe)), "utf-8")

    endings = _endings(job_path, bench.virtual, tmp_path, STEPS[name])

    assert endings[0][0] == "ended"  # position 0 is no error
    for index, (outcome, stage, outputs, _) in enumerate(endings):
        position = index * STEPS[name]
        if outcome == "ended":
            assert outputs == endings[0][2], position
        else:
            assert (outcome in BEFORE_RUNNING, outputs) == (True, None), (position, outcome, stage)
    # pyOCD overcomes some errors by itself; a session that ended had a core with all its breakpoints.
    assert {breakpoints for outcome, _, _, breakpoints in endings if outcome == "ended"} == {
        endings[0][3]
    }
    assert len({outcome for outcome, *_ in endings}) > 1


def _endings(job: Path, bench: Path, folder: Path, step: int) -> list[list]:
    script = REPOSITORY / "tests" / "virtual_board" / "transfer_faults.py"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), os.environ["PYTHONPATH"]]),
    }
    done = subprocess.run(
        [sys.executable, script, job, bench, folder, str(POSITIONS), str(step)],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
