# SPDX-License-Identifier: Apache-2.0
"""A model of cycles for spaces in which a choice changes other operators than its own.

Where an operator writes its output changes what reading it costs the operators after it; a choice of
a group or of the module changes many. The cycles of each operator are fitted, by least squares, as
a constant and an effect of each value of each dimension that can reach it. An alternative of the
operator's own dimensions that was measured keeps what it showed beyond the sum of its effects. How
far this is off is known for each build, from the other builds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.optimization.knobs import MODEL_KNOBS
from optimizer.additive import MIN_CHECKS, Observation, Residual, Site, assignment_of
from optimizer.assignment import Assignment, Choices, Costs, Limit, cheapest
from search_spaces.rules import SCRATCH
from search_spaces.space import SearchSpace

_IN_THE_SPAN: Final = 1e-6
"""Largest distance of a build's row from those of the others for which they predict it."""


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
    """One effect: a value of a dimension, other than the baseline's."""

    site: int
    position: int
    value: str


class _Fit:
    """The effects on one operator."""

    def __init__(
        self,
        columns: Sequence[_Column],
        own: int | None,
        rows: NDArray[np.float64],
        cycles: NDArray[np.float64],
        assignments: Sequence[Assignment],
    ) -> None:
        self.columns = tuple(columns)
        self.own = own
        self.rows = rows
        self._cycles = cycles
        self._assignments = assignments
        self.effects = _least_squares(rows, cycles)
        self.beyond = self._beyond(self.effects, range(len(cycles)))

    def _beyond(self, effects: NDArray[np.float64], builds: Sequence[int]) -> dict[int, float]:
        """Gives what each measured alternative of the operator's site showed beyond its effects."""
        if self.own is None:
            return {}
        rest = self._cycles - self.rows @ effects
        by_own: dict[int, list[float]] = {}
        for build in builds:
            by_own.setdefault(self._assignments[build][self.own], []).append(float(rest[build]))
        return {own: float(np.mean(values)) for own, values in by_own.items()}

    def without(self, index: int) -> float | None:
        """Gives what the other builds predict for one; None where they do not tell."""
        others = [build for build in range(len(self._cycles)) if build != index]
        rows = self.rows[others]
        if not others or _distance(rows, self.rows[index]) > _IN_THE_SPAN:
            return None
        effects = _least_squares(rows, self._cycles[others])
        beyond = self._beyond(effects, others)
        own = None if self.own is None else self._assignments[index][self.own]
        return float(self.rows[index] @ effects) + (
            beyond.get(own, 0.0) if own is not None else 0.0
        )


