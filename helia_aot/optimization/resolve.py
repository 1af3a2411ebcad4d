# SPDX-License-Identifier: Apache-2.0
"""From requests to choices: the value of every knob for every operator, and who asked for it.

The most specific ``operators[]`` rule that sets a knob wins, then the model-wide setting, then the
default, which is ``auto``. ``auto`` reads the knob's table and never measures. An input plan
replaces all of this: its values are used as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from helia_aot.config.convert import ConvertConfig, OperatorRule
from helia_aot.config.rules import (
    RuleSubject,
    matches,
    unmatched_ids,
    unmatched_rules,
    winning_rule,
)
from helia_aot.errors import ConfigError, PlanError, Problem
from helia_aot.operators.spec import FixedDomain, KnobDomain
from helia_aot.optimization.fixed import FIXED
from helia_aot.optimization.identity import OperatorId
from helia_aot.optimization.knobs import AUTO, KNOBS, PLANNER, Knob
from helia_aot.optimization.plan import (
    FixedChoice,
    KnobChoice,
    KnobSource,
    OptimizationPlan,
    PlanOptimization,
    RuleRef,
)

FixedDomains = Callable[[Mapping[str, str]], Mapping[str, FixedDomain]]
"""Gives the fixed choices of an operator for its knob values."""


def no_fixed_choices(knobs: Mapping[str, str]) -> Mapping[str, FixedDomain]:
    """Gives the fixed choices of an operator that has none."""
    del knobs
    return {}


@dataclass(frozen=True)
class ResolvableOperator:
    """An operator whose choices are to be resolved.

    Attributes:
        id: How rules and plans name it.
        op_type: The TFLite name.
        domains: The knobs that exist for it on this target, by name.
        fixed: Gives its fixed choices on this target by name; they can depend on its knobs.
    """

    id: OperatorId
    op_type: str
    domains: Mapping[str, KnobDomain]
    fixed: FixedDomains = no_fixed_choices


PLANNER_WITH_OPTIONS: Final = "hill_climb"
"""The one planner that memory.planner_options speak to."""


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
            :func:`helia_aot.optimization.check.check_plan` checks.
        plan: An input plan; its values replace rules, settings and ``auto``.

    Returns:
        For each operator its choices by knob, in the order of the registry.

    Raises:
        PlanError: The plan lacks a choice that an operator needs.
        ConfigError: A setting asks for a value that an operator cannot have. All are listed.
    """
    if plan is not None:
        return _choices_of_plan(operators, plan)
    choices = [
        {name: _resolve(KNOBS[name], requested(op, name, config), config) for name in _knobs(op)}
        for op in operators
    ]
    problems = _impossible_values(operators, choices)
    if problems:
        raise ConfigError("Knobs cannot have the values asked for.", problems)
    return choices


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


def resolve_fixed(
    operators: Sequence[ResolvableOperator],
    choices: Sequence[Mapping[str, KnobChoice]],
    config: ConvertConfig,
    plan: OptimizationPlan | None = None,
) -> list[dict[str, FixedChoice]]:
    """Gives the fixed choices of every operator: plan, then attribute, then the operator's own.

    Args:
        operators: The operators in execution order.
        choices: Their knobs, as resolved.
        config: Its ``operators[].attributes`` set fixed choices that are attributes.
        plan: An input plan, checked; what it leaves out is derived as without it.

    Raises:
        ConfigError: An attribute asks for a value that an operator cannot have. All are listed.
    """
    planned = {entry.id: entry.fixed for entry in plan.operators} if plan is not None else {}
    problems: list[Problem] = []
    resolved: list[dict[str, FixedChoice]] = []
    for operator, knobs in zip(operators, choices, strict=True):
        fixed: dict[str, FixedChoice] = {}
        for name, domain in operator.fixed(values_of(knobs)).items():
            in_plan = planned.get(operator.id.id, {}).get(name)
            asked = requested_attribute(operator, name, config)
            if in_plan is not None:
                fixed[name] = FixedChoice(value=in_plan.value, set_by="plan")
            elif asked is None:
                fixed[name] = FixedChoice(value=domain.value, set_by=domain.set_by)
            elif asked.value in domain.values:
                fixed[name] = FixedChoice(value=asked.value, set_by="attribute")
            else:
                problems.append(_impossible(operator, name, asked, domain))
        resolved.append(fixed)
    if problems:
        raise ConfigError("Operator attributes cannot be followed.", problems)
    return resolved


@dataclass(frozen=True)
class AttributeRequest:
    """What a rule asks of a fixed choice.

    Attributes:
        value: The value.
        index: Position of the rule in ``operators[]``.
    """

    value: str
    index: int


def requested_attribute(
    operator: ResolvableOperator, name: str, config: ConvertConfig
) -> AttributeRequest | None:
    """Gives what the configuration asks of a fixed choice of an operator; None for nothing."""
    if not FIXED[name].is_attribute:
        return None
    won = winning_rule(
        config.operators,
        op_type=operator.op_type,
        ids=operator.id.names,
        field_of=lambda rule: getattr(rule.attributes, name),
    )
    if won is None:
        return None
    index, rule = won
    return AttributeRequest(getattr(rule.attributes, name), index)


def values_of(choices: Mapping[str, KnobChoice] | Mapping[str, FixedChoice]) -> dict[str, str]:
    """Gives the plain values of choices by name."""
    return {name: choice.value for name, choice in choices.items()}


