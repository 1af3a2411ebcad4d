# SPDX-License-Identifier: Apache-2.0
"""The ``profile`` sampler: measure every alternative in few builds, then optimise exactly.

1. **Design**: plans in which every operator runs an alternative that no build had, until every
   value of every operator was measured.
2. **Optimise**: the plan with the lowest sum of cycles (:mod:`optimizer.additive`), by
   mixed-integer linear programming; again after each build, because its operators were measured
   beside other neighbours.
3. **Check**: when that plan is known, the plan that may be the lowest if neighbours that no build
   had are as kind as others were; and where too few builds can be checked by others yet, the plan with
   the most new neighbours.

A plan that is bad teaches which choices must not be made together: the next designs hold at most
half of them, until the bad choice is found alone. A plan on its way counts as known.

Limits are part of the exact choice: memories are knapsacks for constants and live scratch, the code of
a kernel entry is paid once (:mod:`optimizer.footprint`); designs keep to them as well. A plan that was
proposed and did not fit adds what it showed. Where a choice changes other operators than its own,
effects are fitted by least squares (:mod:`optimizer.linear`), and designs go on until they are told
apart. With several objectives the first one is minimised under a row of limits for each other one,
from what the fastest plan takes down to the least that any plan can take, and where there are more, under
grids of limits for all of them at once.
"""

from __future__ import annotations

import itertools
import math
from collections import ChainMap, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from optimizer.additive import (
    AdditiveModel,
    Observation,
    Site,
    assignment_of,
    choices_of,
    relative_gap,
)
from optimizer.assignment import Assignment, Choices, Costs, Limit, cheapest
from optimizer.built_sizes import SizeSample
from optimizer.deadlines import LateError
from optimizer.errors import CampaignError
from optimizer.linear import LinearModel, is_local
from optimizer.quantities import (
    CYCLES,
    LATENCY,
    OVERFLOW,
    counts_time,
    known_quantities,
    overflow_of,
)
from optimizer.task import SearchTask
from results.evidence import BuildCheck, Optimality
from results.records import TrialRecord
from runners.measurement import Measurement
from search_spaces.space import SearchSpace

STATUS: Final = "status"
"""User attribute of an Optuna trial: the status of its measurement."""

OPERATOR_CYCLES: Final = "operator_cycles"
"""User attribute of an Optuna trial: cycles of each operator by id, in execution order."""

QUANTITIES: Final = "quantities"
"""User attribute of an Optuna trial: everything that its measurement tells, by name."""

SOURCE_CODE: Final = "source_code_bytes"
"""User attribute of an Optuna trial: code of each source file by name."""

MAX_CUTS: Final = 64
"""Plans that overflowed a memory, the most recent ones, of which each adds a limit."""

MAX_PASSED: Final = 16
"""Plans that are passed over under limits, each for one linear programme."""

MAX_PASSED_WITHOUT_LIMITS: Final = 64
"""Plans that are passed over without limits, where the next one costs little."""

_DRAWS: Final = 12
"""Changes of the costs by chance, each twice as large as the one before."""

_POOL: Final = 6
"""Draws of a design, of which the one that tells most is built."""

_SWEEP: Final = (6, 12, 24)
"""Limits of each further objective, evenly spaced, and places of the grid of all of them.

The finer rows come when the coarser are built.
"""

_HALVINGS: Final = 8
"""Halvings of the range in which the least that any plan can take of a quantity is looked for."""


