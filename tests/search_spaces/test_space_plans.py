# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_campaign import synthetic_plan, synthetic_space

from helia_aot.optimization.plan import FixedChoice, PlanTensor
from search_spaces.errors import SpaceError
from search_spaces.plans import apply, plan_key
from search_spaces.space import Choice

POINTS = st.lists(st.sampled_from(["specialized", "generic"]), min_size=4, max_size=4)


def choices(values: list[str]) -> list[Choice]:
    return [
        Choice(operator_id=f"0:conv{index}", knob="kernel", value=value)
        for index, value in enumerate(values)
    ]


def test_apply_marks_every_choice_as_set_by_a_plan() -> None:
    plan = apply(synthetic_plan(2), choices(["generic"]))
    first, second, _ = (operator.knobs.get("kernel") for operator in plan.operators)
    assert first is not None
    assert second is not None
    assert (first.value, first.requested, first.resolved_by) == ("generic", "generic", "plan")
    assert (second.value, second.source.kind) == ("specialized", "plan")


@given(values=POINTS, order=st.permutations(range(4)))
def test_apply_does_not_depend_on_the_order(values: list[str], order: list[int]) -> None:
    shuffled = [choices(values)[index] for index in order]
    assert apply(synthetic_plan(4), shuffled) == apply(synthetic_plan(4), choices(values))


@given(first=POINTS, second=POINTS)
def test_keys_are_equal_exactly_for_equal_choices(first: list[str], second: list[str]) -> None:
    keys = [plan_key(apply(synthetic_plan(4), choices(values))) for values in (first, second)]
    assert (keys[0] == keys[1]) == (first == second)


def test_the_key_ignores_order_and_provenance() -> None:
    plan = synthetic_plan(3)
    other = plan.model_copy(update={"operators": plan.operators[::-1], "module_prefix": "x"})
    assert plan_key(apply(other, [])) == plan_key(plan)


def test_apply_lists_every_choice_that_does_not_fit() -> None:
    wrong = [
        Choice(operator_id="0:conv0", knob="kernel", value="fast"),
        Choice(operator_id="0:add", knob="kernel", value="generic"),
        Choice(operator_id="0:add", knob="kernel", value="generic"),
    ]
    with pytest.raises(SpaceError) as caught:
        apply(synthetic_plan(2), wrong)
    assert len(caught.value.problems) == 3


def test_the_baseline_is_a_point_of_its_space() -> None:
    plan, space = synthetic_space(3)
    assert plan_key(apply(plan, space.choices(space.baseline))) == plan_key(plan)


def test_apply_leaves_out_what_the_compiler_derived() -> None:
    plan = synthetic_plan(2)
    fixed = {
        "lut_mode": FixedChoice(value="per_op", set_by="plan"),
        "weight_layout": FixedChoice(value="packed", set_by="knob"),
    }
    first = plan.operators[0].model_copy(update={"fixed": fixed})
    tensors = [
        PlanTensor(id=name, role="constant", memory="dtcm", source_memory="dtcm", set_by=set_by)
        for name, set_by in (("1", "default"), ("2", "plan"))
    ]
    plan = plan.model_copy(update={"operators": [first, *plan.operators[1:]], "tensors": tensors})
    candidate = apply(plan, choices(["generic"]))
    assert list(candidate.operators[0].fixed) == ["lut_mode"]
    assert [tensor.id for tensor in candidate.tensors] == ["2"]
