# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helia_aot.errors import PlanError
from helia_aot.optimization.knobs import GOALS
from helia_aot.optimization.plan import KnobChoice, KnobSource, RuleRef
from helia_aot.optimization.resolve import plan_settings, resolve_choices, rule_warnings

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
    assert plan_settings(case.config(), plan) == plan.optimization
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
    assert rule_warnings(case.operators, case.config(operators=rules)) == (
        "operators[1] (type SOFTMAX) matches no operator of the model",
        "operators[2] (type *, id 12) sets kernel, but no operator it matches has that knob",
        "operators[3] (type *, id ['0:first', '99']) sets accumulation, but no operator it matches "
        "has that knob",
    )
