# SPDX-License-Identifier: Apache-2.0
"""A model of cycles that adds up over operators, fitted to the builds of a campaign.

A build counts the cycles of every operator, so it measures one alternative of every operator at
once. The model is: whole = overhead + sum over operators of what the operator's alternative costs.
Where an operator's cycles depend on the alternative of the operator before it, its cost is kept for
each pair. How far the sum is off is known for each build, from the other builds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optimizer.assignment import Assignment, Choices, Costs, Limit, cheapest
from search_spaces.space import SearchSpace

COUPLING: Final = 5e-4
"""Share of the whole that the operator before must change for an operator to get pair costs."""

MIN_CHECKS: Final = 2
"""Builds that others must predict before anything is said about the error of the sum."""


@dataclass(frozen=True)
class Site:
    """An operator of the space with its alternatives.

    Attributes:
        operator_id: The operator.
        names: Its dimensions.
        alternatives: All combinations of their values, that of the baseline first.
        basic: Numbers of the alternatives that differ from the baseline's in one value at most;
            measuring these measures every value.
    """

    operator_id: str
    names: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    basic: tuple[int, ...]


@dataclass(frozen=True)
class Observation:
    """A measured plan of the space.

    Attributes:
        choices: Its value of each dimension.
        cycles: Cycles of the whole.
        operator_cycles: Cycles of each operator by id, in execution order.
    """

    choices: Mapping[str, str]
    cycles: int
    operator_cycles: Mapping[str, int]


def sites_of(space: SearchSpace) -> tuple[Site, ...]:
    """Gives the operators that vary, in execution order."""
    by_operator = itertools.groupby(space.dimensions, key=lambda dimension: dimension.operator_id)
    sites = []
    for operator_id, group in by_operator:
        dimensions = tuple(group)
        values = [
            (item.baseline, *(value for value in item.choices if value != item.baseline))
            for item in dimensions
        ]
        alternatives = tuple(itertools.product(*values))
        changes = [
            sum(value != item.baseline for value, item in zip(alternative, dimensions, strict=True))
            for alternative in alternatives
        ]
        basic = tuple(index for index, count in enumerate(changes) if count <= 1)
        names = tuple(item.name for item in dimensions)
        sites.append(Site(operator_id, names, alternatives, basic))
    return tuple(sites)


def assignment_of(sites: Sequence[Site], choices: Mapping[str, str]) -> Assignment:
    """Gives a point of the space as numbers of alternatives."""
    return tuple(
        site.alternatives.index(tuple(choices[name] for name in site.names)) for site in sites
    )


def choices_of(sites: Sequence[Site], assignment: Assignment) -> dict[str, str]:
    """Gives the point of the space that an assignment stands for."""
    return {
        name: value
        for site, chosen in zip(sites, assignment, strict=True)
        for name, value in zip(site.names, site.alternatives[chosen], strict=True)
    }


@dataclass(frozen=True)
class _Sample:
    """One count of an operator: its alternative, that of the site before it, and its cycles."""

    own: int
    before: int
    cycles: int


@dataclass(frozen=True)
class _Spread:
    """Counts of one alternative, so that leaving one out costs nothing: sum, two lowest, two highest."""

    count: int
    total: int
    lowest: tuple[int, ...]
    highest: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[int]) -> _Spread:
        ordered = sorted(values)
        return cls(len(ordered), sum(ordered), tuple(ordered[:2]), tuple(ordered[-2:]))

    def without(self, value: int) -> tuple[float, int, int]:
        """Gives mean, lowest and highest of the others; there are at least two counts."""
        low = self.lowest[1] if value == self.lowest[0] else self.lowest[0]
        high = self.highest[0] if value == self.highest[1] else self.highest[1]
        return (self.total - value) / (self.count - 1), low, high


class _Operator:
    """What is known about one operator.

    Args:
        site: Number of its site; None when nothing varies there.
        before: Number of the nearest site before it; None when there is none.
        samples: What each build measured, in the order of the builds.
        whole: Typical cycles of the whole.
    """

    def __init__(
        self, site: int | None, before: int | None, samples: Sequence[_Sample], whole: float
    ) -> None:
        self.site = site
        self.before = before
        self.samples = samples
        self._by_own: dict[int, list[int]] = {}
        self._by_pair: dict[tuple[int, int], list[int]] = {}
        self._spreads: dict[tuple[int, int | None], _Spread] = {}
        for sample in samples:
            self._by_own.setdefault(sample.own, []).append(sample.cycles)
            self._by_pair.setdefault((sample.own, sample.before), []).append(sample.cycles)
        noise = max(max(values) - min(values) for values in self._by_pair.values())
        means: dict[int, list[float]] = {}
        for (own, _), values in self._by_pair.items():
            means.setdefault(own, []).append(fmean(values))
        spread = max(max(values) - min(values) for values in means.values())
        self.is_coupled = before is not None and spread > max(COUPLING * whole, 2.0 * noise)
        self.coupling = max((max(values) / max(1.0, min(values)) - 1) for values in means.values())

    def knows(self, own: int) -> bool:
        return own in self._by_own

    @property
    def is_tried(self) -> bool:
        """Whether an alternative ran beside two neighbours, so that their effect can be told."""
        return self.before is None or len(self._by_pair) > len(self._by_own)

    def has_seen(self, own: int, before: int) -> bool:
        return (own, before) in self._by_pair

    def mean(self, own: int) -> float:
        return fmean(self._by_own[own])

    def expected(self, own: int, before: int) -> float:
        """Gives the expected cycles beside a neighbour; ``own`` is known."""
        values = self._by_pair.get((own, before)) if self.is_coupled else None
        return fmean(values or self._by_own[own])

    def lowest(self, own: int, before: int, coupling: float) -> float:
        """Gives the lowest plausible cycles, when neighbours change cycles by a share."""
        if self.has_seen(own, before):
            return self.expected(own, before)
        return min(self._by_own[own]) * (1 - coupling)

    def without(self, index: int, coupling: float) -> tuple[float, float, float] | None:
        """Gives what the other builds say about a build: expected, lowest and highest cycles."""
        sample = self.samples[index]
        if len(self._by_own[sample.own]) == 1:
            return None
        has_pair = len(self._by_pair[sample.own, sample.before]) > 1
        spread = self._spread(sample, is_pair=self.is_coupled and has_pair)
        mean, low, high = spread.without(sample.cycles)
        if has_pair or self.before is None or not coupling:
            return mean, mean, mean
        return mean, low * (1 - coupling), high * (1 + coupling)

    def _spread(self, sample: _Sample, *, is_pair: bool) -> _Spread:
        key = (sample.own, sample.before if is_pair else None)
        if key not in self._spreads:
            pair = (sample.own, sample.before)
            self._spreads[key] = _Spread.of(
                self._by_pair[pair] if is_pair else self._by_own[sample.own]
            )
        return self._spreads[key]


@dataclass(frozen=True)
class Residual:
    """How far the sum of parts is off for one build.

    Attributes:
        predicted: Cycles that the other builds predict.
        measured: Cycles that it has.
        excess: Cycles by which it is outside of what the other builds allow.
    """

    predicted: float
    measured: int
    excess: float


class AdditiveModel:
    """The fitted model of one space.

    Args:
        sites: What varies.
        observations: The measured plans, in order; those without cycles of operators say nothing.
    """

    def __init__(self, sites: Sequence[Site], observations: Sequence[Observation]) -> None:
        self.sites = tuple(sites)
        self.observations = tuple(item for item in observations if item.operator_cycles)
        self.assignments = tuple(
            assignment_of(self.sites, item.choices) for item in self.observations
        )
        self._operators = tuple(self._fit()) if self.observations else ()
        self._by_site = {
            operator.site: operator for operator in self._operators if operator.site is not None
        }

    def _fit(self) -> Iterator[_Operator]:
        number = {site.operator_id: index for index, site in enumerate(self.sites)}
        whole = median(item.cycles for item in self.observations)
        before: int | None = None
        for operator_id in self.observations[0].operator_cycles:
            site = number.get(operator_id)
            samples = [
                _Sample(
                    0 if site is None else assignment[site],
                    0 if before is None else assignment[before],
                    observation.operator_cycles[operator_id],
                )
                for observation, assignment in zip(self.observations, self.assignments, strict=True)
            ]
            yield _Operator(site, before, samples, whole)
            before = before if site is None else site

    def knows(self, site: int, alternative: int) -> bool:
        """Says whether an alternative of a site was measured."""
        return site in self._by_site and self._by_site[site].knows(alternative)

    def best_known(self, site: int) -> int:
        """Gives the measured alternative of a site with the lowest cycles; 0 when none was."""
        known = [
            index for index in range(len(self.sites[site].alternatives)) if self.knows(site, index)
        ]
        return min(known, key=lambda index: (self._by_site[site].mean(index), index), default=0)

    @cached_property
    def overhead(self) -> float:
        """Cycles of the whole that belong to no operator."""
        return median(
            item.cycles - sum(item.operator_cycles.values()) for item in self.observations
        )

    @cached_property
    def coupling(self) -> float:
        """The largest share by which a neighbour changed an operator; 0 where it never matters."""
        return max((item.coupling for item in self._operators if item.is_coupled), default=0.0)

    def costs(self, *, low: bool = False) -> Costs:
        """Gives the cycles of every alternative beside :attr:`base`; every value was measured.

        Args:
            low: Whether pairs of neighbours that no build had are taken at the lowest cycles that
                the other pairs make plausible, in place of the expected ones.
        """
        single = [np.zeros(len(site.alternatives)) for site in self.sites]
        pairs: dict[int, NDArray[np.float64]] = {}
        for operator in self._operators:
            site, before = operator.site, operator.before
            if before is not None and (operator.is_coupled or (low and self.coupling)):
                table = self._table(operator, before, low=low)
                if site is None:
                    single[before] += table[0]
                else:
                    pairs[site] = table
            elif site is not None:
                single[site] += self._single(site, operator)
        return Costs(single, pairs)

    def _table(self, operator: _Operator, before: int, *, low: bool) -> NDArray[np.float64]:
        """Gives the cycles of an operator by own alternative and neighbour, less those in base."""
        site = operator.site
        alone = np.array([operator.mean(0)]) if site is None else self._single(site, operator)
        table = np.repeat(alone[:, None], len(self.sites[before].alternatives), axis=1)
        for own, neighbour in np.ndindex(*table.shape):
            if operator.knows(own) and low:
                table[own, neighbour] = operator.lowest(own, neighbour, self.coupling)
            elif operator.knows(own):
                table[own, neighbour] = operator.expected(own, neighbour)
        return table - operator.mean(0) if site is None else table

    def _single(self, site: int, operator: _Operator) -> NDArray[np.float64]:
        """Gives the mean of each measured alternative, and for others the sum of single changes."""
        alternatives = self.sites[site].alternatives
        costs = np.full(len(alternatives), np.nan)
        for index in range(len(alternatives)):
            if operator.knows(index):
                costs[index] = operator.mean(index)
        if not np.isnan(costs).any():
            return costs
        known = [index for index in range(len(alternatives)) if operator.knows(index)]
        design = np.array([_indicators(alternatives, item) for item in alternatives])
        effects, *_ = np.linalg.lstsq(design[known], costs[known], rcond=None)
        return np.where(np.isnan(costs), design @ effects, costs)

    @cached_property
    def base(self) -> float:
        """Cycles that no choice changes, the overhead included."""
        return self.overhead + sum(
            operator.mean(0) for operator in self._operators if operator.site is None
        )

    def predict(self, assignment: Assignment) -> float:
        """Gives the expected cycles of the whole; every value was measured."""
        return self.base + self._expected.of(assignment)

    @cached_property
    def _expected(self) -> Costs:
        return self.costs()

    def novelty(self) -> Costs:
        """Gives costs whose cheapest assignment has the most pairs of neighbours that no build had.

        Of those with equally many, it is the one with the lowest expected cycles.
        """
        expected = self.costs()
        scale = abs(self.base) + sum(float(np.abs(item).max()) for item in expected.single)
        scale += sum(float(np.abs(item).max()) for item in expected.pairs.values())
        pairs = {}
        for site in range(1, len(self.sites)):
            operator = self._by_site[site]
            shape = (len(self.sites[site].alternatives), len(self.sites[site - 1].alternatives))
            seen = [[operator.has_seen(own, b) for b in range(shape[1])] for own in range(shape[0])]
            pairs[site] = (
                np.where(seen, 1.0, 0.0) + expected.pairs.get(site, np.zeros(shape)) / scale
            )
        return Costs([item / scale for item in expected.single], pairs)

    @cached_property
    def residuals(self) -> tuple[Residual | None, ...]:
        """For each observation how far the sum is off; None when other builds do not cover it."""
        return tuple(self._residual(index) for index in range(len(self.observations)))

    def _residual(self, index: int) -> Residual | None:
        expected = low = high = self.overhead
        for operator in self._operators:
            found = operator.without(index, self.coupling)
            if found is None:
                return None
            expected, low, high = expected + found[0], low + found[1], high + found[2]
        measured = self.observations[index].cycles
        return Residual(expected, measured, max(0.0, low - measured, measured - high))

    @property
    def error_cycles(self) -> float | None:
        """The largest excess of all builds.

        None as long as too few builds can be checked by others, or an operator ran beside one
        neighbour only.
        """
        known = [item.excess for item in self.residuals if item is not None]
        is_enough = len(known) >= MIN_CHECKS and all(map(self._is_tried, self._operators))
        return max(known) if is_enough else None

    def _is_tried(self, operator: _Operator) -> bool:
        """Says whether an operator ran beside two neighbours, or its neighbour has one way to run."""
        before = operator.before
        if operator.is_tried or before is None:
            return True
        return sum(self.knows(before, index) for index in self.sites[before].basic) < 2

    def bound(self, excluded: Sequence[Choices] = (), limits: Sequence[Limit] = ()) -> float | None:
        """Gives the cycles below which, as far as the builds tell, no plan of the space can come.

        It is the lowest sum over all plans, with pairs of neighbours that no build had at their
        lowest plausible cycles, less the largest error that the sum had for any build. Combinations
        of several knobs of one operator that no build had count as the sum of the single changes. It
        is an estimate from measurements and no proof.

        Args:
            excluded: Choices that are known to be bad.
            limits: What every plan must keep to.

        Returns:
            None while not every value was measured or too few builds can be checked by others.
        """
        if not self.is_complete(excluded) or self.error_cycles is None:
            return None
        costs = self.costs(low=True)
        best = cheapest(costs, limits=limits, excluded=excluded)
        if best is None:
            return None
        return max(0.0, self.base + costs.of(best) - self.error_cycles)

    def is_complete(self, excluded: Sequence[Choices] = ()) -> bool:
        """Says whether every basic alternative was measured or is bad by itself."""
        return bool(self.observations) and all(
            self.knows(site, index) or frozenset({(site, index)}) in excluded
            for site, item in enumerate(self.sites)
            for index in item.basic
        )


def _indicators(
    alternatives: Sequence[tuple[str, ...]], alternative: tuple[str, ...]
) -> list[float]:
    """Gives 1 for the intercept and a 0/1 for each value that is not the baseline's."""
    baseline = alternatives[0]
    row = [1.0]
    for position, first in enumerate(baseline):
        values = list(dict.fromkeys(item[position] for item in alternatives))
        row += [float(alternative[position] == value) for value in values if value != first]
    return row


def relative_gap(best_cycles: int, bound: float) -> float:
    """Gives how much the best plan may be above the bound, relative to the bound; at least 0."""
    if bound <= 0:
        return math.inf
    return max(0.0, best_cycles / bound - 1)
