# SPDX-License-Identifier: Apache-2.0
"""The Optuna study of a campaign: in memory, rebuilt from the ledger, asked and told by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import RandomSampler
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

from optimizer.samplers import SamplerName, create_sampler
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

    A good plan is told with its cycles. A plan that is bad on any rig has no cycles: it is told as
    pruned with a violated constraint, which the sampler learns from. An evaluation that says
    nothing about the plan is closed without a result, and no sampler here reads it. A proposal that
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

    def ask(self, number: int) -> dict[str, str]:
        """Gives the proposal of a number: the value of each dimension.

        Every number is asked once, in rising order, and then told once.
        """
        self._study.sampler = create_sampler(self._sampler, seed=self._seed, ask=number)
        trial = self._study.ask(self._distributions)
        # BruteForceSampler would try to stop an optimize() loop when it is told the last plan.
        self._study.sampler = RandomSampler(seed=0)
        self._open[number] = trial
        return {name: str(trial.params[name]) for name in self._distributions}

    def tell(self, number: int, measurement: Measurement) -> None:
        """Tells the outcome of a proposal."""
        trial = self._open.pop(number)
        if measurement.status == "ok":
            self._study.tell(trial, float(measurement.best_cycles))
        elif measurement.status == "plan_bad":
            trial.set_constraint(CONSTRAINT, violation(measurement))
            self._study.tell(trial, state=TrialState.PRUNED)
        else:
            self._study.tell(trial, state=TrialState.FAIL)

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
        params = {name: choices[name] for name in self._distributions}
        if measurement.status == "ok":
            return create_trial(
                params=params,
                distributions=self._distributions,
                value=float(measurement.best_cycles),
            )
        if measurement.status == "plan_bad":
            return create_trial(
                state=TrialState.PRUNED,
                params=params,
                distributions=self._distributions,
                constraints={CONSTRAINT: violation(measurement)},
            )
        return create_trial(state=TrialState.FAIL, params=params, distributions=self._distributions)
