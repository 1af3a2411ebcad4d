# SPDX-License-Identifier: Apache-2.0
"""A model of cycles for spaces in which a choice changes other operators than its own.

Where an operator writes its output changes what reading it costs the operators after it; a choice of
a group or of the module changes many. The cycles of each operator are fitted, by least squares, as
a constant and an effect of each value of each dimension that can reach it. An alternative of the
operator's own dimensions that was measured keeps what it showed beyond the sum of its effects. How
far this is off is known for each build, from the other builds.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from helia_aot.optimization.knobs import MODEL_KNOBS
from optimizer.additive import MIN_CHECKS, Builds, Observation, Residual, Site
from optimizer.assignment import Assignment, Choices, Costs, Limit, lowest_cost
from search_spaces.rules import SCRATCH
from search_spaces.space import SearchSpace

_IN_THE_SPAN: Final = 1e-6
"""Largest part of a build's row outside of those of the others for which they predict it."""

NEAR: Final = 1.05
"""Cycles of a build over those of the fastest so far, up to which it counts in full."""

CLOSE: Final = 1.02
"""Cycles of a build over those of the fastest one, up to which its error says something about fast plans."""

FAR_WEIGHT: Final = 1.0 / 64.0
"""What a slower build counts: where they disagree, the sum must be right for fast plans."""

CONFIDENCE: Final = 0.95
"""How sure a bound is to hold, as far as errors of the sum are alike for all plans."""

_RANK: Final = 1e-10
"""Smallest eigenvalue of the sums of products that is not taken as 0, relative to the largest one."""


