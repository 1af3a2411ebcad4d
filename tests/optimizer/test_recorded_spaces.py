# SPDX-License-Identifier: Apache-2.0
"""Samplers over recorded spaces: the real loop, with every outcome looked up."""

from __future__ import annotations

import operator
import statistics

import pytest
from recorded_spaces import RecordedSpace, Scenario, builds_to, load, names, replay
from simulated_studies import simulated
from space_models import SPACE_MODELS

AS_RECORDED = Scenario("as recorded")
SEEDS = 6
MAX_BUILDS = 12


@pytest.fixture(scope="module", params=names())
def recorded(request: pytest.FixtureRequest) -> RecordedSpace:
    return load(request.param)


def test_at_least_three_spaces_are_recorded() -> None:
    assert set(names()) >= {"digits", *SPACE_MODELS}


def test_a_recording_holds_every_plan(recorded: RecordedSpace) -> None:
    assert len(recorded.cycles) == len(recorded.operator_cycles) == recorded.space.size
    assert {len(row) for row in recorded.operator_cycles} == {len(recorded.operators)}
    assert recorded.identity.counts == "modelled cycles"
    assert RecordedSpace.model_validate_json(recorded.to_json()) == recorded


@pytest.mark.parametrize(
    "scenario",
    [
        AS_RECORDED,
        Scenario("coupling 1 %", coupling=0.01),
        Scenario("coupling 5 %", coupling=0.05),
        Scenario("coupling 15 %", coupling=0.15),
        Scenario("noise", noise=0.005),
        Scenario("budget", has_limit=True),
        Scenario("budget and coupling 5 %", has_limit=True, coupling=0.05),
        Scenario("faults", faults=0.1),
    ],
    ids=lambda scenario: scenario.name,
)
def test_profile_is_within_1_percent_of_exhaustive_in_12_builds(
    recorded: RecordedSpace, scenario: Scenario
) -> None:
    for seed in range(SEEDS):
        result = replay(recorded, scenario, "profile", seed=seed, trials=MAX_BUILDS - 2, gap=0.005)
        builds = builds_to(result, 0.01)
        assert builds is not None, f"seed {seed}: {result}"
        assert builds <= MAX_BUILDS


def test_no_sampler_is_better_at_equal_trials(recorded: RecordedSpace) -> None:
    medians = {}
    for name in ("profile", "tpe", "nsga2", "random"):
        runs = [
            replay(recorded, AS_RECORDED, name, seed=seed, trials=12).best for seed in range(SEEDS)
        ]
        medians[name] = [statistics.median(best) for best in zip(*runs, strict=True)]
    for name, median in medians.items():
        assert all(map(operator.le, medians["profile"], median)), name


def test_the_gap_holds_and_ends_the_search(recorded: RecordedSpace) -> None:
    for seed in range(SEEDS):
        result = replay(recorded, AS_RECORDED, "profile", seed=seed, trials=40, gap=0.005)
        assert result.stop == "gap"
        assert len(result.best) <= 6
        assert result.optimality is not None
        assert result.best[-1] / result.exhaustive - 1 <= result.optimality.gap <= 0.005


def test_rig_faults_change_no_build_of_profile(recorded: RecordedSpace) -> None:
    faulty = Scenario("faults", faults=0.1)
    for seed in range(SEEDS):
        runs = [
            replay(recorded, scenario, "profile", seed=seed, trials=10, gap=0.005)
            for scenario in (AS_RECORDED, faulty)
        ]
        assert runs[0] == runs[1]


def test_no_simulated_campaign_writes_a_plan_slower_than_auto() -> None:
    ends = list(simulated(70))
    assert [end for _, end in ends if end.shipped > end.baseline] == []
    assert sum(end.shipped < end.baseline for _, end in ends) > 20
