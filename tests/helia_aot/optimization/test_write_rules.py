# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from helia_aot.config.convert import ConvertConfig
from helia_aot.optimization.plan import PlanTensor
from helia_aot.optimization.write_rules import rules_of, rules_yaml

if TYPE_CHECKING:
    from conftest import Case


def test_operators_with_equal_choices_share_a_rule(case: Case) -> None:
    assert rules_of(case.plan())["operators"] == [
        {"type": "CONV_2D", "id": ["0:first", "0:a:b"], "optimization": {"kernel": "specialized"}}
    ]


def test_settings_are_written_back(case: Case) -> None:
    settings = {"goal": "size", "allow_approximate": True, "budget": {"dtcm_bytes": 1000.0}}
    rules = rules_of(case.plan(optimization=settings, memory={"planner": "greedy"}))
    assert rules["optimization"] == settings
    assert rules["memory"] == {"planner": "greedy"}
    assert rules_of(case.plan())["memory"] == {
        "planner": "hill_climb",
        "planner_options": {"seed": 0, "iterations": 300},
    }


def test_attributes_are_written_back_and_the_rest_follows(fixed_case: Case) -> None:
    rules = [{"type": "RESHAPE", "attributes": {"lut_mode": "universal"}}]
    written = rules_of(fixed_case.plan(operators=rules))["operators"]
    assert written[-1] == {
        "type": "RESHAPE",
        "id": ["0:@2"],
        "attributes": {"lut_mode": "universal"},
        "optimization": {"accumulation": "precise"},
    }
    again = fixed_case.plan(operators=written)
    assert again.operators[2].fixed["lut_mode"].value == "universal"


def test_tensors_with_one_place_share_a_rule(case: Case) -> None:
    places = (("1", "dtcm"), ("w", "dtcm"), ("2", "sram"))
    tensors = [
        PlanTensor(id=i, role="constant", memory=m, source_memory="mram", set_by="plan")
        for i, m in places
    ]
    written = rules_of(case.edited(tensors=tensors))["memory"]["tensors"]
    assert [(r["id"], r["attributes"]) for r in written] == [
        (["1", "w"], {"memory": "mram", "constant_destination_memory": "dtcm"}),
        (["2"], {"memory": "mram", "constant_destination_memory": "sram"}),
    ]


def test_yaml_is_a_configuration_whatever_the_names(case: Case, edit_operator: Any) -> None:
    name = "0:a: [b]\n- 'c' # \u00b5 \x01"
    plan = edit_operator(case.plan(), 0, id=name)
    model = plan.model.model_copy(update={"file": "x\ny: 1.tflite"})
    text = rules_yaml(plan.model_copy(update={"model": model}))
    content = yaml.safe_load(text)
    assert content["operators"][0]["id"] == [name, "0:a:b"]
    config = ConvertConfig.model_validate({"model": {"path": "kws.tflite"}, **content})
    assert config.operators[0].id == [name, "0:a:b"]
