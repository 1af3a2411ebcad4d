# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helia_aot.errors import PlanError
from helia_aot.optimization.check import check_plan
from helia_aot.optimization.plan import FixedChoice, OptimizationPlan, PlanTensor

if TYPE_CHECKING:
    from conftest import Case


def _check(case: Case, plan: OptimizationPlan, **sections: object) -> str:
    return check_plan(plan, case.subject(), case.config(**sections))


def _problems(case: Case, plan: OptimizationPlan, **sections: object) -> list[str]:
    with pytest.raises(PlanError) as caught:
        _check(case, plan, **sections)
    return [f"{problem.where}: {problem.reason}" for problem in caught.value.problems]


def test_matching_plan_gives_a_receipt(case: Case) -> None:
    assert _check(case, case.plan()) == "applied 3 of 3 choices of the plan"


def test_file_name_may_differ(case: Case) -> None:
    model = case.model.model_copy(update={"file": "other.tflite"})
    assert _check(case, case.edited(model=model)).startswith("applied 3 of 3")


def test_every_mismatch_is_reported_at_once(case: Case, edit_operator: Any) -> None:
    plan = case.edited(
        model=case.model.model_copy(update={"sha256": "f" * 64, "subgraph": 1}),
        platform=case.platform.model_copy(
            update={"name": "host", "core": "host", "capabilities": [], "fp16": False}
        ),
    )
    plan = edit_operator(plan, 0, op_type="DEPTHWISE_CONV_2D", knobs={})
    plan = edit_operator(plan, 1, id="0:gone")
    plan = edit_operator(plan, 2, knobs=case.plan().operators[0].knobs)
    assert _problems(case, plan) == [
        f"model.sha256: the plan is for {'f' * 64}, this conversion is for {'0' * 64}",
        "model.subgraph: the plan is for 1, this conversion is for 0",
        "platform.name: the plan is for host, this conversion is for apollo510_evb",
        "platform.core: the plan is for host, this conversion is for cortex-m55",
        "platform.capabilities: the plan is for [], this conversion is for ['dsp', 'mve']",
        "platform.fp16: the plan is for False, this conversion is for True",
        "0:gone: the plan has this operator, the model has not",
        "0:a:b: the model has this operator, the plan has not",
        "0:first: is DEPTHWISE_CONV_2D in the plan and CONV_2D in the model",
        "0:first: the plan does not set the knob 'kernel' of this operator",
        "0:@2: the plan sets 'kernel', a knob that this operator has not here",
    ]


def test_operator_listed_twice_is_refused(case: Case) -> None:
    plan = case.plan()
    plan = plan.model_copy(update={"operators": [*plan.operators, plan.operators[0]]})
    assert _problems(case, plan) == ["0:first: the plan lists this operator 2 times"]


def test_value_that_does_not_exist_here_is_refused(case: Case, edit_operator: Any) -> None:
    choice = case.plan().operators[0].knobs["kernel"].model_copy(update={"value": "turbo"})
    plan = edit_operator(case.plan(), 0, knobs={"kernel": choice})
    assert _problems(case, plan) == [
        "0:first: kernel cannot be 'turbo' here, only specialized, generic"
    ]


def test_value_of_a_knob_that_makes_no_difference_is_accepted(case: Case) -> None:
    assert _check(case, case.plan(optimization={"kernel": "generic"})).startswith("applied 3 of 3")


def test_fixed_choice_of_an_operator_without_it_is_refused(case: Case, edit_operator: Any) -> None:
    fixed = {"lut_mode": FixedChoice(value="per_op", set_by="default")}
    assert _problems(case, edit_operator(case.plan(), 0, fixed=fixed)) == [
        "0:first: the plan fixes 'lut_mode', a choice that this operator has not here"
    ]


def test_fixed_choices_count_as_choices(fixed_case: Case) -> None:
    assert _check(fixed_case, fixed_case.plan()) == "applied 6 of 6 choices of the plan"


def test_fixed_choice_that_contradicts_a_knob_is_refused(
    fixed_case: Case, edit_operator: Any
) -> None:
    packed = {"weight_layout": FixedChoice(value="packed", set_by="knob")}
    assert _problems(fixed_case, edit_operator(fixed_case.plan(), 2, fixed=packed)) == [
        "0:@2: weight_layout cannot be 'packed' here, only standard"
    ]


