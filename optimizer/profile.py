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
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

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
    sites_of,
)
from optimizer.assignment import Assignment, Choices, Costs, cheapest
from optimizer.errors import CampaignError
from results.evidence import BuildCheck, Optimality
from results.records import TrialRecord
from runners.measurement import Measurement
from search_spaces.space import SearchSpace

STATUS: Final = "status"
"""User attribute of an Optuna trial: the status of its measurement."""

OPERATOR_CYCLES: Final = "operator_cycles"
"""User attribute of an Optuna trial: cycles of each operator by id, in execution order."""


@dataclass(frozen=True)
class Outcome:
    """What is known about one plan of the space.

    Attributes:
        choices: Its value of each dimension.
        status: ``running``: not known yet; the others as in a measurement.
        cycles: Cycles of the whole; None unless ``ok``.
        operator_cycles: Cycles of each operator by id, in execution order; empty unless ``ok``.
    """

    choices: Mapping[str, str]
    status: Literal["ok", "plan_bad", "unknown", "running"]
    cycles: int | None = None
    operator_cycles: Mapping[str, int] | None = None


def trial_attributes(measurement: Measurement) -> dict[str, Any]:
    """Gives what an Optuna trial keeps of a measurement besides its value."""
    return {
        STATUS: measurement.status,
        OPERATOR_CYCLES: {item.id: item.cycles for item in measurement.operator_cycles},
    }


def record_outcomes(records: Iterable[TrialRecord]) -> list[Outcome]:
    """Gives the outcomes that records of a ledger hold, those outside the space left out."""
    return [
        Outcome(
            record.choices,
            record.measurement.status,
            record.measurement.best_cycles if record.measurement.status == "ok" else None,
            {item.id: item.cycles for item in record.measurement.operator_cycles},
        )
        for record in records
        if record.in_space and record.measurement.status != "rig_bad"
    ]


class Profile:
    """What the builds of a space tell, and the plan to build next.

    Both depend on the arguments alone.

    Args:
        space: The space.
        outcomes: What is known, in order; of several for one plan the first counts.
    """

    def __init__(self, space: SearchSpace, outcomes: Iterable[Outcome]) -> None:
        self._sites = sites_of(space)
        self._known: dict[Assignment, Outcome] = {}
        for outcome in outcomes:
            self._known.setdefault(assignment_of(self._sites, outcome.choices), outcome)
        self._model = AdditiveModel(self._sites, self._observations())
        settled = sum(outcome.status != "running" for outcome in self._known.values())
        self._is_exhausted = settled >= space.size

    def _observations(self) -> list[Observation]:
        return [
            Observation(outcome.choices, outcome.cycles, outcome.operator_cycles or {})
            for outcome in self._known.values()
            if outcome.status == "ok" and outcome.cycles is not None
        ]

    @cached_property
    def _bad(self) -> tuple[Choices, ...]:
        """The changes against the baseline of every plan that failed."""
        found = []
        for assignment, outcome in self._known.items():
            changes = frozenset((site, index) for site, index in enumerate(assignment) if index)
            if outcome.status in ("plan_bad", "unknown") and changes:
                found.append(changes)
        return tuple(found)

    @cached_property
    def _excluded(self) -> tuple[Choices, ...]:
        """Choices that no plan may make at once; a bad value is bad beside every other value."""
        found = list(self._bad)
        for choices in self._bad:
            if len(choices) == 1:
                found += _with_the_same_value(self._sites, *next(iter(choices)))
        return tuple(dict.fromkeys(found))

    def next(self) -> dict[str, str] | None:
        """Gives the point of the plan to build next; None when no other plan is left to allow.

        Raises:
            CampaignError: The runner does not count the cycles of operators.
        """
        if any(item.status == "ok" and not item.operator_cycles for item in self._known.values()):
            raise CampaignError(
                "The profile sampler needs the cycles of every operator, which the runner does not "
                "count.",
                next_step="use --sampler tpe",
            )
        found = self._design() or self._optimum()
        return None if found is None else choices_of(self._sites, found)

    def _design(self) -> Assignment | None:
        """Gives a plan that measures a missing alternative of as many sites as is allowed.

        The other sites run their best known alternative, or that of the baseline as soon as a plan
        failed, so that a failure is easy to pin down.
        """
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
        return None if found in self._known else found

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
        return {
            assignment[site]
            for assignment, outcome in self._known.items()
            if outcome.status == "running"
        }

    def _is_allowed(self, chosen: Mapping[int, int]) -> bool:
        return all(len(chosen.items() & bad) <= len(bad) // 2 for bad in self._bad)

    def _optimum(self) -> Assignment | None:
        if not self._model.observations:
            return None
        bound = self._cheapest(self._model.costs(low=True))
        for found in (self._cheapest(self._model.costs()), bound):
            if found is not None and found not in self._known:
                return found
        taken = [frozenset(enumerate(assignment)) for assignment in self._known]
        asks_for_a_check = self._model.error_cycles is None or bool(self._model.error_cycles)
        costs = self._model.novelty() if asks_for_a_check else self._model.costs()
        return self._cheapest(costs, taken)

    def _cheapest(self, costs: Costs, taken: Sequence[Choices] = ()) -> Assignment | None:
        unmeasured = [
            frozenset({(site, index)})
            for site, item in enumerate(self._sites)
            for index in item.basic
            if not self._model.knows(site, index)
            and not (taken and index in self._on_the_way(site))
        ]
        return cheapest(costs, excluded=[*self._excluded, *unmeasured, *taken])

    def optimality(self, best_cycles: int) -> Optimality | None:
        """Gives how far a plan may be from the best of the space.

        Args:
            best_cycles: Cycles of that plan.

        Returns:
            None while the builds do not tell: a value was not measured, or too few builds can be
            checked by the others.
        """
        checks = tuple(
            BuildCheck(
                measured_cycles=item.measured,
                predicted_cycles=round(item.predicted, 1),
                error=item.measured / item.predicted - 1,
            )
            for item in self._model.residuals
            if item is not None
        )
        if self._is_exhausted:
            good = [item.cycles for item in self._known.values() if item.cycles is not None]
            lowest = min([best_cycles, *good])
            return Optimality(
                bound_cycles=float(lowest),
                gap=relative_gap(best_cycles, lowest),
                error_cycles=0.0,
                is_exhaustive=True,
                checks=checks,
            )
        bound = self._model.bound(self._excluded)
        if bound is None or self._model.error_cycles is None:
            return None
        bound = min(bound, float(best_cycles))
        return Optimality(
            bound_cycles=round(bound, 1),
            gap=relative_gap(best_cycles, bound),
            error_cycles=round(self._model.error_cycles, 1),
            is_exhaustive=False,
            checks=checks,
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
        space: The space of the study.
    """

    def __init__(self, space: SearchSpace) -> None:
        self._space = space

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
        search_space: dict[str, BaseDistribution],
    ) -> dict[str, Any]:
        """Gives the plan to build next; the baseline when no other is left to allow."""
        outcomes = [
            found
            for other in study.get_trials(deepcopy=False)
            if other.number != trial.number
            and set(other.params) == set(search_space)
            and (found := _outcome(other)) is not None
        ]
        return dict(Profile(self._space, outcomes).next() or self._space.baseline)

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
    status = trial.user_attrs.get(STATUS)
    if status == "ok" and trial.value is not None:
        return Outcome(trial.params, "ok", round(trial.value), trial.user_attrs[OPERATOR_CYCLES])
    return Outcome(trial.params, status) if status in ("plan_bad", "unknown") else None