class LinearModel:
    """The fitted model of one space; follows :class:`optimizer.additive.AdditiveModel`.

    Args:
        space: The space.
        sites: What varies in it.
        observations: The measured plans, in order; those without cycles of operators say nothing.
    """

    def __init__(
        self, space: SearchSpace, sites: Sequence[Site], observations: Sequence[Observation]
    ) -> None:
        self.sites = tuple(sites)
        self.observations = tuple(item for item in observations if item.operator_cycles)
        self.assignments = tuple(
            assignment_of(self.sites, item.choices) for item in self.observations
        )
        self._space = space
        self._operators = tuple(self.observations[0].operator_cycles) if self.observations else ()
        self._place = {
            name: (number, position)
            for number, site in enumerate(self.sites)
            for position, name in enumerate(site.names)
        }
        self._seen = {
            (name, self.sites[number].alternatives[assignment[number]][position])
            for assignment in self.assignments
            for name, (number, position) in self._place.items()
        }

    @cached_property
    def _columns(self) -> dict[str, tuple[_Column, ...]]:
        """For each operator its effects, one for each value but the baseline's."""
        found = {}
        for operator, names in influences(self._space, self._operators).items():
            columns = []
            for name in names:
                number, position = self._place[name]
                values = dict.fromkeys(item[position] for item in self.sites[number].alternatives)
                baseline = self.sites[number].alternatives[0][position]
                columns += [_Column(number, position, v) for v in values if v != baseline]
            found[operator] = tuple(columns)
        return found

    def _row(self, operator: str, assignment: Assignment) -> NDArray[np.float64]:
        return np.array(
            [
                1.0,
                *(
                    float(
                        self.sites[c.site].alternatives[assignment[c.site]][c.position] == c.value
                    )
                    for c in self._columns[operator]
                ),
            ]
        )

    @cached_property
    def _fits(self) -> dict[str, _Fit]:
        number = {site.operator_id: index for index, site in enumerate(self.sites)}
        return {
            operator: _Fit(
                self._columns[operator],
                number.get(operator),
                np.array([self._row(operator, item) for item in self.assignments]),
                np.array([float(item.operator_cycles[operator]) for item in self.observations]),
                self.assignments,
            )
            for operator in self._operators
        }

    def knows(self, site: int, alternative: int) -> bool:
        """Says whether every value of an alternative was measured."""
        item = self.sites[site]
        return all(
            pair in self._seen
            for pair in zip(item.names, item.alternatives[alternative], strict=True)
        )

    @cached_property
    def overhead(self) -> float:
        """Cycles of the whole that belong to no operator."""
        return median(
            item.cycles - sum(item.operator_cycles.values()) for item in self.observations
        )

    @cached_property
    def base(self) -> float:
        """Cycles of the whole with the baseline's values, what was measured beyond them left out."""
        return self.overhead + sum(float(fit.effects[0]) for fit in self._fits.values())

    def costs(self) -> Costs:
        """Gives the cycles of every alternative beside :attr:`base`."""
        single = [np.zeros(len(site.alternatives)) for site in self.sites]
        for fit in self._fits.values():
            for column, effect in zip(fit.columns, fit.effects[1:], strict=True):
                for index, values in enumerate(self.sites[column.site].alternatives):
                    if values[column.position] == column.value:
                        single[column.site][index] += effect
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
        return sum(
            _distance(fit.rows, self._row(operator, assignment)) > _IN_THE_SPAN
            for operator, fit in self._fits.items()
        )

    @cached_property
    def residuals(self) -> tuple[Residual | None, ...]:
        """For each observation how far the sum is off; None when other builds do not tell."""
        return tuple(self._residual(index) for index in range(len(self.observations)))

    def _residual(self, index: int) -> Residual | None:
        expected = self.overhead
        for fit in self._fits.values():
            found = fit.without(index)
            if found is None:
                return None
            expected += found
        measured = self.observations[index].cycles
        return Residual(expected, measured, abs(measured - expected))

    @cached_property
    def error_cycles(self) -> float | None:
        """The largest relative error for any build, in cycles of the fastest one.

        Slow builds are off by more cycles, which says nothing about a fast plan. None as long as too
        few builds can be checked by others.
        """
        known = [item.excess / max(1, item.measured) for item in self.residuals if item is not None]
        fastest = min((item.cycles for item in self.observations), default=0)
        return max(known) * fastest if len(known) >= MIN_CHECKS else None

    def bound(self, excluded: Sequence[Choices] = (), limits: Sequence[Limit] = ()) -> float | None:
        """Gives the cycles below which, as far as the builds tell, no plan within limits can come.

        It is the lowest sum less the largest error that the sum had for any build; an estimate.

        Args:
            excluded: Choices that are known to be bad.
            limits: What every plan must keep to.

        Returns:
            None while too few builds can be checked by others.
        """
        if self.error_cycles is None:
            return None
        costs = self.costs()
        best = cheapest(costs, limits=limits, excluded=excluded)
        if best is None:
            return None
        return max(0.0, self.base + costs.of(best) - self.error_cycles)

    def is_complete(self, excluded: Sequence[Choices] = ()) -> bool:
        """Says whether every value was measured or is bad by itself."""
        return bool(self.observations) and all(
            self.knows(site, index) or frozenset({(site, index)}) in excluded
            for site, item in enumerate(self.sites)
            for index in item.basic
        )


def _least_squares(rows: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gives the shortest solution, so that what no build tells apart is shared out evenly."""
    found = np.linalg.lstsq(rows, values, rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def _distance(rows: NDArray[np.float64], row: NDArray[np.float64]) -> float:
    """Gives how far a row is from every combination of others."""
    weights = np.linalg.lstsq(rows.T, row, rcond=None)[0]
    return float(np.abs(rows.T @ weights - row).max())
