# SPDX-License-Identifier: Apache-2.0
"""The exact choice of one alternative for each site: a mixed-integer linear programme.

A site is a place with alternatives, here an operator. Costs are linear in the choices and in the
choices of neighbours; limits on other linear costs, such as bytes, hold exactly.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from optimizer import deadlines
from optimizer.ranking import ranked

Assignment = tuple[int, ...]
"""The number of the chosen alternative of each site."""

Choices = frozenset[tuple[int, int]]
"""Some choices at once, as (site, alternative)."""

MAX_RANKED: Final = 20_000
"""Assignments that are looked at in the order of their costs before a linear programme is solved."""

_TIME_LIMIT: Final = 1
"""Status of ``milp`` for a programme that was not solved in time."""

TIE_BREAK: Final = 1e-3
"""Cost of another alternative than the first one: of equal assignments, the one with fewer wins."""


@dataclass(frozen=True)
class Costs:
    """What an assignment costs: the sum over sites and over neighbouring sites.

    Attributes:
        single: For each site the cost of each alternative.
        pairs: For a site the cost of each (own alternative, alternative of the site before it),
            added to ``single``. Site 0 has none before it.
    """

    single: Sequence[NDArray[np.float64]]
    pairs: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)

    def of(self, assignment: Assignment) -> float:
        """Gives the cost of an assignment."""
        total = sum(
            float(costs[chosen]) for costs, chosen in zip(self.single, assignment, strict=True)
        )
        return total + sum(
            float(costs[assignment[site], assignment[site - 1]])
            for site, costs in self.pairs.items()
        )


@dataclass(frozen=True)
class SharedCost:
    """What is paid once, however many choices use it, such as the code of a kernel entry.

    Attributes:
        amount: The cost.
        users: The choices that need it.
    """

    amount: float
    users: Choices


@dataclass(frozen=True)
class Limit:
    """A limit on another cost that adds up over sites.

    Attributes:
        costs: For each site the amount that each alternative takes, in the unit of ``most``.
        most: The largest sum that is allowed.
        shared: What is added once where any of its users is chosen.
    """

    costs: Sequence[NDArray[np.float64]]
    most: float
    shared: Sequence[SharedCost] = ()

    def of(self, assignment: Assignment) -> float:
        """Gives what an assignment takes."""
        chosen = set(enumerate(assignment))
        total = sum(
            float(costs[index]) for costs, index in zip(self.costs, assignment, strict=True)
        )
        return total + sum(item.amount for item in self.shared if not chosen.isdisjoint(item.users))


def cheapest(
    costs: Costs,
    *,
    limits: Sequence[Limit] = (),
    excluded: Sequence[Choices] = (),
    taken: Container[Assignment] = (),
    most_passed: int | None = None,
) -> Assignment | None:
    """Gives the assignment with the lowest cost, exactly.

    Args:
        costs: What counts.
        limits: What must hold besides.
        excluded: Choices that must not be made all at once; never empty.
        taken: Assignments that are passed over.
        most_passed: How many of those are passed over before it is given up; None for all.

    Returns:
        The assignment, the same for the same arguments; None when no assignment is allowed or it was
        given up.

    Raises:
        LateError: The solver did not end within :data:`optimizer.deadlines.SOLVER_S`.
    """
    found = ascending(costs, limits=limits, excluded=excluded)
    if most_passed is not None:
        found = itertools.islice(found, most_passed + 1)
    return next((item for item in found if item not in taken), None)


MAX_REFUSED: Final = 16
"""Refused assignments that a lowest cost looks beyond."""


def lowest_cost(
    costs: Costs,
    *,
    limits: Sequence[Limit] = (),
    excluded: Sequence[Choices] = (),
    refused: Container[Assignment] = (),
) -> float | None:
    """Gives a cost below which no assignment is that is allowed; arguments as of :func:`cheapest`.

    It is the lowest cost of all, unless the cheapest :data:`MAX_REFUSED` are refused: then it is lower.

    Returns:
        None when no assignment is allowed.
    """
    found = ascending(costs, limits=limits, excluded=excluded)
    looked_at: list[Assignment] = []
    for item in itertools.islice(found, MAX_REFUSED + 1):
        if item not in refused:
            return costs.of(item)
        looked_at.append(item)
    return costs.of(looked_at[-1]) if len(looked_at) > MAX_REFUSED else None


def ascending(
    costs: Costs, *, limits: Sequence[Limit] = (), excluded: Sequence[Choices] = ()
) -> Iterator[Assignment]:
    """Gives all assignments that are allowed by rising cost, exactly; arguments as of :func:`cheapest`.

    Without limits the next one costs next to nothing; with limits it is one more linear programme.
    """
    seen: list[Assignment] = []
    if not limits:
        looked_at, is_all = 0, True
        for looked_at, item in enumerate(_ranked(costs, excluded), 1):
            if item is not None:
                seen.append(item)
                yield item
            if looked_at >= MAX_RANKED:
                is_all = False
                break
        if is_all:
            return
    programme = _Programme(costs)
    for limit in limits:
        programme.add_limit(limit)
    for choices in [*excluded, *(frozenset(enumerate(item)) for item in seen)]:
        programme.exclude(choices)
    while (found := programme.solve()) is not None:
        yield found
        programme.exclude(frozenset(enumerate(found)))


def _ranked(costs: Costs, excluded: Sequence[Choices]) -> Iterator[Assignment | None]:
    """Gives the assignments by rising cost; None in place of one that is excluded."""
    penalties = [
        np.where(np.arange(len(single)) > 0, TIE_BREAK, 0.0).astype(np.float64)
        for single in costs.single
    ]
    whole, parts = set(), []
    for choices in excluded:
        if len(choices) == 1:
            ((site, index),) = choices
            penalties[site][index] = np.inf
        elif len(choices) == len(costs.single):
            whole.add(choices)
        else:
            parts.append(choices)
    for found in ranked(costs, penalties):
        chosen = frozenset(enumerate(found))
        is_allowed = chosen not in whole and not any(choices <= chosen for choices in parts)
        yield found if is_allowed else None


@contextmanager
def _own_output() -> Iterator[None]:
    """Drops what the solver prints by itself: remarks for its developers, into the midst of our results."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 (a descriptor is all that is needed)
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


