# SPDX-License-Identifier: Apache-2.0
"""scratch_placement and code_placement of operators[] rules, from the configuration to the module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from module_program import converted

from helia_aot.api import Conversion
from helia_aot.errors import ConfigError

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
