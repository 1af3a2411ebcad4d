# SPDX-License-Identifier: Apache-2.0
"""scratch_placement and code_placement of operators[] rules, from the configuration to the module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from module_program import converted

from helia_aot.api import Conversion, convert
from helia_aot.errors import ConfigError, PlanError
from helia_aot.optimization.write import dump_json

DEPTHWISE_SCRATCH = "depthwise_conv_2d_1_scratch"


def with_rules(
    model: Path, *rules: dict[str, Any], tensors: tuple[dict[str, Any], ...] = ()
) -> Conversion:
    return converted(model, memory={"tensors": list(tensors)}, operators=list(rules))


def memory_of(conversion: Conversion, tensor_id: str) -> str:
    return conversion.memory_plan.allocations[tensor_id].memory


def test_scratch_placement_moves_the_buffer_and_nothing_else(digits_model: Path) -> None:
    plain = with_rules(digits_model)
    rule = {"type": "DEPTHWISE_CONV_2D", "id": "1", "attributes": {"scratch_placement": "SRAM"}}
    moved = with_rules(digits_model, rule)
    assert memory_of(plain, DEPTHWISE_SCRATCH) == "dtcm"
    assert memory_of(moved, DEPTHWISE_SCRATCH) == "sram"
    others = set(plain.memory_plan.allocations) - {DEPTHWISE_SCRATCH}
    assert {i for i in others if memory_of(moved, i) != memory_of(plain, i)} == set()
    assert moved.warnings == ()


def test_the_most_specific_rule_places(digits_model: Path) -> None:
    conversion = with_rules(
        digits_model,
        {"type": "DEPTHWISE_CONV_2D", "id": "1", "attributes": {"scratch_placement": "itcm"}},
        {"type": "DEPTHWISE_CONV_2D", "attributes": {"scratch_placement": "sram"}},
    )
    memories = {
        i: memory_of(conversion, i)
        for i in conversion.memory_plan.allocations
        if i.startswith("depthwise") and i.endswith("_scratch")
    }
    assert memories.pop(DEPTHWISE_SCRATCH) == "itcm"
    assert set(memories.values()) == {"sram"}


@pytest.mark.parametrize(
    ("tensor_rule", "memory"),
    [
        ({"type": "scratch"}, "sram"),
        ({"type": "scratch", "id": DEPTHWISE_SCRATCH}, "itcm"),
    ],
    ids=["by role", "by id"],
)
def test_it_goes_over_tensor_rules_that_do_not_name_the_buffer(
    tensor_rule: dict[str, Any], memory: str, digits_model: Path
) -> None:
    conversion = with_rules(
        digits_model,
        {"id": "1", "attributes": {"scratch_placement": "sram"}},
        tensors=({**tensor_rule, "attributes": {"memory": "itcm"}},),
    )
    assert memory_of(conversion, DEPTHWISE_SCRATCH) == memory


def test_code_placement_marks_the_wrapper_function(digits_model: Path) -> None:
    rule = {"type": "CONV_2D", "id": "2", "attributes": {"code_placement": "ITCM"}}
    texts = {f.path: f.text for f in with_rules(digits_model, rule).module.files}
    placed = {path for path, text in texts.items() if "M_PUT_IN_ITCM_CODE\nint32_t" in text}
    assert placed == {"src/m_conv_2d_2.c"}
    assert (
        "#ifndef M_PUT_IN_ITCM_CODE\n#define M_PUT_IN_ITCM_CODE\n"
        in texts["includes-api/m_platform.h"]
    )


def test_every_impossible_placement_is_reported_at_its_key(digits_model: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        with_rules(
            digits_model,
            {"type": "CONV_2D", "attributes": {"code_placement": "dtcm"}},
            {"id": "1", "attributes": {"scratch_placement": "mram", "code_placement": "flash"}},
        )
    found = {
        problem.where: (problem.reason, problem.next_step) for problem in caught.value.problems
    }
    assert found == {
        "operators[0].attributes.code_placement": (
            "dtcm of apollo510_evb cannot hold code",
            "use itcm, sram, mram",
        ),
        "operators[1].attributes.scratch_placement": (
            "mram of apollo510_evb cannot be written to at run time",
            "use dtcm, itcm, sram",
        ),
        "operators[1].attributes.code_placement": (
            "apollo510_evb has no memory 'flash'",
            "use itcm, sram, mram",
        ),
    }


def test_a_placement_without_a_buffer_is_a_warning(digits_model: Path) -> None:
    conversion = with_rules(
        digits_model, {"type": "SOFTMAX", "attributes": {"scratch_placement": "sram"}}
    )
    (warning,) = conversion.warnings
    assert "operators[0] sets scratch_placement" in warning


ITCM_CODE = {"type": "DEPTHWISE_CONV_2D", "id": "1", "attributes": {"code_placement": "itcm"}}


def test_a_plan_reproduces_code_placement(digits_model: Path) -> None:
    first = with_rules(digits_model, ITCM_CODE)
    recorded = {operator.node_id: operator.code_memory for operator in first.plan.operators}
    assert recorded.pop("1") == "itcm"
    assert set(recorded.values()) == {None}
    again = convert(with_rules(digits_model).config, plan=first.plan)
    assert [o.code_memory for o in again.module.operators] == [
        o.code_memory for o in first.module.operators
    ]
    assert again.plan == convert(again.config, plan=again.plan).plan


def test_a_plan_without_code_placement_does_not_mention_it(digits_model: Path) -> None:
    assert "code_memory" not in dump_json(with_rules(digits_model).plan)
    assert dump_json(with_rules(digits_model, ITCM_CODE).plan).count("code_memory") == 1


def test_a_rule_against_the_code_placement_of_a_plan_is_an_error(digits_model: Path) -> None:
    plan = with_rules(digits_model, ITCM_CODE).plan
    other = {**ITCM_CODE, "attributes": {"code_placement": "sram"}}
    with pytest.raises(PlanError, match="the plan decides"):
        convert(with_rules(digits_model, other).config, plan=plan)
    index = next(i for i, item in enumerate(plan.operators) if item.code_memory)
    operators = list(plan.operators)
    operators[index] = operators[index].model_copy(update={"code_memory": "dtcm"})
    with pytest.raises(PlanError, match="cannot hold code"):
        convert(
            with_rules(digits_model).config, plan=plan.model_copy(update={"operators": operators})
        )
