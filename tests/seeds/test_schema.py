# SPDX-License-Identifier: Apache-2.0
"""What the page on the schema of plan and report says, held against the typed models and real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
from module_program import converted
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined

import helia_aot.optimization as public
from helia_aot.api import Conversion, convert
from helia_aot.config.base import StrictModel
from helia_aot.optimization import plan as plan_models
from helia_aot.optimization import report as report_models
from helia_aot.optimization.fixed import SetBy
from helia_aot.optimization.plan import (
    FixedChoice,
    Generator,
    KnobChoice,
    KnobSource,
    ModelIdentity,
    OptimizationPlan,
    PlanOperator,
    PlanOptimization,
    PlanTensor,
    PlatformIdentity,
    RuleRef,
)
from helia_aot.optimization.report import (
    ConstantPlacement,
    Hint,
    MeasurementRecord,
    OptimizationReport,
    ReportOperator,
)
from helia_aot.schemas import json_schema

REQUIRED = PydanticUndefined
EMPTY_DICT: dict[str, Any] = {}
EMPTY_LIST: list[Any] = []

KINDS = Literal["operator", "model", "default", "plan"]
RESOLVERS = Literal["explicit", "auto_table", "auto_heuristic", "plan"]
ID_SOURCES = Literal["tensor_name", "tensor_name+ordinal", "index", "node_id"]

PUBLISHED: dict[type[BaseModel], dict[str, tuple[Any, Any]]] = {
    RuleRef: {
        "index": (int, REQUIRED),
        "type": (str, REQUIRED),
        "id": (str | list[str] | None, None),
    },
    KnobSource: {"kind": (KINDS, REQUIRED), "rule": (RuleRef | None, None)},
    KnobChoice: {
        "value": (str, REQUIRED),
        "requested": (str, REQUIRED),
        "resolved_by": (RESOLVERS, REQUIRED),
        "source": (KnobSource, REQUIRED),
        "approximate": (bool, REQUIRED),
    },
    PlanOperator: {
        "id": (str, REQUIRED),
        "id_source": (ID_SOURCES, REQUIRED),
        "index": (int, REQUIRED),
        "node_id": (str, REQUIRED),
        "op_type": (str, REQUIRED),
        "knobs": (dict[str, KnobChoice], EMPTY_DICT),
        "fixed": (dict[str, FixedChoice], EMPTY_DICT),
    },
    OptimizationPlan: {
        "schema_version": (Literal[1], REQUIRED),
        "generator": (Generator, REQUIRED),
        "model": (ModelIdentity, REQUIRED),
        "module_prefix": (str, REQUIRED),
        "platform": (PlatformIdentity, REQUIRED),
        "optimization": (PlanOptimization, REQUIRED),
        "operators": (list[PlanOperator], REQUIRED),
        "tensors": (list[PlanTensor], EMPTY_LIST),  # reserved there, alive here
    },
    ConstantPlacement: {
        "constant_bytes_outside_tcm": (dict[str, int], REQUIRED),
        "constant_bytes_in_tcm": (int, REQUIRED),
        "dtcm_budget_bytes": (int, REQUIRED),
        "dtcm_free_bytes": (int, REQUIRED),
        "id_specific_constant_rules": (int, REQUIRED),
        "cold_source": (str | None, REQUIRED),
    },
    Hint: {
        "setting": (str, REQUIRED),
        "message": (str, REQUIRED),
        "current": (str, REQUIRED),
        "alternative": (str, REQUIRED),
        "yaml": (str, REQUIRED),
        "operators": (list[str], EMPTY_LIST),
        "mac_share": (float | None, None),
        "facts": (dict[str, Any], EMPTY_DICT),
    },
    OptimizationReport: {
        "schema_version": (Literal[1], REQUIRED),
        "plan_file": (str, REQUIRED),
        "total_macs": (int, REQUIRED),
        "operators": (list[ReportOperator], REQUIRED),
        "measurements": (dict[str, list[MeasurementRecord]], REQUIRED),
        "constant_placement": (ConstantPlacement | None, REQUIRED),
        "hints": (list[Hint], REQUIRED),
    },
}


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.__name__)
def test_a_class_has_the_published_fields(model: type[BaseModel]) -> None:
    found = {
        name: (
            field.annotation,
            field.default_factory() if field.default_factory else field.default,  # type: ignore[call-arg]
        )
        for name, field in model.model_fields.items()
    }
    assert {name: found[name] for name in PUBLISHED[model]} == PUBLISHED[model]
    added = found.keys() - PUBLISHED[model].keys()
    assert all(found[name][1] is not REQUIRED for name in added)  # what is added is optional


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.__name__)
def test_a_class_is_public_and_described(model: type[BaseModel]) -> None:
    assert getattr(public, model.__name__) is model
    assert model.__doc__


@pytest.mark.parametrize("model", ["plan", "report"])
def test_every_field_of_the_published_classes_is_described_in_the_schema(model: str) -> None:
    schema = json_schema(model)
    classes = {schema["title"]: schema, **schema["$defs"]}
    plain = {"module_prefix", "op_type", "hints", "operators"}  # what the name says
    for published, fields in PUBLISHED.items():
        if published.__name__ not in classes:
            continue
        for name in fields.keys() - plain:
            field = classes[published.__name__]["properties"][name]
            assert "description" in field or "$ref" in field, (published.__name__, name)


def test_no_class_takes_an_unknown_key() -> None:
    models = {
        item
        for module in (plan_models, report_models)
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, BaseModel)
    }
    assert set(PUBLISHED) <= models
    assert all(model.model_config["extra"] == "forbid" for model in models)
    with pytest.raises(ValidationError, match="Extra inputs"):
        RuleRef.model_validate({"index": 0, "type": "*", "colour": "red"})
    assert StrictModel in models


RULE = RuleRef(index=0, type="CONV_2D", id=None)
SOURCES = {
    "operator": KnobSource(kind="operator", rule=RULE),
    "model": KnobSource(kind="model", rule=None),
    "default": KnobSource(kind="default", rule=None),
    "plan": KnobSource(kind="plan", rule=None),
}


@pytest.mark.parametrize("kind", get_args(KINDS))
def test_a_rule_is_set_exactly_for_an_operator(kind: str) -> None:
    wrong = None if kind == "operator" else RULE
    with pytest.raises(ValidationError, match="rule must be set exactly"):
        KnobSource.model_validate({"kind": kind, "rule": wrong})


@pytest.mark.parametrize("kind", get_args(KINDS))
@pytest.mark.parametrize("requested", ["auto", "generic", "specialized"])
@pytest.mark.parametrize("resolved_by", get_args(RESOLVERS))
def test_who_resolved_agrees_with_what_was_requested(
    resolved_by: str, requested: str, kind: str
) -> None:
    """Explicit needs the requested value; the automatic resolvers need auto."""
    is_automatic = resolved_by in ("auto_table", "auto_heuristic")
    agrees = requested == "auto" if is_automatic else requested == "generic"
    agrees &= (kind == "plan") == (resolved_by == "plan")
    agrees &= kind != "default" or requested == "auto"
    choice = {
        "value": "generic",
        "requested": requested,
        "resolved_by": resolved_by,
        "source": SOURCES[kind],
        "approximate": False,
    }
    if agrees:
        KnobChoice.model_validate(choice)
    else:
        with pytest.raises(ValidationError):
            KnobChoice.model_validate(choice)


def test_fixed_choices_say_what_set_them() -> None:
    assert FixedChoice.model_fields["set_by"].annotation == SetBy
    assert set(get_args(SetBy)) == {"attribute", "default", "heuristic", "knob", "plan"}


def test_auto_heuristic_is_never_written_and_plan_only_for_an_input_plan(
    digits_model: Path,
) -> None:
    def written(conversion: Conversion) -> set[str]:
        plan = conversion.plan
        knobs = [plan.optimization.knobs, *(operator.knobs for operator in plan.operators)]
        choices = [choice for chosen in knobs for choice in chosen.values()]
        assert {choice.source.kind == "plan" for choice in choices} == {
            choice.resolved_by == "plan" for choice in choices
        }
        return {choice.resolved_by for choice in choices}

    rules = [{"id": "0", "optimization": {"kernel": "generic"}}]
    mixed = converted(digits_model, operators=rules)
    assert written(mixed) == {"explicit", "auto_table"}
    content = json.loads(mixed.plan.model_dump_json())
    assert written(converted_from(digits_model, content)) == {"plan"}


def converted_from(model: Path, plan: dict[str, Any]) -> Conversion:
    return convert(converted(model).config, plan=OptimizationPlan.model_validate(plan))


def test_model_level_knobs_and_tensors_are_alive(digits_model: Path) -> None:
    """Reserved in the published schema; here the plan reproduces planner and placement too."""
    conversion = converted(digits_model)
    assert set(conversion.plan.optimization.knobs) == {"planner"}
    constants = [t["id"] for t in conversion.residency["tensors"] if t["role"] == "constant"]
    assert {tensor.id for tensor in conversion.plan.tensors} == set(constants)


def test_an_entry_changed_by_an_optimizer_is_followed(digits_model: Path) -> None:
    """The plan is what an optimizer rewrites."""
    plan = json.loads(converted(digits_model).plan.model_dump_json())
    choice = plan["operators"][0]["knobs"]["kernel"]
    assert choice["value"] == "specialized"
    choice.update(value="generic", requested="generic", resolved_by="plan", source={"kind": "plan"})
    rewritten = converted_from(digits_model, plan)
    assert rewritten.report.operators[0].entry == "arm_convolve_s8"
    assert rewritten.plan.operators[0].knobs["kernel"].value == "generic"


def test_the_report_names_its_plan_and_every_operator_of_it(digits_model: Path) -> None:
    conversion = converted(digits_model)
    names = {file.path for file in conversion.module.files}
    assert conversion.report.plan_file == "m_plan.json"
    assert {conversion.report.plan_file, "m_report.json"} <= names
    assert [o.id for o in conversion.report.operators] == [o.id for o in conversion.plan.operators]


def test_placement_facts_are_null_without_dtcm(digits_model: Path) -> None:
    host = converted(digits_model, platform={"name": "host"})
    assert "dtcm" not in host.platform.memories
    assert host.report.constant_placement is None
    assert converted(digits_model).report.constant_placement is not None
