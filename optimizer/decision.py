# SPDX-License-Identifier: Apache-2.0
"""Which plan a campaign writes: finalists are measured again, and the first that is really better wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helia_aot.errors import Problem
from helia_aot.optimization.plan import OptimizationPlan
from optimizer.config import CampaignConfig
from optimizer.errors import CampaignError
from optimizer.quantities import CYCLES, counts_time, fits, quantity
from optimizer.search import Search
from optimizer.task import SearchTask
from optimizer.verdict import compare, confirm, finalists
from results.evidence import Comparison
from results.ledger import Ledger
from results.records import TrialRecord
from runners.measurement import Measurement
from search_spaces.plans import plan_at, plan_key


@dataclass(frozen=True)
class Verdict:
    """The plan that is written, and why.

    Attributes:
        plan: The plan.
        winner: Its record.
        comparisons: The repetitions of every finalist that was compared with the baseline.
        is_auto: Whether it is the plan that ``auto`` chooses.
        text: Why, in one sentence.
    """

    plan: OptimizationPlan
    winner: TrialRecord
    comparisons: tuple[Comparison, ...]
    is_auto: bool
    text: str


def decide(
    config: CampaignConfig,
    baseline_plan: OptimizationPlan,
    task: SearchTask,
    ledger: Ledger,
    search: Search,
) -> Verdict:
    """Verifies the finalists in turn; the first that is really better wins, else ``auto`` does.

    Args:
        config: The campaign.
        baseline_plan: The plan that ``auto`` chooses, as a point of the space.
        task: The space and what counts in it.
        ledger: What was measured, the baseline among it.
        search: Measures the repetitions.

    Raises:
        CampaignError: ``auto`` breaks a limit, and no plan was found that keeps to all of them.
    """
    trials = [entry for entry in ledger.entries if isinstance(entry, TrialRecord)]
    baseline = next(record for record in trials if record.role == "baseline" and record.is_good)
    is_fit = fits(baseline.measurement, task.budget)
    comparisons: list[Comparison] = []
    for finalist in finalists(trials, baseline, value=task.value):
        plan = plan_at(baseline_plan, task.space, finalist.choices)
        repetitions = _Repetitions(search, baseline_plan, plan)
        if is_fit and counts_time(task.objectives[0]):
            elsewhere = repetitions.elsewhere if config.ray.workers not in (0, 1) else None
            comparisons.append(
                compare(finalist.plan_key, repetitions.in_one_place, elsewhere=elsewhere)
            )
        else:
            comparisons.append(
                confirm(
                    finalist.plan_key,
                    repetitions.in_one_place,
                    is_good=lambda found: fits(found, task.budget),
                    reason=f"it has less {task.objectives[0]} than auto"
                    if is_fit
                    else "it keeps to the limits, which auto does not",
                )
            )
        if comparisons[-1].is_faster:
            return Verdict(plan, finalist, tuple(comparisons), False, comparisons[-1].reason)
    if not is_fit:
        raise CampaignError(
            "No plan keeps to the limits, so none is written.",
            _nearest(task, trials, baseline),
            next_step="raise the limits, or measure more plans with --trials",
        )
    text = "no measured plan is better than auto"
    if task.objectives[0] == CYCLES:
        text = "no measured plan is faster than auto"
    if comparisons:
        text = f"auto is kept: {comparisons[0].reason}"
    return Verdict(baseline_plan, baseline, tuple(comparisons), True, text)


def _nearest(
    task: SearchTask, trials: Sequence[TrialRecord], baseline: TrialRecord
) -> list[Problem]:
    """Gives, for each limit that auto breaks, what auto takes and the least that any plan took."""
    problems = []
    for name, limit in task.budget.items():
        values = [
            value
            for record in trials
            if record.measurement.status == "ok"
            and (value := quantity(record.measurement, name)) is not None
        ]
        auto = quantity(baseline.measurement, name)
        if auto is not None and auto > limit:
            reason = (
                f"auto takes {auto:,.0f} of {limit:,.0f}; the least measured is {min(values):,.0f}"
            )
            problems.append(Problem(f"budget.{name}", reason))
    return problems


class _Repetitions:
    """Measures for one comparison: all repetitions on one worker, those that confirm on another."""

    def __init__(
        self, search: Search, baseline: OptimizationPlan, finalist: OptimizationPlan
    ) -> None:
        self._search = search
        self._plans = {True: finalist, False: baseline}
        self._key = plan_key(finalist)
        self._used: set[int] = set()

    def in_one_place(self, is_finalist: bool, slot: int) -> Measurement:
        """Measures on the lowest worker; one job at a time is out, so it is the same one."""
        record = self._search.verify(self._plans[is_finalist], finalist=self._key, slot=slot)
        self._used |= set() if record.worker is None else {record.worker}
        return record.measurement

    def elsewhere(self, is_finalist: bool, slot: int) -> Measurement:
        """Measures on a worker that :meth:`in_one_place` did not use, where there is one."""
        record = self._search.verify(
            self._plans[is_finalist], finalist=self._key, slot=slot, avoid=frozenset(self._used)
        )
        if record.measurement.status == "ok" and record.worker in self._used:
            return Measurement(status="rig_bad", stage="run", reason="there is only one worker")
        return record.measurement
