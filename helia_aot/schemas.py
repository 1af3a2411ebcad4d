# SPDX-License-Identifier: Apache-2.0
"""The JSON schemas of every file that the compiler reads or writes, made from its typed models.

They list every knob with its values, so they belong to the release that wrote a file
(``generator.helia_aot`` of a plan): a consumer validates a file against that release's schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from helia_aot.config.convert import ANY, ConvertConfig
from helia_aot.memory.residency_schema import ResidencyReport
from helia_aot.operators.registry import FAMILIES
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.report import OptimizationReport
from helia_aot.platforms.registry import platform_names
from helia_aot.version import __version__

SCHEMAS: Final[Mapping[str, type[BaseModel]]] = {
    "config": ConvertConfig,
    "plan": OptimizationPlan,
    "report": OptimizationReport,
    "residency": ResidencyReport,
}
"""The model of each document by the name of its schema."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema(name: str) -> dict[str, Any]:
    """Gives the JSON schema (draft 2020-12) of a document of ``SCHEMAS``.

    What a schema cannot say, such as equal memories of a tensor that is not staged, only the typed
    models check.
    """
    comment = f"From helia-search {__version__}; for files that this release writes or reads."
    schema = SCHEMAS[name].model_json_schema()
    if name == "config":
        _suggest(schema, "OperatorRule", "type", [ANY, *sorted(FAMILIES)])
        _suggest(schema, "PlatformConfig", "name", platform_names())
    return {"$schema": _DIALECT, "$comment": comment, **schema}


def _suggest(schema: dict[str, Any], model: str, field: str, values: Sequence[str]) -> None:
    """Lists values of a text that editors can offer; others stay valid."""
    schema["$defs"][model]["properties"][field]["anyOf"] = [
        {"enum": list(values)},
        {"type": "string"},
    ]


def schema_text(name: str) -> str:
    """Gives the text of a schema: sorted keys, indent 2, one final newline; always the same bytes."""
    return json.dumps(json_schema(name), indent=2, sort_keys=True) + "\n"


def schema_file_name(name: str) -> str:
    """Gives the name of a schema's file, e.g. ``plan-schema.json``."""
    return f"{name}-schema.json"
