# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of ``convert.yaml``: editors accept what the loader accepts, and complete the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from helia_aot.config.convert import ConvertConfig
from helia_aot.config.load import load_convert_config
from helia_aot.schemas import json_schema

GOOD = Path(__file__).with_name("every_key.yaml")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return json_schema("config")


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    yield from schema["$defs"].values()


def test_every_key_is_described_and_nothing_else_is_allowed(schema: dict[str, Any]) -> None:
    for model in objects(schema):
        assert model["additionalProperties"] is False
        assert model["description"]
        for name, field in model["properties"].items():
            assert field.get("description"), name


def test_closed_sets_are_listed_and_open_ones_suggested(schema: dict[str, Any]) -> None:
    definitions = schema["$defs"]
    assert "latency" in definitions["OptimizationConfig"]["properties"]["goal"]["enum"]
    assert "CONSTANT" in definitions["TensorRule"]["properties"]["type"]["enum"]
    assert definitions["OptimizationConfig"]["properties"]["goal"]["default"] == "balanced"
    operator_type = definitions["OperatorRule"]["properties"]["type"]
    assert "CONV_2D" in operator_type["anyOf"][0]["enum"]
    assert (
        "apollo510_evb" in definitions["PlatformConfig"]["properties"]["name"]["anyOf"][0]["enum"]
    )


def test_a_file_with_every_key_is_good_for_schema_and_loader(schema: dict[str, Any]) -> None:
    content = yaml.safe_load(GOOD.read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)
    load_convert_config(GOOD)
    assert set(content) == set(ConvertConfig.model_fields)
    for name, section in content.items():
        if isinstance(section, dict):
            model: Any = ConvertConfig.model_fields[name].annotation
            assert set(section) == set(model.model_fields), name


@pytest.mark.parametrize(
    "wrong",
    [
        "memry: {}",
        "optimization: {goal: latensy}",
        "optimization: {budget: {cycles: 0}}",
        "optimization: {budget: {latency: 1}}",
        "operators: [{id: 1.5}]",
        "operators: [{attributes: {kernel: generic}}]",
        "memory: {tensors: [{type: weights}]}",
        "module: {prefix: 9a}",
        "module: {name: a/b}",
        "verbose: 3",
    ],
)
def test_editors_see_the_same_mistakes(schema: dict[str, Any], wrong: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load(wrong), schema)


def test_the_model_may_come_from_the_command_line(schema: dict[str, Any]) -> None:
    jsonschema.validate({"optimization": {"goal": "size"}}, schema)
