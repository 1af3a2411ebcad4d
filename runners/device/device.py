# SPDX-License-Identifier: Apache-2.0
"""The runner on real boards: builds an image for a board, runs it through pyOCD, and doubts the numbers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from numpy.typing import NDArray

from helia_aot.errors import Problem
from runners.base import MeasureSettings
from runners.build import Builder, BuildOptions, compiler_flags
from runners.device.board_state import BoardBusy, BoardState
from runners.device.boards import Board, board_faults, load_boards
from runners.device.counters import BoardCounts, CounterLimits, check_counter, read_counts
from runners.device.job import DUMP_NAME, MARKERS_NAME, ImageJob, SessionReport
from runners.device.ladder import Climb, climb
from runners.device.pool import BoardPool
from runners.errors import RunnerError, ToolchainError
from runners.failure import CandidateFailure, FailureStatus
from runners.firmware_result import RESULT_BYTES, FirmwareResult, encode_stimulus
from runners.image import Image
from runners.kernel_library import KernelLibrary, kernel_library_version, read_library
from runners.measurement import (
    Measurement,
    MeasurementResult,
    OperatorCycles,
    RunnerIdentity,
    Stimulus,
    outputs_sha256,
)
from runners.toolchain import find_arm_compiler
from runners.trial import check_request, firmware_digest, image_facts, timed, work_directory
from runners.verdict import check_result, decode_outputs, fault_failure, read_result

if TYPE_CHECKING:
    from helia_aot.api import Conversion
    from helia_aot.codegen.module import Module
    from helia_aot.platforms.schema import Platform

RUNNER_VERSION: Final = 1
"""Raised when images are laid out, run or counted in another way."""

TICKS_VARIABLE: Final = "HELIA_VIRTUAL_BOARD_TICKS"
"""Set to 1, virtual boards count ticks of a timer in place of cycles; for tests only. A virtual board has no cycle
counter, so without it each measurement there ends as ``rig_bad``; and no other board is measured with it."""

VIRTUAL_VENDOR: Final = "QEMU virtual board"
"""What the probe of a virtual board says that it is."""

_BLAME: Mapping[str, FailureStatus] = {
    "faulted": "plan_bad",
    "stopped": "plan_bad",
    "locked_up": "plan_bad",
    "hung": "plan_bad",
}
"""Outcomes that are the candidate's; all others are the rig's."""


class DeviceRunner:
    """Measures modules for one platform on the boards that a board file has of it."""

    def __init__(
        self,
        platform: Platform,
        *,
        boards: Path,
        clock_mhz: int | None = None,
        kernels: KernelLibrary | None = None,
    ) -> None:
        """Makes the runner and finds its tools; no board is touched.

        Args:
            platform: What modules are converted for.
            boards: The board file. Boards of other platforms are left alone.
            clock_mhz: Takes only boards with this core clock; None takes all.
            kernels: A kernel library to link in place of the one that the boards name.

        Raises:
            ConfigError: If the board file is not valid.
            RunnerError: If it has no such board, boards that would not count the same, or another kernel library.
            ToolchainError: If the compiler or pyOCD is missing.
        """
        self._platform = platform
        pool = _boards_of(load_boards(boards), platform, clock_mhz, boards)
        self._pool = BoardPool(pool)
        self._board = next(iter(pool.values()))
        self._compiler = find_arm_compiler()
        _check_pyocd()
        self._counts_ticks = os.environ.get(TICKS_VARIABLE) == "1"
        defines = ("HELIA_DEVICE", *(("HELIA_COUNT_TIMER_TICKS",) if self._counts_ticks else ()))
        self._layout = self._board.layout(platform)
        library = library_of(self._board, kernels)
        self._library = None if library is None else read_library(library)
        options = BuildOptions(defines, self._library)
        self._builder = Builder(
            self._compiler, platform.core, self._layout, "done_device.c", options
        )
        self._identity = self._find_identity()

    def identity(self) -> RunnerIdentity:
        """Gives what this runner is; the same for all boards of the pool."""
        return self._identity

    def slots(self) -> int:
        """Gives the number of boards."""
        return len(self._pool)

    def _find_identity(self) -> RunnerIdentity:
        rig = self._board.rig_digest()[:16]
        return RunnerIdentity(
            runner="device",
            runner_version=f"{RUNNER_VERSION} firmware {firmware_digest()[:16]} boards {rig}",
            timing_model=None,
            counts="virtual board ticks" if self._counts_ticks else "cycles",
            platform=self._platform.name,
            core=self._platform.core,
            clock_mhz=self._board.clock.mhz,
            toolchain=self._compiler.version,
            toolchain_digest=self._compiler.digest,
            compiler_flags=compiler_flags(self._platform.core),
            kernel_library=kernel_library_version(self._library),
            emulator=None,
        )

    def measure(
        self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
    ) -> MeasurementResult:
        """Builds a converted module, runs it on a free board and counts cycles.

        Args:
            conversion: What to measure.
            stimulus: Its inputs.
            settings: How.

        Returns:
            The measurement and the outputs; ``evidence`` names the board and all that was found on it.

        Raises:
            RunnerError: If platform, stimulus or settings are not for this runner.
        """
        check_request(
            self._platform,
            conversion,
            stimulus,
            settings,
            library=self._library,
        )
        seconds: dict[str, float] = {}
        facts: dict[str, Any] = {}
        evidence: dict[str, Any] = {}
        outputs: tuple[NDArray[Any], ...] = ()
        with work_directory(settings.keep_dir) as directory:
            try:
                with timed(seconds, "build"):
                    built = self._builder.build(
                        conversion.module, directory, timeout_s=settings.build_timeout_s
                    )
                if settings.find_image and (found := settings.find_image(built.image.sha256)):
                    return MeasurementResult(found.model_copy(update={"stage_seconds": seconds}))
                facts = image_facts(built, self._platform)
                job = self._image_job(built.image, conversion.module, stimulus, settings, directory)
                what = f"measure {conversion.module.name} {built.image.sha256[:12]}"
                with timed(seconds, "run"):
                    climbed = self._run(job, what, directory, evidence)
                measurement, outputs = self._judge(
                    climbed, conversion, built.image, settings, facts
                )
            except CandidateFailure as failure:
                measurement, outputs = failure.measurement(), ()
        update = {
            **facts,
            "identity": self._identity,
            "stage_seconds": seconds,
            "evidence": {**evidence, **measurement.evidence},
        }
        return MeasurementResult(measurement.model_copy(update=update), outputs)

    def _image_job(
        self,
        image: Image,
        module: Module,
        stimulus: Stimulus,
        settings: MeasureSettings,
        directory: Path,
    ) -> ImageJob:
        stimulus_path = directory / "stimulus.bin"
        stimulus_path.write_bytes(
            encode_stimulus(
                stimulus.inputs,
                warmups=settings.warmups,
                repeats=settings.repeats,
                per_operator=settings.per_operator,
            )
        )
        symbols = image.symbols
        memories = self._board.memories
        return ImageJob(
            path=str(image.path.resolve()),
            stimulus_path=str(stimulus_path.resolve()),
            flash=tuple(
                (region.origin, region.end)
                for region in self._layout.memories
                if memories[region.name].flash
            ),
            vectors=memories[self._board.code_memory].address,
            stack_top=symbols["helia_stack_top"],
            reset=symbols["helia_reset"],
            stop=symbols["helia_stop"],
            stimulus=symbols["helia_stimulus"],
            result=symbols["helia_result"],
            result_bytes=RESULT_BYTES,
            outputs=symbols["helia_outputs"],
            outputs_bytes=sum(tensor.size_bytes for tensor in module.outputs),
            markers=symbols["helia_markers"],
            marker_words=2 + 2 * len(module.operators),
            timeout_s=settings.timeout_s,
        )

    def _run(self, job: ImageJob, what: str, directory: Path, evidence: dict[str, Any]) -> Climb:
        try:
            with self._pool.take(what) as taken:
                evidence["board"] = taken.name
                state = BoardState(taken.board.probe_id)
                climbed = climb(taken.board, job, directory, lock=taken.lock, state=state)
        except BoardBusy as error:
            raise CandidateFailure("rig_bad", "run", str(error), {"outcome": "busy"}) from error
        evidence["attempts"] = list(climbed.attempts)
        evidence.update(climbed.report.facts)
        evidence["board_released"] = climbed.report.is_released
        evidence["clock"] = f"{self._board.clock.mhz} MHz, {self._board.clock.source}"
        return climbed

    def _judge(
        self,
        climbed: Climb,
        conversion: Conversion,
        image: Image,
        settings: MeasureSettings,
        facts: dict[str, Any],
    ) -> tuple[Measurement, tuple[NDArray[Any], ...]]:
        module, report = conversion.module, climbed.report
        is_virtual = report.facts.get("probe_vendor") == VIRTUAL_VENDOR
        if self._counts_ticks and report.outcome == "ended" and not is_virtual:
            reason = f"{TICKS_VARIABLE} is set, but this board is not a virtual one"
            raise CandidateFailure("rig_bad", "result", reason)
        if report.outcome != "ended":
            raise session_failure(report, image)
        result = read_result((climbed.folder / DUMP_NAME).read_bytes(), image, module)
        facts["stack_bytes"] = result.stack_used_bytes
        check_result(result, conversion, image)
        markers = (climbed.folder / MARKERS_NAME).read_bytes()
        counts = read_counts(result, markers, module, settings)
        run_s = report.facts.get("run_s")
        limits = CounterLimits(
            core=self._platform.core,
            macs=sum(operator.macs for operator in module.operators),
            clock_mhz=self._board.clock.mhz,
            run_s=run_s if isinstance(run_s, float) else 0.0,
            counts_ticks=self._counts_ticks,
        )
        check_counter(result, counts, limits)
        outputs = decode_outputs(result.outputs, module.outputs)
        return _ok_measurement(module, result, counts, outputs), outputs


def session_failure(report: SessionReport, image: Image) -> CandidateFailure:
    """Gives what a session that did not reach the firmware's end means for the candidate.

    Args:
        report: What the session found.
        image: What ran; names places in it.
    """
    if report.outcome == "faulted":
        return fault_failure(report.registers, image, None)
    place = "" if report.pc is None else f" at {image.function_at(report.pc)}"
    evidence: dict[str, Any] = {"outcome": report.outcome, "stage": report.stage}
    if report.pc is not None:
        evidence |= {"pc": f"0x{report.pc:08x}", "place": image.function_at(report.pc)}
    status = _BLAME.get(report.outcome, "rig_bad")
    return CandidateFailure(status, "run", f"{report.reason}{place}", evidence)


def _ok_measurement(
    module: Module,
    result: FirmwareResult,
    counts: BoardCounts,
    outputs: Sequence[NDArray[Any]],
) -> Measurement:
    operators = [
        OperatorCycles(id=operator.id, entry=operator.entry, cycles=cycles)
        for operator, cycles in zip(module.operators, counts.operators, strict=False)
    ]
    evidence: dict[str, Any] = {
        "counter": result.counter,
        "counter_check": result.counter_check,
        "counter_check_ticks": result.counter_check_ticks,
        "core_caches_on": list(result.caches),
        "events": dict(result.events),
    }
    if counts.instrumented is not None:
        evidence["callback_cycles"] = counts.instrumented - min(counts.repeats)
    return Measurement(
        status="ok",
        evidence=evidence,
        cycles=list(counts.repeats),
        warmup_cycles=list(counts.warmups),
        window_overhead_cycles=counts.overhead,
        instrumented_cycles=counts.instrumented,
        operator_cycles=operators,
        outputs_sha256=outputs_sha256(outputs),
    )


def library_of(board: Board, asked: KernelLibrary | None) -> KernelLibrary | None:
    """Gives the user's library that images link: the one asked for, else the board's; None for the bundled one."""
    own = None if board.kernels == "bundled" else board.kernels
    if asked is not None and own is not None and asked != own:
        raise RunnerError(
            "The campaign and the board file name different kernel libraries.",
            [
                Problem(
                    "runner.kernels",
                    f"is {asked.dialect} {asked.version}; the boards have {own.dialect} {own.version}",
                )
            ],
            next_step="name the library in one of them only",
        )
    return asked or own


def _boards_of(
    boards: Mapping[str, Board], platform: Platform, clock_mhz: int | None, path: Path
) -> dict[str, Board]:
    """Gives the boards of a platform; they must count the same."""

    def fits(board: Board) -> bool:
        return board.platform == platform.name and clock_mhz in (None, board.clock.mhz)

    pool = {name: board for name, board in boards.items() if fits(board)}
    if not pool:
        clock = f" at {clock_mhz} MHz" if clock_mhz is not None else ""
        raise RunnerError(
            f"{path} has no board for {platform.name}{clock}",
            next_step="add one, or convert for the platform of a board that is there",
        )
    problems = [
        Problem(f"boards.{name}.{'.'.join(key)}", reason)
        for name, board in pool.items()
        for key, reason in board_faults(board, platform)
    ]
    first, *others = pool
    problems += [
        Problem(f"boards.{name}", f"is set up in another way than {first}", "use the same settings")
        for name in others
        if pool[name].rig_digest() != pool[first].rig_digest()
    ]
    if problems:
        raise RunnerError(f"the boards of {path} cannot measure for {platform.name}", problems)
    return pool


def _check_pyocd() -> None:
    if find_spec("pyocd") is None:
        raise ToolchainError(
            "pyOCD is missing, which talks to the debug probes",
            next_step="pip install 'helia-search[device]'",
        )
