# SPDX-License-Identifier: Apache-2.0
"""Plans of a space: from choices to a candidate plan, and the key of a plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache

from helia_aot.errors import Problem
from helia_aot.optimization.knobs import KNOBS
from helia_aot.optimization.plan import KnobChoice, KnobSource, OptimizationPlan, PlanOperator
from search_spaces.errors import SpaceError
from search_spaces.space import Choice


def apply(plan: OptimizationPlan, choices: Sequence[Choice]) -> OptimizationPlan:
    """Gives a candidate plan: ``plan`` with choices replaced, all of them marked as set by a plan.

    Choices that are not named keep their value. What the compiler derived for the baseline, fixed
    choices and placements that no plan set, is left out: it can depend on the choices, so the
    compiler derives it anew. The result does not depend on the order of ``choices``.

    Raises:
        SpaceError: A choice names an operator, knob or value that the plan does not have, or two
            choices name the same knob of one operator.
    """
    wanted = {(choice.operator_id, choice.knob): choice.value for choice in choices}
    problems = [] if len(wanted) == len(choices) else [Problem("", "a knob is chosen twice")]
    known = {(operator.id, knob) for operator in plan.operators for knob in operator.knobs}
    for (operator_id, knob), value in sorted(wanted.items()):
        if (operator_id, knob) not in known:
            problems.append(Problem(operator_id, f"the plan has no knob {knob!r} there"))
        elif value not in KNOBS[knob].values:
            problems.append(Problem(operator_id, f"knob {knob!r} has no value {value!r}"))
    if problems:
        raise SpaceError("The choices do not fit the plan.", problems)
    operators = [_with_choices(operator, wanted) for operator in plan.operators]
    tensors = [tensor for tensor in plan.tensors if tensor.set_by == "plan"]
    return plan.model_copy(update={"operators": operators, "tensors": tensors})


def _with_choices(operator: PlanOperator, wanted: dict[tuple[str, str], str]) -> PlanOperator:
    knobs = {
        knob: _chosen(knob, choice, wanted.get((operator.id, knob), choice.value))
        for knob, choice in operator.knobs.items()
    }
    fixed = {name: choice for name, choice in operator.fixed.items() if choice.set_by == "plan"}
    return operator.model_copy(update={"knobs": knobs, "fixed": fixed})


def _chosen(knob: str, before: KnobChoice, value: str) -> KnobChoice:
    # A space holds applicable values only, so the registry decides what is approximate.
    approximate = before.approximate if value == before.value else value in KNOBS[knob].approximate
    return _set_by_plan(value, approximate)


@cache
def _set_by_plan(value: str, approximate: bool) -> KnobChoice:
    return KnobChoice(
        value=value,
        requested=value,
        resolved_by="plan",
        source=KnobSource(kind="plan", rule=None),
        approximate=approximate,
    )


def plan_key(plan: OptimizationPlan) -> str:
    """Gives the SHA-256 over the plan's choices alone: operator id, knob and value.

    Who asked for a choice, the order of operators and everything else in the plan do not matter.
    """
    choices = sorted(
        (operator.id, knob, choice.value)
        for operator in plan.operators
        for knob, choice in operator.knobs.items()
    )
    return hashlib.sha256(json.dumps(choices, separators=(",", ":")).encode()).hexdigest()
