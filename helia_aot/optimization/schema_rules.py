# SPDX-License-Identifier: Apache-2.0
"""What the JSON schemas of plan and report say beyond types: values per knob and provenance.

Each function changes a schema that pydantic made, and states in JSON Schema a rule that a validator
of the same model enforces in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from helia_aot.optimization.fixed import FIXED, FixedKind
from helia_aot.optimization.knobs import AUTO, KNOBS, Knob

Schema = dict[str, Any]
SchemaExtra = Callable[[Schema], None]

AUTOMATIC = ("auto_table", "auto_heuristic")
"""The values of ``resolved_by`` with which ``auto`` was requested."""


def rule_exactly_for_operator(schema: Schema) -> None:
    """Says that ``rule`` is set exactly when ``kind`` is ``operator``."""
    _rule_exactly(schema, "kind", "operator")


def rule_exactly_for_rule(schema: Schema) -> None:
    """Says that ``rule`` is set exactly when ``set_by`` is ``rule``."""
    _rule_exactly(schema, "set_by", "rule")


def provenance_is_consistent(schema: Schema) -> None:
    """Says which ``resolved_by``, ``requested`` and ``source`` go together."""
    is_automatic = {"properties": {"resolved_by": {"enum": list(AUTOMATIC)}}}
    is_plan = {"properties": {"resolved_by": {"const": "plan"}}}
    asks_auto = {"properties": {"requested": {"const": AUTO}}}
    schema["allOf"] = [
        {"if": is_automatic, "then": asks_auto, "else": {"not": asks_auto}},
        {"if": is_plan, "then": _source({"const": "plan"}), "else": _source({"not": _PLAN})},
        {"if": _source({"const": "default"}), "then": asks_auto},
    ]


def per_knob(enums: Callable[[Knob], Schema], knobs: Mapping[str, Knob] = KNOBS) -> SchemaExtra:
    """Gives the change that lists every knob of a mapping with what ``enums`` says about it."""

    def change(schema: Schema) -> None:
        item = schema.pop("additionalProperties")
        schema["additionalProperties"] = False
        schema["properties"] = {
            name: _with(item, {"description": _knob_text(knob), **enums(knob)})
            for name, knob in knobs.items()
        }

    return change


def choice_enums(knob: Knob) -> Schema:
    """Gives what a choice of a knob may hold; given values are used as requested."""
    exact = [value for value in knob.values if value not in knob.approximate]
    as_asked = [
        {"properties": {"value": {"const": value}, "requested": {"const": value}}}
        for value in knob.values
    ]
    return {
        "properties": {
            "value": {"enum": list(knob.values)},
            "requested": {"enum": [AUTO, *knob.values]},
        },
        "anyOf": [{"properties": {"resolved_by": {"enum": list(AUTOMATIC)}}}, *as_asked],
        "if": {"properties": {"value": {"enum": exact}}},
        "then": {"properties": {"approximate": {"const": False}}},
    }


def alternative_enums(knob: Knob) -> Schema:
    """Gives what the list of a knob's alternatives may hold."""
    return {"items": {"properties": {"value": {"enum": list(knob.values)}}}}


def per_fixed(schema: Schema) -> None:
    """Lists every fixed choice with its values."""
    item = schema.pop("additionalProperties")
    schema["additionalProperties"] = False
    schema["properties"] = {
        name: _with(
            item,
            {
                "description": _fixed_text(kind),
                "properties": {"value": {"enum": list(kind.values)}},
            },
        )
        for name, kind in FIXED.items()
    }


def per_setting(settings: tuple[str, ...]) -> SchemaExtra:
    """Gives the change that asks for an entry for each setting, with its own records only."""

    def change(schema: Schema) -> None:
        item = schema.pop("additionalProperties")
        schema["additionalProperties"] = False
        schema["required"] = list(settings)
        schema["properties"] = {
            name: _with(item, {"items": {"properties": {"setting": {"const": name}}}})
            for name in settings
        }

    return change


_PLAN: Schema = {"const": "plan"}


def _source(kind: Schema) -> Schema:
    return {"properties": {"source": {"properties": {"kind": kind}}}}


def _rule_exactly(schema: Schema, name: str, value: str) -> None:
    schema["if"] = {"properties": {name: {"const": value}}}
    schema["then"] = {"properties": {"rule": {"type": "object"}}, "required": ["rule"]}
    schema["else"] = {"properties": {"rule": {"type": "null"}}}


def _with(item: Schema, more: Schema) -> Schema:
    return {"allOf": [item, more]}


def _knob_text(knob: Knob) -> str:
    values = "; ".join(f"{value}: {knob.value_texts[value]}" for value in knob.values)
    return f"{knob.text} {values}. For {knob.applies_to}."


def _fixed_text(kind: FixedKind) -> str:
    values = "; ".join(f"{value}: {kind.value_texts[value]}" for value in kind.values)
    return f"{kind.text} {values}. For {kind.applies_to}."
