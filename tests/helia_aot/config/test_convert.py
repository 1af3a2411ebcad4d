# SPDX-License-Identifier: Apache-2.0
"""The configuration models: defaults, letter case, and what they share with the knobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from helia_aot.config.convert import (
    ConvertConfig,
    MemoryConfig,
    ModelConfig,
    ModuleConfig,
    OperatorOptimization,
    OperatorRule,
    OptimizationConfig,
    TensorRule,
)
from helia_aot.optimization.knobs import AUTO, KNOBS, Knob


def make_config(**sections: object) -> ConvertConfig:
    return ConvertConfig.model_validate({"model": {"path": "m.tflite"}, **sections})


def test_defaults_are_the_documented_ones() -> None:
    config = make_config()
    assert config.module == ModuleConfig(path=Path("out"), name="helia_aot_nn", prefix="aot")
    assert config.platform.name == "apollo510_evb"
    assert config.optimization == OptimizationConfig(goal="balanced", allow_approximate=False)
    assert (config.force, config.verbose, config.memory.planner) == (False, 1, "hill_climb")


@pytest.mark.parametrize("section", [OptimizationConfig, OperatorOptimization])
@pytest.mark.parametrize("knob", KNOBS.values(), ids=list(KNOBS))
def test_every_knob_is_a_field_with_its_values(
    section: type[OptimizationConfig] | type[OperatorOptimization], knob: Knob
) -> None:
    schema = section.model_json_schema()["properties"][knob.name]
    assert schema["anyOf"][0]["enum"] == [AUTO, *knob.values]
    assert schema["default"] is None
    assert knob.text in schema["description"]


def test_auto_set_is_not_the_same_as_unset() -> None:
    assert make_config().optimization.kernel is None
    assert make_config(optimization={"kernel": "auto"}).optimization.kernel == "auto"


def test_types_and_memories_take_any_letter_case() -> None:
    rule = TensorRule.model_validate(
        {
            "type": "CONSTANT",
            "attributes": {"memory": "MRAM", "constant_destination_memory": "Dtcm"},
        }
    )
    assert rule.type == "constant"
    assert rule.attributes.memory == "mram"
    assert rule.attributes.constant_destination_memory == "dtcm"
    assert OperatorRule.model_validate({"type": "conv_2d"}).type == "CONV_2D"
    memory = MemoryConfig.model_validate({"constraints": [{"name": "DTCM", "max_size": 1}]})
    assert memory.constraints[0].name == "dtcm"


@pytest.mark.parametrize(
    ("given", "kept"),
    [("12", "12"), (12, "12"), (["0:a", 3], ["0:a", "3"]), (None, None)],
)
def test_ids_are_kept_as_text(given: object, kept: object) -> None:
    assert OperatorRule.model_validate({"id": given}).id == kept


@pytest.mark.parametrize("prefix", ["aot", "KWS", "a_1"])
def test_prefix_accepts_c_identifiers(prefix: str) -> None:
    assert ModuleConfig(prefix=prefix).prefix == prefix


@pytest.mark.parametrize("prefix", ["", "9a", "_a", "a-b", "a.b", "é", "a\n"])
def test_prefix_refuses_all_else(prefix: str) -> None:
    with pytest.raises(ValidationError, match="not a C identifier"):
        ModuleConfig(prefix=prefix)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "-a", "a\n"])
def test_name_refuses_what_is_no_folder(name: str) -> None:
    with pytest.raises(ValidationError, match="not a folder name"):
        ModuleConfig(name=name)


def test_configurations_cannot_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        ModelConfig(path=Path("m.tflite")).subgraph = 1
