# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hand_module import SIZE, expected_output, hand_conversion

from helia_aot.errors import HeliaError
from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.errors import RunnerError, ToolchainError
from runners.measurement import Stimulus, outputs_sha256
from runners.simulator.simulator import SimulatorRunner

X = np.random.default_rng(3).integers(-128, 128, (1, SIZE), dtype=np.int8)
STIMULUS = Stimulus((X,))
SETTINGS = MeasureSettings(warmups=2, repeats=3, timeout_s=30)


def measure(runner: SimulatorRunner, body: str = "", settings=SETTINGS, **changes):
    conversion = hand_conversion(runner.platform, body, **changes)
    return runner.measure(conversion, STIMULUS, settings)


def test_outputs_cycles_and_operators(runner):
    result = measure(runner)
    measurement = result.measurement
    assert measurement.status == "ok", measurement.reason
    np.testing.assert_array_equal(result.outputs[0], expected_output(X))
    assert measurement.outputs_sha256 == outputs_sha256(result.outputs)
    assert len(measurement.warmup_cycles) == 2
    assert len(measurement.cycles) == 3
    assert measurement.warmup_cycles[0] >= measurement.cycles[0] > SIZE
    assert [operator.id for operator in measurement.operator_cycles] == ["0:sum", "0:y"]
    assert SIZE < measurement.operator_sum_cycles < measurement.instrumented_cycles
    assert 0 < measurement.stack_bytes < 2048
    assert measurement.identity == runner.identity()


def test_same_module_gives_the_same_numbers(runner):
    first, second = measure(runner).measurement, measure(runner).measurement
    same = {"exclude": {"stage_seconds"}}
    assert first.model_dump(**same) == second.model_dump(**same)


