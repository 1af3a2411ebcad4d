# SPDX-License-Identifier: Apache-2.0
"""The runner that needs no board: QEMU computes, a timing plugin counts modelled cycles."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from helia_aot.errors import Problem
from runners.base import MeasureSettings
from runners.build import Builder, BuildResult, compiler_flags
from runners.cache_files import cache_directory
from runners.errors import RunnerError
from runners.failure import CandidateFailure
from runners.firmware_result import MAX_WINDOWS, MalformedResult, encode_stimulus
from runners.image import Image
from runners.kernel_library import kernel_library_version
from runners.measurement import (
    Measurement,
    MeasurementResult,
    OperatorCycles,
    RunnerIdentity,
    Stimulus,
    outputs_sha256,
)
from runners.simulator.emulator import EmulatorRun, EmulatorSettings, run_image
from runners.simulator.events import WindowCycles, marker_count, read_windows
from runners.simulator.machines import machine_layout
from runners.simulator.memory_timing import cache_geometry, memory_regions
from runners.simulator.timing import (
    TimingReport,
    build_plugin,
    timing_model_identity,
    write_parameters,
)
from runners.toolchain import find_arm_compiler, find_emulator
from runners.verdict import check_result, decode_outputs, read_result, stimulus_problems

if TYPE_CHECKING:
    from helia_aot.api import Conversion
    from helia_aot.codegen.module import Module
    from helia_aot.platforms.schema import Platform

RUNNER_VERSION = 1
"""Raised when images are laid out, run or counted in another way."""

_PARAMETERS = "timing_parameters.txt"
_FIXED_WINDOWS = 2  # the empty one and the one with callbacks


class SimulatorRunner:
    """Measures modules for one platform and clock in modelled cycles.

    The same module, stimulus and identity give the same cycles on every machine. They come from a
    model and are never those of silicon.
    """

    def __init__(self, platform: Platform, *, clock_mhz: int | None = None) -> None:
        """Makes the runner and finds its tools.

        Args:
            platform: What modules are converted for.
            clock_mhz: One of the platform's speeds; None takes the one of its memory figures.

        Raises:
            RunnerError: If the platform has no simulator, or not this clock.
            ToolchainError: If a tool is missing.
        """
        self._platform = platform
        self._layout = machine_layout(platform)
        target = platform.simulator
        assert target is not None  # machine_layout refuses platforms without one
        self._clock_mhz = target.clock_mhz if clock_mhz is None else clock_mhz
        if self._clock_mhz not in platform.speeds_mhz:
            speeds = ", ".join(str(speed) for speed in platform.speeds_mhz)
            raise RunnerError(
                f"{platform.name} does not run at {self._clock_mhz} MHz",
                next_step=f"use one of: {speeds}",
            )
        self._machine = target.machine
        self._compiler = find_arm_compiler()
        self._emulator = find_emulator()
        self._plugin = build_plugin(cache_directory() / "plugin")
        self._builder = Builder(self._compiler, platform.core, self._layout, "done_semihosting.c")
        self._parameters = self._timing_parameters()
        self._identity = self._find_identity()

    @property
    def platform(self) -> Platform:
        """The platform that modules must be converted for."""
        return self._platform

    def identity(self) -> RunnerIdentity:
        """Gives what this runner is."""
        return self._identity

    def _find_identity(self) -> RunnerIdentity:
        digest = hashlib.sha256(f"{self._parameters}code {self._layout.code}".encode())
        model = timing_model_identity(self._platform.core)
        return RunnerIdentity(
            runner="simulator",
            runner_version=f"{RUNNER_VERSION} firmware {_firmware_digest()[:16]}",
            timing_model=f"{model} memories {digest.hexdigest()[:16]}",
            counts="modelled cycles",
            platform=self._platform.name,
            core=self._platform.core,
            clock_mhz=self._clock_mhz,
            toolchain=self._compiler.version,
            toolchain_digest=self._compiler.digest,
            compiler_flags=compiler_flags(self._platform.core),
            kernel_library=kernel_library_version(),
            emulator=self._emulator.version,
        )

    def measure(
        self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
    ) -> MeasurementResult:
        """Builds a converted module, runs it on the stimulus and counts modelled cycles.

        Args:
            conversion: What to measure.
            stimulus: Its inputs.
            settings: How.

        Returns:
            The measurement and the outputs.

        Raises:
            RunnerError: If platform, stimulus or settings are not for this runner.
        """
        module = conversion.module
        self._check_request(conversion, stimulus, settings)
        seconds: dict[str, float] = {}
        measurement = Measurement(status="unknown", stage="run", reason="not measured")
        outputs: tuple[NDArray[Any], ...] = ()
        with _work_directory(settings.keep_dir) as directory:
            facts: dict[str, Any] = {}
            try:
                with _timed(seconds, "build"):
                    built = self._builder.build(
                        module, directory, timeout_s=settings.build_timeout_s
                    )
                if settings.find_image and (found := settings.find_image(built.image.sha256)):
                    return MeasurementResult(found.model_copy(update={"stage_seconds": seconds}))
                facts = _image_facts(built, self._platform)
                with _timed(seconds, "run"):
                    run = self._run(module, built.image, stimulus, settings, directory)
                result = read_result(run.dump, built.image, module)
                facts["stack_bytes"] = result.stack_used_bytes
                check_result(result, conversion, built.image)
                windows = _read_windows(run.timing, module, settings)
                outputs = decode_outputs(result.outputs, module.outputs)
                measurement = _ok_measurement(module, windows, outputs, run.timing)
            except CandidateFailure as failure:
                measurement = failure.measurement()
        update = {**facts, "identity": self._identity, "stage_seconds": seconds}
        return MeasurementResult(measurement.model_copy(update=update), outputs)

    def _check_request(
        self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
    ) -> None:
        problems: list[Problem] = []
        if conversion.platform != self._platform:
            problems.append(
                Problem(
                    "platform", f"the module is for another platform than {self._platform.name}"
                )
            )
        if not any(file.path.startswith("kernels/") for file in conversion.module.files):
            problems.append(
                Problem(
                    "module.kernels",
                    "the module comes without its kernels",
                    "set module.kernels to bundled",
                )
            )
        if not conversion.module.allocates_arenas:
            problems.append(
                Problem(
                    "memory.allocate_arenas",
                    "the module leaves its arenas to an application",
                    "set memory.allocate_arenas to true",
                )
            )
        if not conversion.module.hydrates_constants:
            problems.append(
                Problem(
                    "memory.auto_hydrate_constants",
                    "the module leaves copying its staged constants to an application",
                    "set memory.auto_hydrate_constants to true",
                )
            )
        if settings.warmups + settings.repeats > MAX_WINDOWS - _FIXED_WINDOWS:
            limit = MAX_WINDOWS - _FIXED_WINDOWS
            problems.append(Problem("settings", f"more than {limit} warm-ups and repeats"))
        problems += stimulus_problems(conversion.module.inputs, stimulus)
        if problems:
            raise RunnerError("the module cannot be measured like this", problems)

    def _run(
        self,
        module: Module,
        image: Image,
        stimulus: Stimulus,
        settings: MeasureSettings,
        directory: Path,
    ) -> EmulatorRun:
        parameters = directory / _PARAMETERS
        parameters.write_text(self._parameters, "utf-8")
        data = encode_stimulus(
            stimulus.inputs,
            warmups=settings.warmups,
            repeats=settings.repeats,
            per_operator=settings.per_operator,
        )
        return run_image(
            EmulatorSettings(
                self._emulator.path,
                self._machine,
                self._plugin,
                parameters,
                settings.timeout_s,
            ),
            image,
            data,
            directory,
            marker_count=marker_count(len(module.operators)),
        )

    def _timing_parameters(self) -> str:
        caches = self._platform.caches
        with tempfile.TemporaryDirectory(prefix="helia-search-") as folder:
            path = Path(folder, _PARAMETERS)
            write_parameters(
                path,
                self._platform.core,
                memory_regions(self._platform, self._layout, self._clock_mhz),
                data_cache=cache_geometry(caches.dcache if caches else None),
                code_cache=cache_geometry(caches.icache if caches else None),
            )
            return path.read_text("utf-8")


@contextmanager
def _work_directory(keep: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="helia-search-") as name:
        directory = Path(name)
        try:
            yield directory
        finally:
            if keep is not None:
                shutil.copytree(directory, keep, dirs_exist_ok=True)


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    start = time.monotonic()
    try:
        yield
    finally:
        seconds[stage] = round(time.monotonic() - start, 4)


@cache
def _firmware_digest() -> str:
    digest = hashlib.sha256()
    folder = resources.files("runners").joinpath("firmware")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_file() and entry.name.endswith((".c", ".h", ".j2")):
            digest.update(entry.name.encode() + b"\0" + entry.read_bytes())
    return digest.hexdigest()


def _image_facts(built: BuildResult, platform: Platform) -> dict[str, Any]:
    sections = built.image.sections
    initialised = sum(s.text_bytes + s.rodata_bytes + s.data_bytes for s in sections.values())
    volatile = [s for name, s in sections.items() if platform.memories[name].volatile]
    return {
        "sections": dict(sections),
        "code_bytes": built.image.code_bytes,
        "flash_bytes": initialised,
        "ram_bytes": sum(s.total_bytes for s in volatile),
        "image_sha256": built.image.sha256,
    }


def _read_windows(timing: TimingReport, module: Module, settings: MeasureSettings) -> WindowCycles:
    try:
        return read_windows(
            timing.events,
            n_operators=len(module.operators),
            warmups=settings.warmups,
            repeats=settings.repeats,
            per_operator=settings.per_operator,
        )
    except MalformedResult as error:
        raise CandidateFailure(
            "unknown", "result", f"the marker events do not fit the run: {error}"
        ) from error


def _ok_measurement(
    module: Module,
    windows: WindowCycles,
    outputs: tuple[NDArray[Any], ...],
    timing: TimingReport,
) -> Measurement:
    operators = [
        OperatorCycles(id=operator.id, entry=operator.entry, cycles=cycles)
        for operator, cycles in zip(module.operators, windows.operators, strict=False)
    ]
    evidence: dict[str, Any] = {}
    if timing.unknown_instructions:
        evidence["unmodelled_instructions"] = timing.unknown_instructions
        evidence["unmodelled_encodings"] = list(timing.unknown_encodings)
    return Measurement(
        status="ok",
        evidence=evidence,
        cycles=list(windows.repeats),
        warmup_cycles=list(windows.warmups),
        window_overhead_cycles=windows.overhead,
        instrumented_cycles=windows.instrumented,
        operator_cycles=operators,
        outputs_sha256=outputs_sha256(outputs),
    )
