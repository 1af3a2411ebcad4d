# SPDX-License-Identifier: Apache-2.0
"""The end of a campaign as data: what was gained, where, and what failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from helia_aot.config.base import StrictModel
from results.evidence import (
    BudgetRow,
    Comparison,
    Evidence,
    FrontPoint,
    MeasuredPlan,
    Optimality,
    SearchFacts,
)
from runners.measurement import Measurement
from search_spaces.space import Dimension, Pinned, plan_count

SUMMARY_SCHEMA_VERSION: Literal[1] = 1


class OperatorChange(StrictModel):
    """One choice in which the written plan differs from ``auto``.

    Attributes:
        operator_id: The operator.
        op_type: Its TFLite name.
        knob: The knob.
        before: Value that ``auto`` chooses.
        after: Value of the written plan.
        entry_before: Kernel entry with ``auto``; None when the runner reports no operators.
        entry_after: Kernel entry with the written plan.
        cycles_before: Cycles of the operator with ``auto``.
        cycles_after: Cycles of the operator with the written plan.
    """

    operator_id: str
    op_type: str
    knob: str
    before: str
    after: str
    entry_before: str | None
    entry_after: str | None
    cycles_before: int | None
    cycles_after: int | None


class CampaignSummary(StrictModel):
    """What a campaign found.

    Attributes:
        schema_version: Version of this JSON form.
        campaign: Name of the campaign.
        platform: Platform that was measured.
        counts: What cycles mean, ``modelled cycles`` for a simulator.
        baseline_cycles: Cycles of the plan that ``auto`` chooses.
        best_cycles: Cycles of the written plan.
        generic_cycles: Cycles of the all-generic plan; None when it failed or no operator has the
            knob.
        gain_over_auto: Baseline cycles over best cycles, of boards each over its own baseline; above 1 is faster.
        gain_over_generic: All-generic cycles over best cycles.
        is_auto: Whether the written plan is the one that ``auto`` chooses.
        verdict: Why that plan was written.
        changes: Choices that differ from ``auto``.
        comparisons: The repetitions behind the verdict.
        search: What the search did.
        optimality: How far the written plan may be from the best; None when the builds do not tell.
        budget: The limits, with what ``auto`` and the written plan take.
        front: The Pareto front of several objectives; empty for one.
        plan_path: The written plan.
        evidence_path: The evidence beside it.
        report_path: The page about the campaign beside them; empty where there is none.
        reproduce: Command that converts with the written plan.
        next_step: What would find more, where something is known; else empty.
    """

    schema_version: Literal[1] = SUMMARY_SCHEMA_VERSION
    campaign: str
    platform: str
    counts: str
    baseline_cycles: int
    best_cycles: int
    generic_cycles: int | None
    gain_over_auto: float
    gain_over_generic: float | None
    is_auto: bool
    verdict: str
    changes: tuple[OperatorChange, ...]
    comparisons: tuple[Comparison, ...]
    search: SearchFacts
    optimality: Optimality | None = None
    budget: tuple[BudgetRow, ...] = ()
    front: tuple[FrontPoint, ...] = ()
    plan_path: str
    evidence_path: str
    report_path: str = ""
    reproduce: str
    next_step: str


def build_summary(
    evidence: Evidence, *, plan_path: str, evidence_path: str, reproduce: str, report_path: str = ""
) -> CampaignSummary:
    """Gives the summary of a finished campaign from its evidence."""
    baseline, winner = evidence.baseline.measurement, evidence.winner.measurement
    reference = evidence.reference
    generic = (
        reference.measurement
        if reference is not None and reference.measurement.status == "ok"
        else None
    )
    return CampaignSummary(
        campaign=evidence.identity.campaign,
        platform=evidence.identity.runner.platform,
        counts=evidence.identity.runner.counts,
        baseline_cycles=baseline.best_cycles,
        best_cycles=winner.best_cycles,
        generic_cycles=None if generic is None else generic.best_cycles,
        gain_over_auto=_ratio(baseline, winner),
        gain_over_generic=None if generic is None else _ratio(generic, winner),
        is_auto=evidence.is_auto,
        verdict=evidence.verdict,
        changes=() if evidence.is_auto else _changes(evidence),
        comparisons=evidence.comparisons,
        search=evidence.search,
        optimality=evidence.optimality,
        budget=evidence.budget,
        front=evidence.front,
        plan_path=plan_path,
        evidence_path=evidence_path,
        report_path=report_path,
        reproduce=reproduce,
        next_step=_next_step(evidence.search),
    )


def _ratio(before: Measurement, after: Measurement) -> float:
    cycles = after.comparable_cycles
    return before.comparable_cycles / cycles if cycles else float("inf")


def _changes(evidence: Evidence) -> tuple[OperatorChange, ...]:
    space, winner = evidence.space, evidence.winner
    varied: list[tuple[Dimension | Pinned, str]] = [
        (item, winner.choices[item.name]) for item in space.dimensions
    ]
    pinned: list[tuple[Dimension | Pinned, str]] = [(item, item.value) for item in space.pinned]
    before, after = _operators(evidence.baseline), _operators(winner)
    changes = []
    for item, value in varied + pinned:
        if value == item.baseline:
            continue
        members = item.members if isinstance(item, Dimension) else (item.operator_id,)
        entry_before, cycles_before = _together(before, members)
        entry_after, cycles_after = _together(after, members)
        changes.append(
            OperatorChange(
                operator_id=item.operator_id,
                op_type=item.op_type,
                knob=item.knob,
                before=item.baseline,
                after=value,
                entry_before=entry_before,
                entry_after=entry_after,
                cycles_before=cycles_before,
                cycles_after=cycles_after,
            )
        )
    return tuple(changes)


def _operators(plan: MeasuredPlan) -> dict[str, tuple[str | None, int | None]]:
    measurement: Measurement = plan.measurement
    return {item.id: (item.entry, item.cycles) for item in measurement.operator_cycles}


def _together(
    operators: dict[str, tuple[str | None, int | None]], members: Sequence[str]
) -> tuple[str | None, int | None]:
    """Gives entry and cycles of the operators that a choice sets; no entry where they differ."""
    found = [operators[member] for member in members if member in operators]
    entries = {entry for entry, _ in found}
    cycles = [count for _, count in found if count is not None]
    return (entries.pop() if len(entries) == 1 else None), (sum(cycles) if cycles else None)


def _next_step(search: SearchFacts) -> str:
    left = search.space_size - search.plans_measured
    if left <= 0:
        return ""
    if search.stop_reason == "repeating":
        return (
            f"the sampler proposes known plans only and {plan_count(left)} plans are left; "
            "--sampler brute_force --fresh measures them all"
        )
    if search.stop_reason == "no_gain":
        return f"{plan_count(left)} plans are not measured; a larger search.no_gain continues"
    if search.stop_reason in ("trials", "timeout"):
        return (
            f"{plan_count(left)} plans are not measured; "
            "the same command with more --trials continues"
        )
    return ""