def resolve_model_choices(
    config: ConvertConfig, plan: OptimizationPlan | None = None
) -> dict[str, KnobChoice]:
    """Gives the choice of every knob of the whole module: plan, then setting, then ``auto``."""
    name = PLANNER.name
    if plan is not None and name in plan.optimization.knobs:
        return {name: _planned_choice(PLANNER, plan.optimization.knobs[name].value)}
    is_set = "planner" in config.memory.model_fields_set
    request = Request(
        config.memory.planner if is_set else AUTO,
        KnobSource(kind="model" if is_set else "default", rule=None),
    )
    return {name: _resolve(PLANNER, request, config)}


def planner_options(
    config: ConvertConfig, choices: Mapping[str, KnobChoice], plan: OptimizationPlan | None = None
) -> dict[str, int]:
    """Gives the options that the chosen planner runs with: the plan's, or the configuration's."""
    if plan is not None and plan.optimization.planner_options:
        return plan.optimization.planner_options
    if choices[PLANNER.name].value != PLANNER_WITH_OPTIONS:
        return {}
    options: dict[str, int] = config.memory.planner_options.model_dump()
    return options


def rule_warnings(
    operators: Sequence[ResolvableOperator],
    config: ConvertConfig,
    fixed_choices: Sequence[Mapping[str, FixedChoice]],
) -> tuple[str, ...]:
    """Gives a warning for each ``operators[]`` rule, or knob or attribute of a rule, that has no
    effect.

    Args:
        operators: The operators in execution order.
        config: Its rules.
        fixed_choices: The fixed choices of the operators, as resolved.
    """
    fixed = {op.id.id: chosen for op, chosen in zip(operators, fixed_choices, strict=True)}
    subjects = [RuleSubject(operator.op_type, operator.id.names) for operator in operators]
    unmatched = {index for index, _ in unmatched_rules(config.operators, subjects)}
    warnings: list[str] = []
    for index, rule in enumerate(config.operators):
        where = f"operators[{index}] ({_rule_text(rule)})"
        if index in unmatched:
            warnings.append(f"{where} matches no operator of the model")
            continue
        warnings += [
            f"{where} names {name!r}, but no operator that it could match has that id"
            for name in unmatched_ids(rule, subjects)
        ]
        matched = [op for op in operators if matches(rule, op_type=op.op_type, ids=op.id.names)]
        warnings += [
            f"{where} sets {knob}, but no operator it matches has that knob"
            for knob in KNOBS
            if getattr(rule.optimization, knob) is not None
            and not any(knob in operator.domains for operator in matched)
        ]
        warnings += [
            f"{where} sets {name}, but no operator it matches has that attribute"
            for name, kind in FIXED.items()
            if kind.is_attribute
            and getattr(rule.attributes, name) is not None
            and not any(name in fixed[operator.id.id] for operator in matched)
        ]
    return tuple(warnings)


def _knobs(operator: ResolvableOperator) -> list[str]:
    return [name for name in KNOBS if name in operator.domains]


def plan_settings(config: ConvertConfig, plan: OptimizationPlan | None) -> PlanOptimization:
    """Gives the settings that the plan to be written records: the input plan's, if there is one."""
    settings = plan.optimization if plan is not None else config.optimization
    choices = resolve_model_choices(config, plan)
    return PlanOptimization(
        goal=settings.goal,
        allow_approximate=settings.allow_approximate,
        knobs=choices,
        planner_options=planner_options(config, choices, plan),
        budget=budget_limits(config, plan),
    )


def budget_limits(config: ConvertConfig, plan: OptimizationPlan | None) -> dict[str, float]:
    """Gives the limits that apply: budgets are no choices, so the configuration's go over the plan's."""
    planned = plan.optimization.budget if plan is not None else {}
    return {**planned, **config.optimization.budget}


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


def _impossible_values(
    operators: Sequence[ResolvableOperator], choices: Sequence[Mapping[str, KnobChoice]]
) -> list[Problem]:
    """Gives one problem for each setting that some operator cannot follow."""
    problems: dict[str, Problem] = {}
    for operator, knobs in zip(operators, choices, strict=True):
        for name, choice in knobs.items():
            domain = operator.domains[name]
            if choice.value not in domain.entries:
                rule = choice.source.rule
                place = "" if rule is None else f"operators[{rule.index}]."
                where = f"{place}optimization.{name}"
                reason = (
                    f"operator {operator.id.id!r} cannot have {choice.value!r}: {domain.reason}"
                )
                problems.setdefault(
                    where, Problem(where, reason, f"use {', '.join(domain.entries)}")
                )
    return list(problems.values())


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
        {name: _planned_choice(KNOBS[name], planned[op.id.id][name].value) for name in _knobs(op)}
        for op in operators
    ]


def _planned_choice(knob: Knob, value: str) -> KnobChoice:
    return KnobChoice(
        value=value,
        requested=value,
        resolved_by="plan",
        source=KnobSource(kind="plan", rule=None),
        approximate=value in knob.approximate,
    )


def _impossible(
    operator: ResolvableOperator, name: str, asked: AttributeRequest, domain: FixedDomain
) -> Problem:
    return Problem(
        f"operators[{asked.index}].attributes.{name}",
        f"operator {operator.id.id!r} cannot have {asked.value!r} here",
        f"use {', '.join(domain.values)}, or narrow the rule",
    )


def _rule_text(rule: OperatorRule) -> str:
    return f"type {rule.type}" + (f", id {rule.id}" if rule.id is not None else "")