@dataclass(frozen=True)
class Outcome:
    """What is known about one plan of the space.

    Attributes:
        choices: Its value of each dimension.
        status: ``running``: not known yet; the others as in a measurement.
        cycles: Cycles of the whole; None unless ``ok``.
        operator_cycles: Cycles of each operator by id, in execution order; empty unless ``ok``.
        quantities: What was measured by name; empty unless ``ok``.
        overflow: By how much a plan that does not fit is too large, by budget.
        source_code_bytes: Code by source file; empty unless ``ok``.
    """

    choices: Mapping[str, str]
    status: Literal["ok", "plan_bad", "unknown", "running"]
    cycles: int | None = None
    operator_cycles: Mapping[str, int] | None = None
    quantities: Mapping[str, float] = field(default_factory=dict)
    overflow: Mapping[str, float] = field(default_factory=dict)
    source_code_bytes: Mapping[str, int] = field(default_factory=dict)

    def is_above(self, budget: Mapping[str, float]) -> bool:
        """Says whether a measured plan breaks a limit."""
        return self.status == "ok" and any(
            self.quantities.get(name, 0.0) > most for name, most in budget.items()
        )


def operator_cycles(measurement: Measurement) -> dict[str, int]:
    """Gives the cycles of each operator, as comparable between boards as those of the whole."""
    if measurement.baseline_ratio is None:
        return {item.id: item.cycles for item in measurement.operator_cycles}
    scale = measurement.comparable_cycles / max(1, measurement.best_cycles)
    return {item.id: round(item.cycles * scale) for item in measurement.operator_cycles}


def trial_attributes(measurement: Measurement) -> dict[str, Any]:
    """Gives what an Optuna trial keeps of a measurement besides its values."""
    return {
        STATUS: measurement.status,
        OPERATOR_CYCLES: operator_cycles(measurement),
        QUANTITIES: known_quantities(measurement),
        OVERFLOW: overflow_of(measurement),
        SOURCE_CODE: measurement.source_code_bytes,
    }


def record_outcomes(records: Iterable[TrialRecord]) -> list[Outcome]:
    """Gives the outcomes that records of a ledger hold, those outside the space left out."""
    return [
        Outcome(
            record.choices,
            record.measurement.status,
            round(record.measurement.comparable_cycles)
            if record.measurement.status == "ok"
            else None,
            operator_cycles(record.measurement),
            known_quantities(record.measurement),
            overflow_of(record.measurement),
            record.measurement.source_code_bytes,
        )
        for record in records
        if record.in_space and record.measurement.status != "rig_bad"
    ]


