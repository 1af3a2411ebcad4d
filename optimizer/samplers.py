# SPDX-License-Identifier: Apache-2.0
"""Samplers by name: who proposes the next plan.

A sampler is made anew for every proposal, seeded by the campaign's seed and the number of the
proposal. So a proposal depends on the ledger alone, and a campaign that was stopped goes on with
the same proposals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, BruteForceSampler, RandomSampler, TPESampler

SamplerName = Literal["tpe", "random", "brute_force"]


@dataclass(frozen=True)
class SamplerEntry:
    """A sampler of the registry.

    Attributes:
        create: Makes the Optuna sampler from a seed in 0 .. 2**32 - 1.
        text: What it does and when to use it.
    """

    create: Callable[[int], BaseSampler]
    text: str


def _tpe(seed: int) -> BaseSampler:
    return TPESampler(seed=seed)


def _random(seed: int) -> BaseSampler:
    return RandomSampler(seed=seed)


def _brute_force(seed: int) -> BaseSampler:
    with warnings.catch_warnings():
        # Optuna marks the class experimental; it is used through the stable sampler interface only.
        warnings.simplefilter("ignore", ExperimentalWarning)
        return BruteForceSampler(seed=seed)


SAMPLERS: Final = MappingProxyType(
    {
        "tpe": SamplerEntry(_tpe, "learns from the trials so far; for 25 to 150 builds"),
        "random": SamplerEntry(_random, "independent draws; the yardstick for other samplers"),
        "brute_force": SamplerEntry(_brute_force, "every plan once; for small spaces"),
    }
)
"""Sampler name -> entry. Each reads the common Optuna study, so trials of one can serve another."""


def create_sampler(name: SamplerName, *, seed: int, ask: int) -> BaseSampler:
    """Gives the sampler for one proposal.

    Args:
        name: A key of :data:`SAMPLERS`.
        seed: The campaign's seed, at least 0.
        ask: Number of the proposal, from 0.
    """
    state = np.random.SeedSequence([seed, ask]).generate_state(1, np.uint32)
    return SAMPLERS[name].create(int(state[0]))
