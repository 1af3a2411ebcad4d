# SPDX-License-Identifier: Apache-2.0
"""A plan written back as settings and rules of a ``convert.yaml``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import yaml

from helia_aot.optimization.fixed import FIXED
from helia_aot.optimization.plan import OptimizationPlan, PlanOperator, PlanTensor

_WIDTH = 100


def rules_of(plan: OptimizationPlan) -> dict[str, Any]:
    """Gives the part of a configuration that makes the choices of a plan.

    Converting the plan's model for its target with these rules, and what the plan does not record
    (module, constraints) as before, gives the same module. The plan of that module
    names the rules as the source. Operators with equal choices share a rule, tensors with equal
    places do.

    Returns:
        ``optimization``, ``memory`` and ``operators`` as plain values, without what is empty.
    """
    settings = plan.optimization
    memory: dict[str, Any] = {name: choice.value for name, choice in settings.knobs.items()}
    if settings.planner_options:
        memory["planner_options"] = dict(settings.planner_options)
    if plan.tensors:
        memory["tensors"] = _tensor_rules(plan.tensors)
    optimization: dict[str, Any] = {
        "goal": settings.goal,
        "allow_approximate": settings.allow_approximate,
    }
    if settings.budget:
        optimization["budget"] = dict(settings.budget)
    rules = {"optimization": optimization, "memory": memory}
    return {name: value for name, value in rules.items() if value} | _operators(plan)


def rules_yaml(plan: OptimizationPlan) -> str:
    """Gives :func:`rules_of` as YAML, under a comment that says what the rules belong to."""
    # Names come from files, so they are quoted: a comment must not end at a line break in one.
    head = (
        f"# Choices of a plan for {json.dumps(plan.model.file)} on {json.dumps(plan.platform.name)},"
        " to be merged into a convert.yaml.\n"
    )
    body: str = yaml.safe_dump(
        rules_of(plan), sort_keys=False, allow_unicode=True, width=_WIDTH, default_flow_style=False
    )
    return head + body


def _operators(plan: OptimizationPlan) -> dict[str, Any]:
    rules = _operator_rules(plan.operators)
    return {"operators": rules} if rules else {}


def _operator_rules(operators: Iterable[PlanOperator]) -> list[dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = {}
    for operator in operators:
        settings = _settings(operator)
        if not settings:
            continue
        key = json.dumps([operator.op_type, settings])
        rule = rules.setdefault(key, {"type": operator.op_type, "id": [], **settings})
        rule["id"].append(operator.id)
    return list(rules.values())


def _settings(operator: PlanOperator) -> dict[str, dict[str, str]]:
    """Gives what a rule can set: knobs, and the fixed choices that are attributes."""
    code = {} if operator.code_memory is None else {"code_placement": operator.code_memory}
    settings = {
        "attributes": code
        | {
            name: choice.value
            for name, choice in operator.fixed.items()
            if FIXED[name].is_attribute
        },
        "optimization": {name: choice.value for name, choice in operator.knobs.items()},
    }
    return {name: values for name, values in settings.items() if values}


def _tensor_rules(tensors: Iterable[PlanTensor]) -> list[dict[str, Any]]:
    rules: dict[tuple[str, str, str], dict[str, Any]] = {}
    for tensor in tensors:
        attributes = {"memory": tensor.source_memory}
        if tensor.is_staged:
            attributes["constant_destination_memory"] = tensor.memory
        key = (tensor.role, tensor.memory, tensor.source_memory)
        rule = rules.setdefault(key, {"type": tensor.role, "id": [], "attributes": attributes})
        rule["id"].append(tensor.id)
    return list(rules.values())
