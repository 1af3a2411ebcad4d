# SPDX-License-Identifier: Apache-2.0
"""Which plan a campaign writes: a finalist only when repetitions show it faster than ``auto``.

A finalist and the baseline are measured in the order baseline, finalist, finalist, baseline, so
that a slow drift of the rig hits both alike. The measurement that made a plan a finalist does not
count: it was chosen for being low.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median_low
from typing import Final

from results.evidence import Comparison, Confirmation
from results.records import TrialRecord
from runners.measurement import Measurement

MAX_FINALISTS: Final = 3
"""How many plans may be verified; each further one is another chance to be fooled by noise."""

ROUND: Final = (False, True, True, False)
"""One round of the comparison; True is the finalist."""

NOISY_ROUNDS: Final = 3
"""Rounds when the first one shows any spread; a deterministic runner needs one."""


def _cycles(measurement: Measurement) -> float | None:
    return measurement.comparable_cycles


def _median_cycles(measurement: Measurement) -> int:
    """Gives the median of the timed runs, comparable between boards as ``comparable_cycles``."""
    cycles = median_low(measurement.cycles)
    if measurement.baseline_ratio is None:
        return cycles
    return round(cycles * measurement.comparable_cycles / max(1, measurement.best_cycles))


def finalists(
    records: Sequence[TrialRecord],
    baseline: TrialRecord,
    *,
    value: Callable[[Measurement], float | None] = _cycles,
) -> tuple[TrialRecord, ...]:
    """Gives the plans of the space that measured better than the baseline, best first.

    Of equally good plans the one with fewer changes against the baseline comes first.

    Args:
        records: The ledger.
        baseline: What ``auto`` does.
        value: What is minimised, of a good measurement; None for a plan that must not be written. A
            baseline that must not be written is worse than every plan that may.
    """
    best: dict[str, tuple[float, TrialRecord]] = {}
    limit = value(baseline.measurement)
    for record in records:
        is_candidate = record.role in ("search", "reference") and record.in_space
        if not is_candidate or record.measurement.status != "ok":
            continue
        found = value(record.measurement)
        if found is not None and (limit is None or found < limit):
            best.setdefault(record.plan_key, (found, record))
    ranked = sorted(
        (record for _, record in best.values()),
        key=lambda record: (
            best[record.plan_key][0],
            sum(baseline.choices.get(name) != value for name, value in record.choices.items()),
            record.plan_key,
        ),
    )
    return tuple(ranked[:MAX_FINALISTS])


def separates(finalist: Sequence[int], baseline: Sequence[int]) -> bool:
    """Says whether all repetitions of the finalist are below the baseline's by more than the noise.

    The noise is the larger of the two spreads (highest minus lowest); it is 0 on a deterministic
    runner.
    """
    spread = max(max(finalist) - min(finalist), max(baseline) - min(baseline))
    return max(finalist) + spread < min(baseline)


Measure = Callable[[bool, int], Measurement]
"""Gives the repetition of a slot (from 0); its first argument says whether it is the finalist's."""


def compare(plan_key: str, measure: Measure, *, elsewhere: Measure | None = None) -> Comparison:
    """Compares a finalist with the baseline.

    Args:
        plan_key: The finalist.
        measure: Measures in one place.
        elsewhere: Measures in another place, where there is one: a finalist that wins in the first
            must win there too. A place that fails confirms nothing and refutes nothing.
    """
    cycles: dict[bool, list[int]] = {True: [], False: []}
    slot = 0
    for _ in range(NOISY_ROUNDS):
        for is_finalist in ROUND:
            measurement = measure(is_finalist, slot)
            slot += 1
            if measurement.status != "ok":
                who = "finalist" if is_finalist else "baseline"
                return _result(
                    plan_key,
                    cycles,
                    False,
                    f"a repetition of the {who} failed: {measurement.reason}",
                )
            cycles[is_finalist].append(_median_cycles(measurement))
        if all(len(set(values)) == 1 for values in cycles.values()):
            break
    if not separates(cycles[True], cycles[False]):
        return _result(
            plan_key, cycles, False, "the gain does not clear the noise of the repetitions"
        )
    result = _result(plan_key, cycles, True, "every repetition was faster by more than the noise")
    return result if elsewhere is None else _confirmed(result, slot, elsewhere)


def _confirmed(result: Comparison, slot: int, elsewhere: Measure) -> Comparison:
    cycles = []
    for number, is_finalist in enumerate((False, True)):
        measurement = elsewhere(is_finalist, slot + number)
        if measurement.status == "plan_bad" and is_finalist:
            reason = f"another worker refutes the plan: {measurement.reason}"
            return result.model_copy(update={"is_faster": False, "reason": reason})
        if measurement.status != "ok":
            reason = f"{result.reason}; no other worker could confirm it: {measurement.reason}"
            return result.model_copy(update={"reason": reason})
        cycles.append(_median_cycles(measurement))
    baseline, finalist = cycles
    # What the repetitions in the first place were apart, relative to what they counted.
    spread = max(
        (max(values) - min(values)) / max(1, min(values))
        for values in (result.finalist_cycles, result.baseline_cycles)
    )
    is_faster = finalist * (1 + spread) < baseline
    reason = "and another worker confirms it" if is_faster else "but not on another worker"
    return result.model_copy(
        update={
            "is_faster": is_faster,
            "reason": f"{result.reason}, {reason}",
            "confirmation": Confirmation(finalist_cycles=finalist, baseline_cycles=baseline),
        }
    )


def confirm(
    plan_key: str,
    measure: Callable[[bool, int], Measurement],
    *,
    is_good: Callable[[Measurement], bool],
    reason: str,
) -> Comparison:
    """Measures a finalist again that has no baseline to be faster than, or wins by its size.

    Args:
        plan_key: The finalist.
        measure: Gives a repetition, as for :func:`compare`.
        is_good: Whether a repetition keeps what the finalist promised.
        reason: Why it wins then.
    """
    cycles: dict[bool, list[int]] = {True: [], False: []}
    for slot in range(2):
        measurement = measure(True, slot)
        if measurement.status != "ok":
            why = f"a repetition of the finalist failed: {measurement.reason}"
            return _result(plan_key, cycles, False, why)
        cycles[True].append(_median_cycles(measurement))
        if not is_good(measurement):
            return _result(plan_key, cycles, False, "a repetition of the finalist breaks a limit")
    return _result(plan_key, cycles, True, reason)


def _result(
    plan_key: str, cycles: dict[bool, list[int]], is_faster: bool, reason: str
) -> Comparison:
    return Comparison(
        plan_key=plan_key,
        finalist_cycles=tuple(cycles[True]),
        baseline_cycles=tuple(cycles[False]),
        is_faster=is_faster,
        reason=reason,
    )