class _Programme:
    """Collects variables and rows: one 0/1 variable for each alternative, one more for each pair."""

    def __init__(self, costs: Costs) -> None:
        sizes = [len(single) for single in costs.single]
        self._first = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self._sizes = sizes
        self._objective: list[float] = []
        for single in costs.single:
            tie_break = TIE_BREAK * (np.arange(len(single)) > 0)
            self._objective += list(single - single.min() + tie_break)
        self._integers = len(self._objective)
        self._shared: dict[Choices, int] = {}
        self._rows: list[dict[int, float]] = []
        self._low: list[float] = []
        self._high: list[float] = []
        for site, size in enumerate(sizes):
            self._add_row({self._variable(site, index): 1.0 for index in range(size)}, 1, 1)
        for site, pair in costs.pairs.items():
            self._add_pair(site, pair)

    def _variable(self, site: int, alternative: int) -> int:
        return int(self._first[site]) + alternative

    def _add_row(self, row: dict[int, float], low: float, high: float) -> None:
        # Rows of bytes beside rows of ones are hard to solve exactly, so each is scaled to about 1.
        scale = max((abs(value) for value in row.values()), default=0.0) or 1.0
        self._rows.append({column: value / scale for column, value in row.items() if value})
        self._low.append(low / scale)
        self._high.append(high / scale)

    def _add_pair(self, site: int, costs: NDArray[np.float64]) -> None:
        # y[a, b] = x[site, a] * x[site - 1, b]: its sums over one index are the other's variable.
        first = len(self._objective)
        self._objective += list((costs - costs.min()).ravel())
        columns = first + np.arange(costs.size).reshape(costs.shape)
        for own in range(costs.shape[0]):
            row = dict.fromkeys(columns[own, :].tolist(), 1.0)
            self._add_row({**row, self._variable(site, own): -1.0}, 0, 0)
        for before in range(costs.shape[1]):
            row = dict.fromkeys(columns[:, before].tolist(), 1.0)
            self._add_row({**row, self._variable(site - 1, before): -1.0}, 0, 0)

    def add_limit(self, limit: Limit) -> None:
        row = {
            self._variable(site, index): float(amount)
            for site, amounts in enumerate(limit.costs)
            for index, amount in enumerate(amounts)
        }
        for item in limit.shared:
            row[self._use(item.users)] = item.amount
        self._add_row(row, -np.inf, limit.most)

    def _use(self, users: Choices) -> int:
        """Gives the variable that is at least 1 where any of the users is chosen."""
        if users not in self._shared:
            column = len(self._objective)
            self._objective.append(0.0)
            self._shared[users] = column
            for site, index in sorted(users):
                self._add_row({column: 1.0, self._variable(site, index): -1.0}, 0, np.inf)
        return self._shared[users]

    def exclude(self, choices: Choices) -> None:
        row = {self._variable(site, index): 1.0 for site, index in choices}
        self._add_row(row, -np.inf, len(choices) - 1)

    def solve(self) -> Assignment | None:
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for number, row in enumerate(self._rows):
            rows += [number] * len(row)
            columns += row.keys()
            values += row.values()
        shape = (len(self._rows), len(self._objective))
        matrix = coo_array((values, (rows, columns)), shape=shape).tocsc()
        integrality = np.zeros(shape[1])
        integrality[: self._integers] = 1
        with _own_output():
            result = milp(
                np.asarray(self._objective),
                constraints=LinearConstraint(matrix, self._low, self._high),
                bounds=Bounds(0, 1),
                integrality=integrality,
                options={"mip_rel_gap": 0.0, "time_limit": deadlines.SOLVER_S},
            )
        if result.status == _TIME_LIMIT:
            raise deadlines.LateError(f"the solver did not end within {deadlines.SOLVER_S:g} s")
        if result.x is None:
            return None
        return tuple(
            int(np.argmax(result.x[self._first[site] : self._first[site] + size]))
            for site, size in enumerate(self._sizes)
        )
