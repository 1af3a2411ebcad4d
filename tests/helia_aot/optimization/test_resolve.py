# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import pytest

from helia_aot.config.convert import MemoryConfig, PlannerName
from helia_aot.errors import ConfigError, PlanError
from helia_aot.memory.planners import PLANNERS
from helia_aot.operators.spec import FixedDomain
from helia_aot.optimization.knobs import GOALS, PLANNER
from helia_aot.optimization.plan import (
    FixedChoice,
    KnobChoice,
    KnobSource,
    OptimizationPlan,
    RuleRef,
)
from helia_aot.optimization.resolve import (
    plan_settings,
    planner_options,
    resolve_choices,
    resolve_fixed,
    resolve_model_choices,
    rule_warnings,
)

if TYPE_CHECKING:
    from conftest import Case


def _kernel(case: Case, **sections: object) -> KnobChoice:
    return resolve_choices(case.operators, case.config(**sections))[0]["kernel"]


def test_default_is_auto_from_the_table(case: Case) -> None:
    choices = resolve_choices(case.operators, case.config())
    default = KnobChoice(
        value="specialized",
        requested="auto",
        resolved_by="auto_table",
        source=KnobSource(kind="default", rule=None),
        approximate=False,
    )
    assert choices == [{"kernel": default}, {"kernel": default}, {}]


@pytest.mark.parametrize("goal", GOALS)
def test_auto_follows_the_goal(case: Case, goal: str) -> None:
    expected = "generic" if goal == "size" else "specialized"
    assert _kernel(case, optimization={"goal": goal}).value == expected


def test_model_wide_value_is_explicit(case: Case) -> None:
    choice = _kernel(case, optimization={"kernel": "generic"})
    assert (choice.value, choice.requested, choice.resolved_by) == (
        "generic",
        "generic",
        "explicit",
    )
    assert choice.source == KnobSource(kind="model", rule=None)


def test_model_wide_auto_is_recorded_as_asked_for(case: Case) -> None:
    choice = _kernel(case, optimization={"kernel": "auto", "goal": "size"})
    assert (choice.value, choice.requested, choice.resolved_by) == ("generic", "auto", "auto_table")
    assert choice.source.kind == "model"


@pytest.mark.parametrize("operator_id", ["0:first", "10"])
def test_rule_wins_over_the_model_wide_value(case: Case, operator_id: str) -> None:
    rules = [
        {"type": "conv_2d", "optimization": {"kernel": "specialized"}},
        {"id": operator_id, "optimization": {"kernel": "generic"}},
    ]
    choices = resolve_choices(
        case.operators, case.config(operators=rules, optimization={"kernel": "auto"})
    )
    assert choices[0]["kernel"].value == "generic"
    assert choices[0]["kernel"].source == KnobSource(
        kind="operator", rule=RuleRef(index=1, type="*", id=operator_id)
    )
    assert choices[1]["kernel"].value == "specialized"
    assert choices[1]["kernel"].source.rule == RuleRef(index=0, type="CONV_2D", id=None)


def test_rule_may_ask_for_auto(case: Case) -> None:
    rules = [{"type": "*", "optimization": {"kernel": "auto"}}]
    choice = _kernel(case, operators=rules, optimization={"kernel": "generic"})
    assert (choice.value, choice.requested) == ("specialized", "auto")
    assert choice.source.kind == "operator"


def test_plan_replaces_everything(case: Case) -> None:
    plan = case.plan(optimization={"kernel": "generic"})
    choices = resolve_choices(case.operators, case.config(optimization={"goal": "latency"}), plan)
    assert [sorted(chosen) for chosen in choices] == [["kernel"], ["kernel"], []]
    assert choices[0]["kernel"] == KnobChoice(
        value="generic",
        requested="generic",
        resolved_by="plan",
        source=KnobSource(kind="plan", rule=None),
        approximate=False,
    )


def test_plan_without_a_choice_is_refused(case: Case, edit_operator: Any) -> None:
    plan = edit_operator(edit_operator(case.plan(), 0, knobs={}), 1, id="0:other")
    with pytest.raises(PlanError) as caught:
        resolve_choices(case.operators, case.config(), plan)
    assert [problem.where for problem in caught.value.problems] == ["0:first", "0:a:b"]


def test_plan_keeps_its_settings(case: Case) -> None:
    plan = case.plan(optimization={"goal": "size", "allow_approximate": True})
    settings = plan_settings(case.config(), plan)
    assert (settings.goal, settings.allow_approximate) == ("size", True)
    assert plan_settings(case.config(), None).goal == "balanced"


def test_plan_of_a_reproduced_plan_is_the_same(case: Case) -> None:
    once = case.plan(case.plan(optimization={"goal": "size"}))
    assert case.plan(once) == once