def test_fixed_choice_that_contradicts_an_attribute_is_refused(fixed_case: Case) -> None:
    rules = [{"id": "12", "attributes": {"lut_mode": "universal"}}]
    assert _problems(fixed_case, fixed_case.plan(), operators=rules) == [
        "0:@2: the plan fixes lut_mode as 'per_op', but operators[0].attributes asks for "
        "'universal'"
    ]


def test_attribute_that_agrees_with_the_plan_is_accepted(fixed_case: Case) -> None:
    rules = [{"id": "12", "attributes": {"lut_mode": "per_op"}}]
    assert _check(fixed_case, fixed_case.plan(), operators=rules).startswith("applied 6 of 6")


def test_planner_that_differs_is_refused(case: Case) -> None:
    plan = case.plan(memory={"planner": "greedy"})
    assert _problems(case, plan, memory={"planner": "hill_climb"}) == [
        "memory.planner: is hill_climb, but the plan was made with greedy"
    ]
    assert _check(case, plan, memory={"planner": "greedy"}).startswith("applied 3 of 3")


def test_planner_options_that_differ_are_refused(case: Case) -> None:
    assert _problems(case, case.plan(), memory={"planner_options": {"seed": 7}}) == [
        "memory.planner_options.seed: is 7, but the plan was made with 0"
    ]
    plan = case.plan(memory={"planner": "greedy"})
    assert _problems(case, plan, memory={"planner_options": {"seed": 7}}) == [
        "memory.planner_options.seed: is 7, but the plan was made without it"
    ]


def test_planner_options_that_do_not_exist_are_refused(case: Case) -> None:
    plan = case.plan()
    settings = plan.optimization.model_copy(update={"planner_options": {"depth": 3}})
    assert _problems(case, plan.model_copy(update={"optimization": settings})) == [
        "optimization.planner_options.depth: the plan's planner has no such option here"
    ]


def test_a_plan_without_a_planner_leaves_it_to_the_configuration(case: Case) -> None:
    plan = case.plan()
    settings = plan.optimization.model_copy(update={"planner_options": {}, "knobs": {}})
    older = plan.model_copy(update={"optimization": settings})
    memory = {"planner": "greedy"}
    assert _check(case, older, memory=memory) == "applied 2 of 2 choices of the plan"
    assert case.plan(older, memory=memory).optimization.knobs["planner"].value == "greedy"


def test_tensors_are_checked_and_counted(case: Case) -> None:
    tensor = PlanTensor(id="1", role="constant", memory="dtcm", source_memory="mram", set_by="plan")
    plan = case.edited(tensors=[tensor])
    assert _check(case, plan) == "applied 3 of 3 choices and 1 of 1 placements of the plan"
    rule = {"type": "constant", "attributes": {"memory": "sram"}}
    assert _problems(case, plan, memory={"tensors": [rule]}) == [
        "tensor 1: the plan places it in dtcm (from mram), but memory.tensors[0] asks for memory "
        "sram"
    ]


def test_conflicting_settings_and_rules_are_refused(case: Case) -> None:
    plan = case.plan(optimization={"goal": "latency"})
    settings = {"goal": "size", "allow_approximate": True, "kernel": "specialized"}
    rules = [{"id": "11", "optimization": {"kernel": "generic"}}]
    assert _problems(case, plan, optimization=settings, operators=rules) == [
        "optimization.goal: is size, but the plan was made with latency",
        "optimization.allow_approximate: is True, but the plan was made with False",
        "0:a:b: the plan sets kernel to 'specialized', but operators[0] asks for 'generic'",
    ]


def test_model_wide_conflict_names_the_setting(case: Case) -> None:
    problems = _problems(case, case.plan(), optimization={"kernel": "generic"})
    assert problems == [
        f"{name}: the plan sets kernel to 'specialized', but optimization.kernel asks for 'generic'"
        for name in ("0:first", "0:a:b")
    ]


def test_settings_that_agree_or_leave_it_open_are_accepted(case: Case) -> None:
    plan = case.plan(optimization={"goal": "latency"})
    settings = {"goal": "latency", "kernel": "auto"}
    rules = [{"type": "CONV_2D", "optimization": {"kernel": "specialized"}}]
    assert _check(case, plan, optimization=settings, operators=rules).startswith("applied 3 of 3")
