# SPDX-License-Identifier: Apache-2.0
"""Where a campaign stands: counts and look-ups over a ledger, kept up to date line by line.

Each question costs the same after ten lines and after ten thousand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from results.records import Entry, RepeatRecord, Role, TrialRecord
from runners.measurement import Measurement

_Key = tuple[Role, str, int | None, str | None]


def _cycles(measurement: Measurement) -> float | None:
    return measurement.comparable_cycles


class Standing:
    """What the lines of one ledger add up to.

    Args:
        entries: The lines so far, in order; later ones come by :meth:`add`.
        value: What is minimised, of a good measurement; None for a plan that breaks a limit.

    Attributes:
        known: The record that answers for each plan, as :func:`results.records.known_plans`.
        seen_plans: Different plans of the space with a settled outcome.
        search_trials: Conclusive search trials.
        trials_without_gain: Those of them since the best plan of the space was measured.
        repeats: Proposals that were answered from the ledger.
        trailing_repeats: Those of them since the last new proposal.
        failures: Failed evaluations by status.
        best_cycles: Lowest comparable cycles of any plan that may be written, repetitions for the verdict left
            out; None if none.
        best_in_space: The lowest value of such plans of the space.
        best_cycles_in_space: The lowest comparable cycles of such plans of the space.
        baseline_cycles: Cycles of the baseline; None before it was measured.
    """

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        *,
        value: Callable[[Measurement], float | None] = _cycles,
    ) -> None:
        self._value = value
        self.known: dict[str, TrialRecord] = {}
        self.seen_plans = 0
        self.search_trials = 0
        self.trials_without_gain = 0
        self.repeats = 0
        self.trailing_repeats = 0
        self.failures: Counter[str] = Counter()
        self.best_cycles: int | None = None
        self.best_in_space: float | None = None
        self.best_cycles_in_space: int | None = None
        self.baseline_cycles: int | None = None
        self._conclusive: dict[_Key, TrialRecord] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Counts one more line."""
        if isinstance(entry, RepeatRecord):
            self.repeats += 1
            self.trailing_repeats += 1
            return
        if entry.measurement.status != "ok":
            self.failures[entry.measurement.status] += 1
        if entry.is_conclusive:
            key = (entry.role, entry.plan_key, entry.slot, entry.finalist)
            self._conclusive.setdefault(key, entry)
        if entry.role == "verify":
            return
        if entry.is_settled and entry.plan_key not in self.known:
            self.known[entry.plan_key] = entry
            self.seen_plans += entry.in_space
        self._count_gain(entry)
        if entry.role == "search":
            self.trailing_repeats = 0
            self.search_trials += entry.is_conclusive

    def find(
        self, role: Role, plan_key: str, *, slot: int | None, finalist: str | None
    ) -> TrialRecord | None:
        """Gives the first conclusive record of a role, plan and place in a comparison."""
        return self._conclusive.get((role, plan_key, slot, finalist))

    def _count_gain(self, entry: TrialRecord) -> None:
        is_good = entry.measurement.status == "ok"
        value = self._value(entry.measurement) if is_good else None
        cycles = round(entry.measurement.comparable_cycles) if is_good else 0
        if is_good:
            if value is not None:
                best = self.best_cycles
                self.best_cycles = cycles if best is None else min(best, cycles)
            if entry.role == "baseline" and self.baseline_cycles is None:
                self.baseline_cycles = cycles
        if not entry.in_space:
            return
        if value is not None:
            in_space = self.best_cycles_in_space
            self.best_cycles_in_space = cycles if in_space is None else min(in_space, cycles)
        is_better = value is not None and value < (
            math.inf if self.best_in_space is None else self.best_in_space
        )
        if is_better:
            self.best_in_space = value
        if entry.role == "search" and entry.is_conclusive:
            self.trials_without_gain = 0 if is_better else self.trials_without_gain + 1
