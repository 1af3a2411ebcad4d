# SPDX-License-Identifier: Apache-2.0
"""The Optuna study of a campaign: in memory, rebuilt from the ledger, asked and told by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import RandomSampler
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

from optimizer import deadlines
from optimizer.deadlines import LateError, deadline
from optimizer.profile import ProfileSampler, trial_attributes
from optimizer.quantities import CYCLES, OVERFLOW, excesses, quantity
from optimizer.samplers import SAMPLERS, KnownSpaceSampler, SamplerName, create_sampler
from optimizer.task import SearchTask
from optimizer.trial_window import WindowedStorage
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
    overflow = measurement.evidence.get(OVERFLOW)
    sizes = overflow.values() if isinstance(overflow, dict) else ()
    distance = sum(size for size in sizes if isinstance(size, int | float))
    return float(distance) if distance > 0 else 1.0


class CampaignStudy:
    """Proposals for one space: a function of the seed, the proposal's number and what was told.

    A good plan is told with its objectives, those of its operators as user attributes, and one
    constraint for each limit: by how much it is above. A plan that is bad on any rig has no
    objectives: it is told with a violated constraint, which the sampler learns from, as pruned or,
    for samplers that read complete trials only and for several objectives, with the worst values so
    far. An evaluation that says nothing about the plan is closed without a result. A proposal that
    repeats a known plan is told the known result.

    Args:
        space: What is proposed.
        sampler: Who proposes.
        seed: The campaign's seed.
        objectives: The quantities to minimise.
        budget: Upper limits by quantity.

    Attributes:
        late: For each proposal that was late what was done instead, by its number.
    """

    def __init__(
        self,
        space: SearchSpace,
        *,
        sampler: SamplerName,
        seed: int,
        objectives: Sequence[str] = (CYCLES,),
        budget: Mapping[str, float] | None = None,
    ) -> None:
        self.late: dict[int, str] = {}
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._task = SearchTask(space, tuple(objectives), dict(budget or {}))
        self._sampler: SamplerName = sampler
        self._seed = seed
        self._distributions: dict[str, BaseDistribution] = {
            dimension.name: CategoricalDistribution(dimension.choices)
            for dimension in space.dimensions
        }
        self._storage = WindowedStorage(SAMPLERS[sampler].window)
        self._study = optuna.create_study(
            storage=self._storage,
            directions=["minimize"] * len(self._task.objectives),
            sampler=RandomSampler(seed=0),
        )
        # It draws nothing, so one serves all proposals and need not read what it knows again.
        self._profile = ProfileSampler(self._task) if sampler == "profile" else None
        self._open: dict[int, Trial] = {}
        self._worst: list[float] | None = None

    def ask(self, number: int) -> dict[str, str]:
        """Gives the proposal of a number: the value of each dimension.

        Every number is asked once, in rising order, and then told once. Where the sampler does not
        answer in time the proposal is drawn by chance, and :attr:`late` says so.
        """
        try:
            with self._storage.narrowed(), deadline(deadlines.PROPOSE_S):
                self._study.sampler = self._profile or create_sampler(
                    self._sampler, task=self._task, seed=self._seed, ask=number
                )
                trial = self._study.ask(self._distributions)
        except LateError as error:
            self.late[number] = f"drawn by chance: the {self._sampler} sampler was late, {error}"
            trial = self._drawn(number)
        # BruteForceSampler would try to stop an optimize() loop when it is told the last plan.
        self._study.sampler = RandomSampler(seed=0)
        self._open[number] = trial
        return {name: str(trial.params[name]) for name in self._distributions}

    def _drawn(self, number: int) -> Trial:
        """Gives a proposal by chance, in place of one that was left unfinished."""
        asked = {trial.number for trial in self._open.values()}
        for left in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            if left.number not in asked:
                self._study.tell(left.number, state=TrialState.FAIL)
        if self._profile is not None:  # it may have been interrupted anywhere
            self._profile = ProfileSampler(self._task)
        state = np.random.SeedSequence([self._seed, number]).generate_state(1, np.uint32)
        self._study.sampler = RandomSampler(seed=int(state[0]))
        return self._study.ask(self._distributions)

    def gap(self, best_cycles: int) -> float | None:
        """Gives how far a plan may be from the best of the space; only the ``profile`` sampler tells.

        Returns:
            None while the builds do not tell or the answer is late, and for another sampler.
        """
        if self._profile is None:
            return None
        try:
            with deadline(deadlines.PROPOSE_S):
                return self._profile.profile(self._study).gap(best_cycles)
        except LateError:
            self._profile = ProfileSampler(self._task)
            return None

    def guess(self, choices: Mapping[str, str]) -> None:
        """Makes a point the next proposal, whatever the sampler would propose."""
        self._study.enqueue_trial(dict(choices))

    def tell(self, number: int, measurement: Measurement) -> None:
        """Tells the outcome of a proposal."""
        trial = self._open.pop(number)
        for name, value in trial_attributes(measurement).items():
            trial.set_user_attr(name, value)
        state, values = self._told(measurement)
        for name, distance in self._constraints(measurement).items():
            trial.set_constraint(name, distance)
        self._study.tell(trial, values, state=state)
        self._storage.note(trial.number, self._ranked(measurement))

    def _ranked(self, measurement: Measurement) -> list[float] | None:
        """Gives the objectives of a plan that is good and within the limits; None for another."""
        if (
            measurement.status != "ok"
            or max(self._constraints(measurement).values(), default=0) > 0
        ):
            return None
        return self._told(measurement)[1]

    def _constraints(self, measurement: Measurement) -> dict[str, float]:
        """Gives how far a plan is above each limit; a bad plan violates one of its own."""
        if measurement.status == "plan_bad":
            return {CONSTRAINT: violation(measurement)}
        if measurement.status != "ok":
            return {}
        return excesses(measurement, self._task.budget)

    def _told(self, measurement: Measurement) -> tuple[TrialState, list[float] | None]:
        """Gives the state and the values that Optuna is told."""
        if measurement.status == "ok":
            values = [quantity(measurement, name) for name in self._task.objectives]
            told = [0.0 if value is None else value for value in values]
            worst = self._worst or told
            self._worst = [max(pair) for pair in zip(told, worst, strict=True)]
            return TrialState.COMPLETE, told
        if measurement.status != "plan_bad":
            return TrialState.FAIL, None
        needs_values = SAMPLERS[self._sampler].bad_has_value or len(self._task.objectives) > 1
        if needs_values and self._worst is not None:
            return TrialState.COMPLETE, self._worst
        return TrialState.FAIL if len(self._task.objectives) > 1 else TrialState.PRUNED, None

    def add(self, choices: Mapping[str, str], measurement: Measurement) -> None:
        """Adds a point that no proposal asked for, such as the baseline."""
        number = len(self._study.get_trials(deepcopy=False))
        self._study.add_trial(self._frozen(choices, measurement))
        self._storage.note(number, self._ranked(measurement))

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
            self._replay(number, asked[number].choices, asked[number].measurement)
        return max(asked, default=-1) + 1

    def _replay(self, number: int, choices: Mapping[str, str], measurement: Measurement) -> None:
        """Adds a proposal of another process, as if it had been asked for here."""
        sampler = create_sampler(self._sampler, task=self._task, seed=self._seed, ask=number)
        if not isinstance(sampler, KnownSpaceSampler):
            self.add(choices, measurement)
            return
        self.guess(choices)
        trial = self._open[number] = self._study.ask(self._distributions)
        running = self._study.get_trials(deepcopy=False)[trial.number]
        with self._storage.narrowed():
            sampler.remember(self._study, running)
        self.tell(number, measurement)

    @property
    def trials(self) -> list[FrozenTrial]:
        """What the sampler sees: Optuna's own records, in the order in which they came."""
        return self._study.trials

    def _frozen(self, choices: Mapping[str, str], measurement: Measurement) -> FrozenTrial:
        state, values = self._told(measurement)
        return create_trial(
            state=state,
            values=values,
            params={name: choices[name] for name in self._distributions},
            distributions=self._distributions,
            user_attrs=trial_attributes(measurement),
            constraints=self._constraints(measurement) or None,
        )
