# SPDX-License-Identifier: Apache-2.0
"""What a runner returns: numbers, outputs and their evidence, or the reason why there are none.

A candidate that does not build, faults or hangs is data, not an exception: its
:class:`Measurement` has another status than ``ok``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, JsonValue, model_validator

from helia_aot.config.base import StrictModel

Status = Literal["ok", "plan_bad", "rig_bad", "unknown"]
"""``ok``: measured. ``plan_bad``: the module does not build, fit, end or repeat its outputs, and
would not on another rig. ``rig_bad``: a tool or a target failed, the module was not judged.
``unknown``: the result cannot be read."""

Stage = Literal["convert", "build", "link", "run", "result", "compare"]
"""Where a measurement ended that is not ``ok``."""


class RunnerIdentity(StrictModel):
    """Everything outside the module and its inputs that can change a measured number.

    Two measurements are comparable only if their identities are equal.

    Attributes:
        runner: Name of the runner, as in the registry.
        runner_version: Version of the runner's own rules, and a digest of its firmware and linker
            script.
        timing_model: Name, version and parameter digest of the timing model; None on silicon.
        counts: What ``cycles`` means: ``modelled cycles`` of a simulator, ``cycles`` of silicon, or
            ``virtual board ticks``, which are no timing and exist in tests only.
        platform: Platform name.
        core: Core name, e.g. ``cortex-m55``.
        clock_mhz: Core clock that memory costs are scaled for.
        toolchain: Compiler version text.
        toolchain_digest: SHA-256 over the programs and libraries of the toolchain that make code.
        compiler_flags: Flags, in order, of the module, the kernels and the link.
        kernel_library: Release of the kernel dialect and digest of the bundled sources.
        emulator: Emulator version text; None on silicon.
    """

    runner: str
    runner_version: str
    timing_model: str | None
    counts: Literal["modelled cycles", "cycles", "virtual board ticks"]
    platform: str
    core: str
    clock_mhz: int
    toolchain: str
    toolchain_digest: str
    compiler_flags: dict[str, str]
    kernel_library: str
    emulator: str | None

    def digest(self) -> str:
        """Gives the SHA-256 of all fields, for cache keys and comparisons.

        Returns:
            64 hexadecimal digits; equal identities have equal digests on every machine.
        """
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class OperatorCycles(StrictModel):
    """Cycles of one operator in the run with callbacks.

    Attributes:
        id: Operator id as in the plan.
        entry: Kernel entry that it called; None for an operator without a call.
        cycles: Cycles between its started and finished callbacks, at least 0.
    """

    id: str
    entry: str | None
    cycles: int


class MemorySections(StrictModel):
    """Bytes that the module, its kernels and the C library take in one memory.

    The firmware that measures is not counted.

    Attributes:
        text_bytes: Machine code.
        rodata_bytes: Constants that stay where they are, such as weights in MRAM.
        data_bytes: Initialised data that the startup code copies here.
        bss_bytes: Zeroed data, such as scratch and persistent arenas.
    """

    text_bytes: int = 0
    rodata_bytes: int = 0
    data_bytes: int = 0
    bss_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        """The sum of all four."""
        return self.text_bytes + self.rodata_bytes + self.data_bytes + self.bss_bytes


class Measurement(StrictModel):
    """The outcome of one candidate on one runner.

    Attributes:
        status: See :data:`Status`.
        stage: Where it ended; None if ``ok``.
        reason: One sentence; empty if ``ok``.
        evidence: Details behind the reason: the compiler's message, registers, a region's bytes.
        cycles: One number for each timed run of the whole model without callbacks, window overhead
            subtracted.
        warmup_cycles: The same for the runs before them; the first one starts with cold caches.
        window_overhead_cycles: Cost of an empty timed window.
        instrumented_cycles: The run with callbacks; None without per-operator cycles.
        operator_cycles: Cycles by operator, in execution order; empty if not asked for.
        outputs_sha256: SHA-256 over all outputs, one after another; None if there are none.
        sections: Bytes by memory and kind.
        code_bytes: Machine code and read-only tables of the module and its kernels, without weights
            and the C library.
        source_code_bytes: The parts of ``code_bytes`` by source file, names without folder and suffix; empty
            where that is not known.
        flash_bytes: Bytes in non-volatile memory, initial values of RAM data included.
        ram_bytes: Bytes in volatile memories, stack not included.
        storage_bytes: What the conversion says that arenas and constants take, by name of the budget;
            empty where it was not asked for.
        errors: How far the outputs are from a reference, by metric; empty where that was not judged.
        stack_bytes: High-water mark of the stack; None if not known.
        image_sha256: SHA-256 over the loadable segments; equal for equal builds in any directory.
        baseline_ratio: ``best_cycles`` over those of the campaign's baseline on the same board; None without a board,
            and where the baseline could not be measured on it.
        baseline_cycles: Cycles of the baseline on the first board of the campaign; set with ``baseline_ratio``.
        identity: What measured it; None if nothing got that far.
        stage_seconds: Wall-clock seconds by stage; the only field that differs between equal runs.
    """

    status: Status
    stage: Stage | None = None
    reason: str = ""
    evidence: dict[str, JsonValue] = Field(default_factory=dict)
    cycles: list[int] = Field(default_factory=list)
    warmup_cycles: list[int] = Field(default_factory=list)
    window_overhead_cycles: int | None = None
    instrumented_cycles: int | None = None
    operator_cycles: list[OperatorCycles] = Field(default_factory=list)
    outputs_sha256: str | None = None
    sections: dict[str, MemorySections] = Field(default_factory=dict)
    code_bytes: int | None = None
    source_code_bytes: dict[str, int] = Field(default_factory=dict)
    flash_bytes: int | None = None
    ram_bytes: int | None = None
    storage_bytes: dict[str, int] = Field(default_factory=dict)
    errors: dict[str, float] = Field(default_factory=dict)
    stack_bytes: int | None = None
    image_sha256: str | None = None
    baseline_ratio: float | None = None
    baseline_cycles: int | None = None
    identity: RunnerIdentity | None = None
    stage_seconds: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _status_and_numbers_agree(self) -> Self:
        if self.status == "ok" and (
            self.stage is not None or not self.cycles or self.outputs_sha256 is None
        ):
            raise ValueError("an ok measurement has cycles, outputs and no failing stage")
        if self.status != "ok" and (self.stage is None or not self.reason):
            raise ValueError("a measurement that is not ok names its stage and reason")
        return self

    @property
    def best_cycles(self) -> int:
        """The smallest of the timed runs; only for an ``ok`` measurement.

        Raises:
            ValueError: If there is no timed run.
        """
        return min(self.cycles)

    @property
    def board(self) -> str | None:
        """The board that measured it; None for a runner without boards."""
        name = self.evidence.get("board")
        return name if isinstance(name, str) else None

    @property
    def comparable_cycles(self) -> float:
        """Cycles that compare with those of other boards of the campaign; only for an ``ok`` measurement.

        Two boards may count differently for the same image. So these are ``baseline_ratio`` times the baseline's
        cycles on the first board, and ``best_cycles`` where there is no ratio.
        """
        if self.baseline_ratio is None or self.baseline_cycles is None:
            return float(self.best_cycles)
        return self.baseline_ratio * self.baseline_cycles

    @property
    def operator_sum_cycles(self) -> int:
        """Sum of ``operator_cycles``; ``instrumented_cycles`` also counts dispatch."""
        return sum(operator.cycles for operator in self.operator_cycles)


@dataclass(frozen=True)
class Stimulus:
    """The inputs of one inference, in the order of the model's inputs.

    Attributes:
        inputs: One array for each model input, in the model's own type and shape.
    """

    inputs: tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class MeasurementResult:
    """A measurement and what the target computed.

    Attributes:
        measurement: The record to keep.
        outputs: One array for each model output in its own type and shape; empty unless ``ok``.
    """

    measurement: Measurement
    outputs: tuple[NDArray[Any], ...] = ()


def outputs_sha256(outputs: Sequence[NDArray[Any]]) -> str:
    """Gives the SHA-256 over the bytes of all outputs, one after another.

    Args:
        outputs: Arrays of any type; each is read in C order, little-endian as on the target.

    Returns:
        64 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for output in outputs:
        little_endian = output.dtype.newbyteorder("<")
        digest.update(np.ascontiguousarray(output, dtype=little_endian).tobytes())
    return digest.hexdigest()
