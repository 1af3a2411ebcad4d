# SPDX-License-Identifier: Apache-2.0
"""Plans of a space: from choices to a candidate plan, and the key of a plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache

from helia_aot.config.convert import PlannerOptions
from helia_aot.errors import Problem
from helia_aot.optimization.knobs import KNOBS, MODEL_KNOBS, PLANNER
from helia_aot.optimization.plan import (
    KnobChoice,
    KnobSource,
    OptimizationPlan,
    PlanOperator,
    PlanOptimization,
    PlanTensor,
)
from helia_aot.optimization.resolve import PLANNER_WITH_OPTIONS
from helia_aot.optimization.storage import ModuleStorage
from search_spaces.errors import SpaceError
from search_spaces.places import Place, places_of
from search_spaces.rules import MODEL_ID, PLACEMENTS
from search_spaces.space import Choice, SearchSpace

_Wanted = Mapping[tuple[str, str], str]


def plan_at(
    plan: OptimizationPlan, space: SearchSpace, values: Mapping[str, str]
) -> OptimizationPlan:
    """Gives the candidate plan of one point of a space around ``plan``.

    Raises:
        SpaceError: As :meth:`SearchSpace.choices` and :func:`apply`.
    """
    storage = space.storage if space.moves_tensors else None
    return apply(plan, space.choices(values), storage=storage)


def point_of(
    baseline: OptimizationPlan, space: SearchSpace, plan: OptimizationPlan
) -> dict[str, str] | None:
    """Gives the point of a space that a plan is; None for a plan outside of it.

    Args:
        baseline: The plan that the space is around.
        space: The space.
        plan: The plan. Where the space places tensors, only the baseline is found.
    """
    knobs = {
        (operator.id, knob): choice.value
        for operator in plan.operators
        for knob, choice in operator.knobs.items()
    }
    planner = plan.optimization.knobs.get(PLANNER.name)
    knobs[MODEL_ID, PLANNER.name] = PLANNER.default if planner is None else planner.value
    point = {}
    for dimension in space.dimensions:
        found = {
            knobs.get((member, dimension.knob), dimension.baseline) for member in dimension.members
        }
        if len(found) > 1 or not found <= set(dimension.choices):
            return None
        point[dimension.name] = found.pop()
    return point if plan_key(plan_at(baseline, space, point)) == plan_key(plan) else None


def apply(
    plan: OptimizationPlan, choices: Sequence[Choice], *, storage: ModuleStorage | None = None
) -> OptimizationPlan:
    """Gives a candidate plan: ``plan`` with choices replaced, all of them marked as set by a plan.

    Choices that are not named keep their value. What the compiler derived for the baseline, fixed
    choices and placements that no plan set, is left out: it can depend on the choices, so the
    compiler derives it anew. With ``storage`` the candidate names the memory of every tensor instead,
    so that moving one tensor never moves another. The result does not depend on the order of
    ``choices``.

    Args:
        plan: The baseline.
        choices: What changes.
        storage: What tensors take and where the baseline has them; needed to place tensors.

    Raises:
        SpaceError: A choice names an operator, knob or value that the plan does not have, or two
            choices name the same knob of one operator.
    """
    wanted = {(choice.operator_id, choice.knob): choice.value for choice in choices}
    problems = [] if len(wanted) == len(choices) else [Problem("", "a knob is chosen twice")]
    known = {
        (operator.id, knob): KNOBS[knob].values
        for operator in plan.operators
        for knob in operator.knobs
    }
    known |= {(MODEL_ID, name): knob.values for name, knob in MODEL_KNOBS.items()}
    if storage is not None:
        memories = (*(memory.name for memory in storage.memories), "mixed")
        known |= {
            (item.operator_id, name): memories for item in storage.operators for name in PLACEMENTS
        }
    for (operator_id, knob), value in sorted(wanted.items()):
        if (operator_id, knob) not in known:
            problems.append(Problem(operator_id, f"the plan has no knob {knob!r} there"))
        elif value not in known[operator_id, knob]:
            problems.append(Problem(operator_id, f"knob {knob!r} has no value {value!r}"))
    if problems:
        raise SpaceError("The choices do not fit the plan.", problems)
    operators = [_with_choices(operator, wanted) for operator in plan.operators]
    if storage is None:
        tensors = [tensor for tensor in plan.tensors if tensor.set_by == "plan"]
    else:
        knobs = {item.id: {n: c.value for n, c in item.knobs.items()} for item in operators}
        tensors = [_tensor(place) for place in places_of(storage, knobs, wanted)]
    return plan.model_copy(
        update={
            "operators": operators,
            "tensors": tensors,
            "optimization": _with_model_choices(plan.optimization, wanted),
        }
    )


def _tensor(place: Place) -> PlanTensor:
    return PlanTensor(
        id=place.tensor_id,
        role=place.role,
        memory=place.memory,
        source_memory=place.source_memory,
        set_by="plan",
    )


def _with_model_choices(settings: PlanOptimization, wanted: _Wanted) -> PlanOptimization:
    before = settings.knobs.get(PLANNER.name)
    value = wanted.get((MODEL_ID, PLANNER.name))
    if value is None or (before is not None and before.value == value):
        return settings
    options = PlannerOptions().model_dump() if value == PLANNER_WITH_OPTIONS else {}
    knobs = {**settings.knobs, PLANNER.name: _planned(value, value in PLANNER.approximate)}
    return settings.model_copy(update={"knobs": knobs, "planner_options": options})


def _with_choices(operator: PlanOperator, wanted: _Wanted) -> PlanOperator:
    knobs = {
        knob: _chosen(knob, choice, wanted.get((operator.id, knob), choice.value))
        for knob, choice in operator.knobs.items()
    }
    fixed = {name: choice for name, choice in operator.fixed.items() if choice.set_by == "plan"}
    return operator.model_copy(update={"knobs": knobs, "fixed": fixed})


def _chosen(knob: str, before: KnobChoice, value: str) -> KnobChoice:
    # A space holds applicable values only, so the registry decides what is approximate.
    approximate = before.approximate if value == before.value else value in KNOBS[knob].approximate
    return _planned(value, approximate)


@cache
def _planned(value: str, approximate: bool) -> KnobChoice:
    return KnobChoice(
        value=value,
        requested=value,
        resolved_by="plan",
        source=KnobSource(kind="plan", rule=None),
        approximate=approximate,
    )


def approximations(plan: OptimizationPlan) -> frozenset[tuple[str, str, str]]:
    """Gives the approximate choices of a plan: operator id, knob and value. Plans with equal ones compute the same."""
    return frozenset(
        (operator.id, knob, choice.value)
        for operator in plan.operators
        for knob, choice in operator.knobs.items()
        if choice.approximate
    )


def plan_key(plan: OptimizationPlan) -> str:
    """Gives the SHA-256 over the plan's choices alone: operator id, knob and value.

    The planner counts where it is not the one that ``auto`` takes, and tensors where a plan placed
    them. Who asked for a choice, the order of operators and everything else in the plan do not matter.
    """
    choices = _knob_choices(plan)
    planner = plan.optimization.knobs.get(PLANNER.name)
    if planner is not None and planner.value != PLANNER.default:
        choices.append((MODEL_ID, PLANNER.name, planner.value))
    choices += [
        (f"tensor {item.id}", item.memory, item.source_memory)
        for item in plan.tensors
        if item.set_by == "plan"
    ]
    return _key(choices)


def knob_key(plan: OptimizationPlan) -> str:
    """Gives :func:`plan_key` without planner and tensors: the key of a space that places nothing."""
    return _key(_knob_choices(plan))


def _knob_choices(plan: OptimizationPlan) -> list[tuple[str, str, str]]:
    return [
        (operator.id, knob, choice.value)
        for operator in plan.operators
        for knob, choice in operator.knobs.items()
    ]


def _key(choices: list[tuple[str, str, str]]) -> str:
    return hashlib.sha256(json.dumps(sorted(choices), separators=(",", ":")).encode()).hexdigest()
