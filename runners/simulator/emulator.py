# SPDX-License-Identifier: Apache-2.0
"""One run of an image in QEMU, and what its end says."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from runners.child_process import Finished, run_with_deadline
from runners.errors import RunnerError
from runners.failure import CandidateFailure
from runners.image import Image
from runners.simulator.timing import TimingReport, plugin_argument, read_timing

_STIMULUS = "stimulus.bin"
_DUMP = "dump.bin"
_TIMING = "timing.json"
_STDERR = "emulator.log"
_LOCKUP = "Lockup"
_BUSY_SHARE = 0.2
"""A child that got less than this share of its time on a processor cannot be said to hang."""


@dataclass(frozen=True)
class EmulatorSettings:
    """How an image is run.

    Attributes:
        program: The emulator.
        machine: QEMU machine name.
        plugin: Shared library of the timing plugin.
        parameters: Its parameter file.
        timeout_s: Deadline of a run, seconds.
    """

    program: Path
    machine: str
    plugin: Path
    parameters: Path
    timeout_s: float


@dataclass(frozen=True)
class EmulatorRun:
    """What a run left.

    Attributes:
        dump: Result struct and outputs.
        timing: The plugin's report.
    """

    dump: bytes
    timing: TimingReport


def run_image(
    settings: EmulatorSettings,
    image: Image,
    stimulus: bytes,
    directory: Path,
    *,
    marker_count: int,
) -> EmulatorRun:
    """Runs an image to its end.

    Args:
        settings: The emulator.
        image: What to run.
        stimulus: Bytes for ``helia_stimulus``.
        directory: Working directory of the emulator; files of the run stay there.
        marker_count: Number of markers at ``helia_markers``.

    Raises:
        CandidateFailure: If it hangs or locks up, the emulator dies, or a file is missing.
    """
    (directory / _STIMULUS).write_bytes(stimulus)
    for name in (_DUMP, _TIMING):
        (directory / name).unlink(missing_ok=True)
    command = _command(settings, image, marker_count)
    try:
        end = run_with_deadline(command, directory, timeout_s=settings.timeout_s)
    except OSError as error:
        raise CandidateFailure("rig_bad", "run", f"the emulator does not start: {error}") from error
    (directory / _STDERR).write_text(end.stderr, "utf-8")
    _check_end(end, settings.timeout_s)
    return EmulatorRun(_read_dump(directory / _DUMP), _read_timing(directory / _TIMING))


def _command(settings: EmulatorSettings, image: Image, marker_count: int) -> list[str | Path]:
    stimulus = f"loader,file={_STIMULUS},addr=0x{image.symbols['helia_stimulus']:08x},force-raw=on"
    plugin = plugin_argument(
        settings.plugin.resolve(),
        settings.parameters.resolve(),
        Path(_TIMING),
        image.symbols["helia_markers"],
        marker_count,
    )
    devices = ("-display", "none", "-serial", "none", "-monitor", "none", "-nic", "none")
    semihosting = ("-semihosting-config", "enable=on,target=native")
    return [
        *(settings.program, "-machine", settings.machine, *devices, *semihosting),
        *("-kernel", image.path.resolve(), "-device", stimulus, "-plugin", plugin),
    ]


def _check_end(end: Finished, timeout_s: float) -> None:
    if end.exit_code == 0:
        return
    if end.exit_code is None:
        if end.cpu_s is not None and end.cpu_s < _BUSY_SHARE * timeout_s:
            reason = f"the simulator got {end.cpu_s:.1f} s of processor time in {timeout_s:g} s"
            raise CandidateFailure("rig_bad", "run", reason)
        reason = f"the module did not end within {timeout_s:g} s"
        raise CandidateFailure("plan_bad", "run", reason, {"timeout_s": timeout_s})
    evidence: dict[str, JsonValue] = {"exit_code": end.exit_code, "message": end.stderr}
    if end.exit_code == -signal.SIGABRT and _LOCKUP in end.stderr:
        reason = "the core locked up: a fault inside the fault handler"
        raise CandidateFailure("plan_bad", "run", reason, evidence)
    if end.exit_code < 0:
        name = signal.Signals(-end.exit_code).name
        raise CandidateFailure("rig_bad", "run", f"the emulator was ended by {name}", evidence)
    reason = f"the emulator ended with exit code {end.exit_code}"
    raise CandidateFailure("rig_bad", "run", reason, evidence)


def _read_dump(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        reason = "the firmware ended without a result"
        raise CandidateFailure("unknown", "result", reason) from error


def _read_timing(path: Path) -> TimingReport:
    try:
        return read_timing(path)
    except RunnerError as error:
        raise CandidateFailure("unknown", "result", str(error)) from error
