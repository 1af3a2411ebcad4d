# SPDX-License-Identifier: Apache-2.0
"""All assignments in the order of their costs, one after the other: the exact choice without a solver.

Costs are those of sites and of neighbouring sites, so the cheapest way to complete the first choices
depends on the last of them alone, and is known for all of them from one pass (dynamic programming from the
last site). With that, best-first search (A*) finds the assignments in order and visits no choices that
lead nowhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from optimizer.assignment import Assignment, Costs


def ranked(costs: Costs, penalties: Sequence[NDArray[np.float64]]) -> Iterator[Assignment]:
    """Gives assignments by rising cost; of equal ones the first in the order of their numbers.

    Args:
        costs: What counts.
        penalties: For each site what is added to the cost of each alternative; infinity for one that is
            not allowed.
    """
    single = [cost + penalty for cost, penalty in zip(costs.single, penalties, strict=True)]
    steps = _steps(costs, single)
    rests = _rests(steps)
    # Site 0 has none before it: its step and rest have one column.
    heap: list[tuple[float, Assignment, float]] = [(rests[0][0], (), 0.0)]
    while heap:
        bound, chosen, spent = heapq.heappop(heap)
        if bound == np.inf:
            return
        if len(chosen) == len(steps):
            yield chosen
            continue
        site = len(chosen)
        before = chosen[-1] if chosen else 0
        for own, rest in enumerate(rests[site + 1]):
            cost = spent + steps[site][before][own]
            heapq.heappush(heap, (cost + rest, (*chosen, own), cost))


def _steps(costs: Costs, single: Sequence[NDArray[np.float64]]) -> list[list[list[float]]]:
    """Gives for each site, by the alternative before it, the cost of each own alternative."""
    steps = []
    for site, own in enumerate(single):
        columns = len(single[site - 1]) if site else 1
        table = np.repeat(own[None, :], columns, axis=0)
        if site in costs.pairs:
            table = table + costs.pairs[site].T
        steps.append(table.tolist())
    return steps


def _rests(steps: Sequence[list[list[float]]]) -> list[list[float]]:
    """Gives for each site, by the alternative before it, the lowest cost of it and all that follow."""
    rests: list[list[float]] = [[0.0] * len(steps[-1][0])] if steps else [[0.0]]
    for step in reversed(steps):
        rests.append(
            [min(cost + rest for cost, rest in zip(row, rests[-1], strict=True)) for row in step]
        )
    return rests[::-1]