def test_rules_without_effect_are_named(case: Case) -> None:
    rules = [
        {"type": "CONV_2D", "optimization": {"kernel": "generic"}},
        {"type": "SOFTMAX", "optimization": {"kernel": "generic"}},
        {"id": "12", "optimization": {"kernel": "generic"}},
        {"id": ["0:first", "99"], "optimization": {"accumulation": "fast"}},
    ]
    fixed = [{}, {}, {}]
    assert rule_warnings(case.operators, case.config(operators=rules), fixed) == (
        "operators[1] (type SOFTMAX) matches no operator of the model",
        "operators[2] (type *, id 12) sets kernel, but no operator it matches has that knob",
        "operators[3] (type *, id ['0:first', '99']) names '99', but no operator that it could match "
        "has that id",
        "operators[3] (type *, id ['0:first', '99']) sets accumulation, but no operator it matches "
        "has that knob",
    )


def _fixed(
    case: Case, plan: OptimizationPlan | None = None, **sections: object
) -> dict[str, FixedChoice]:
    config = case.config(**sections)
    choices = resolve_choices(case.operators, config, plan)
    return resolve_fixed(case.operators, choices, config, plan)[2]


def test_fixed_choices_say_what_set_them(fixed_case: Case) -> None:
    assert _fixed(fixed_case) == {
        "lut_mode": FixedChoice(value="per_op", set_by="default"),
        "weight_layout": FixedChoice(value="standard", set_by="knob"),
    }


def test_fixed_choice_can_follow_a_knob(fixed_case: Case) -> None:
    fixed = _fixed(fixed_case, optimization={"accumulation": "fast"})
    assert fixed["weight_layout"] == FixedChoice(value="packed", set_by="knob")


def test_attribute_sets_a_fixed_choice(fixed_case: Case) -> None:
    rules = [{"type": "reshape", "attributes": {"lut_mode": "universal"}}]
    fixed = _fixed(fixed_case, operators=rules)
    assert fixed["lut_mode"] == FixedChoice(value="universal", set_by="attribute")


def test_plan_sets_fixed_choices(fixed_case: Case) -> None:
    rules = [{"type": "reshape", "attributes": {"lut_mode": "universal"}}]
    fixed = _fixed(fixed_case, fixed_case.plan(operators=rules))
    assert fixed == {
        "lut_mode": FixedChoice(value="universal", set_by="plan"),
        "weight_layout": FixedChoice(value="standard", set_by="plan"),
    }


def test_fixed_choice_left_out_of_a_plan_is_derived(fixed_case: Case, edit_operator: Any) -> None:
    plan = edit_operator(fixed_case.plan(), 2, fixed={})
    assert _fixed(fixed_case, plan) == _fixed(fixed_case)


def test_attribute_with_a_value_that_does_not_fit_is_refused(case: Case) -> None:
    one = {"lut_mode": FixedDomain(("per_op",), "per_op", "default")}
    operators = tuple(replace(op, fixed=lambda _: one) for op in case.operators)
    rules = [{"type": "CONV_2D", "attributes": {"lut_mode": "universal"}}]
    with pytest.raises(ConfigError) as caught:
        _fixed(replace(case, operators=operators), operators=rules)
    assert [problem.where for problem in caught.value.problems] == [
        "operators[0].attributes.lut_mode"
    ] * 2
    assert "'0:first' cannot have 'universal'" in caught.value.problems[0].reason


def test_attribute_without_effect_is_named(fixed_case: Case) -> None:
    rules = [{"type": t, "attributes": {"lut_mode": "per_op"}} for t in ("CONV_2D", "RESHAPE")]
    config = fixed_case.config(operators=rules)
    fixed = resolve_fixed(
        fixed_case.operators, resolve_choices(fixed_case.operators, config), config
    )
    assert rule_warnings(fixed_case.operators, config, fixed) == (
        "operators[0] (type CONV_2D) sets lut_mode, but no operator it matches has that attribute",
    )


def test_planner_is_the_default_until_it_is_set(case: Case) -> None:
    choice = resolve_model_choices(case.config())["planner"]
    assert (choice.value, choice.requested, choice.resolved_by, choice.source.kind) == (
        "hill_climb",
        "auto",
        "auto_table",
        "default",
    )


def test_planner_that_is_set_is_explicit(case: Case) -> None:
    choice = resolve_model_choices(case.config(memory={"planner": "greedy"}))["planner"]
    assert (choice.value, choice.requested, choice.resolved_by, choice.source.kind) == (
        "greedy",
        "greedy",
        "explicit",
        "model",
    )


def test_planner_of_a_plan_replaces_the_default(case: Case) -> None:
    plan = case.plan(memory={"planner": "hill_climb", "planner_options": {"seed": 3}})
    choices = resolve_model_choices(case.config(), plan)
    assert choices["planner"].resolved_by == "plan"
    assert planner_options(case.config(), choices, plan) == {"seed": 3, "iterations": 300}


def test_planner_without_options_records_none(case: Case) -> None:
    assert plan_settings(case.config(memory={"planner": "greedy"}), None).planner_options == {}


def test_planners_of_registry_configuration_and_memory_are_the_same() -> None:
    assert PLANNER.values == get_args(PlannerName) == tuple(PLANNERS)
    assert MemoryConfig().planner == PLANNER.default
