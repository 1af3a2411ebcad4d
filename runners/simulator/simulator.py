# SPDX-License-Identifier: Apache-2.0
"""The runner that needs no board: QEMU computes, a timing plugin counts modelled cycles."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from runners.base import MeasureSettings
from runners.build import Builder, BuildOptions, compiler_flags
from runners.cache_files import cache_directory
from runners.errors import RunnerError
from runners.failure import CandidateFailure
from runners.firmware_result import MalformedResult, encode_stimulus
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
from runners.trial import check_request, firmware_digest, image_facts, timed, work_directory
from runners.verdict import check_result, decode_outputs, read_result

if TYPE_CHECKING:
    from helia_aot.api import Conversion
    from helia_aot.codegen.module import Module
    from helia_aot.platforms.schema import Platform

RUNNER_VERSION = 1
"""Raised when images are laid out, run or counted in another way."""

_PARAMETERS = "timing_parameters.txt"


class SimulatorRunner:
    """Measures modules for one platform and clock in modelled cycles.

    The same module, stimulus and identity give the same cycles on every machine. They come from a
    model and are never those of silicon.
    """

    def __init__(
        self,
        platform: Platform,
        *,
        clock_mhz: int | None = None,
        kernels: KernelLibrary | None = None,
    ) -> None:
        """Makes the runner and finds its tools.

        Args:
            platform: What modules are converted for.
            clock_mhz: One of the platform's speeds; None takes the one of its memory figures.
            kernels: A kernel library to link in place of the bundled one.

        Raises:
            RunnerError: If the platform has no simulator, or not this clock, or the kernel library
                cannot be used.
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
        self._library = None if kernels is None else read_library(kernels)
        self._builder = Builder(
            self._compiler,
            platform.core,
            self._layout,
            "done_semihosting.c",
            BuildOptions(library=self._library),
        )
        self._parameters = self._timing_parameters()
        self._identity = self._find_identity()

    @property
    def platform(self) -> Platform:
        """The platform that modules must be converted for."""
        return self._platform

    def identity(self) -> RunnerIdentity:
        """Gives what this runner is."""
        return self._identity

    def slots(self) -> int | None:
        """Gives None: simulators do not share anything."""
        return None

    def _find_identity(self) -> RunnerIdentity:
        digest = hashlib.sha256(f"{self._parameters}code {self._layout.code}".encode())
        model = timing_model_identity(self._platform.core)
        return RunnerIdentity(
            runner="simulator",
            runner_version=f"{RUNNER_VERSION} firmware {firmware_digest()[:16]}",
            timing_model=f"{model} memories {digest.hexdigest()[:16]}",
            counts="modelled cycles",
            platform=self._platform.name,
            core=self._platform.core,
            clock_mhz=self._clock_mhz,
            toolchain=self._compiler.version,
            toolchain_digest=self._compiler.digest,
            compiler_flags=compiler_flags(self._platform.core),
            kernel_library=kernel_library_version(self._library),
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
        check_request(
            self._platform,
            conversion,
            stimulus,
            settings,
            library=self._library,
        )
        seconds: dict[str, float] = {}
        measurement = Measurement(status="unknown", stage="run", reason="not measured")
        outputs: tuple[NDArray[Any], ...] = ()
        with work_directory(settings.keep_dir) as directory:
            facts: dict[str, Any] = {}
            try:
                with timed(seconds, "build"):
                    built = self._builder.build(
                        module, directory, timeout_s=settings.build_timeout_s
                    )
                if settings.find_image and (found := settings.find_image(built.image.sha256)):
                    return MeasurementResult(found.model_copy(update={"stage_seconds": seconds}))
                facts = image_facts(built, self._platform)
                with timed(seconds, "run"):
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