def test_new_inputs_need_no_new_image(runner):
    conversion = hand_conversion(runner.platform)
    results = [
        runner.measure(conversion, Stimulus((x,)), SETTINGS) for x in (X, np.flip(X), X // 2)
    ]
    assert len({result.measurement.image_sha256 for result in results}) == 1
    np.testing.assert_array_equal(results[1].outputs[0], expected_output(np.flip(X)))
    np.testing.assert_array_equal(results[2].outputs[0], expected_output(X // 2))


def test_without_operators(runner):
    measurement = measure(runner, settings=replace(SETTINGS, per_operator=False)).measurement
    assert measurement.operator_cycles == []
    assert measurement.instrumented_cycles is None
    assert measurement.cycles


BAD = {
    "syntax": ("build", "does not compile"),
    "undefined": ("link", "undefined reference"),
    "fault": ("run", "fault at .*: undefined instruction"),
    "error": ("run", "run returned -3"),
    "unstable": ("run", r"the outputs changed in 5 of 6 runs"),
    "lockup": ("run", "locked up"),
    "stray": ("run", "wrote past the output buffer"),
}


@pytest.mark.parametrize("body", BAD)
def test_bad_module_is_a_status(runner, body):
    result = measure(runner, body)
    measurement = result.measurement
    stage, reason = BAD[body]
    assert (measurement.status, measurement.stage) == ("plan_bad", stage)
    assert re.search(reason, measurement.reason)
    assert result.outputs == ()
    assert measurement.cycles == []


def test_failing_operator_is_named(runner):
    assert measure(runner, "error").measurement.evidence["operator"] == "0:y"


def test_fault_has_registers_and_a_place(runner):
    evidence = measure(runner, "fault").measurement.evidence
    assert evidence["cfsr"] == "0x00010000"
    assert evidence["place"].startswith(("run_op+", "hand_model_run+"))
    assert int(evidence["pc"], 16) > 0


def test_outputs_of_another_size_are_noticed(runner):
    measurement = measure(runner, output_size=SIZE // 2).measurement
    assert measurement.status == "plan_bad"
    assert "not those of the conversion" in measurement.reason


def test_hang_ends_at_the_deadline(runner):
    measurement = measure(runner, "hang", MeasureSettings(timeout_s=2)).measurement
    assert (measurement.status, measurement.stage) == ("plan_bad", "run")
    assert measurement.evidence == {"timeout_s": 2}


@pytest.mark.usefixtures("tools")
def test_stack_overflow_is_a_fault():
    runner = SimulatorRunner(load_platform("apollo510_evb"))  # the M4 has no stack limit register
    measurement = measure(runner, "stack").measurement
    assert measurement.status == "plan_bad"
    assert measurement.reason == "fault: stack overflow"


def test_overflow_is_a_status(runner):
    size = runner.platform.memories["dtcm"].size_bytes
    measurement = measure(runner, arena_bytes=size).measurement
    assert (measurement.status, measurement.stage) == ("plan_bad", "link")
    assert measurement.evidence["overflow_bytes"] == {"dtcm": 64}


def test_emulator_killed_from_outside_is_the_rigs_fault(runner):
    results = []
    worker = threading.Thread(target=lambda: results.append(measure(runner, "hang")))
    worker.start()
    os.kill(child_emulator(), signal.SIGKILL)
    worker.join()
    assert results[0].measurement.status == "rig_bad"
    assert "SIGKILL" in results[0].measurement.reason


def child_emulator() -> int:
    """Waits for the emulator among this process's children."""
    for _ in range(400):
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, fields = stat.read_text().split("(", 1)[1].rsplit(")", 1)
            except (OSError, IndexError):
                continue
            if name.startswith("qemu-system") and int(fields.split()[1]) == os.getpid():
                return int(stat.parent.name)
        time.sleep(0.05)
    raise AssertionError("no emulator was started")


@pytest.mark.usefixtures("tools")
def test_missing_emulator_is_an_error_at_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError):
        SimulatorRunner(load_platform("apollo510_evb"))


@pytest.mark.parametrize(
    "stimulus",
    [
        Stimulus(()),
        Stimulus((X, X)),
        Stimulus((X.astype(np.int16),)),
        Stimulus((X[0],)),
    ],
    ids=["none", "two", "type", "shape"],
)
def test_stimulus_that_does_not_fit_is_an_error(runner, stimulus):
    with pytest.raises(RunnerError):
        runner.measure(hand_conversion(runner.platform), stimulus, SETTINGS)


def test_every_problem_of_a_request_is_listed(runner):
    other = load_platform("apollo330mp_evb")
    conversion = hand_conversion(other)
    module = conversion.module
    files = tuple(file for file in module.files if not file.path.startswith("kernels/"))
    conversion = replace(conversion, module=replace(module, files=files))
    with pytest.raises(HeliaError) as caught:
        runner.measure(conversion, Stimulus(()), MeasureSettings(repeats=255))
    places = [problem.where for problem in caught.value.problems]
    assert places == ["platform", "module.kernels", "settings", "stimulus"]


def test_unknown_clock_lists_the_speeds():
    with pytest.raises(RunnerError, match="use one of: 96, 250"):
        SimulatorRunner(load_platform("apollo510_evb"), clock_mhz=100)


@pytest.mark.usefixtures("tools")
def test_clock_changes_cycles_of_slow_memory_and_the_identity():
    platform = load_platform("apollo4p_evb")
    slow, fast = (SimulatorRunner(platform, clock_mhz=clock) for clock in platform.speeds_mhz)
    assert slow.identity().digest() != fast.identity().digest()
    cold = [measure(runner).measurement.warmup_cycles[0] for runner in (slow, fast)]
    assert cold[0] < cold[1]


def test_kept_directory_has_image_and_sources(runner, tmp_path):
    measure(runner, settings=replace(SETTINGS, keep_dir=tmp_path / "kept"))
    for name in ("image.elf", "image.ld", "module/src/hand_model.c", "dump.bin", "timing.json"):
        assert (tmp_path / "kept" / name).stat().st_size > 0
