# SPDX-License-Identifier: Apache-2.0
"""From requests to choices: the value of every knob for every operator, and who asked for it.

The most specific ``operators[]`` rule that sets a knob wins, then the model-wide setting, then the
default, which is ``auto``. ``auto`` reads the knob's table and never measures. An input plan
replaces all of this: its values are used as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from helia_aot.config.convert import ConvertConfig, OperatorRule
from helia_aot.config.rules import RuleSubject, matches, unmatched_rules, winning_rule
from helia_aot.errors import PlanError, Problem
from helia_aot.operators.spec import KnobDomain
from helia_aot.optimization.identity import OperatorId
from helia_aot.optimization.knobs import AUTO, KNOBS, Knob
from helia_aot.optimization.plan import (
    KnobChoice,
    KnobSource,
    OptimizationPlan,
    PlanOptimization,
    RuleRef,
)


@dataclass(frozen=True)
class ResolvableOperator:
    """An operator whose knobs are to be resolved.

    Attributes:
        id: How rules and plans name it.
        op_type: The TFLite name.
        domains: The knobs that exist for it on this target, by name.
    """

    id: OperatorId
    op_type: str
    domains: Mapping[str, KnobDomain]


@dataclass(frozen=True)
class Request:
    """What the configuration asks of one knob of one operator.

    Attributes:
        value: A value of the knob, or ``auto``.
        source: Who asked.
    """

    value: str
    source: KnobSource


def resolve_choices(
    operators: Sequence[ResolvableOperator],
    config: ConvertConfig,
    plan: OptimizationPlan | None = None,
) -> list[dict[str, KnobChoice]]:
    """Gives the choice of every knob that exists, operator by operator.

    Args:
        operators: The operators in execution order.
        config: Rules and model-wide settings; with a plan they must not contradict it, which
            :func:`helia_aot.optimization.read_plan.check_plan` checks.
        plan: An input plan; its values replace rules, settings and ``auto``.

    Returns:
        For each operator its choices by knob, in the order of the registry.

    Raises:
        PlanError: The plan lacks a choice that an operator needs.
    """
    if plan is not None:
        return _choices_of_plan(operators, plan)
    return [
        {name: _resolve(KNOBS[name], requested(op, name, config), config) for name in _knobs(op)}
        for op in operators
    ]


def requested(operator: ResolvableOperator, knob: str, config: ConvertConfig) -> Request:
    """Gives what the configuration asks of a knob of an operator, and who asks."""
    won = winning_rule(
        config.operators,
        op_type=operator.op_type,
        ids=operator.id.names,
        field_of=lambda rule: getattr(rule.optimization, knob),
    )
    if won is not None:
        index, rule = won
        ref = RuleRef(index=index, type=rule.type, id=rule.id)
        value: str = getattr(rule.optimization, knob)
        return Request(value, KnobSource(kind="operator", rule=ref))
    model_wide: str | None = getattr(config.optimization, knob)
    if model_wide is not None:
        return Request(model_wide, KnobSource(kind="model", rule=None))
    return Request(AUTO, KnobSource(kind="default", rule=None))


def rule_warnings(
    operators: Sequence[ResolvableOperator], config: ConvertConfig
) -> tuple[str, ...]:
    """Gives a warning for each ``operators[]`` rule, or knob of a rule, that has no effect."""
    subjects = [RuleSubject(operator.op_type, operator.id.names) for operator in operators]
    unmatched = {index for index, _ in unmatched_rules(config.operators, subjects)}
    warnings: list[str] = []
    for index, rule in enumerate(config.operators):
        where = f"operators[{index}] ({_rule_text(rule)})"
        if index in unmatched:
            warnings.append(f"{where} matches no operator of the model")
            continue
        matched = [op for op in operators if matches(rule, op_type=op.op_type, ids=op.id.names)]
        warnings += [
            f"{where} sets {knob}, but no operator it matches has that knob"
            for knob in KNOBS
            if getattr(rule.optimization, knob) is not None
            and not any(knob in operator.domains for operator in matched)
        ]
    return tuple(warnings)


def _knobs(operator: ResolvableOperator) -> list[str]:
    return [name for name in KNOBS if name in operator.domains]


def plan_settings(config: ConvertConfig, plan: OptimizationPlan | None) -> PlanOptimization:
    """Gives the settings that the plan to be written records: the input plan's, if there is one."""
    if plan is not None:
        return plan.optimization
    return PlanOptimization(
        goal=config.optimization.goal, allow_approximate=config.optimization.allow_approximate
    )


def _resolve(knob: Knob, request: Request, config: ConvertConfig) -> KnobChoice:
    is_auto = request.value == AUTO
    settings = config.optimization
    automatic = knob.auto_value(settings.goal, allow_approximate=settings.allow_approximate)
    value = automatic if is_auto else request.value
    return KnobChoice(
        value=value,
        requested=request.value,
        resolved_by="auto_table" if is_auto else "explicit",
        source=request.source,
        approximate=value in knob.approximate,
    )


def _choices_of_plan(
    operators: Sequence[ResolvableOperator], plan: OptimizationPlan
) -> list[dict[str, KnobChoice]]:
    planned = {entry.id: entry.knobs for entry in plan.operators}
    missing = [
        Problem(operator.id.id, f"the plan has no choice for knob {name!r}")
        for operator in operators
        for name in _knobs(operator)
        if name not in planned.get(operator.id.id, {})
    ]
    if missing:
        raise PlanError("The plan does not cover the model.", missing)
    return [
        {name: _planned_choice(name, planned[op.id.id][name].value) for name in _knobs(op)}
        for op in operators
    ]


def _planned_choice(knob: str, value: str) -> KnobChoice:
    return KnobChoice(
        value=value,
        requested=value,
        resolved_by="plan",
        source=KnobSource(kind="plan", rule=None),
        approximate=value in KNOBS[knob].approximate,
    )


def _rule_text(rule: OperatorRule) -> str:
    return f"type {rule.type}" + (f", id {rule.id}" if rule.id is not None else "")
