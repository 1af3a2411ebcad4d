# SPDX-License-Identifier: Apache-2.0
"""The profile sampler: design, exact optimum, bound, and bad plans, over made-up costs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping

import optuna
import pytest

from optimizer.additive import CHECKED, WORST, AdditiveModel, Observation, sites_of
from optimizer.errors import CampaignError
from optimizer.profile import Outcome, Profile, ProfileSampler
from search_spaces.space import Dimension, SearchSpace

Point = Mapping[str, str]


def space_of(*choices: int, knobs: int = 1) -> SearchSpace:
    """Gives a space; operator ``o<i>`` has ``choices[i]`` values in each of its knobs."""
    return SearchSpace(
        dimensions=tuple(
            Dimension(
                operator_id=f"o{index}",
                op_type="CONV_2D",
                knob=f"k{knob}",
                choices=tuple(f"v{value}" for value in range(count)),
                baseline="v0",
            )
            for index, count in enumerate(choices)
            for knob in range(knobs)
        )
    )


def digit(value: str) -> int:
    return int(value[1:])


def cost(operator: int, value: int) -> int:
    """Gives 500 .. 1500 cycles, as arbitrary as fixed."""
    return 500 + (operator * 7919 + value * 104729 + operator * value * 31) % 1000


def additive(space: SearchSpace, point: Point) -> dict[str, int]:
    cycles = {"first": 100}
    for dimension in space.dimensions:
        number = int(dimension.operator_id[1:])
        value = digit(point[dimension.name])
        cycles.setdefault(dimension.operator_id, 0)
        cycles[dimension.operator_id] += cost(number + 10 * digit(dimension.knob), value)
    return {**cycles, "last": 300}


def ok(point: Point, cycles: Mapping[str, int]) -> Outcome:
    return Outcome(point, "ok", sum(cycles.values()) + 50, cycles)


def every(space: SearchSpace) -> list[dict[str, str]]:
    names = [dimension.name for dimension in space.dimensions]
    return [
        dict(zip(names, values, strict=True))
        for values in itertools.product(*(item.choices for item in space.dimensions))
    ]


def build(
    space: SearchSpace, evaluate: Callable[[Point], Outcome], count: int
) -> tuple[list[Outcome], Profile]:
    """Builds the baseline and then what is proposed."""
    outcomes = [evaluate(space.baseline)]
    while len(outcomes) < count:
        point = Profile(space, outcomes).next()
        if point is None:
            break
        assert point not in [item.choices for item in outcomes]
        outcomes.append(evaluate(point))
    return outcomes, Profile(space, outcomes)


@pytest.mark.parametrize("choices", [(2,) * 8, (4, 2, 3, 4), (3,) * 5])
def test_as_many_builds_as_alternatives_and_one_find_the_best_plan(
    choices: tuple[int, ...],
) -> None:
    space = space_of(*choices)
    outcomes, _ = build(space, lambda point: ok(point, additive(space, point)), max(choices) + 1)
    best = min(sum(additive(space, point).values()) for point in every(space)) + 50
    assert min(item.cycles for item in outcomes if item.cycles) == best


def test_a_model_that_adds_up_has_no_gap_after_its_checks() -> None:
    space = space_of(*(2,) * 6)
    outcomes, profile = build(space, lambda point: ok(point, additive(space, point)), 6)
    best = min(item.cycles for item in outcomes if item.cycles)
    optimality = profile.optimality(best)
    assert optimality is not None
    assert optimality.gap == pytest.approx(0, abs=1e-9)
    assert optimality.largest_error == pytest.approx(0, abs=1e-9)
    assert profile.optimality(best * 2).gap == pytest.approx(1)


def test_nothing_is_said_before_every_value_was_measured() -> None:
    space = space_of(3, 3)
    _, profile = build(space, lambda point: ok(point, additive(space, point)), 2)
    assert profile.optimality(1000) is None


def test_two_knobs_of_one_operator_need_one_build_for_each_change() -> None:
    space = space_of(2, 2, 2, knobs=3)
    outcomes, _ = build(space, lambda point: ok(point, additive(space, point)), 5)
    best = min(sum(additive(space, point).values()) for point in every(space)) + 50
    assert min(item.cycles for item in outcomes if item.cycles) == best
    assert [len(site.basic) for site in sites_of(space)] == [4, 4, 4]


def coupled(space: SearchSpace, point: Point, strength: float) -> dict[str, int]:
    cycles = additive(space, point)
    before = "v0"
    for dimension in space.dimensions:
        own = point[dimension.name]
        key = (int(dimension.operator_id[1:]) * 5 + digit(own) * 3 + digit(before) * 7) % 11
        cycles[dimension.operator_id] = round(
            cycles[dimension.operator_id] * (1 + strength * (key / 5 - 1))
        )
        before = own
    return cycles


@pytest.mark.parametrize("strength", [0.01, 0.05, 0.15])
def test_neighbours_that_change_each_other_are_learnt(strength: float) -> None:
    space = space_of(*(2,) * 8)
    outcomes, profile = build(space, lambda p: ok(p, coupled(space, p, strength)), 12)
    best = min(sum(coupled(space, point, strength).values()) for point in every(space)) + 50
    found = min(item.cycles for item in outcomes if item.cycles)
    assert found <= 1.002 * best
    optimality = profile.optimality(found)
    assert optimality is not None
    assert found / best - 1 <= optimality.gap + 1e-9


def test_a_bad_value_is_found_and_left_alone() -> None:
    space = space_of(*(2,) * 8)

    def evaluate(point: Point) -> Outcome:
        if point["k0@o5"] == "v1":
            return Outcome(point, "plan_bad")
        return ok(point, additive(space, point))

    outcomes, profile = build(space, evaluate, 12)
    good = [point for point in every(space) if point["k0@o5"] == "v0"]
    best = min(sum(additive(space, point).values()) for point in good) + 50
    assert min(item.cycles for item in outcomes if item.cycles) == best
    assert sum(item.status == "plan_bad" for item in outcomes) <= 5
    assert profile.optimality(best).gap == pytest.approx(0, abs=1e-9)


def test_a_pair_that_does_not_fit_together_is_never_proposed_again() -> None:
    space = space_of(*(2,) * 4)

    def evaluate(point: Point) -> Outcome:
        if point["k0@o0"] == point["k0@o1"] == "v1":
            return Outcome(point, "plan_bad")
        return ok(point, additive(space, point))

    outcomes, _ = build(space, evaluate, 16)
    good = [p for p in every(space) if not p["k0@o0"] == p["k0@o1"] == "v1"]
    best = min(sum(additive(space, point).values()) for point in good) + 50
    assert min(item.cycles for item in outcomes if item.cycles) == best


def test_a_plan_on_its_way_is_not_proposed_again() -> None:
    space = space_of(*(2,) * 4)
    outcomes = [ok(space.baseline, additive(space, space.baseline))]
    proposed = []
    for _ in range(5):
        point = Profile(space, outcomes).next()
        assert point is not None
        assert point not in proposed
        proposed.append(point)
        outcomes.append(Outcome(point, "running"))


def test_a_measured_space_has_an_exact_gap_and_no_proposal() -> None:
    space = space_of(2, 2)
    outcomes = [ok(point, additive(space, point)) for point in every(space)]
    profile = Profile(space, outcomes)
    best = min(item.cycles for item in outcomes if item.cycles)
    assert profile.next() is None
    assert profile.optimality(best).is_exhaustive
    assert profile.optimality(best).gap == 0
    assert profile.optimality(2 * best).gap == 1


def test_builds_without_cycles_of_operators_leave_the_gap_open() -> None:
    space = space_of(2, 2, 2)
    profile = Profile(space, [Outcome(space.baseline, "ok", 100, {})])
    assert profile.optimality(100) is None
    with pytest.raises(CampaignError, match="--sampler tpe"):
        profile.next()
    whole = Profile(space, [Outcome(point, "ok", 100, {}) for point in every(space)])
    assert whole.optimality(101).gap == pytest.approx(0.01)


def test_the_sampler_serves_an_ordinary_study() -> None:
    space = space_of(3, 3)
    study = optuna.create_study(sampler=ProfileSampler(space))

    def objective(trial: optuna.Trial) -> float:
        point = {
            item.name: trial.suggest_categorical(item.name, item.choices)
            for item in space.dimensions
        }
        cycles = additive(space, point)
        trial.set_user_attr("status", "ok")
        trial.set_user_attr("operator_cycles", cycles)
        return float(sum(cycles.values()))

    study.optimize(objective, n_trials=4)
    assert study.best_value == min(sum(additive(space, point).values()) for point in every(space))
    assert math.isfinite(study.best_value)


def test_plans_are_new_when_hundreds_of_the_cheapest_are_known() -> None:
    space = space_of(*(2,) * 10)
    profile = Profile(space, [ok(space.baseline, additive(space, space.baseline))])
    seen = {tuple(space.baseline.values())}
    for _ in range(400):
        point = profile.next()
        assert point is not None
        assert tuple(point.values()) not in seen
        seen.add(tuple(point.values()))
        profile.add(ok(point, additive(space, point)))


def test_a_small_space_is_built_to_its_last_plan() -> None:
    space = space_of(2, 3, 2, 2)
    outcomes, profile = build(space, lambda point: ok(point, additive(space, point)), 100)
    assert len(outcomes) == space.size
    assert profile.next() is None


def test_the_errors_of_few_builds_are_looked_at_and_the_worst_is_among_them() -> None:
    space = space_of(*(2,) * 12)
    model = AdditiveModel(sites_of(space))
    for number in range(300):
        bits = f"{number * 2654435761 % 4096:012b}"
        point = dict(zip(space.baseline, [f"v{bit}" for bit in bits], strict=True))
        cycles = additive(space, point)
        off = 40 if number == 60 else 0
        model.add(Observation(point, sum(cycles.values()) + 50 + off, cycles))
    assert len(model.builds.checked) <= CHECKED + WORST
    assert 60 in model.builds.checked
    assert model.error_cycles == pytest.approx(40)
    assert max(item.excess for item in model.residuals()) == pytest.approx(40)
