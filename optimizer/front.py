# SPDX-License-Identifier: Apache-2.0
"""What the objectives and limits of a campaign came to: the Pareto front and the table of limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from optimizer.quantities import fits, overflow_of, quantity, unit_of
from optimizer.task import SearchTask
from results.evidence import BudgetRow, FrontPoint
from results.records import Entry, TrialRecord, known_plans
from runners.measurement import Measurement


def pareto_front(task: SearchTask, entries: Iterable[Entry]) -> tuple[FrontPoint, ...]:
    """Gives the plans of the space within all limits that no other one dominates.

    Of plans with equal objectives the first measured one counts.

    Returns:
        The points by rising first objective; empty for a single objective.
    """
    if len(task.objectives) < 2:
        return ()
    points: dict[tuple[float, ...], TrialRecord] = {}
    for record in known_plans(entries).values():
        if record.in_space and fits(record.measurement, task.budget):
            values = objective_values(task, record.measurement)
            if values is not None:
                points.setdefault(values, record)
    best = [values for values in points if not any(_dominates(o, values) for o in points)]
    return tuple(
        FrontPoint(
            plan_key=points[values].plan_key,
            values=dict(zip(task.objectives, values, strict=True)),
            choices=points[values].choices,
        )
        for values in sorted(best)
    )


def objective_values(task: SearchTask, measurement: Measurement) -> tuple[float, ...] | None:
    """Gives the objectives of a good measurement; None where one is not known."""
    values = [quantity(measurement, name) for name in task.objectives]
    known = [value for value in values if value is not None]
    return tuple(known) if len(known) == len(values) else None


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def budget_rows(
    task: SearchTask, entries: Iterable[Entry], baseline: Measurement, winner: Measurement
) -> tuple[BudgetRow, ...]:
    """Gives every limit with what ``auto`` and the written plan take, and how many plans broke it."""
    tried = [
        entry.measurement
        for entry in entries
        if isinstance(entry, TrialRecord) and entry.role == "search"
    ]
    return tuple(
        BudgetRow(
            name=name,
            unit=unit_of(name),
            limit=limit,
            baseline=quantity(baseline, name),
            winner=quantity(winner, name),
            refused=sum(_breaks(item, name, limit) for item in tried),
        )
        for name, limit in task.budget.items()
    )


def _breaks(measurement: Measurement, name: str, limit: float) -> bool:
    if name in overflow_of(measurement):
        return True
    value = quantity(measurement, name) if measurement.status == "ok" else None
    return value is not None and value > limit
