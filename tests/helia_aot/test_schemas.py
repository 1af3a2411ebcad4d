# SPDX-License-Identifier: Apache-2.0
"""The exported JSON schemas: current, valid, and as strict as the typed models."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as SchemaError
from pydantic import ValidationError

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.optimization.fixed import FIXED
from helia_aot.optimization.knobs import AUTO, KNOBS, MODEL_KNOBS
from helia_aot.optimization.report import SETTINGS
from helia_aot.schemas import SCHEMAS, json_schema, schema_file_name, schema_text

FOLDER = REPOSITORY / "docs" / "schemas"
STAGED = {
    "type": "constant",
    "attributes": {"memory": "mram", "constant_destination_memory": "dtcm"},
}

Document = dict[str, Any]


def is_valid(name: str, document: object) -> bool:
    try:
        Draft202012Validator(json_schema(name)).validate(document)
    except SchemaError:
        return False
    return True


def is_typed(name: str, document: object) -> bool:
    try:
        SCHEMAS[name].model_validate(document, strict=name != "config")
    except ValidationError:
        return False
    return True


@pytest.fixture(scope="module")
def conversion(digits_model: Path) -> Conversion:
    return convert(
        ConvertConfig.model_validate(
            {
                "model": {"path": digits_model},
                "memory": {"tensors": [STAGED]},
                "optimization": {"kernel": "generic"},
                "operators": [{"type": "DEPTHWISE_CONV_2D", "optimization": {"kernel": "auto"}}],
            }
        )
    )


@pytest.fixture(scope="module")
def documents(conversion: Conversion) -> dict[str, Document]:
    return {
        "plan": conversion.plan.model_dump(mode="json"),
        "report": conversion.report.model_dump(mode="json"),
        "residency": json.loads(json.dumps(conversion.residency)),
        "config": {"model": {"path": "kws.tflite"}, "memory": {"tensors": [STAGED]}},
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_shipped_schema_is_current(name: str) -> None:
    shipped = (FOLDER / schema_file_name(name)).read_text(encoding="utf-8")
    assert shipped == schema_text(name), "refresh: helia-aot schema all --out docs/schemas"


def test_nothing_else_is_shipped() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {schema_file_name(n) for n in SCHEMAS}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(json_schema(name))


@pytest.mark.parametrize("name", SCHEMAS)
def test_documents_follow_their_schema(name: str, documents: dict[str, Document]) -> None:
    Draft202012Validator(json_schema(name)).validate(documents[name])
    assert is_typed(name, documents[name])


def test_the_published_residency_example_follows_the_schema() -> None:
    example = REPOSITORY / "tests" / "helia_aot" / "memory" / "residency-example.json"
    Draft202012Validator(json_schema("residency")).validate(json.loads(example.read_text()))


def test_the_plan_schema_lists_every_knob_with_its_values() -> None:
    definitions = json_schema("plan")["$defs"]
    for owner, knobs in (("PlanOperator", KNOBS), ("PlanOptimization", MODEL_KNOBS)):
        listed = definitions[owner]["properties"]["knobs"]
        assert listed["additionalProperties"] is False
        assert set(listed["properties"]) == set(knobs)
        for name, knob in knobs.items():
            rules = listed["properties"][name]["allOf"][1]["properties"]
            assert rules["value"]["enum"] == list(knob.values)
            assert rules["requested"]["enum"] == [AUTO, *knob.values]
    fixed = definitions["PlanOperator"]["properties"]["fixed"]["properties"]
    assert {n: s["allOf"][1]["properties"]["value"]["enum"] for n, s in fixed.items()} == {
        name: list(kind.values) for name, kind in FIXED.items()
    }


def test_the_report_schema_lists_every_setting_and_knob() -> None:
    schema = json_schema("report")
    assert set(schema["properties"]["measurements"]["required"]) == set(SETTINGS)
    alternatives = schema["$defs"]["ReportOperator"]["properties"]["alternatives"]
    assert set(alternatives["properties"]) == set(KNOBS)


def _choice(plan: Document) -> Document:
    first = next(operator for operator in plan["operators"] if operator["knobs"])
    return first["knobs"]["kernel"]


def _set(**changes: object) -> Callable[[Document], None]:
    return lambda plan: _choice(plan).update(changes)


RULE = {"index": 0, "type": "CONV_2D", "id": None}
BROKEN_PLANS: dict[str, Callable[[Document], None]] = {
    "unknown key": lambda plan: plan.update(extra=1),
    "missing key": lambda plan: plan.pop("platform"),
    "other version": lambda plan: plan.update(schema_version=2),
    "hash of another length": lambda plan: plan["model"].update(sha256="abc"),
    "unknown knob": lambda plan: plan["operators"][0]["knobs"].update(unroll=_choice(plan)),
    "value of another knob": _set(value="fast", requested="fast"),
    "unknown value": _set(value="turbo", requested="turbo"),
    "explicit, but another value": _set(value="specialized"),
    "explicit auto": _set(requested="auto"),
    "table, but a value was asked for": _set(resolved_by="auto_table"),
    "plan, but the model asked": _set(resolved_by="plan"),
    "asked by a plan, but explicit": _set(source={"kind": "plan", "rule": None}),
    "default asked for a value": _set(source={"kind": "default", "rule": None}),
    "operator without a rule": _set(source={"kind": "operator", "rule": None}),
    "operator with the rule left out": _set(source={"kind": "operator"}),
    "model with a rule": _set(source={"kind": "model", "rule": RULE}),
    "exact value marked approximate": _set(approximate=True),
    "unknown fixed choice": lambda plan: plan["operators"][0]["fixed"].update(
        speed={"value": "max", "set_by": "default"}
    ),
    "unknown value of a fixed choice": lambda plan: plan["operators"][0]["fixed"].update(
        lut_mode={"value": "huge", "set_by": "default"}
    ),
    "unknown setter of a fixed choice": lambda plan: plan["operators"][0]["fixed"].update(
        lut_mode={"value": "per_op", "set_by": "magic"}
    ),
    "unknown planner": lambda plan: plan["optimization"]["knobs"]["planner"].update(
        value="oracle", requested="oracle", resolved_by="plan", source={"kind": "plan"}
    ),
    "operator knob for the model": lambda plan: plan["optimization"]["knobs"].update(
        kernel=_choice(plan)
    ),
    "tensor without a memory": lambda plan: plan["tensors"][0].pop("memory"),
    "tensor of an unknown role": lambda plan: plan["tensors"][0].update(role="weights"),
    "tensor rule without a rule": lambda plan: plan["tensors"][0].update(rule=None),
    "tensor default with a rule": lambda plan: plan["tensors"][0].update(set_by="default"),
}


@pytest.mark.parametrize("fault", BROKEN_PLANS)
def test_broken_plans_are_refused_by_schema_and_model(
    fault: str, documents: dict[str, Document]
) -> None:
    plan = copy.deepcopy(documents["plan"])
    BROKEN_PLANS[fault](plan)
    assert (is_valid("plan", plan), is_typed("plan", plan)) == (False, False)


GOOD_PLANS: dict[str, Callable[[Document], None]] = {
    "set by a plan": _set(resolved_by="plan", source={"kind": "plan"}),
    "set by a rule": _set(source={"kind": "operator", "rule": RULE}),
    "resolved by the table": _set(requested="auto", resolved_by="auto_table"),
    "resolved by a heuristic": _set(requested="auto", resolved_by="auto_heuristic"),
    "fixed by an attribute": lambda plan: plan["operators"][0]["fixed"].update(
        lut_mode={"value": "universal", "set_by": "attribute"}
    ),
    "without what is optional": lambda plan: plan.pop("tensors"),
}


@pytest.mark.parametrize("change", GOOD_PLANS)
def test_good_plans_are_accepted_by_schema_and_model(
    change: str, documents: dict[str, Document]
) -> None:
    plan = copy.deepcopy(documents["plan"])
    GOOD_PLANS[change](plan)
    assert (is_valid("plan", plan), is_typed("plan", plan)) == (True, True)


BROKEN_REPORTS: dict[str, Callable[[Document], None]] = {
    "setting without an entry": lambda report: report["measurements"].pop("goal"),
    "unknown setting": lambda report: report["measurements"].update(speed=[]),
    "record of another setting": lambda report: report["measurements"].update(
        goal=report["measurements"]["accumulation"]
    ),
    "alternatives of an unknown knob": lambda report: report["operators"][0]["alternatives"].update(
        unroll=[]
    ),
    "unknown value of a knob": lambda report: report["operators"][0]["alternatives"]["kernel"][
        0
    ].update(value="turbo"),
}


@pytest.mark.parametrize("fault", BROKEN_REPORTS)
def test_broken_reports_are_refused_by_schema_and_model(
    fault: str, documents: dict[str, Document]
) -> None:
    report = copy.deepcopy(documents["report"])
    BROKEN_REPORTS[fault](report)
    assert (is_valid("report", report), is_typed("report", report)) == (False, False)


def test_broken_residency_and_configuration_are_refused(documents: dict[str, Document]) -> None:
    assert not is_valid("residency", documents["residency"] | {"schema_version": 4})
    assert not is_valid("config", {"model": {"path": "kws.tflite"}, "operatrs": []})
    assert not is_valid("config", {"optimization": {"goal": "fastest"}})