def influences(space: SearchSpace, operators: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Gives for each operator the names of the dimensions that can change its cycles.

    Args:
        space: The space.
        operators: Ids of all operators, those without a dimension included.
    """
    reads = (
        {item.operator_id: set(item.reads) for item in space.storage.operators}
        if space.storage
        else {}
    )
    found: dict[str, list[str]] = {operator: [] for operator in operators}
    for dimension in space.dimensions:
        members = set(dimension.members)
        for operator in operators:
            is_reached = dimension.knob in MODEL_KNOBS or operator in members
            if dimension.knob == SCRATCH and not is_reached:
                is_reached = not members.isdisjoint(reads.get(operator, ()))
            if is_reached:
                found[operator].append(dimension.name)
    return {operator: tuple(names) for operator, names in found.items()}


def is_local(space: SearchSpace) -> bool:
    """Says whether every dimension is of one operator and changes no other one by its nature."""
    return not any(
        item.operators or item.knob in MODEL_KNOBS or item.knob == SCRATCH
        for item in space.dimensions
    )


@dataclass(frozen=True)
class _Column:
    """One effect: a value of a dimension, other than the baseline's.

    Attributes:
        site: The site that chooses the value.
        has_value: For each alternative of the site 1 where it has the value, else 0.
    """

    site: int
    has_value: NDArray[np.float64]


class _Totals:
    """Sums over builds that ran one alternative of the operator's own site."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self.weight = 0.0
        self.rows = np.zeros(width)
        self.cycles = 0.0

    def add(self, row: NDArray[np.float64], cycles: float, weight: float) -> None:
        self.count += 1
        self.weight += weight
        self.rows += weight * row
        self.cycles += weight * cycles


class _Fit:
    """The effects on one operator, by least squares from sums over all builds (the normal equations).

    Rows hold 0 and 1 and cycles are whole numbers, so the sums are exact and do not depend on the order
    of the builds.
    """

    def __init__(self, columns: Sequence[_Column], own: int | None) -> None:
        self.columns = tuple(columns)
        self.own = own
        width = len(self.columns) + 1
        self._gram = np.zeros((width, width))
        self._moments = np.zeros(width)
        self._totals: dict[int, _Totals] = {}
        self._rows: list[tuple[NDArray[np.float64], float]] = []
        self._solved: tuple[NDArray[np.float64], ...] | None = None

    def row(self, assignment: Assignment) -> NDArray[np.float64]:
        """Gives 1 for the constant, and for each effect whether an assignment has it."""
        return np.array([1.0, *(float(c.has_value[assignment[c.site]]) for c in self.columns)])

    def add(self, assignment: Assignment, cycles: int, weight: float) -> None:
        row = self.row(assignment)
        self._rows.append((row, weight))
        self._gram += weight * np.outer(row, row)
        self._moments += weight * row * cycles
        if self.own is not None:
            own = assignment[self.own]
            self._totals.setdefault(own, _Totals(len(row))).add(row, float(cycles), weight)
        self._solved = None

    def _solution(self) -> tuple[NDArray[np.float64], ...]:
        """Gives effects, the inverse of the sums of products, and a projector on what no build tells."""
        if self._solved is None:
            values, vectors = np.linalg.eigh(self._gram)
            seen = values > _RANK * max(1.0, float(values[-1]))
            told, untold = vectors[:, seen], vectors[:, ~seen]
            inverse = (told / values[seen]) @ told.T
            self._solved = (inverse @ self._moments, inverse, untold @ untold.T)
        return self._solved

    @property
    def effects(self) -> NDArray[np.float64]:
        """The shortest solution, so that what no build tells apart is shared out evenly."""
        return self._solution()[0]

    @property
    def beyond(self) -> dict[int, float]:
        """What each measured alternative of the operator's site showed beyond its effects."""
        effects = self.effects
        return {
            own: float(totals.cycles - totals.rows @ effects) / totals.weight
            for own, totals in self._totals.items()
        }

    def tells(self, assignment: Assignment) -> bool:
        """Says whether the builds so far tell all that one more with this assignment would."""
        untold = self._solution()[2]
        return bool(np.abs(untold @ self.row(assignment)).max() <= _IN_THE_SPAN)

    def without(self, number: int, assignment: Assignment, cycles: int) -> float | None:
        """Gives what the other builds predict for one; None where they do not tell.

        With weights W and h = w x' (X'WX)^+ x, leaving a build x with residual e out changes the effects
        by -(X'WX)^+ x w e / (1 - h); where h is 1, the others do not tell.
        """
        effects, inverse, _ = self._solution()
        row, weight = self._rows[number]
        towards = weight * (inverse @ row)
        left = 1.0 - float(row @ towards)
        if left <= _IN_THE_SPAN:
            return None
        effects = effects - towards * (cycles - float(row @ effects)) / left
        found = float(row @ effects)
        if self.own is None:
            return found
        totals = self._totals[assignment[self.own]]
        if totals.count == 1:
            return found
        others = totals.cycles - weight * cycles - float((totals.rows - weight * row) @ effects)
        return found + others / (totals.weight - weight)


class LinearModel:
    """The model of one space, fitted to the builds so far; follows :class:`optimizer.additive.AdditiveModel`.

    Args:
        space: The space.
        sites: What varies in it.
        observations: The measured plans, in order; those without cycles of operators say nothing.
    """

    def __init__(
        self,
        space: SearchSpace,
        sites: Sequence[Site],
        observations: Iterable[Observation] = (),
    ) -> None:
        self.sites = tuple(sites)
        self.builds = Builds(self.sites)
        self._space = space
        self._place = {
            name: (number, position)
            for number, site in enumerate(self.sites)
            for position, name in enumerate(site.names)
        }
        self._seen: set[tuple[str, str]] = set()
        self._fits: dict[str, _Fit] = {}
        for observation in observations:
            self.add(observation)

    def add(self, observation: Observation) -> None:
        """Takes one more measured plan."""
        if not observation.operator_cycles:
            return
        if not self._fits:
            self._fits = dict(self._fresh(tuple(observation.operator_cycles)))
        assignment = self.builds.add(observation)
        self._seen.update(
            (name, value)
            for site, chosen in zip(self.sites, assignment, strict=True)
            for name, value in zip(site.names, site.alternatives[chosen], strict=True)
        )
        weight = 1.0 if observation.cycles <= NEAR * self.builds.fastest_cycles else FAR_WEIGHT
        for operator, fit in self._fits.items():
            fit.add(assignment, observation.operator_cycles[operator], weight)
        for name in ("base", "_expected", "error_cycles"):
            self.__dict__.pop(name, None)
        self.builds.keep_the_worst(self._error)

    def _fresh(self, operators: Sequence[str]) -> Iterator[tuple[str, _Fit]]:
        """Gives for each operator its effects, one for each value but the baseline's."""
        number = {site.operator_id: index for index, site in enumerate(self.sites)}
        for operator, names in influences(self._space, operators).items():
            columns = []
            for name in names:
                site, position = self._place[name]
                alternatives = self.sites[site].alternatives
                for value in dict.fromkeys(item[position] for item in alternatives):
                    if value != alternatives[0][position]:
                        has = [float(item[position] == value) for item in alternatives]
                        columns.append(_Column(site, np.array(has)))
            yield operator, _Fit(columns, number.get(operator))

    def knows(self, site: int, alternative: int) -> bool:
        """Says whether every value of an alternative was measured."""
        item = self.sites[site]
        return all(
            pair in self._seen
            for pair in zip(item.names, item.alternatives[alternative], strict=True)
        )

    @cached_property
    def base(self) -> float:
        """Cycles of the whole with the baseline's values, what was measured beyond them left out."""
        return self.builds.overhead + sum(float(fit.effects[0]) for fit in self._fits.values())

    def costs(self) -> Costs:
        """Gives the cycles of every alternative beside :attr:`base`."""
        single = [np.zeros(len(site.alternatives)) for site in self.sites]
        for fit in self._fits.values():
            for column, effect in zip(fit.columns, fit.effects[1:], strict=True):
                single[column.site] += effect * column.has_value
            if fit.own is not None:
                for index, beyond in fit.beyond.items():
                    single[fit.own][index] += beyond
        return Costs(single)

    def predict(self, assignment: Assignment) -> float:
        """Gives the expected cycles of the whole."""
        return self.base + self._expected.of(assignment)

    @cached_property
    def _expected(self) -> Costs:
        return self.costs()

    def news(self, assignment: Assignment) -> int:
        """Counts the operators for which a build would tell effects apart that are not yet told apart."""
        return sum(not fit.tells(assignment) for fit in self._fits.values())

    def residuals(self) -> Iterator[Residual]:
        """Gives how far the sum is off for each build that the others tell, however many there are."""
        for number in range(len(self.builds)):
            if (residual := self._residual(number)) is not None:
                yield residual

    def _residual(self, number: int) -> Residual | None:
        observation, assignment = self.builds[number]
        expected = self.builds.overhead
        for operator, fit in self._fits.items():
            found = fit.without(number, assignment, observation.operator_cycles[operator])
            if found is None:
                return None
            expected += found
        measured = observation.cycles
        return Residual(expected, measured, abs(measured - expected))

    def _error(self, number: int) -> float | None:
        found = self._residual(number)
        return None if found is None else found.excess / max(1, found.measured)

    @cached_property
    def error_cycles(self) -> float | None:
        """By how much a plan may be faster than the sum, in cycles of the fastest build.

        It is the one-sided limit of Student's t distribution at :data:`CONFIDENCE` for the relative errors
        of the builds close to the fastest one, as soon as there are enough: a slow build says little about a
        fast plan. Few builds so give a large error. None as long as too few can be checked by others.
        """
        errors = {number: self._error(number) for number in self.builds.checked}
        known = [error for error in errors.values() if error is not None]
        close = CLOSE * self.builds.fastest_cycles
        near = [e for n, e in errors.items() if e is not None and self.builds[n][0].cycles <= close]
        counted = near if len(near) >= MIN_CHECKS else known
        if len(counted) < MIN_CHECKS:
            return None
        spread = math.sqrt(sum(error**2 for error in counted) / len(counted))
        return float(stdtrit(len(counted), CONFIDENCE)) * spread * self.builds.fastest_cycles

    def bound(
        self,
        excluded: Sequence[Choices] = (),
        limits: Sequence[Limit] = (),
        refused: Container[Assignment] = (),
    ) -> float | None:
        """Gives the cycles below which, as far as the builds tell, no plan within limits can come.

        It is the lowest sum less :attr:`error_cycles`; an estimate.

        Args:
            excluded: Choices that are known to be bad.
            limits: What every plan must keep to.
            refused: Plans that are known to break a limit.

        Returns:
            None while too few builds can be checked by others.
        """
        if self.error_cycles is None:
            return None
        costs = self.costs()
        best = lowest_cost(costs, limits=limits, excluded=excluded, refused=refused)
        return None if best is None else max(0.0, self.base + best - self.error_cycles)

    def is_complete(self, excluded: Sequence[Choices] = ()) -> bool:
        """Says whether every value was measured or is bad by itself."""
        return bool(self.builds) and all(
            self.knows(site, index) or frozenset({(site, index)}) in excluded
            for site, item in enumerate(self.sites)
            for index in item.basic
        )
