# SPDX-License-Identifier: Apache-2.0
"""The HTML report of a campaign, ``report.html``: one file that needs no network.

The verdict comes first, then the command that makes the module again, where the cycles went, how the search got
there, what it takes in memory, which choices mattered, what failed, and what it cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from results.evidence import BudgetRow, Evidence, MeasuredPlan
from results.evidence import FrontPoint as EvidencePoint
from results.plots import (
    MEMORY_KINDS,
    FrontPoint,
    Trial,
    convergence_plot,
    front_plot,
    memory_plot,
)
from results.records import Entry, TrialRecord
from results.summary import CampaignSummary
from runners.measurement import Measurement, MemorySections
from search_spaces.rules import MODEL_ID
from search_spaces.space import Dimension, plan_count

REPORT_NAME: Final = "report.html"


@dataclass(frozen=True)
class Band:
    """Cycles of one operator over all measurements of one plan.

    Attributes:
        low: The lowest.
        high: The highest; equal on a deterministic runner.
    """

    low: int
    high: int

    def __str__(self) -> str:
        """The number, or both where they differ."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"


@dataclass(frozen=True)
class Influence:
    """What the values of one dimension did to the cycles of its operator.

    Attributes:
        name: The dimension.
        tried: Different values that were measured.
        values: Values that it has.
        low_value: The value with which the operator took the fewest cycles in any plan.
        low_cycles: These cycles.
        high_value: The value with which even the best plan for the operator took the most.
        high_cycles: These cycles.
    """

    name: str
    tried: int
    values: int
    low_value: str
    low_cycles: int
    high_value: str
    high_cycles: int

    @property
    def effect_cycles(self) -> int:
        """How much the choice can change its operator."""
        return self.high_cycles - self.low_cycles


def report_page(
    evidence: Evidence,
    entries: Sequence[Entry],
    summary: CampaignSummary,
    bounds: Sequence[float | None],
) -> str:
    """Gives the text of the page; equal arguments give equal text.

    Args:
        evidence: What the campaign found.
        entries: The lines of its ledger.
        summary: The summary of the same evidence, with the command that reproduces the plan.
        bounds: The fitted bound in cycles after each of :func:`measured_plans`; None where the builds do not tell.
    """
    return (
        _environment()
        .get_template("report.html.j2")
        .render(_view(evidence, entries, summary, bounds))
    )


def measured_plans(entries: Sequence[Entry]) -> list[TrialRecord]:
    """Gives the first good measurement of each plan in the order of measuring, repetitions left out."""
    found: dict[str, TrialRecord] = {}
    for entry in entries:
        if (
            isinstance(entry, TrialRecord)
            and entry.role != "verify"
            and entry.measurement.status == "ok"
        ):
            found.setdefault(entry.plan_key, entry)
    return list(found.values())


def influences(evidence: Evidence, records: Sequence[TrialRecord]) -> list[Influence]:
    """Gives what every dimension of the space did, the largest effect first.

    The cycles are the lowest of the dimension's own operators over the plans with a value, so that their other choices
    are at their best; those of the whole model for a choice of the whole module.
    """
    rows = []
    for dimension in evidence.space.dimensions:
        cycles: dict[str, int] = {}
        for record in records:
            value = record.choices.get(dimension.name)
            own = _cycles_of(dimension, record.measurement)
            if value is not None and own is not None:
                cycles[value] = min(own, cycles.get(value, own))
        if not cycles:
            continue
        ranked = sorted((own, value) for value, own in cycles.items())
        rows.append(
            Influence(
                name=dimension.name,
                tried=len(cycles),
                values=len(dimension.choices),
                low_value=ranked[0][1],
                low_cycles=ranked[0][0],
                high_value=ranked[-1][1],
                high_cycles=ranked[-1][0],
            )
        )
    return sorted(rows, key=lambda row: (-row.effect_cycles, row.name))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("results"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )


def _view(
    evidence: Evidence,
    entries: Sequence[Entry],
    summary: CampaignSummary,
    bounds: Sequence[float | None],
) -> dict[str, Any]:
    plans = measured_plans(entries)
    trials = [
        Trial(record.measurement.best_cycles, bound)
        for record, bound in zip(plans, bounds, strict=True)
    ]
    rows = influences(evidence, plans)
    return {
        "evidence": evidence,
        "summary": summary,
        "headline": _headline(summary),
        "totals": _totals(evidence, summary),
        "operators": list(_operator_rows(evidence, entries)),
        "convergence": Markup(convergence_plot(trials, summary.counts)) if trials else "",
        "front": _front(evidence),
        "budget": [_budget_row(row) for row in evidence.budget],
        "memory": _memory(evidence),
        "influences": [row for row in rows if row.effect_cycles > 0],
        "without_effect": [row.name for row in rows if row.effect_cycles == 0],
        "knobs": _knob_coverage(rows),
        "cost": _cost(entries),
    }


def _headline(summary: CampaignSummary) -> str:
    if summary.is_auto:
        return f"auto is the plan to ship: {summary.verdict}"
    if summary.gain_over_auto >= 1:
        return f"{summary.gain_over_auto:.3f} times as fast as auto: {summary.verdict}"
    return f"{1 / summary.gain_over_auto:.3f} times the cycles of auto: {summary.verdict}"


def _totals(evidence: Evidence, summary: CampaignSummary) -> list[tuple[str, str]]:
    optimality = evidence.optimality
    return [
        (f"{summary.counts}, auto", f"{summary.baseline_cycles:,}"),
        (f"{summary.counts}, written plan", f"{summary.best_cycles:,}"),
        (
            "from the best of the space",
            "unknown" if optimality is None else f"{optimality.gap:.2%}",
        ),
        (
            "plans measured",
            f"{summary.search.plans_measured:,} of {plan_count(summary.search.space_size)}",
        ),
    ]


