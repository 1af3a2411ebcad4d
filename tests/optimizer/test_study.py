# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from synthetic_campaign import synthetic_space, table_measurement

from optimizer.samplers import SamplerName
from optimizer.study import CampaignStudy, violation
from runners.measurement import Measurement
from search_spaces.plans import apply

PLAN, SPACE = synthetic_space(6)
BAD = Measurement(
    status="plan_bad",
    stage="link",
    reason="too big",
    evidence={"overflow_bytes": {"dtcm": 60, "sram": 4}},
)
LOST = Measurement(status="rig_bad", stage="run", reason="no probe")


def proposals(sampler: SamplerName, seed: int, count: int) -> list[str]:
    study = CampaignStudy(SPACE, sampler=sampler, seed=seed)
    result = []
    for number in range(count):
        choices = study.ask(number)
        result.append(" ".join(choices.values()))
        study.tell(number, table_measurement(apply(PLAN, SPACE.choices(choices))))
    return result


@pytest.mark.parametrize("sampler", get_args(SamplerName))
def test_the_same_seed_gives_the_same_proposals(sampler: SamplerName) -> None:
    if sampler == "gp" and importlib.util.find_spec("torch") is None:
        pytest.skip("the gp sampler needs torch")
    first = proposals(sampler, 3, 25)
    assert proposals(sampler, 3, 25) == first
    assert (proposals(sampler, 4, 25) == first) == (sampler == "profile")


def test_proposals_do_not_depend_on_the_process() -> None:
    code = "from test_study import proposals; print(*proposals('tpe', 0, 15), sep='\\n')"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().split("\n")[:-1] == proposals("tpe", 0, 15)


def test_brute_force_proposes_every_plan_once() -> None:
    assert len(set(proposals("brute_force", 0, SPACE.size))) == SPACE.size


def test_brute_force_may_be_asked_after_the_last_plan() -> None:
    assert len(proposals("brute_force", 0, SPACE.size + 2)) == SPACE.size + 2


def test_a_bad_plan_is_told_as_a_violated_constraint() -> None:
    study = CampaignStudy(SPACE, sampler="tpe", seed=0)
    study.ask(0)
    study.tell(0, BAD)
    study.add(SPACE.baseline, BAD)
    for trial in study.trials:
        assert trial.state.name == "PRUNED"
        assert trial.constraints == {"plan": 64.0}


def test_samplers_that_read_complete_trials_are_told_the_worst_value_of_a_bad_plan() -> None:
    study = CampaignStudy(SPACE, sampler="nsga2", seed=0)
    study.add(SPACE.baseline, BAD)
    study.add(SPACE.baseline, table_measurement(PLAN))
    study.add(SPACE.baseline, BAD)
    cycles = float(table_measurement(PLAN).best_cycles)
    told = [(trial.state.name, trial.constraints.get("plan")) for trial in study.trials]
    assert told == [("PRUNED", 64.0), ("COMPLETE", None), ("COMPLETE", 64.0)]
    assert study.trials[2].value == cycles


def test_a_lost_evaluation_is_closed_without_a_result() -> None:
    study = CampaignStudy(SPACE, sampler="tpe", seed=0)
    study.ask(0)
    study.tell(0, LOST)
    assert [(trial.state.name, trial.value) for trial in study.trials] == [("FAIL", None)]


def test_the_violation_is_a_distance_where_one_is_known() -> None:
    assert violation(BAD) == 64.0
    assert violation(BAD.model_copy(update={"evidence": {}})) == 1.0
    assert violation(table_measurement(PLAN)) == 0.0


def test_tpe_avoids_bad_plans() -> None:
    """Plans with a generic first operator are bad; the sampler must learn it."""
    study = CampaignStudy(SPACE, sampler="tpe", seed=1)
    asked = []
    for number in range(60):
        choices = study.ask(number)
        is_bad = choices["kernel@0:conv0"] == "generic"
        asked.append(is_bad)
        plan = apply(PLAN, SPACE.choices(choices))
        study.tell(number, BAD if is_bad else table_measurement(plan))
    assert sum(asked[30:]) < 10


BUDGET = {"code_bytes": 1000.0, "cycles": 1e9}


def sized(code_bytes: int) -> Measurement:
    return table_measurement(PLAN).model_copy(update={"code_bytes": code_bytes})


def test_a_plan_over_a_limit_is_told_its_cycles_and_how_far_it_is_above() -> None:
    study = CampaignStudy(SPACE, sampler="tpe", seed=0, budget=BUDGET)
    study.ask(0)
    study.tell(0, sized(1250))
    study.add(SPACE.baseline, sized(900))
    cycles = table_measurement(PLAN).best_cycles
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "COMPLETE"]
    assert [trial.constraints["code_bytes"] for trial in study.trials] == [250.0, -100.0]
    assert {trial.constraints["cycles"] for trial in study.trials} == {cycles - 1e9}
    assert {trial.value for trial in study.trials} == {float(cycles)}


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "random"])
def test_several_objectives_are_an_ordinary_study(sampler: SamplerName) -> None:
    objectives = ("cycles", "code_bytes")
    study = CampaignStudy(SPACE, sampler=sampler, seed=1, objectives=objectives, budget=BUDGET)
    study.add(SPACE.baseline, sized(700))
    for number in range(12):
        choices = study.ask(number)
        generic = sum(value == "generic" for value in choices.values())
        measured = table_measurement(apply(PLAN, SPACE.choices(choices)))
        outcome = measured.model_copy(update={"code_bytes": 700 + 100 * generic})
        study.tell(number, BAD if number % 5 == 4 else outcome)
    told = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    assert len(told) == 13  # a bad plan gets the worst values and a violated constraint
    assert all(len(trial.values) == 2 for trial in told)
    assert sum("plan" in trial.constraints for trial in told) == 2
