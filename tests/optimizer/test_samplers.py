# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
from typing import get_args

import pytest
from synthetic_campaign import synthetic_space

from optimizer.errors import CampaignError
from optimizer.samplers import SAMPLERS, SamplerName, create_sampler
from optimizer.task import SearchTask

HAS_TORCH = importlib.util.find_spec("torch") is not None
_, SPACE = synthetic_space(3)


def test_the_registry_has_every_name() -> None:
    assert set(SAMPLERS) == set(get_args(SamplerName))
    assert all(entry.text for entry in SAMPLERS.values())


@pytest.mark.parametrize("name", get_args(SamplerName))
def test_a_sampler_can_be_made_for_any_seed(name: SamplerName) -> None:
    if name == "gp" and not HAS_TORCH:
        pytest.skip("the gp sampler needs torch")
    for seed in (0, 2**40):
        create_sampler(name, task=SearchTask(SPACE), seed=seed, ask=3)


def test_gp_without_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(CampaignError, match="pip install torch"):
        create_sampler("gp", task=SearchTask(SPACE), seed=0, ask=0)
