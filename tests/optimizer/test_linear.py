# SPDX-License-Identifier: Apache-2.0
"""Effects of choices on other operators: fitted, told apart, and checked."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from module_program import converted

from helia_aot.api import storage_of
from optimizer.additive import Observation, assignment_of, choices_of, sites_of
from optimizer.linear import LinearModel, influences, is_local
from search_spaces.build import SpaceSettings, build_space
from search_spaces.rules import GroupRule
from search_spaces.space import SearchSpace

OPERATORS = ("0:stem_3x3", "0:dw1_3x3", "0:pw1", "0:conv2_3x3", "0:residual")


@pytest.fixture(scope="module")
def space(digits_model: Path) -> SearchSpace:
    """Three operators whose outputs move, and two that choose constants together."""
    limit = {"name": "dtcm", "max_size": 16384}
    auto = converted(digits_model, memory={"constraints": [limit]})
    whole = build_space(
        auto.plan,
        auto.report,
        SpaceSettings(
            knobs=["scratch", "constants"],
            groups=[GroupRule(name="both", id=["0:stem_3x3", "0:conv2_3x3"], knobs=["constants"])],
        ),
        storage=storage_of(auto),
    )
    wanted = ("scratch@0:dw1_3x3", "scratch@0:pw1", "constants@both", "constants@0:pw1")
    kept = tuple(item for item in whole.dimensions if item.name in wanted)
    return whole.model_copy(update={"dimensions": kept})


def observed(space: SearchSpace, point: dict[str, str], *, twist: int = 0) -> Observation:
    """Charges each operator for its own choices and for what it reads."""

    def price(name: str, unit: int) -> int:
        value = point.get(name)
        return 0 if value is None else unit * ("dtcm", "sram", "mram", "mixed").index(value)

    pw1 = price("scratch@0:pw1", 70) + price("constants@0:pw1", 900)
    both_slow = point["scratch@0:pw1"] == "sram" and point["constants@0:pw1"] == "mram"
    cycles = {
        "0:stem_3x3": 5000 + price("constants@both", 300),
        "0:dw1_3x3": 4000 + price("scratch@0:dw1_3x3", 50),
        "0:pw1": 3000 + pw1 + price("scratch@0:dw1_3x3", 400) + twist * both_slow,
        "0:conv2_3x3": 9000 + price("constants@both", 2000) + price("scratch@0:pw1", 1100),
        "0:residual": 1000 + price("scratch@0:pw1", 600),
    }
    assert set(cycles) == set(OPERATORS)
    del space
    return Observation(point, sum(cycles.values()) + 123, cycles)


def points(space: SearchSpace) -> list[dict[str, str]]:
    sites = sites_of(space)
    every = itertools.product(*(range(len(site.alternatives)) for site in sites))
    return [choices_of(sites, item) for item in every]


def test_a_choice_reaches_who_makes_it_and_who_reads_its_output(space: SearchSpace) -> None:
    found = {name: set(names) for name, names in influences(space, OPERATORS).items()}
    assert found["0:stem_3x3"] == {"constants@both"}
    assert found["0:pw1"] == {"scratch@0:dw1_3x3", "scratch@0:pw1", "constants@0:pw1"}
    assert found["0:conv2_3x3"] == {"scratch@0:pw1", "constants@both"}
    assert found["0:residual"] == {"scratch@0:pw1"}
    assert not is_local(space)


def test_effects_are_found_from_few_builds(space: SearchSpace) -> None:
    every = points(space)
    chance = np.random.default_rng(4)
    builds = [every[i] for i in chance.choice(len(every), 12, replace=False)]
    sites = sites_of(space)
    model = LinearModel(space, sites, [observed(space, point) for point in builds])
    for point in every:
        measured = observed(space, point).cycles
        assert model.predict(assignment_of(sites, point)) == pytest.approx(measured, abs=1e-3)
    assert model.error_cycles == pytest.approx(0.0, abs=1e-6)
    assert model.is_complete()
    lowest = min(observed(space, point).cycles for point in every)
    assert model.bound() == pytest.approx(lowest, abs=1e-3)


def test_builds_that_cannot_be_told_from_others_are_news(space: SearchSpace) -> None:
    sites = sites_of(space)
    baseline = observed(space, space.baseline)
    model = LinearModel(space, sites, [baseline])
    assert model.news(assignment_of(sites, space.baseline)) == 0
    moved = {**space.baseline, "scratch@0:pw1": "dtcm"}
    assert moved != space.baseline
    assert model.news(assignment_of(sites, moved)) == 3
    assert model.error_cycles is None
    assert model.bound() is None


def test_what_does_not_add_up_is_in_the_error(space: SearchSpace) -> None:
    every = points(space)
    sites = sites_of(space)
    model = LinearModel(space, sites, [observed(space, point, twist=2500) for point in every])
    assert model.error_cycles is not None
    assert model.error_cycles > 0
    bound = model.bound()
    assert bound is not None
    assert bound <= min(observed(space, point, twist=2500).cycles for point in every)


def test_a_build_is_predicted_as_by_a_fit_of_the_others(space: SearchSpace) -> None:
    """Leaving one out by formula, against doing it."""
    sites = sites_of(space)
    chance = np.random.default_rng(7)
    every = points(space)
    some = [every[i] for i in chance.choice(len(every), 26, replace=False)]
    builds = [observed(space, point, twist=1500) for point in some]
    builds.sort(
        key=lambda item: item.cycles
    )  # the first is the fastest, so weights do not depend on the rest
    model = LinearModel(space, sites, builds)
    compared = 0
    for number in range(1, len(builds)):
        others = LinearModel(space, sites, builds[:number] + builds[number + 1 :])
        residual = model._residual(number)
        assignment = assignment_of(sites, builds[number].choices)
        if residual is None:
            assert others.news(assignment) > 0
            continue
        compared += 1
        assert residual.predicted == pytest.approx(others.predict(assignment), rel=1e-9)
    assert compared > 10


def test_a_slow_build_says_little_about_fast_plans(
    space: SearchSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("optimizer.linear.CLOSE", 1.2)  # the costs here differ more than real ones
    sites = sites_of(space)
    builds = sorted(
        (observed(space, point) for point in points(space)), key=lambda item: item.cycles
    )
    model = LinearModel(space, sites, builds[:40])
    assert model.error_cycles == pytest.approx(0, abs=1e-6)
    slow = builds[-1]
    wrong = Observation(
        slow.choices,
        slow.cycles - 4000,
        {**slow.operator_cycles, "0:pw1": slow.operator_cycles["0:pw1"] - 4000},
    )
    model.add(wrong)
    worst = max(item.excess / item.measured for item in model.residuals())
    assert worst > 0.02
    assert model.error_cycles is not None
    assert model.error_cycles < 0.5 * worst * builds[0].cycles
