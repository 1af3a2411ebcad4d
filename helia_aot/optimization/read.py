# SPDX-License-Identifier: Apache-2.0
"""Reading plan and report files back as typed models.

The two readers know nothing of each other: a plan is read without its report, which is not needed
to reproduce it and may be missing, changed or damaged.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from helia_aot.errors import PlanError, Problem
from helia_aot.optimization.plan import PLAN_SCHEMA_VERSION, OptimizationPlan
from helia_aot.optimization.report import REPORT_SCHEMA_VERSION, OptimizationReport

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class _Kind:
    """One kind of document: its name, the version read here, and how a user gets another one."""

    name: str
    version: int
    renew: str
    check: str


_PLAN: Final = _Kind(
    "plan",
    PLAN_SCHEMA_VERSION,
    "convert the model with this release and without optimization.plan, which writes a new plan",
    "check optimization.plan",
)
_REPORT: Final = _Kind(
    "report",
    REPORT_SCHEMA_VERSION,
    "convert the model with this release, which writes a new report beside the plan",
    "check the path",
)


def read_plan(path: Path) -> OptimizationPlan:
    """Reads a ``_plan.json`` file; a report beside it is not looked at.

    Raises:
        PlanError: The file cannot be read, is no JSON, has another schema version or does not
            follow the schema. All problems are listed, each with its place in the file.
    """
    return parse_plan(_read(path, _PLAN), where=str(path))


def read_report(path: Path) -> OptimizationReport:
    """Reads a ``_report.json`` file.

    Raises:
        PlanError: As for :func:`read_plan`.
    """
    return parse_report(_read(path, _REPORT), where=str(path))


def parse_plan(content: object, *, where: str = "plan") -> OptimizationPlan:
    """Gives the typed plan of decoded JSON.

    Args:
        content: The decoded document.
        where: What to call it in errors.

    Raises:
        PlanError: The schema version is another one, or the content does not follow the schema.
    """
    if isinstance(content, dict) and "plan_file" in content and "generator" not in content:
        raise PlanError(
            f"{where} is an optimization report, not a plan.",
            next_step=f"give the plan that it explains: {content['plan_file']}",
        )
    return _parse(content, OptimizationPlan, _PLAN, where)


def parse_report(content: object, *, where: str = "report") -> OptimizationReport:
    """Gives the typed report of decoded JSON.

    Args:
        content: The decoded document.
        where: What to call it in errors.

    Raises:
        PlanError: The schema version is another one, or the content does not follow the schema.
    """
    return _parse(content, OptimizationReport, _REPORT, where)


def _read(path: Path, kind: _Kind) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise PlanError(
            f"The {kind.name} {path} cannot be read: {reason}.", next_step=kind.check
        ) from error
    except json.JSONDecodeError as error:
        raise PlanError(
            f"The {kind.name} {path} is not JSON: line {error.lineno}, column {error.colno}: "
            f"{error.msg}.",
            next_step=f"if the file was cut off or edited by hand, {kind.renew}",
        ) from error


def _parse(content: object, model: type[M], kind: _Kind, where: str) -> M:
    _check_version(content, kind, where)
    try:
        return model.model_validate(content, strict=True)
    except ValidationError as error:
        problems = [_problem(details, content) for details in error.errors(include_url=False)]
        raise PlanError(
            f"The {kind.name} {where} does not follow the schema.",
            problems,
            next_step=f"correct the file ('helia-aot schema {kind.name}' shows what it may hold), "
            f"or {kind.renew}",
        ) from error


def _check_version(content: object, kind: _Kind, where: str) -> None:
    version = content.get("schema_version") if isinstance(content, dict) else None
    if isinstance(version, bool):  # which Python takes for 0 or 1
        raise PlanError(
            f"The {kind.name} {where} does not follow the schema.",
            [Problem("schema_version", f"should be {kind.version}")],
        )
    if not isinstance(version, int) or version == kind.version:
        return
    written_by = _written_by(content)
    release = f"the release that wrote it{written_by}"
    raise PlanError(
        f"The {kind.name} {where} has schema version {version}, this release reads {kind.version}.",
        next_step=(
            f"use {release} or a newer one, or {kind.renew}"
            if version > kind.version
            else f"{kind.renew}; or use {release}"
        ),
    )


def _written_by(content: object) -> str:
    generator = content.get("generator") if isinstance(content, dict) else None
    version = generator.get("helia_aot") if isinstance(generator, dict) else None
    return f" ({version})" if isinstance(version, str) else ""


def _problem(details: ErrorDetails, content: object) -> Problem:
    location = details["loc"]
    reason = details["msg"].removeprefix("Value error, ")
    next_step = ""
    if details["type"] == "extra_forbidden":
        reason, next_step = "unknown key", _near(location, content) or "remove it"
    elif details["type"] == "missing":
        reason = "missing"
    owner = _owner(location, content)
    return Problem(_json_path(location), f"{owner}: {reason}" if owner else reason, next_step)


def _near(location: tuple[int | str, ...], content: object) -> str:
    """Suggests the key of plans and reports that is spelt most alike and not there yet."""
    keys = _field_names(OptimizationPlan) | _field_names(OptimizationReport)
    known = sorted(keys - _keys_at(location[:-1], content))
    close = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.8)
    return f"did you mean {close[0]}?" if close else ""


def _keys_at(location: tuple[int | str, ...], content: Any) -> set[str]:
    for step in location:
        content = content[step]
    return set(content) if isinstance(content, Mapping) else set()


def _owner(location: tuple[int | str, ...], content: Any) -> str:
    """Gives the id of the operator or tensor that a place belongs to, for people."""
    if len(location) < 2 or location[0] not in ("operators", "tensors"):
        return ""
    entry = content[location[0]][location[1]]
    name = entry.get("id") if isinstance(entry, Mapping) else None
    return f"{str(location[0]).removesuffix('s')} {name!r}" if isinstance(name, str) else ""


def _json_path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".") or "document"


def _field_names(model: type[BaseModel]) -> set[str]:
    definitions = model.model_json_schema().get("$defs", {}).values()
    return set(model.model_fields).union(
        *(definition.get("properties", {}) for definition in definitions)
    )