def _operator_rows(evidence: Evidence, entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    before = _bands(evidence.baseline, entries)
    after = _bands(evidence.winner, entries)
    facts = {row.operator_id: row for row in evidence.operators}
    largest = max((band.high for band in (*before.values(), *after.values())), default=1) or 1
    for item in evidence.baseline.measurement.operator_cycles:
        auto, tuned = before[item.id], after.get(item.id)
        if tuned is None:
            continue
        yield {
            "id": item.id,
            "entry": item.entry or "",
            "changes": facts[item.id].changes if item.id in facts else (),
            "auto": str(auto),
            "tuned": str(tuned),
            "ratio": f"{auto.low / tuned.low:.3f}" if tuned.low else "",
            "is_changed": auto.low != tuned.low,
            "auto_share": f"{100 * auto.low / largest:.2f}%",
            "tuned_share": f"{100 * tuned.low / largest:.2f}%",
        }


def _bands(plan: MeasuredPlan, entries: Sequence[Entry]) -> dict[str, Band]:
    bands: dict[str, Band] = {}
    records = [
        entry.measurement
        for entry in entries
        if isinstance(entry, TrialRecord)
        and entry.plan_key == plan.plan_key
        and entry.measurement.status == "ok"
    ]
    for measurement in records or [plan.measurement]:
        for item in measurement.operator_cycles:
            band = bands.get(item.id, Band(item.cycles, item.cycles))
            bands[item.id] = Band(min(band.low, item.cycles), max(band.high, item.cycles))
    return bands


def _cycles_of(dimension: Dimension, measurement: Measurement) -> int | None:
    cycles = {item.id: item.cycles for item in measurement.operator_cycles}
    if MODEL_ID in dimension.members:
        return measurement.best_cycles
    if not cycles.keys() >= set(dimension.members):
        return None
    return sum(cycles[member] for member in dimension.members)


def _front(evidence: Evidence) -> dict[str, Any]:
    """Gives the Pareto front as rows, and as a picture over its first two objectives."""
    if len(evidence.front) < 2:
        return {"names": [], "rows": [], "plot": ""}
    names = list(evidence.front[0].values)
    points = [
        FrontPoint(point.values[names[1]], point.values[names[0]], _kind(point))
        for point in evidence.front
    ]
    rows = [
        {
            "values": [_number(point.values[name]) for name in names],
            "plan": point.plan_file or "",
            "is_written": point.is_written,
        }
        for point in evidence.front
    ]
    return {
        "names": names,
        "rows": rows,
        "plot": Markup(front_plot(points, names[1], names[0])),
    }


def _kind(point: EvidencePoint) -> str:
    return "written" if point.is_written else "front"


def _budget_row(row: BudgetRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "limit": _number(row.limit),
        "auto": _number(row.baseline),
        "tuned": _number(row.winner),
        "refused": row.refused,
        "auto_is_over": row.baseline is not None and row.baseline > row.limit,
    }


def _number(value: float | None) -> str:
    if value is None:
        return "not known"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}"


def _memory(evidence: Evidence) -> dict[str, Any]:
    before, after = evidence.baseline.measurement.sections, evidence.winner.measurement.sections
    names = list(dict.fromkeys([*before, *after]))
    pairs = {name: (_parts(before.get(name)), _parts(after.get(name))) for name in names}
    rows = [
        {
            "memory": name,
            "auto": f"{sum(pair[0].values()):,}",
            "tuned": f"{sum(pair[1].values()):,}",
            "change": f"{sum(pair[1].values()) - sum(pair[0].values()):+,}",
        }
        for name, pair in pairs.items()
    ]
    return {"plot": Markup(memory_plot(pairs)) if pairs else "", "rows": rows}


def _parts(sections: MemorySections | None) -> Mapping[str, int]:
    return {name: getattr(sections, name) if sections else 0 for name in MEMORY_KINDS}


def _knob_coverage(rows: Sequence[Influence]) -> list[dict[str, str]]:
    found: dict[str, list[Influence]] = {}
    for row in rows:
        found.setdefault(row.name.partition("@")[0], []).append(row)
    return [
        {
            "knob": knob,
            "choices": f"{len(group)}",
            "tried": f"{sum(r.tried for r in group)} of {sum(r.values for r in group)}",
            "mattered": f"{sum(r.effect_cycles > 0 for r in group)}",
        }
        for knob, group in sorted(found.items())
    ]


def _cost(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    trials = [entry for entry in entries if isinstance(entry, TrialRecord)]
    by_plan = sum(record.cache == "plan" for record in trials)
    by_image = sum(record.cache == "image" for record in trials)
    stages: dict[str, float] = {}
    for record in trials:
        if record.cache is None:
            for stage, seconds in record.measurement.stage_seconds.items():
                stages[stage] = stages.get(stage, 0.0) + seconds
    return [
        ("evaluations", f"{len(trials)}"),
        ("built", f"{len(trials) - by_plan}"),
        ("run", f"{len(trials) - by_plan - by_image}"),
        ("from the measurement cache", f"{by_plan} before building, {by_image} before running"),
        ("seconds of evaluations", f"{sum(record.seconds for record in trials):.1f}"),
        *((f"of these, {stage}", f"{seconds:.1f}") for stage, seconds in sorted(stages.items())),
        ("attempts beyond the first", f"{sum(record.attempts - 1 for record in trials)}"),
    ]