class Profile:
    """What the builds of a space tell, and the plan to build next.

    Both depend on what was added, and on its order. Adding an outcome and asking for the next plan cost
    about the same after ten outcomes and after ten thousand.

    Args:
        task: The space, with objectives and limits where there are any.
        outcomes: What is known, in order; of several for one plan the first counts.
    """

    def __init__(self, task: SearchSpace | SearchTask, outcomes: Iterable[Outcome] = ()) -> None:
        self._task = task if isinstance(task, SearchTask) else SearchTask(task)
        self._sites = self._task.sites
        self._known: dict[Assignment, Outcome] = {}
        self._running: dict[Assignment, Outcome] = {}
        self._taken = ChainMap(self._running, self._known)
        self._model: AdditiveModel | LinearModel = (
            AdditiveModel(self._sites)
            if is_local(self._task.space)
            else LinearModel(self._task.space, self._sites)
        )
        self._built = self._task.footprint.built_sizes()
        self._is_counted = True
        self._bad: list[Choices] = []
        self._bad_values: dict[Choices, None] = {}
        self._refused: set[Assignment] = set()
        self._best_cycles: int | None = None
        self._latency_share: float | None = None
        self._careful: dict[str, float] = {}
        self._cuts: deque[Limit] = deque(maxlen=MAX_CUTS)
        for outcome in outcomes:
            self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        """Takes what is known about one more plan."""
        assignment = assignment_of(self._sites, outcome.choices)
        if assignment in self._known:
            return
        if outcome.status == "running":
            self._running[assignment] = outcome
            return
        self._running.pop(assignment, None)
        self._known[assignment] = outcome
        if outcome.overflow or outcome.is_above(self._task.budget):
            self._refused.add(assignment)
        if outcome.status == "ok":
            self._add_good(assignment, outcome)
        elif outcome.overflow:
            self._add_overflow(assignment, outcome.overflow)
        else:
            self._add_bad(assignment)

    def forget_running(self) -> None:
        """Forgets the plans on their way; those that still are must be added again."""
        self._running.clear()

    @property
    def _count(self) -> int:
        """How many plans are known or on their way."""
        return len(self._known) + len(self._running)

    def _add_good(self, assignment: Assignment, outcome: Outcome) -> None:
        sizes = outcome.quantities
        self._is_counted = self._is_counted and bool(outcome.operator_cycles)
        self._task.footprint.note(
            SizeSample(assignment, sizes, outcome.source_code_bytes), self._built
        )
        if self._latency_share is None and sizes.get(CYCLES) and LATENCY in sizes:
            self._latency_share = sizes[LATENCY] / sizes[CYCLES]
        if outcome.cycles is None:
            return
        if assignment not in self._refused:
            best = self._best_cycles
            self._best_cycles = outcome.cycles if best is None else min(best, outcome.cycles)
        self._model.add(Observation(outcome.choices, outcome.cycles, outcome.operator_cycles or {}))

    def _add_overflow(self, assignment: Assignment, overflow: Mapping[str, float]) -> None:
        """Learns what a plan that did not fit showed.

        Memories are taken as less the most that first fit left unused in such a plan.
        """
        footprint = self._task.footprint
        for name, excess in overflow.items():
            if footprint.knows(name):
                # What was needed is room and excess; so this is room less what was not expected.
                most = footprint.expected(name, assignment) - excess
                self._careful[name] = max(0.0, min(most, self._careful.get(name, most)))
            cut = footprint.cut(name, assignment, excess)
            if cut is not None:
                self._cuts.append(cut)

    def _add_bad(self, assignment: Assignment) -> None:
        """Keeps the changes against the baseline of a plan that failed for another reason than size."""
        changes = frozenset((site, index) for site, index in enumerate(assignment) if index)
        if not changes or any(bad <= changes for bad in self._bad):
            return
        self._bad.append(changes)
        if len(changes) == 1:  # a bad value is bad beside every other value
            values = _with_the_same_value(self._sites, *next(iter(changes)))
            self._bad_values.update(dict.fromkeys(values))

    @property
    def _excluded(self) -> list[Choices]:
        """Choices that no plan may make at once."""
        return list(dict.fromkeys([*self._bad, *self._bad_values]))

    @property
    def _room(self) -> list[Limit]:
        """What conversion would refuse: full memories, and what plans that overflowed showed."""
        return [*self._task.footprint.limits(tighter=self._careful), *self._cuts]

    def _limits(
        self, tighter: Mapping[str, float] | None = None, *, is_careful: bool = True
    ) -> list[Limit]:
        """Gives everything that a plan must keep to, measured sizes and cycles included.

        Args:
            tighter: Further limits, besides the budget.
            is_careful: Whether room is left for what first fit leaves unused, and sizes that too few
                builds tell are taken as fitted, not as low as they may be; not for a bound.
        """
        most = dict(self._careful) if is_careful else {}
        for name, limit in (tighter or {}).items():
            most[name] = min(limit, most.get(name, limit))
        found = self._task.footprint.limits(self._built, tighter=most, surely=not is_careful)
        return [*found, *self._cuts, *self._cycle_limits()]

    def _cycle_limits(self) -> Iterator[Limit]:
        budget = self._task.budget
        wanted = [budget[CYCLES]] if CYCLES in budget else []
        if LATENCY in budget and self._latency_share is not None:
            wanted.append(budget[LATENCY] / self._latency_share)
        if not wanted or not self._model.builds:
            return
        costs = self._model.costs()
        if not costs.pairs and not any(np.isnan(item).any() for item in costs.single):
            yield Limit(costs.single, min(wanted) - self._model.base)

    def next(self) -> dict[str, str] | None:
        """Gives the point of the plan to build next; None when no other plan is left to allow.

        Raises:
            CampaignError: The runner does not count the cycles of operators.
            LateError: The solver is late.
        """
        if not self._is_counted:
            raise CampaignError(
                "The profile sampler needs the cycles of every operator, which the runner does not "
                "count.",
                next_step="use --sampler tpe",
            )
        found = self._design() or self._optimum()
        return None if found is None else choices_of(self._sites, found)

    def _design(self) -> Assignment | None:
        """Gives a plan that measures missing alternatives of as many sites as is allowed.

        The other sites run their best known alternative, or that of the baseline as soon as a plan
        failed, so that a failure is easy to pin down. Where limits or effects on other operators have
        to be minded, the plan is a solution of the exact choice.
        """
        if isinstance(self._model, LinearModel) or self._room:
            return self._covering(must_cover=True)
        chosen: dict[int, int] = {}
        for site in range(len(self._sites)):
            for index in self._missing(site):
                if index == 0 or self._is_allowed({**chosen, site: index}):
                    chosen[site] = index
                    break
        if not chosen:
            return None
        found = tuple(
            chosen.get(site, 0 if self._bad else self._model.best_known(site))
            for site in range(len(self._sites))
        )
        return None if found in self._taken else found

    def _missing(self, site: int) -> list[int]:
        """Gives the basic alternatives that no build had or has on its way."""
        return [
            index
            for index in self._sites[site].basic
            if index not in self._on_the_way(site)
            and not self._model.knows(site, index)
            and frozenset({(site, index)}) not in self._excluded
        ]

    def _on_the_way(self, site: int) -> set[int]:
        return {assignment[site] for assignment in self._running}

    def _is_allowed(self, chosen: Mapping[int, int]) -> bool:
        return all(len(chosen.items() & bad) <= len(bad) // 2 for bad in self._bad)

    def _unseen(self) -> list[list[int]]:
        """How many values that no build had or has on its way each alternative would measure."""
        missing = [set(self._missing(site)) for site in range(len(self._sites))]
        return [
            [
                sum(other in missing[site] and _holds(item, index, other) for other in item.basic)
                if isinstance(self._model, LinearModel)
                else int(index in missing[site])
                for index in range(len(item.alternatives))
            ]
            for site, item in enumerate(self._sites)
        ]

    def _covering(self, *, must_cover: bool) -> Assignment | None:
        """Gives the plan within limits that tells most: values that no build had, then other effects.

        Args:
            must_cover: Whether only a plan with a value that no build had will do.
        """
        unseen = self._unseen()
        if must_cover and not any(map(any, unseen)):
            return None
        best: tuple[tuple[int, int], Assignment] | None = None
        limits = [*self._room, *map(self._at_most_half, self._bad)]
        for draw in range(_POOL):
            chance = np.random.default_rng([self._count, draw])
            weights = chance.random(len(self._sites)) < 0.5 if draw else np.ones(len(self._sites))
            single = [
                chance.random(len(item)) - 10.0 * weight * np.array(item, dtype=float)
                for item, weight in zip(unseen, weights, strict=True)
            ]
            found = cheapest(
                Costs(single),
                limits=limits,
                excluded=self._excluded,
                taken=self._taken,
                most_passed=MAX_PASSED,
            )
            if found is None:
                continue
            covered = sum(unseen[site][index] for site, index in enumerate(found))
            news = self._model.news(found) if isinstance(self._model, LinearModel) else 0
            score = (covered, news)
            if (covered or (news and not must_cover)) and (best is None or score > best[0]):
                best = (score, found)
        return None if best is None else best[1]

    def _at_most_half(self, bad: Choices) -> Limit:
        costs = [np.zeros(len(site.alternatives)) for site in self._sites]
        for site, index in bad:
            costs[site][index] = 1.0
        return Limit(costs, len(bad) // 2)

    def _optimum(self) -> Assignment | None:
        if not self._model.builds:
            return None
        found = self._cheapest(self._model.costs())
        if found is not None and found not in self._taken:
            return found
        if (found := self._front()) is not None:
            return found
        if isinstance(self._model, LinearModel):
            found = self._covering(must_cover=False)
            return found or self._untaken(self._model.costs(), self._limits(is_careful=False))
        surely = self._limits(is_careful=False)
        bound = self._cheapest(self._model.costs(low=True), limits=surely)
        if bound is not None and bound not in self._taken:
            return bound
        asks_for_a_check = self._model.error_cycles is None or bool(self._model.error_cycles)
        costs = self._model.novelty() if asks_for_a_check else self._model.costs()
        return self._untaken(costs, self._limits())

    def _untaken(self, costs: Costs, limits: Sequence[Limit]) -> Assignment | None:
        """Gives the cheapest plan that is not known; where many of the cheapest are, one that is near them.

        To look for it among thousands that are known would take longer with each. So some are passed
        over, then the costs are changed by chance, more and more, and only in the end, in a space of
        which almost all is known, every one is passed over.
        """
        excluded = [*self._excluded, *self._unmeasured(or_on_the_way=True)]
        most = MAX_PASSED if limits else MAX_PASSED_WITHOUT_LIMITS
        for draw in range(_DRAWS + 1):
            drawn = self._changed_by_chance(costs, draw) if draw else costs
            found = cheapest(
                drawn,
                limits=limits,
                excluded=excluded,
                taken=self._taken,
                most_passed=0 if draw else most,
            )
            if found is not None:
                return found
        return cheapest(costs, limits=limits, excluded=excluded, taken=self._taken)

    def _changed_by_chance(self, costs: Costs, draw: int) -> Costs:
        chance = np.random.default_rng([self._count, draw])
        widest = max(float(np.ptp(item)) for item in costs.single) or 1.0
        strength = widest * 2.0 ** (draw - _DRAWS / 2)
        return Costs(
            [item + strength * chance.random(len(item)) for item in costs.single], costs.pairs
        )

    def _front(self, rows: Sequence[int] = _SWEEP) -> Assignment | None:
        """Gives the fastest plan under the next limits of further objectives that no build answers."""
        names = [name for name in self._task.objectives[1:] if not counts_time(name)]
        ranges = {name: self._range(name) for name in names}
        for count in rows:
            for tighter in _swept(ranges, count):
                found = self._cheapest(self._model.costs(), limits=self._limits(tighter))
                if found is not None and found not in self._taken:
                    return found
        return None

    def _range(self, name: str) -> tuple[float, float]:
        """Gives the least that any plan can take of a quantity, and what the fastest one takes."""
        fastest = self._cheapest(self._model.costs())
        if fastest is None:
            return 0.0, 0.0
        known = self._known.get(fastest)
        high = known.quantities.get(name) if known is not None else None
        if high is None and self._task.footprint.knows(name):
            high = self._task.footprint.expected(name, fastest)
        if not high:
            return 0.0, 0.0
        low, most = 0.0, high
        for _ in range(_HALVINGS):
            middle = (low + most) / 2
            limits = self._limits({name: middle})
            if self._cheapest(self._model.costs(), limits=limits) is None:
                low = middle
            else:
                most = middle
        return most, high

    def _cheapest(self, costs: Costs, limits: Sequence[Limit] | None = None) -> Assignment | None:
        """Gives the cheapest plan, known or not, that is not known to break a limit."""
        return cheapest(
            costs,
            limits=self._limits() if limits is None else limits,
            excluded=[*self._excluded, *self._unmeasured()],
            taken=self._refused,
            most_passed=MAX_PASSED,
        )

    def _unmeasured(self, *, or_on_the_way: bool = False) -> list[Choices]:
        """Gives the alternatives that no build had.

        Args:
            or_on_the_way: Whether those that a running build has count as measured.
        """
        return [
            frozenset({(site, index)})
            for site, item in enumerate(self._sites)
            for index in self._measurable(item)
            if not self._model.knows(site, index)
            and not (or_on_the_way and index in self._on_the_way(site))
        ]

    def _measurable(self, site: Site) -> Iterable[int]:
        """Gives the alternatives that need a measurement before they are proposed for their cycles."""
        return range(len(site.alternatives)) if self._is_linear else site.basic

    @property
    def _is_linear(self) -> bool:
        return isinstance(self._model, LinearModel)

    def _unreachable(self) -> tuple[Choices, ...]:
        """Alternatives that fit into no plan, so that no build can measure them."""
        zero = Costs([np.zeros(len(site.alternatives)) for site in self._sites])
        found = []
        for site in range(len(self._sites)):
            for index in self._missing(site):
                costs = [item.copy() for item in zero.single]
                costs[site] += 1.0
                costs[site][index] = 0.0
                best = cheapest(Costs(costs), limits=self._room, excluded=self._excluded)
                if best is None or best[site] != index:
                    found.append(frozenset({(site, index)}))
        return tuple(found)

    def bound_cycles(self, best_cycles: int) -> float | None:
        """Gives the cycles below which, as far as the builds tell, no plan within the limits can come.

        Args:
            best_cycles: Cycles of the best plan; the bound is not above.

        Returns:
            None while the builds do not tell: a value was not measured, too few builds can be
            checked by the others, or a Pareto front has places that were not looked at; and when the
            solver is late.
        """
        try:
            return self._bound_cycles(best_cycles)
        except LateError:
            return None

    def _bound_cycles(self, best_cycles: int) -> float | None:
        if self._is_exhausted:
            return float(min(best_cycles, self._best_cycles or best_cycles))
        if not self._model.builds or self._model.error_cycles is None:
            return None
        excluded = [*self._excluded, *self._unreachable()]
        if not self._model.is_complete(excluded):
            return None
        bound = self._model.bound(excluded, self._limits(is_careful=False), self._refused)
        is_open = len(self._task.objectives) > 1 and self._front(_SWEEP[:2]) is not None
        return None if bound is None or is_open else min(bound, float(best_cycles))

    @property
    def _is_exhausted(self) -> bool:
        return len(self._known) >= self._task.space.size

    def gap(self, best_cycles: int) -> float | None:
        """Gives how far a plan may be from the best of the space; None where :meth:`bound_cycles` is."""
        bound = self.bound_cycles(best_cycles)
        return None if bound is None else relative_gap(best_cycles, bound)

    def optimality(self, best_cycles: int) -> Optimality | None:
        """Gives how far a plan may be from the best of the space, with the error of every build.

        Args:
            best_cycles: Cycles of that plan.

        Returns:
            None where :meth:`bound_cycles` is.
        """
        bound = self.bound_cycles(best_cycles)
        if bound is None:
            return None
        is_exhausted = self._is_exhausted
        return Optimality(
            bound_cycles=round(bound, 1),
            gap=relative_gap(best_cycles, bound),
            error_cycles=0.0 if is_exhausted else round(self._model.error_cycles or 0.0, 1),
            is_exhaustive=is_exhausted,
            checks=tuple(
                BuildCheck(
                    measured_cycles=item.measured,
                    predicted_cycles=round(item.predicted, 1),
                    error=item.measured / item.predicted - 1,
                )
                for item in self._model.residuals()
            ),
        )


def _swept(ranges: Mapping[str, tuple[float, float]], count: int) -> Iterator[Mapping[str, float]]:
    """Gives limits for each objective alone, then for all of them at once on a grid of about as many places."""
    wide = {name: ends for name, ends in ranges.items() if ends[1] > ends[0]}

    def rows(name: str, steps: int) -> list[float]:
        low, high = wide[name]
        return [float(most) for most in np.linspace(high, low, steps + 1)[1:]]

    for name in wide:
        yield from ({name: most} for most in rows(name, count))
    if len(wide) > 1:
        steps = math.ceil(count ** (1 / len(wide)))
        for place in itertools.product(*(rows(name, steps) for name in wide)):
            yield dict(zip(wide, place, strict=True))


def _holds(site: Site, index: int, basic: int) -> bool:
    """Says whether an alternative has the value in which a basic one differs from the baseline's."""
    first, single = site.alternatives[0], site.alternatives[basic]
    changed = [i for i, value in enumerate(single) if value != first[i]]
    return all(site.alternatives[index][i] == single[i] for i in changed) and (
        bool(changed) or index == basic
    )


def _with_the_same_value(sites: Sequence[Site], site: int, index: int) -> list[Choices]:
    alternatives = sites[site].alternatives
    changed = {
        position
        for position, value in enumerate(alternatives[index])
        if value != alternatives[0][position]
    }
    return [
        frozenset({(site, other)})
        for other, values in enumerate(alternatives)
        if all(values[position] == alternatives[index][position] for position in changed)
    ]


class ProfileSampler(BaseSampler):
    """Proposes by :class:`Profile` from the trials of an ordinary Optuna study; uses no seed.

    The trials carry the attributes of :func:`trial_attributes`; those without are left alone.

    Args:
        task: The space of the study, with objectives and limits where there are any.
    """

    def __init__(self, task: SearchSpace | SearchTask) -> None:
        self._task = task if isinstance(task, SearchTask) else SearchTask(task)
        self._space = self._task.space
        self._profile = Profile(self._task)
        self._next = 0
        self._open: list[int] = []

    def infer_relative_search_space(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """Gives all dimensions: they are proposed together."""
        return {
            dimension.name: CategoricalDistribution(dimension.choices)
            for dimension in self._space.dimensions
        }

    def sample_relative(
        self,
        study: Study,
        trial: FrozenTrial,
        search_space: dict[str, BaseDistribution],  # noqa: ARG002
    ) -> dict[str, Any]:
        """Gives the plan to build next; the baseline when no other is left to allow."""
        return dict(self.profile(study, trial.number).next() or self._space.baseline)

    def profile(self, study: Study, proposal: int | None = None) -> Profile:
        """Gives what the trials of a study tell; looks only at those that it did not know as finished.

        Args:
            study: The same study every time.
            proposal: Number of the trial that is being proposed, which says nothing.
        """
        trials = study.get_trials(deepcopy=False)
        waiting = [number for number in self._open if number < len(trials)]
        waiting += [trial.number for trial in trials[self._next :]]
        self._next, self._open = len(trials), []
        self._profile.forget_running()
        names = {dimension.name for dimension in self._space.dimensions}
        for number in waiting:
            trial = trials[number]
            if not trial.state.is_finished():
                self._open.append(number)
            if number == proposal or set(trial.params) != names:
                continue
            if (found := _outcome(trial)) is not None:
                self._profile.add(found)
        return self._profile

    def sample_independent(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
        param_name: str,
        param_distribution: BaseDistribution,  # noqa: ARG002
    ) -> Any:
        """Gives the baseline's value of a dimension that is asked for alone."""
        return self._space.baseline[param_name]


def _outcome(trial: FrozenTrial) -> Outcome | None:
    if trial.state == TrialState.RUNNING:
        return Outcome(trial.params, "running")
    attributes = trial.user_attrs
    status = attributes.get(STATUS)
    if status == "ok":
        quantities = attributes.get(QUANTITIES, {})
        cycles = quantities.get(CYCLES)
        if cycles is None:
            cycles = trial.values[0] if trial.values else None
        if cycles is not None:
            operators = attributes[OPERATOR_CYCLES]
            return Outcome(
                trial.params,
                "ok",
                round(cycles),
                operators,
                quantities,
                source_code_bytes=attributes.get(SOURCE_CODE, {}),
            )
    if status in ("plan_bad", "unknown"):
        return Outcome(trial.params, status, overflow=attributes.get(OVERFLOW, {}))
    return None
