# SPDX-License-Identifier: Apache-2.0
"""Samplers by name: who proposes the next plan.

A sampler is made anew for every proposal, seeded by the campaign's seed and the number of the
proposal. So a proposal depends on the ledger alone, and a campaign that was stopped goes on with
the same proposals.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import (
    BaseSampler,
    BruteForceSampler,
    GPSampler,
    NSGAIISampler,
    RandomSampler,
    TPESampler,
)
from optuna.study import Study
from optuna.trial import FrozenTrial

from helia_aot.errors import Problem
from optimizer.errors import CampaignError
from optimizer.profile import ProfileSampler
from optimizer.task import SearchTask
from optimizer.trial_window import Window

SamplerName = Literal["profile", "tpe", "gp", "nsga2", "random", "brute_force"]

_POPULATION: Final = 20
"""Plans in one generation of ``nsga2``: Optuna's own 50 is a whole campaign here."""

_NSGA2_PARENTS: Final = "NSGAIISampler:parent:"
"""Under what Optuna's sampler keeps the parents of each generation in the study."""


@dataclass(frozen=True)
class SamplerEntry:
    """A sampler of the registry.

    Attributes:
        create: Makes the Optuna sampler from the task and a seed in 0 .. 2**32 - 1.
        text: What it does and when to use it.
        bad_has_value: Whether a bad plan is told as a complete trial, with the worst value so far
            and a violated constraint; else as a pruned one. GP and NSGA-II read complete trials
            only.
        window: The trials that it is shown; None for all.
    """

    create: Callable[[SearchTask, int], BaseSampler]
    text: str
    bad_has_value: bool = False
    window: Window | None = None


def _profile(task: SearchTask, seed: int) -> BaseSampler:  # noqa: ARG001
    return ProfileSampler(task)


def _tpe(task: SearchTask, seed: int) -> BaseSampler:
    with warnings.catch_warnings():
        # Optuna marks joint sampling experimental; it is used through the sampler interface only.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return KnownSpaceSampler(TPESampler(seed=seed, multivariate=True), task)


def _gp(task: SearchTask, seed: int) -> BaseSampler:
    if importlib.util.find_spec("torch") is None:
        raise CampaignError(
            "The gp sampler needs PyTorch.",
            [Problem("search.sampler", "the package torch is not installed")],
            next_step="pip install torch, or use --sampler profile",
        )
    return KnownSpaceSampler(GPSampler(seed=seed), task)


def _nsga2(task: SearchTask, seed: int) -> BaseSampler:
    return KnownSpaceSampler(NSGAIISampler(seed=seed, population_size=_POPULATION), task)


def _random(task: SearchTask, seed: int) -> BaseSampler:  # noqa: ARG001
    return RandomSampler(seed=seed)


def _brute_force(task: SearchTask, seed: int) -> BaseSampler:  # noqa: ARG001
    with warnings.catch_warnings():
        # Optuna marks the class experimental; it is used through the stable sampler interface only.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return BruteForceSampler(seed=seed)


class KnownSpaceSampler(BaseSampler):
    """Another sampler, told what it would find out from all trials of the study: the space.

    Samplers are made anew for every proposal, and would look for the space as often.

    Args:
        sampler: Who proposes.
        task: Of its space.
    """

    def __init__(self, sampler: BaseSampler, task: SearchTask) -> None:
        self._sampler = sampler
        names = sorted((item.name, item.choices) for item in task.space.dimensions)
        self._space: dict[str, BaseDistribution] = {
            name: CategoricalDistribution(choices) for name, choices in names
        }

    def infer_relative_search_space(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """Gives all dimensions, by name."""
        return self._space

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Gives the values that are drawn together."""
        return self._sampler.sample_relative(study, trial, search_space)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Gives a value that is drawn alone."""
        return self._sampler.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Prepares a proposal."""
        self._sampler.before_trial(study, trial)

    def remember(self, study: Study, trial: FrozenTrial) -> None:
        """Gives a trial that was proposed by another process what this sampler would have kept with it.

        Args:
            study: The study, with all trials before.
            trial: The trial, which runs.
        """
        if isinstance(self._sampler, NSGAIISampler):
            generation = self._sampler.get_trial_generation(study, trial)
            self._sampler.get_parent_population(study, generation)


SAMPLERS: Final = MappingProxyType(
    {
        "profile": SamplerEntry(
            _profile, "measures every alternative in few builds, then optimises exactly"
        ),
        "tpe": SamplerEntry(
            _tpe,
            "learns from the best 50 and the last 150 trials; for 25 to 150 builds",
            window=Window(best=50, recent=150),
        ),
        "gp": SamplerEntry(
            _gp,
            "a Gaussian process of the best 50 and the last 50 trials; for 25 to 100 builds",
            bad_has_value=True,
            window=Window(best=50, recent=50),
        ),
        "nsga2": SamplerEntry(
            _nsga2,
            "an evolution; for 200 builds or more",
            bad_has_value=True,
            # What it reads is the generation that grows, the one before, and the parents of both.
            window=Window(best=0, recent=10 * _POPULATION, parents=_NSGA2_PARENTS),
        ),
        "random": SamplerEntry(_random, "independent draws; the yardstick for other samplers"),
        "brute_force": SamplerEntry(_brute_force, "every plan once; for small spaces"),
    }
)
"""Sampler name -> entry. Each reads the common Optuna study, so trials of one can serve another."""


def create_sampler(name: SamplerName, *, task: SearchTask, seed: int, ask: int) -> BaseSampler:
    """Gives the sampler for one proposal.

    Args:
        name: A key of :data:`SAMPLERS`.
        task: What it proposes points of, and what counts.
        seed: The campaign's seed, at least 0.
        ask: Number of the proposal, from 0.

    Raises:
        CampaignError: A package that the sampler needs is not installed.
    """
    state = np.random.SeedSequence([seed, ask]).generate_state(1, np.uint32)
    return SAMPLERS[name].create(task, int(state[0]))
