# SPDX-License-Identifier: Apache-2.0
"""What differs between two plans: choices and placements, not who asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from helia_aot.optimization.placement import place_text
from helia_aot.optimization.plan import OptimizationPlan, PlanOperator, PlanTensor


@dataclass(frozen=True)
class PlanDifference:
    """One thing that two plans say differently.

    Attributes:
        kind: ``identity`` (what the plan is for), ``setting`` (model-wide), ``operator`` or
            ``tensor``.
        id: Operator or tensor id; empty for the other kinds.
        op_type: Type of the operator or role of the tensor; empty for the other kinds.
        name: What differs, e.g. ``kernel``, ``goal`` or ``memory``.
        a: What the first plan says; None when it says nothing.
        b: What the second plan says; None when it says nothing.
        mac_share: Share of the operator in the MACs of its model, where known.
    """

    kind: Literal["identity", "setting", "operator", "tensor"]
    id: str
    op_type: str
    name: str
    a: str | None
    b: str | None
    mac_share: float | None = None


def diff_plans(
    a: OptimizationPlan, b: OptimizationPlan, mac_shares: Mapping[str, float]
) -> list[PlanDifference]:
    """Gives the differences: identity, settings, operators in execution order, tensors.

    Args:
        a: The first plan.
        b: The second plan.
        mac_shares: Share of the MACs by operator id, as far as known.
    """
    return [
        *_differences("identity", "", "", _identity(a), _identity(b)),
        *_differences("setting", "", "", _settings(a), _settings(b)),
        *_operators(a, b, mac_shares),
        *_tensors(a, b),
    ]


def _identity(plan: OptimizationPlan) -> dict[str, str]:
    return {
        "model.sha256": plan.model.sha256,
        "model.subgraph": str(plan.model.subgraph),
        "platform.name": plan.platform.name,
        "platform.core": plan.platform.core,
        "platform.capabilities": ", ".join(plan.platform.capabilities),
        "platform.fp16": str(plan.platform.fp16).lower(),
        "module_prefix": plan.module_prefix,
    }


def _settings(plan: OptimizationPlan) -> dict[str, str]:
    settings = plan.optimization
    return {
        "goal": settings.goal,
        "allow_approximate": str(settings.allow_approximate).lower(),
        **{name: choice.value for name, choice in settings.knobs.items()},
        **{f"planner_options.{name}": str(v) for name, v in settings.planner_options.items()},
        **{f"budget.{name}": f"{limit:g}" for name, limit in settings.budget.items()},
    }


def _operators(
    a: OptimizationPlan, b: OptimizationPlan, mac_shares: Mapping[str, float]
) -> list[PlanDifference]:
    first = {operator.id: operator for operator in a.operators}
    second = {operator.id: operator for operator in b.operators}
    found: list[PlanDifference] = []
    for operator_id in {**first, **second}:
        one, other = first.get(operator_id), second.get(operator_id)
        found += _differences(
            "operator",
            operator_id,
            (one or second[operator_id]).op_type,
            _choices(one),
            _choices(other),
            mac_shares.get(operator_id),
        )
    return found


def _choices(operator: PlanOperator | None) -> dict[str, str]:
    if operator is None:
        return {}
    return {
        "op_type": operator.op_type,
        **{name: choice.value for name, choice in operator.knobs.items()},
        **{name: choice.value for name, choice in operator.fixed.items()},
    }


def _tensors(a: OptimizationPlan, b: OptimizationPlan) -> list[PlanDifference]:
    first, second = ({tensor.id: tensor for tensor in plan.tensors} for plan in (a, b))
    found: list[PlanDifference] = []
    for tensor_id in {**first, **second}:
        one, other = first.get(tensor_id), second.get(tensor_id)
        role = (one or second[tensor_id]).role
        found += _differences("tensor", tensor_id, role, _place(one), _place(other))
    return found


def _place(tensor: PlanTensor | None) -> dict[str, str]:
    return {"memory": place_text(tensor.memory, tensor.source_memory)} if tensor else {}


def _differences(  # noqa: PLR0913 - the columns of one row
    kind: Literal["identity", "setting", "operator", "tensor"],
    subject: str,
    op_type: str,
    a: Mapping[str, str],
    b: Mapping[str, str],
    mac_share: float | None = None,
) -> list[PlanDifference]:
    return [
        PlanDifference(kind, subject, op_type, name, a.get(name), b.get(name), mac_share)
        for name in {**a, **b}
        if a.get(name) != b.get(name)
    ]
