# SPDX-License-Identifier: Apache-2.0
"""Whether a board's counter can be believed, and what it counted."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import JsonValue

from runners.failure import CandidateFailure
from runners.firmware_result import FirmwareResult, MalformedResult

if TYPE_CHECKING:
    from helia_aot.codegen.module import Module
    from runners.base import MeasureSettings

PEAK_MACS_PER_CYCLE = MappingProxyType({"cortex-m4": 2, "cortex-m55": 8})
"""Multiply-accumulates of 8-bit values: two in SMLAD; eight in the two beats of a VMLADAV (facts of the cores'
reference manuals). More than that is no measurement."""

_CHECK_ITERATIONS = 1000
"""HELIA_COUNTER_CHECK_ITERATIONS."""

_MIN_LOOP_CYCLES = _CHECK_ITERATIONS // 2
_MAX_LOOP_CYCLES = 100 * _CHECK_ITERATIONS
"""An iteration is two or three instructions. No core here ends two iterations in a cycle, and even from slow memory
without a cache one does not take 100 cycles."""

_TICKS_MODULUS = 1 << 24
_CLOCK_TOLERANCE_CYCLES = 1000
"""Between a window by the counter and by the second clock, which is read outside of it."""

_WALL_SLACK_S = 0.25
_TIMER_SHIFT = 8
_WORD = 1 << 32


@dataclass(frozen=True)
class BoardCounts:
    """What the counter said, the cost of reading it subtracted.

    Attributes:
        overhead: That cost.
        warmups: One for each run before the timed ones.
        repeats: One for each timed run.
        instrumented: The run with callbacks; None without.
        operators: One for each operator, from that run.
    """

    overhead: int
    warmups: tuple[int, ...]
    repeats: tuple[int, ...]
    instrumented: int | None
    operators: tuple[int, ...]


def read_counts(
    result: FirmwareResult, markers: bytes, module: Module, settings: MeasureSettings
) -> BoardCounts:
    """Gives the counts of a run.

    Args:
        result: What the firmware says.
        markers: The words at ``helia_markers``.
        module: What ran.
        settings: How often it was to run.

    Raises:
        CandidateFailure: ``unknown``, if there are not as many as the settings ask for.
    """
    expected = 1 + settings.warmups + settings.repeats + settings.per_operator
    words = 2 + 2 * len(module.operators)
    if len(result.window_cycles) != expected or len(markers) != 4 * words:
        error = MalformedResult(f"{len(result.window_cycles)} windows, not {expected}")
        raise CandidateFailure("unknown", "result", str(error))
    shift = _TIMER_SHIFT if result.counter == "timer" else 0
    empty, *windows = (window >> shift for window in result.window_cycles)
    counts = [max(window - empty, 0) for window in windows]
    stamps = struct.unpack(f"<{words}I", markers)[2:]
    operators = [
        max(((end - start) % _WORD >> shift) - empty, 0)
        for start, end in zip(stamps[::2], stamps[1::2], strict=True)
    ]
    repeats_end = settings.warmups + settings.repeats
    return BoardCounts(
        overhead=empty,
        warmups=tuple(counts[: settings.warmups]),
        repeats=tuple(counts[settings.warmups : repeats_end]),
        instrumented=counts[repeats_end] if settings.per_operator else None,
        operators=tuple(operators) if settings.per_operator else (),
    )


@dataclass(frozen=True)
class CounterLimits:
    """What a believable count keeps within.

    Attributes:
        core: A key of :data:`PEAK_MACS_PER_CYCLE`.
        macs: Multiply-accumulates of one inference.
        clock_mhz: Core clock that the board file states.
        run_s: Wall-clock seconds of the whole run on the host.
        counts_ticks: Whether the timer of a virtual board counts, where rates mean nothing.
    """

    core: str
    macs: int
    clock_mhz: int
    run_s: float
    counts_ticks: bool


def check_counter(result: FirmwareResult, counts: BoardCounts, limits: CounterLimits) -> None:
    """Passes only a counter that ran, at one rate with the second clock, and within what can be.

    Args:
        result: What the firmware says.
        counts: The same, read.
        limits: What can be.

    Raises:
        CandidateFailure: ``rig_bad``, with every reason.
    """
    wanted = "timer" if limits.counts_ticks else "cyccnt"
    if result.counter != wanted:
        raise _implausible([f"the cycle counter stands still (counter: {result.counter})"], result)
    reasons = [] if all(counts.repeats) else ["a timed run took no cycles"]
    if not limits.counts_ticks:
        reasons += _rate_faults(result)
        least = min(counts.repeats)
        if limits.macs > PEAK_MACS_PER_CYCLE[limits.core] * least:
            peak = PEAK_MACS_PER_CYCLE[limits.core]
            reasons.append(f"{limits.macs} MACs in {least} cycles is more than {peak} a cycle")
        counted_s = sum(result.window_cycles) / (limits.clock_mhz * 1e6)
        if counted_s > limits.run_s + _WALL_SLACK_S:
            reasons.append(
                f"{counted_s:.2f} s at {limits.clock_mhz} MHz were counted within {limits.run_s:.2f} s"
            )
    if reasons:
        raise _implausible(reasons, result)


def _rate_faults(result: FirmwareResult) -> list[str]:
    faults: list[str] = []
    if not _MIN_LOOP_CYCLES <= result.counter_check <= _MAX_LOOP_CYCLES:
        faults.append(
            f"{_CHECK_ITERATIONS} iterations of a short loop took {result.counter_check} cycles"
        )
    windows = zip(result.window_cycles, result.window_ticks, strict=True)
    pairs = [(result.counter_check, result.counter_check_ticks), *windows]
    apart = [pair for pair in pairs if _distance(*pair) > _CLOCK_TOLERANCE_CYCLES]
    if apart:
        cycles, ticks = apart[0]
        faults.append(f"the second clock counted {ticks} (mod 2^24) where the counter has {cycles}")
    return faults


def _distance(cycles: int, ticks: int) -> int:
    apart = (ticks - cycles) % _TICKS_MODULUS
    return min(apart, _TICKS_MODULUS - apart)


def _implausible(reasons: Sequence[str], result: FirmwareResult) -> CandidateFailure:
    evidence: dict[str, JsonValue] = {
        "outcome": "counter_implausible",
        "counter": result.counter,
        "counter_check": result.counter_check,
        "counter_check_ticks": result.counter_check_ticks,
    }
    reason = f"the counter cannot be believed: {'; '.join(reasons)}"
    return CandidateFailure("rig_bad", "result", reason, evidence)
