# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helia_aot.errors import PlanError
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.read_plan import check_plan, parse_plan, read_plan
from helia_aot.optimization.write import dump_json

if TYPE_CHECKING:
    from conftest import Case


def _check(case: Case, plan: OptimizationPlan, **sections: object) -> str:
    return check_plan(
        plan,
        model=case.model,
        platform=case.platform,
        operators=case.operators,
        config=case.config(**sections),
    )


def _problems(case: Case, plan: OptimizationPlan, **sections: object) -> list[str]:
    with pytest.raises(PlanError) as caught:
        _check(case, plan, **sections)
    return [f"{problem.where}: {problem.reason}" for problem in caught.value.problems]


def test_file_survives_a_round_trip(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "aot_plan.json"
    path.write_text(dump_json(case.plan()), encoding="utf-8")
    plan = read_plan(path)
    assert plan == case.plan()
    assert dump_json(plan) == path.read_text(encoding="utf-8")


def test_missing_file_is_a_plan_error(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read: No such file"):
        read_plan(tmp_path / "no.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{", "line 1, column 2"), (b"\xff\xfe", "no UTF-8 text"), (b"[]", "does not follow")],
)
def test_unreadable_content_is_a_plan_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(PlanError, match=message):
        read_plan(path)


def test_other_schema_version_is_named(case: Case) -> None:
    content = case.plan().model_dump(mode="json") | {"schema_version": 2}
    with pytest.raises(PlanError, match="schema version 2, this release reads 1"):
        parse_plan(content)


def test_every_schema_fault_is_listed_with_its_place(case: Case) -> None:
    content: Any = json.loads(dump_json(case.plan()))
    content["extra"] = 1
    content["model"]["sha256"] = "abc"
    content["operators"][0]["knobs"]["kernel"]["value"] = "turbo"
    content["operators"][0]["knobs"]["kernel"]["resolved_by"] = "magic"
    choice = json.loads(dump_json(case.plan()))["operators"][0]["knobs"]["kernel"]
    content["operators"][1]["knobs"] = {
        "unroll": choice,
        "kernel": choice | {"value": "turbo"},
    }
    del content["operators"][2]["op_type"]
    with pytest.raises(PlanError) as caught:
        parse_plan(content)
    found = {problem.where: problem.reason for problem in caught.value.problems}
    assert set(found) == {
        "model.sha256",
        "operators[0].knobs.kernel.resolved_by",
        "operators[1]",
        "operators[2].op_type",
        "extra",
    }
    assert "unknown knob 'unroll'" in found["operators[1]"]
    assert "no value 'turbo'" in found["operators[1]"]


def test_matching_plan_gives_a_receipt(case: Case) -> None:
    assert _check(case, case.plan()) == "applied 2 of 2 choices of the plan"


def test_file_name_may_differ(case: Case) -> None:
    model = case.model.model_copy(update={"file": "other.tflite"})
    assert _check(case, case.edited(model=model)).startswith("applied 2 of 2")


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
    assert _check(case, case.plan(optimization={"kernel": "generic"})).startswith("applied 2 of 2")


def test_fixed_choice_is_refused(case: Case, edit_operator: Any) -> None:
    fixed = {"lut_mode": {"value": "per_op", "set_by": "default"}}
    plan = edit_operator(case.plan(), 0, fixed=fixed)
    assert _problems(case, plan) == [
        "0:first: the plan fixes 'lut_mode', which this release cannot reproduce"
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
    assert _check(case, plan, optimization=settings, operators=rules).startswith("applied 2 of 2")
