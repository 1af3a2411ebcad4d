# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import get_args

import pytest

from optimizer.samplers import SAMPLERS, SamplerName, create_sampler


def test_the_registry_has_every_name() -> None:
    assert set(SAMPLERS) == set(get_args(SamplerName))
    assert all(entry.text for entry in SAMPLERS.values())


@pytest.mark.parametrize("name", get_args(SamplerName))
def test_a_sampler_can_be_made_for_any_seed(name: SamplerName) -> None:
    for seed in (0, 2**40):
        create_sampler(name, seed=seed, ask=3)
