# SPDX-License-Identifier: Apache-2.0
"""Reading a plan back, and checking that it can be reproduced here exactly.

A plan is normative: either every entry of it applies, or the conversion stops with a list of all
that does not. Nothing falls back to another choice in silence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import PlanError, Problem
from helia_aot.optimization.knobs import AUTO, KNOBS
from helia_aot.optimization.plan import (
    PLAN_SCHEMA_VERSION,
    ModelIdentity,
    OptimizationPlan,
    PlanOperator,
    PlatformIdentity,
)
from helia_aot.optimization.resolve import ResolvableOperator, requested


def read_plan(path: Path) -> OptimizationPlan:
    """Reads a ``_plan.json`` file.

    Raises:
        PlanError: The file cannot be read, is no JSON, has another schema version or does not
            follow the schema. All problems are listed, each with its place in the file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise PlanError(
            f"The plan {path} cannot be read: {reason}.", next_step="check optimization.plan"
        ) from error
    except json.JSONDecodeError as error:
        raise PlanError(
            f"The plan {path} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    return parse_plan(content, where=str(path))


def parse_plan(content: object, *, where: str = "plan") -> OptimizationPlan:
    """Gives the typed plan of decoded JSON.

    Args:
        content: The decoded document.
        where: What to call it in errors.

    Raises:
        PlanError: The schema version is another one, or the content does not follow the schema.
    """
    version = content.get("schema_version") if isinstance(content, dict) else None
    if isinstance(version, int) and version != PLAN_SCHEMA_VERSION:
        raise PlanError(
            f"The plan {where} has schema version {version}, this release reads "
            f"{PLAN_SCHEMA_VERSION}.",
            next_step="write the plan anew, or convert with the release that wrote it",
        )
    try:
        return OptimizationPlan.model_validate(content)
    except ValidationError as error:
        problems = [
            Problem(_json_path(item["loc"]), item["msg"].removeprefix("Value error, "))
            for item in error.errors()
        ]
        raise PlanError(f"The plan {where} does not follow the schema.", problems) from error


def check_plan(
    plan: OptimizationPlan,
    *,
    model: ModelIdentity,
    platform: PlatformIdentity,
    operators: Sequence[ResolvableOperator],
    config: ConvertConfig,
) -> str:
    """Checks that a plan belongs to this conversion and that all of it applies.

    Args:
        plan: The plan to reproduce.
        model: The model being converted; its file name may differ from the plan's.
        platform: The target being converted for.
        operators: The operators being converted, in execution order.
        config: The rest of the configuration, which must not ask for anything else.

    Returns:
        The receipt for the user: ``applied N of N choices of the plan``.

    Raises:
        PlanError: Anything does not match. Every mismatch is listed.
    """
    problems = [
        *_identity_problems(plan, model, platform),
        *_setting_problems(plan, config),
        *_operator_list_problems(plan, operators),
    ]
    planned = {entry.id: entry for entry in plan.operators}
    applied = 0
    for operator in operators:
        entry = planned.get(operator.id.id)
        if entry is not None:
            problems += _operator_problems(entry, operator, config)
            applied += len(entry.knobs.keys() & operator.domains.keys())
    total = sum(len(entry.knobs) for entry in plan.operators)
    if problems:
        raise PlanError(
            "The plan cannot be reproduced here.",
            problems,
            next_step="write a plan for this model and target, or leave optimization.plan out",
        )
    return f"applied {applied} of {total} choices of the plan"


def _identity_problems(
    plan: OptimizationPlan, model: ModelIdentity, platform: PlatformIdentity
) -> Iterator[Problem]:
    pairs: tuple[tuple[str, object, object], ...] = (
        ("model.sha256", plan.model.sha256, model.sha256),
        ("model.subgraph", plan.model.subgraph, model.subgraph),
        ("platform.name", plan.platform.name, platform.name),
        ("platform.core", plan.platform.core, platform.core),
        ("platform.capabilities", plan.platform.capabilities, platform.capabilities),
        ("platform.fp16", plan.platform.fp16, platform.fp16),
    )
    for where, in_plan, here in pairs:
        if in_plan != here:
            yield Problem(where, f"the plan is for {in_plan}, this conversion is for {here}")


def _setting_problems(plan: OptimizationPlan, config: ConvertConfig) -> Iterator[Problem]:
    """Compares the model-wide settings that the user wrote; those left out follow the plan."""
    settings = config.optimization
    for name in ("goal", "allow_approximate"):
        ours, planned = getattr(settings, name), getattr(plan.optimization, name)
        if name in settings.model_fields_set and ours != planned:
            yield Problem(
                f"optimization.{name}",
                f"is {ours}, but the plan was made with {planned}",
                "remove the setting; the plan decides",
            )


def _operator_list_problems(
    plan: OptimizationPlan, operators: Sequence[ResolvableOperator]
) -> Iterator[Problem]:
    planned = Counter(entry.id for entry in plan.operators)
    ours = {operator.id.id for operator in operators}
    for operator_id, count in planned.items():
        if count > 1:
            yield Problem(operator_id, f"the plan lists this operator {count} times")
        if operator_id not in ours:
            yield Problem(operator_id, "the plan has this operator, the model has not")
    for operator in operators:
        if operator.id.id not in planned:
            yield Problem(operator.id.id, "the model has this operator, the plan has not")


def _operator_problems(
    entry: PlanOperator, operator: ResolvableOperator, config: ConvertConfig
) -> Iterator[Problem]:
    where = operator.id.id
    if entry.op_type != operator.op_type:
        yield Problem(where, f"is {entry.op_type} in the plan and {operator.op_type} in the model")
    for name in entry.fixed:
        yield Problem(where, f"the plan fixes {name!r}, which this release cannot reproduce")
    for name in KNOBS:
        choice, domain = entry.knobs.get(name), operator.domains.get(name)
        if choice is None and domain is not None:
            yield Problem(where, f"the plan does not set the knob {name!r} of this operator")
        elif choice is not None and domain is None:
            yield Problem(where, f"the plan sets {name!r}, a knob that this operator has not here")
        elif choice is not None and domain is not None:
            if choice.value not in domain.entries:
                known = ", ".join(domain.entries)
                yield Problem(where, f"{name} cannot be {choice.value!r} here, only {known}")
            yield from _conflicts(operator, name, choice.value, config)


def _conflicts(
    operator: ResolvableOperator, knob: str, value: str, config: ConvertConfig
) -> Iterator[Problem]:
    request = requested(operator, knob, config)
    if request.value in (AUTO, value):
        return
    rule = request.source.rule
    setter = f"operators[{rule.index}]" if rule is not None else f"optimization.{knob}"
    yield Problem(
        operator.id.id,
        f"the plan sets {knob} to {value!r}, but {setter} asks for {request.value!r}",
        f"remove {knob} from {setter}; the plan decides",
    )


def _json_path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    return path.removeprefix(".") or "plan"
