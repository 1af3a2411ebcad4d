# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helia_aot.optimization.diff import PlanDifference, diff_plans
from helia_aot.optimization.plan import FixedChoice, PlanTensor

if TYPE_CHECKING:
    from conftest import Case


def test_equal_choices_are_no_difference_whoever_asked(case: Case) -> None:
    asked = case.plan(optimization={"kernel": "specialized"})
    assert diff_plans(case.plan(), asked, {}) == []
    assert diff_plans(case.plan(), case.plan(case.plan()), {}) == []


def test_operators_differ_by_choice_with_their_share(case: Case) -> None:
    rules = [{"id": "10", "optimization": {"kernel": "generic"}}]
    assert diff_plans(case.plan(), case.plan(operators=rules), {"0:first": 0.25}) == [
        PlanDifference("operator", "0:first", "CONV_2D", "kernel", "specialized", "generic", 0.25)
    ]


def test_settings_and_identity_differ(case: Case) -> None:
    a = case.plan(memory={"planner": "greedy"})
    b = case.plan(optimization={"goal": "latency"}).model_copy(update={"module_prefix": "kws"})
    assert [(d.kind, d.name, d.a, d.b) for d in diff_plans(a, b, {})] == [
        ("identity", "module_prefix", "aot", "kws"),
        ("setting", "goal", "balanced", "latency"),
        ("setting", "planner", "greedy", "hill_climb"),
        ("setting", "planner_options.seed", None, "0"),
        ("setting", "planner_options.iterations", None, "300"),
    ]


def test_operators_of_one_plan_only_are_listed(case: Case, edit_operator: Any) -> None:
    b = edit_operator(case.plan(), 2, id="0:new")
    assert [(d.id, d.name, d.a, d.b) for d in diff_plans(case.plan(), b, {})] == [
        ("0:@2", "op_type", "RESHAPE", None),
        ("0:new", "op_type", None, "RESHAPE"),
    ]


def test_fixed_choices_and_placements_differ(case: Case, edit_operator: Any) -> None:
    fixed = {"lut_mode": FixedChoice(value="universal", set_by="attribute")}
    tensor = PlanTensor(id="7", role="constant", memory="dtcm", source_memory="mram", set_by="plan")
    moved = tensor.model_copy(update={"memory": "mram"})
    a = edit_operator(case.plan(), 0, fixed=fixed).model_copy(update={"tensors": [tensor]})
    b = case.plan().model_copy(update={"tensors": [moved]})
    assert [(d.kind, d.id, d.name, d.a, d.b) for d in diff_plans(a, b, {})] == [
        ("operator", "0:first", "lut_mode", "universal", None),
        ("tensor", "7", "memory", "dtcm (from mram)", "mram"),
    ]
