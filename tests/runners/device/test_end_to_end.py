# SPDX-License-Identifier: Apache-2.0
"""From a module to a measurement on a board, and everything that may go wrong on the way.

The boards are virtual. ``HELIA_TEST_BOARDS=boards.yaml`` runs the tests that do not break the bench on real ones.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY
from device_bench import HARNESS, MACHINES, Bench, make_bench
from hand_module import BODIES, SIZE, expected_output, hand_conversion
from required import missing

from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.device.board_state import BoardState
from runners.device.boards import load_boards
from runners.device.device import DeviceRunner
from runners.device.ladder import LADDER
from runners.errors import RunnerError
from runners.measurement import Measurement, Stimulus, outputs_sha256

pytestmark = pytest.mark.usefixtures("tools")

REAL_BOARDS = os.environ.get("HELIA_TEST_BOARDS")
X = np.random.default_rng(3).integers(-128, 128, (1, SIZE), dtype=np.int8)
STIMULUS = Stimulus((X,))
SETTINGS = MeasureSettings(warmups=2, repeats=3, timeout_s=20)
M55, M4 = "apollo510_evb", "apollo4p_evb"
PLATFORMS = (
    sorted({board.platform for board in load_boards(Path(REAL_BOARDS)).values()})
    if REAL_BOARDS
    else [M55, M4]
)


@pytest.fixture(scope="module", autouse=True)
def _pyocd() -> None:
    if not _has_pyocd():
        missing("pyocd is not installed")


def _has_pyocd() -> bool:
    from importlib.util import find_spec

    return find_spec("pyocd") is not None


@pytest.fixture
def platform() -> str:
    """The platform of the virtual board: Cortex-M4, which starts fastest, unless a test takes both."""
    return M4


on_both_cores = pytest.mark.parametrize("platform", [M4, M55])


@pytest.fixture
def virtual_process(tmp_path, monkeypatch, platform) -> Bench:
    """One board."""
    return make_bench(tmp_path / "bench", monkeypatch, {"a": platform})


@pytest.fixture
def virtual(virtual_process, shared_sessions) -> Bench:  # noqa: ARG001
    """The same, for what does not depend on how sessions are started."""
    return virtual_process


def measure(
    boards: Path, platform: str = M4, body: str = "", settings=SETTINGS
) -> tuple[Measurement, tuple]:
    found = load_platform(platform)
    result = DeviceRunner(found, boards=boards).measure(
        hand_conversion(found, body), STIMULUS, settings
    )
    return result.measurement, result.outputs


def outcomes_of(measurement: Measurement) -> list[object]:
    """Gives how each attempt ended."""
    return [attempt["outcome"] for attempt in measurement.evidence["attempts"]]


def assert_free_and_fit(bench: Bench, name: str = "a") -> None:
    state = BoardState(load_boards(bench.boards)[name].probe_id)
    assert (state.holder(), state.quarantine()) == (None, None)


@pytest.fixture(params=PLATFORMS)
def any_board(request, tmp_path, monkeypatch) -> tuple[str, Path]:
    """A board of each platform: virtual ones, or those of the file that the environment names."""
    if REAL_BOARDS:
        return request.param, Path(REAL_BOARDS)
    return request.param, make_bench(tmp_path / "bench", monkeypatch, {"a": request.param}).boards


def test_outputs_counts_and_evidence(any_board):
    platform, boards = any_board
    measurement, outputs = measure(boards, platform)
    assert measurement.status == "ok", measurement.reason
    np.testing.assert_array_equal(outputs[0], expected_output(X))
    assert measurement.outputs_sha256 == outputs_sha256(outputs)
    assert (len(measurement.warmup_cycles), len(measurement.cycles)) == (2, 3)
    assert min(measurement.cycles) > SIZE
    assert 0 < measurement.operator_sum_cycles < measurement.instrumented_cycles
    assert [operator.id for operator in measurement.operator_cycles] == ["0:sum", "0:y"]
    assert measurement.evidence["core"] == {M55: "Cortex-M55", M4: "Cortex-M4"}[platform]
    assert measurement.evidence["hardware_breakpoints"] > 0
    assert measurement.evidence["board_released"]
    assert {"pyocd", "host", "probe", "dpidr", "cpuid", "frequency_hz"} <= set(measurement.evidence)
    assert measurement.evidence["attempts"][-1]["outcome"] == "ended"
    assert measurement.evidence["callback_cycles"] == measurement.instrumented_cycles - min(
        measurement.cycles
    )
    assert measurement.identity.runner == "device"
    assert measurement.identity.counts == ("cycles" if REAL_BOARDS else "virtual board ticks")
    assert 0 < measurement.stack_bytes < 2048


def test_a_fault_has_registers_and_a_place(any_board):
    platform, boards = any_board
    measurement, outputs = measure(boards, platform, "fault")
    assert (measurement.status, outputs) == ("plan_bad", ())
    assert re.search(
        "fault at (run_op|hand_model_run).*: undefined instruction", measurement.reason
    )
    assert measurement.evidence["cfsr"] == "0x00010000"


@on_both_cores
def test_virtual_counters_are_refused_as_timing(virtual, platform, monkeypatch):
    monkeypatch.delenv("HELIA_VIRTUAL_BOARD_TICKS")
    bench = virtual
    measurement, outputs = measure(bench.boards, platform)
    assert (measurement.status, measurement.stage, outputs) == ("rig_bad", "result", ())
    assert "counter stands still" in measurement.reason
    assert measurement.identity.counts == "cycles"
    assert measurement.cycles == []
    assert_free_and_fit(bench)


BAD = {
    "hang": (
        "plan_bad",
        "did not end within 1 s at run_op|did not end within 1 s at hand_model_run",
    ),
    "stray": ("plan_bad", "wrote past the output buffer"),
    "bkpt": ("plan_bad", "breakpoint instruction that is not the firmware's end at"),
}
BODIES.setdefault("bkpt", '(void)op; __asm volatile("bkpt #3");')


@on_both_cores
@pytest.mark.parametrize("body", BAD)
def test_bad_modules_are_not_the_rigs_fault(virtual, platform, body):
    status, reason = BAD[body]
    measurement, outputs = measure(virtual.boards, platform, body, replace(SETTINGS, timeout_s=1))
    assert (measurement.status, measurement.cycles, outputs) == (status, [], ())
    assert re.search(reason, measurement.reason)
    assert_free_and_fit(virtual)


@on_both_cores
def test_lockup_is_the_modules_fault(virtual, platform):
    measurement, _ = measure(virtual.boards, platform, "lockup")
    assert measurement.status == "plan_bad"
    assert_free_and_fit(virtual)


@on_both_cores
def test_a_board_that_fails_its_ladder(virtual, platform, tmp_path):
    switched = tmp_path / "power was switched"
    virtual.break_board("a", error_at=1, error_count=1 << 30)
    virtual.change("a", power_command=["touch", str(switched)])
    measurement, outputs = measure(virtual.boards, platform)
    assert (measurement.status, measurement.cycles, outputs) == ("rig_bad", [], ())
    assert measurement.evidence["outcome"] == "no_target"
    assert outcomes_of(measurement) == ["no_target"] * len(LADDER)
    assert switched.exists()
    state = BoardState(load_boards(virtual.boards)["a"].probe_id)
    assert state.holder() is None
    assert state.quarantine() is not None
    again, _ = measure(virtual.boards, platform)
    assert (again.status, again.evidence["outcome"]) == ("rig_bad", "quarantined")


FAULTS = {
    "busy": ({"is_busy": True}, False),
    "load_failed": ({"corrupts": 0x100}, True),
}


@on_both_cores
@pytest.mark.parametrize("outcome", FAULTS)
def test_boards_that_cannot_be_loaded(virtual, platform, outcome):
    faults, is_set_aside = FAULTS[outcome]
    virtual.break_board("a", **faults)
    measurement, outputs = measure(virtual.boards, platform)
    assert (measurement.status, measurement.cycles, outputs) == ("rig_bad", [], ())
    assert measurement.evidence["outcome"] == outcome
    assert outcomes_of(measurement) == [outcome] * len(LADDER)
    state = BoardState(load_boards(virtual.boards)["a"].probe_id)
    assert state.holder() is None
    assert (state.quarantine() is not None) == is_set_aside


def test_no_probe(virtual):
    virtual.change("a", probe="virtual:b", retry_wait_s=0.0)
    measurement, _ = measure(virtual.boards)
    assert (measurement.status, measurement.evidence["outcome"]) == ("rig_bad", "no_probe")
    assert outcomes_of(measurement) == ["no_probe"] * len(LADDER)


@on_both_cores
def test_wrong_core_is_never_loaded(virtual, platform):
    own, other = MACHINES[platform], MACHINES[M4 if platform == M55 else M55]
    virtual.virtual.write_text(virtual.virtual.read_text().replace(own, other))
    measurement, _ = measure(virtual.boards, platform)
    assert (measurement.status, measurement.evidence["outcome"]) == ("rig_bad", "wrong_target")
    assert outcomes_of(measurement) == ["wrong_target"] * len(LADDER)
    answers = {
        M4: "a Cortex-M55 answers, not a cortex-m4",
        M55: "a Cortex-M4 answers, not a cortex-m55",
    }
    assert answers[platform] in measurement.reason
    stages = {attempt["stage"] for attempt in measurement.evidence["attempts"]}
    assert stages == {"identify"}


CURES = {
    "half the frequency": {"max_frequency_hz": 600_000},
    "under reset": {"needs_reset_line": True},
    "debug port reset": {"needs_port_reset": True},
    "power switched": {"needs_power": "switched"},
}


@on_both_cores
@pytest.mark.parametrize("cure", CURES)
def test_each_rung_of_the_ladder_helps(virtual, platform, tmp_path, cure):
    faults = dict(CURES[cure])
    if "needs_power" in faults:
        switched = str(tmp_path / "switched")
        faults["needs_power"] = switched
        virtual.change("a", power_command=["touch", switched])
    virtual.break_board("a", **faults)
    measurement, outputs = measure(virtual.boards, platform)
    assert measurement.status == "ok", measurement.reason
    rung = next(number for number, rung in enumerate(LADDER) if cure in rung.name)
    assert outcomes_of(measurement) == ["no_target"] * rung + ["ended"]
    assert cure in measurement.evidence["attempts"][-1]["rung"]
    np.testing.assert_array_equal(outputs[0], expected_output(X))
    assert_free_and_fit(virtual)


@on_both_cores
def test_garbage_result_is_unknown(virtual, platform):
    first = HARNESS[MACHINES[platform]]
    virtual.break_board("a", garbage=[first["address"], first["size_bytes"]])
    measurement, outputs = measure(virtual.boards, platform)
    assert (measurement.status, measurement.cycles, outputs) == ("unknown", [], ())
    assert "cannot be read" in measurement.reason


def test_a_hanging_probe_ends_at_the_deadline(virtual_process):
    virtual = virtual_process
    virtual.break_board("a", hangs_at=30, sessions="first")
    virtual.change("a", connect_timeout_s=10.0)
    measurement, _ = measure(virtual.boards, settings=replace(SETTINGS, timeout_s=2))
    assert outcomes_of(measurement) == ["no_target", "ended"]
    assert "hung for" in measurement.evidence["attempts"][0]["reason"]


@on_both_cores
def test_a_probe_lost_while_running_is_not_tried_again(virtual, platform):
    virtual.break_board("a", is_lost_running=True)
    measurement, _ = measure(virtual.boards, platform)
    assert (measurement.status, measurement.evidence["outcome"]) == ("rig_bad", "probe_lost")
    assert len(measurement.evidence["attempts"]) == 1
    assert measurement.evidence["stage"] == "run"
    assert_free_and_fit(virtual)


def test_two_processes_take_turns(virtual):
    """Two jobs want one board: the second waits, and both are right."""
    script = (
        "import sys; from test_end_to_end import measure; from pathlib import Path\n"
        "measurement, _ = measure(Path(sys.argv[1])); print(measurement.status, measurement.outputs_sha256)"
    )
    children = [_python(script, virtual.boards) for _ in range(2)]
    texts = [child.communicate(timeout=120)[0].strip() for child in children]
    assert texts == [f"ok {outputs_sha256((expected_output(X),))}"] * 2
    assert_free_and_fit(virtual)


def test_a_job_that_waits_too_long_says_who_has_the_board(virtual):
    virtual.change("a", lock_wait_s=0.0)
    probe = load_boards(virtual.boards)["a"].probe_id
    with BoardState(probe).locked("long job", wait_s=0):
        measurement, _ = measure(virtual.boards)
    assert (measurement.status, measurement.evidence["outcome"]) == ("rig_bad", "busy")
    assert f"process {os.getpid()} (long job) since" in measurement.reason


def test_a_killed_parent_leaves_no_lock_and_no_child(virtual):
    script = "import sys; from test_end_to_end import measure; from pathlib import Path\nmeasure(Path(sys.argv[1]), body='hang')"
    parent = _python(script, virtual.boards)
    state = BoardState(load_boards(virtual.boards)["a"].probe_id)
    _until(lambda: state.holder() is not None)
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    _until(lambda: state.holder() is None)
    measurement, _ = measure(virtual.boards)
    assert measurement.status == "ok", measurement.reason


def _python(script: str, *arguments: Path) -> subprocess.Popen[str]:
    paths = [
        REPOSITORY,
        REPOSITORY / "tests",
        REPOSITORY / "tests" / "kernels",
        Path(__file__).parent,
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*map(str, paths), os.environ["PYTHONPATH"]]),
    }
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def _until(condition) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it did not happen within 30 s"
        time.sleep(0.05)


def test_ticks_are_refused_on_other_boards(virtual, monkeypatch):
    """A board whose probe does not say that it is virtual is never measured in ticks."""
    monkeypatch.setattr("runners.device.device.VIRTUAL_VENDOR", "somebody else")
    measurement, _ = measure(virtual.boards)
    assert measurement.status == "rig_bad"
    assert "is not a virtual one" in measurement.reason


def test_a_platform_without_a_board_is_an_error(virtual):
    with pytest.raises(RunnerError, match="has no board for apollo510_evb"):
        DeviceRunner(load_platform(M55), boards=virtual.boards)


def test_boards_of_a_pool_must_count_the_same(tmp_path, monkeypatch):
    bench = make_bench(tmp_path / "bench", monkeypatch, {"a": M4, "b": M4, "c": M55})
    platform = load_platform(M4)
    assert DeviceRunner(platform, boards=bench.boards).slots() == 2
    bench.change("b", clock={"mhz": 192, "source": "configured"})
    with pytest.raises(RunnerError, match="b: is set up in another way than a"):
        DeviceRunner(platform, boards=bench.boards)
    slow = DeviceRunner(platform, boards=bench.boards, clock_mhz=96)
    fast = DeviceRunner(platform, boards=bench.boards, clock_mhz=192)
    assert (slow.slots(), fast.slots()) == (1, 1)
    assert slow.identity().digest() != fast.identity().digest()


def test_setup_is_written_before_the_image(virtual):
    """Where nothing is, so that it shows: the session ends before anything is loaded."""
    virtual.change("a", setup=[{"address": 0x9000_0000, "value": 1}])
    measurement, _ = measure(virtual.boards)
    assert measurement.evidence["outcome"] == "load_failed"
    assert "0x90000000" in measurement.reason
