# SPDX-License-Identifier: Apache-2.0
"""A model of cycles that adds up over operators, fitted to the builds of a campaign.

A build counts the cycles of every operator, so it measures one alternative of every operator at
once. The model is: whole = overhead + sum over operators of what the operator's alternative costs.
Where an operator's cycles depend on the alternative of the operator before it, its cost is kept for
each pair. How far the sum is off is known for each build, from the other builds.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from optimizer.assignment import Assignment, Choices, Costs, Limit, lowest_cost
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


class _Counts:
    """Counts of one choice: enough of them that leaving one out costs the same for any number."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.lowest: list[int] = []
        self.highest: list[int] = []

    def add(self, value: int) -> None:
        self.count += 1
        self.total += value
        self.lowest = sorted([*self.lowest, value])[:2]
        self.highest = sorted([*self.highest, value])[-2:]

    @property
    def mean(self) -> float:
        return self.total / self.count

    @property
    def spread(self) -> int:
        return self.highest[-1] - self.lowest[0]

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
    """

    def __init__(self, site: int | None, before: int | None) -> None:
        self.site = site
        self.before = before
        self.is_coupled = False
        self.coupling = 0.0
        self._by_own: dict[int, _Counts] = {}
        self._by_pair: dict[tuple[int, int], _Counts] = {}
        self._noise = 0

    def choices(self, assignment: Assignment) -> tuple[int, int]:
        """Gives its own alternative and that of the site before it."""
        own = 0 if self.site is None else assignment[self.site]
        return own, 0 if self.before is None else assignment[self.before]

    def add(self, assignment: Assignment, cycles: int) -> None:
        own, before = self.choices(assignment)
        self._by_own.setdefault(own, _Counts()).add(cycles)
        pair = self._by_pair.setdefault((own, before), _Counts())
        pair.add(cycles)
        self._noise = max(self._noise, pair.spread)

    def judge(self, whole: float) -> None:
        """Decides whether the operator before matters, given the typical cycles of the whole."""
        means: dict[int, list[float]] = {}
        for (own, _), counts in self._by_pair.items():
            means.setdefault(own, []).append(counts.mean)
        spread = max(max(values) - min(values) for values in means.values())
        self.is_coupled = self.before is not None and spread > max(
            COUPLING * whole, 2.0 * self._noise
        )
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
        return self._by_own[own].mean

    def expected(self, own: int, before: int) -> float:
        """Gives the expected cycles beside a neighbour; ``own`` is known."""
        counts = self._by_pair.get((own, before)) if self.is_coupled else None
        return (counts or self._by_own[own]).mean

    def lowest(self, own: int, before: int, coupling: float) -> float:
        """Gives the lowest plausible cycles, when neighbours change cycles by a share."""
        if self.has_seen(own, before):
            return self.expected(own, before)
        return self._by_own[own].lowest[0] * (1 - coupling)

    def without(
        self, assignment: Assignment, cycles: int, coupling: float
    ) -> tuple[float, float, float] | None:
        """Gives what the other builds say about a build: expected, lowest and highest cycles."""
        own, before = self.choices(assignment)
        if self._by_own[own].count == 1:
            return None
        pair = self._by_pair[own, before]
        has_pair = pair.count > 1
        counts = pair if self.is_coupled and has_pair else self._by_own[own]
        mean, low, high = counts.without(cycles)
        if has_pair or self.before is None or not coupling:
            return mean, mean, mean
        return mean, low * (1 - coupling), high * (1 + coupling)


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


CHECKED: Final = 48
"""Builds whose error is looked at anew with every build: the most recent ones."""

WORST: Final = 16
"""Older builds that are looked at beside them: those that were furthest off."""


class Builds:
    """The measured plans of a model, with what a fit needs of all of them.

    Args:
        sites: What varies.

    Attributes:
        fastest_cycles: The lowest cycles of the whole; 0 without builds.
    """

    def __init__(self, sites: Sequence[Site]) -> None:
        self._sites = sites
        self._items: list[tuple[Observation, Assignment]] = []
        self._cycles: list[int] = []
        self._overheads: list[int] = []
        self._worst: list[tuple[float, int]] = []
        self.fastest_cycles = 0

    def __len__(self) -> int:
        """Gives how many there are."""
        return len(self._items)

    def __getitem__(self, number: int) -> tuple[Observation, Assignment]:
        """Gives one of them, in the order in which they came."""
        return self._items[number]

    def add(self, observation: Observation) -> Assignment:
        """Takes one more and gives its assignment."""
        assignment = assignment_of(self._sites, observation.choices)
        self._items.append((observation, assignment))
        overhead = observation.cycles - sum(observation.operator_cycles.values())
        bisect.insort(self._cycles, observation.cycles)
        bisect.insort(self._overheads, overhead)
        self.fastest_cycles = self._cycles[0]
        return assignment

    @property
    def typical_cycles(self) -> float:
        """The median of the cycles of the whole."""
        return _middle(self._cycles)

    @property
    def overhead(self) -> float:
        """Cycles of the whole that belong to no operator: the median."""
        return _middle(self._overheads)

    @property
    def checked(self) -> list[int]:
        """The numbers of the builds whose errors count."""
        recent = range(max(0, len(self) - CHECKED), len(self))
        return [*(number for _, number in self._worst), *recent]

    def keep_the_worst(self, excess: Callable[[int], float | None]) -> None:
        """Decides whether the build that is no longer recent stays among those that are checked."""
        leaving = len(self) - 1 - CHECKED
        if leaving < 0:
            return
        off = excess(leaving)
        if off is not None:
            self._worst = sorted(
                [*self._worst, (off, leaving)], key=lambda item: (-item[0], item[1])
            )
            del self._worst[WORST:]


def _middle(ordered: Sequence[int]) -> float:
    """Gives the median of numbers in rising order; there is at least one."""
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


class AdditiveModel:
    """The model of one space, fitted to the builds so far; adding one costs the same for any number.

    Args:
        sites: What varies.
        observations: The measured plans, in order; those without cycles of operators say nothing.
    """

    def __init__(self, sites: Sequence[Site], observations: Iterable[Observation] = ()) -> None:
        self.sites = tuple(sites)
        self.builds = Builds(self.sites)
        self._operators: dict[str, _Operator] = {}
        self._by_site: dict[int, _Operator] = {}
        for observation in observations:
            self.add(observation)

    def add(self, observation: Observation) -> None:
        """Takes one more measured plan."""
        if not observation.operator_cycles:
            return
        if not self._operators:
            self._operators = dict(self._fresh(observation.operator_cycles))
            self._by_site = {
                item.site: item for item in self._operators.values() if item.site is not None
            }
        assignment = self.builds.add(observation)
        for operator_id, operator in self._operators.items():
            operator.add(assignment, observation.operator_cycles[operator_id])
            operator.judge(self.builds.typical_cycles)
        for name in ("coupling", "base", "_expected", "error_cycles"):
            self.__dict__.pop(name, None)
        self.builds.keep_the_worst(self._excess)

    def _fresh(self, operator_ids: Iterable[str]) -> Iterator[tuple[str, _Operator]]:
        number = {site.operator_id: index for index, site in enumerate(self.sites)}
        before: int | None = None
        for operator_id in operator_ids:
            site = number.get(operator_id)
            yield operator_id, _Operator(site, before)
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
    def coupling(self) -> float:
        """The largest share by which a neighbour changed an operator; 0 where it never matters."""
        found = (item.coupling for item in self._operators.values() if item.is_coupled)
        return max(found, default=0.0)

    def costs(self, *, low: bool = False) -> Costs:
        """Gives the cycles of every alternative beside :attr:`base`; every value was measured.

        Args:
            low: Whether pairs of neighbours that no build had are taken at the lowest cycles that
                the other pairs make plausible, in place of the expected ones.
        """
        single = [np.zeros(len(site.alternatives)) for site in self.sites]
        pairs: dict[int, NDArray[np.float64]] = {}
        for operator in self._operators.values():
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
        return self.builds.overhead + sum(
            operator.mean(0) for operator in self._operators.values() if operator.site is None
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

    def residuals(self) -> Iterator[Residual]:
        """Gives how far the sum is off for each build that the others cover, however many there are."""
        for number in range(len(self.builds)):
            if (residual := self._residual(number)) is not None:
                yield residual

    def _residual(self, number: int) -> Residual | None:
        observation, assignment = self.builds[number]
        expected = low = high = self.builds.overhead
        for operator_id, operator in self._operators.items():
            cycles = observation.operator_cycles[operator_id]
            found = operator.without(assignment, cycles, self.coupling)
            if found is None:
                return None
            expected, low, high = expected + found[0], low + found[1], high + found[2]
        measured = observation.cycles
        return Residual(expected, measured, max(0.0, low - measured, measured - high))

    def _excess(self, number: int) -> float | None:
        found = self._residual(number)
        return None if found is None else found.excess

    @cached_property
    def error_cycles(self) -> float | None:
        """The largest excess of the builds that are checked.

        None as long as too few builds can be checked by others, or an operator ran beside one
        neighbour only.
        """
        known = [
            excess for number in self.builds.checked if (excess := self._excess(number)) is not None
        ]
        is_enough = len(known) >= MIN_CHECKS and all(map(self._is_tried, self._operators.values()))
        return max(known) if is_enough else None

    def _is_tried(self, operator: _Operator) -> bool:
        """Says whether an operator ran beside two neighbours, or its neighbour has one way to run."""
        before = operator.before
        if operator.is_tried or before is None:
            return True
        return sum(self.knows(before, index) for index in self.sites[before].basic) < 2

    def bound(
        self,
        excluded: Sequence[Choices] = (),
        limits: Sequence[Limit] = (),
        refused: Container[Assignment] = (),
    ) -> float | None:
        """Gives the cycles below which, as far as the builds tell, no plan of the space can come.

        It is the lowest sum over all plans, with pairs of neighbours that no build had at their
        lowest plausible cycles, less the largest error that the sum had for any build. Combinations
        of several knobs of one operator that no build had count as the sum of the single changes. It
        is an estimate from measurements and no proof.

        Args:
            excluded: Choices that are known to be bad.
            limits: What every plan must keep to.
            refused: Plans that are known to break a limit.

        Returns:
            None while not every value was measured or too few builds can be checked by others.
        """
        if not self.is_complete(excluded) or self.error_cycles is None:
            return None
        costs = self.costs(low=True)
        best = lowest_cost(costs, limits=limits, excluded=excluded, refused=refused)
        return None if best is None else max(0.0, self.base + best - self.error_cycles)

    def is_complete(self, excluded: Sequence[Choices] = ()) -> bool:
        """Says whether every basic alternative was measured or is bad by itself."""
        return bool(self.builds) and all(
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
