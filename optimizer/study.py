# SPDX-License-Identifier: Apache-2.0
"""The Optuna study of a campaign: in memory, rebuilt from the ledger, asked and told by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import RandomSampler
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

from optimizer.profile import trial_attributes
from optimizer.samplers import SAMPLERS, SamplerName, create_sampler
from results.records import Entry, RepeatRecord, TrialRecord, known_plans
from runners.measurement import Measurement
from search_spaces.space import SearchSpace

CONSTRAINT = "plan"
"""Name of the constraint that a bad plan violates."""


def violation(measurement: Measurement) -> float:
    """Gives how far a plan is from being usable; 0 for a good one.

    The distance is the number of bytes over all memories that overflow, and 1 for every other
    reason.
    """
    if measurement.status != "plan_bad":
        return 0.0
    overflow_bytes = measurement.evidence.get("overflow_bytes")
    sizes = overflow_bytes.values() if isinstance(overflow_bytes, dict) else ()
    distance = sum(size for size in sizes if isinstance(size, int))
    return float(distance) if distance > 0 else 1.0


class CampaignStudy:
    """Proposals for one space: a function of the seed, the proposal's number and what was told.

    A good plan is told with its cycles, and those of its operators as user attributes. A plan that
    is bad on any rig has no cycles: it is told with a violated constraint, which the sampler learns
    from, as pruned or, for samplers that read complete trials only, with the worst cycles so far.
    An evaluation that says nothing about the plan is closed without a result. A proposal that
    repeats a known plan is told the known result.
    """

    def __init__(self, space: SearchSpace, *, sampler: SamplerName, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._sampler: SamplerName = sampler
        self._seed = seed
        self._distributions: dict[str, BaseDistribution] = {
            dimension.name: CategoricalDistribution(dimension.choices)
            for dimension in space.dimensions
        }
        self._study = optuna.create_study(direction="minimize", sampler=RandomSampler(seed=0))
        self._open: dict[int, Trial] = {}
        self._worst_cycles: float | None = None

    def ask(self, number: int) -> dict[str, str]:
        """Gives the proposal of a number: the value of each dimension.

        Every number is asked once, in rising order, and then told once.
        """
        self._study.sampler = create_sampler(
            self._sampler, space=self._space, seed=self._seed, ask=number
        )
        trial = self._study.ask(self._distributions)
        # BruteForceSampler would try to stop an optimize() loop when it is told the last plan.
        self._study.sampler = RandomSampler(seed=0)
        self._open[number] = trial
        return {name: str(trial.params[name]) for name in self._distributions}

    def guess(self, choices: Mapping[str, str]) -> None:
        """Makes a point the next proposal, whatever the sampler would propose."""
        self._study.enqueue_trial(dict(choices))

    def tell(self, number: int, measurement: Measurement) -> None:
        """Tells the outcome of a proposal."""
        trial = self._open.pop(number)
        for name, value in trial_attributes(measurement).items():
            trial.set_user_attr(name, value)
        state, cycles = self._told(measurement)
        if measurement.status == "plan_bad":
            trial.set_constraint(CONSTRAINT, violation(measurement))
        self._study.tell(trial, cycles, state=state)

    def _told(self, measurement: Measurement) -> tuple[TrialState, float | None]:
        """Gives the state and the value that Optuna is told."""
        if measurement.status == "ok":
            cycles = float(measurement.best_cycles)
            self._worst_cycles = max(cycles, self._worst_cycles or 0.0)
            return TrialState.COMPLETE, cycles
        if measurement.status != "plan_bad":
            return TrialState.FAIL, None
        if SAMPLERS[self._sampler].bad_has_value and self._worst_cycles is not None:
            return TrialState.COMPLETE, self._worst_cycles
        return TrialState.PRUNED, None

    def add(self, choices: Mapping[str, str], measurement: Measurement) -> None:
        """Adds a point that no proposal asked for, such as the baseline."""
        self._study.add_trial(self._frozen(choices, measurement))

    def replay(self, entries: Iterable[Entry]) -> int:
        """Adds what a ledger holds; the next proposal is then that of an undisturbed run.

        Args:
            entries: Lines of the ledger. Points outside the space, and repetitions for the verdict,
                are left out.

        Returns:
            The number of the next proposal.
        """
        entries = tuple(entries)
        trials = [entry for entry in entries if isinstance(entry, TrialRecord)]
        known = known_plans(entries)
        for record in trials:
            if record.role in ("baseline", "reference") and record.in_space:
                self.add(record.choices, record.measurement)
        asked: dict[int, TrialRecord] = {}
        for entry in entries:
            if isinstance(entry, RepeatRecord):
                asked[entry.ask] = known[entry.plan_key]
            elif entry.ask is not None:
                asked[entry.ask] = entry
        for number in sorted(asked):
            self.add(asked[number].choices, asked[number].measurement)
        return max(asked, default=-1) + 1

    @property
    def trials(self) -> list[FrozenTrial]:
        """What the sampler sees: Optuna's own records, in the order in which they came."""
        return self._study.trials

    def _frozen(self, choices: Mapping[str, str], measurement: Measurement) -> FrozenTrial:
        is_bad = measurement.status == "plan_bad"
        state, cycles = self._told(measurement)
        return create_trial(
            state=state,
            value=cycles,
            params={name: choices[name] for name in self._distributions},
            distributions=self._distributions,
            user_attrs=trial_attributes(measurement),
            constraints={CONSTRAINT: violation(measurement)} if is_bad else None,
        )
