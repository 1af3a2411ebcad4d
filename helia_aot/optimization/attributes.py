# SPDX-License-Identifier: Apache-2.0
"""Where the attributes of ``operators[]`` rules put scratch buffers and wrapper functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from helia_aot.config.convert import OperatorRule
from helia_aot.config.rules import matches, winning_rule
from helia_aot.errors import ConfigError, PlanError, Problem
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.resolve import ResolvableOperator
from helia_aot.platforms.schema import Platform

_Attribute = Literal["scratch_placement", "code_placement"]


@dataclass(frozen=True)
class OperatorPlacement:
    """What rules say about one operator.

    Attributes:
        scratch: Memory of its scratch buffer; None leaves it to the planner.
        code: Memory of its wrapper function; None leaves it to the linker.
    """

    scratch: str | None
    code: str | None


def operator_placements(
    operators: Sequence[ResolvableOperator], rules: Sequence[OperatorRule], platform: Platform
) -> tuple[OperatorPlacement, ...]:
    """Gives the placement of every operator, in execution order; the most specific rule wins.

    Raises:
        ConfigError: A rule names a memory that the target does not have, that cannot be written to
            (scratch), or that code cannot run from. All problems are listed.
    """
    problems = [
        problem
        for index, rule in enumerate(rules)
        for problem in _rule_problems(f"operators[{index}].attributes", rule, platform)
    ]
    if problems:
        raise ConfigError("Operators cannot be placed like this.", problems)
    return tuple(
        OperatorPlacement(
            scratch=_winning(rules, operator, "scratch_placement"),
            code=_winning(rules, operator, "code_placement"),
        )
        for operator in operators
    )


def planned_code(
    placements: Sequence[OperatorPlacement],
    operators: Sequence[ResolvableOperator],
    plan: OptimizationPlan | None,
    platform: Platform,
) -> tuple[OperatorPlacement, ...]:
    """Gives the placements with the code memories of a plan; what it leaves out is as rules say.

    Raises:
        PlanError: The plan names a memory that code cannot run from here, or another one than a rule.
            All are listed.
    """
    planned = {entry.id: entry.code_memory for entry in plan.operators} if plan is not None else {}
    fitting = [name for name, memory in platform.memories.items() if memory.executable]
    problems = []
    found = []
    for operator, placement in zip(operators, placements, strict=True):
        wanted = planned.get(operator.id.id)
        found.append(placement if wanted is None else replace(placement, code=wanted))
        if wanted is None:
            continue
        if wanted not in fitting:
            reason = f"the plan runs it from {wanted}, which cannot hold code on {platform.name}"
            problems.append(Problem(operator.id.id, reason, f"it has {', '.join(fitting)}"))
        if placement.code not in (None, wanted):
            reason = f"the plan runs it from {wanted}, but code_placement asks for {placement.code}"
            advice = "remove code_placement from the operator's rule; the plan decides"
            problems.append(Problem(operator.id.id, reason, advice))
    if problems:
        raise PlanError("The code of the plan cannot be placed here.", problems)
    return tuple(found)


def scratch_warnings(
    operators: Sequence[ResolvableOperator],
    rules: Sequence[OperatorRule],
    has_scratch: Sequence[bool],
) -> tuple[str, ...]:
    """Gives a warning for each rule that places scratch buffers where there are none.

    Args:
        operators: The operators in execution order.
        rules: The rules of ``operators[]``.
        has_scratch: Whether each operator has a scratch buffer.
    """
    warnings = []
    for index, rule in enumerate(rules):
        if rule.attributes.scratch_placement is None:
            continue
        matched = [
            has
            for operator, has in zip(operators, has_scratch, strict=True)
            if matches(rule, op_type=operator.op_type, ids=operator.id.names)
        ]
        if matched and not any(matched):
            warnings.append(
                f"operators[{index}] sets scratch_placement, but no operator it matches has a "
                "scratch buffer"
            )
    return tuple(warnings)


def _winning(
    rules: Sequence[OperatorRule], operator: ResolvableOperator, attribute: _Attribute
) -> str | None:
    won = winning_rule(
        rules,
        op_type=operator.op_type,
        ids=operator.id.names,
        field_of=lambda rule: getattr(rule.attributes, attribute),
    )
    memory: str | None = getattr(won[1].attributes, attribute) if won else None
    return memory


def _rule_problems(where: str, rule: OperatorRule, platform: Platform) -> list[Problem]:
    problems = []
    for attribute, able, need in (
        ("scratch_placement", "volatile", "cannot be written to at run time"),
        ("code_placement", "executable", "cannot hold code"),
    ):
        name = getattr(rule.attributes, attribute)
        if name is None:
            continue
        memory = platform.memories.get(name)
        fitting = [n for n, m in platform.memories.items() if getattr(m, able)]
        advice = f"use {', '.join(fitting)}" if fitting else "leave it out on this target"
        if memory is None:
            reason = f"{platform.name} has no memory {name!r}"
        elif not getattr(memory, able):
            reason = f"{name} of {platform.name} {need}"
        else:
            continue
        problems.append(Problem(f"{where}.{attribute}", reason, advice))
    return problems
