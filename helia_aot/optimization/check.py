# SPDX-License-Identifier: Apache-2.0
"""Checking that a plan can be reproduced here exactly.

A plan is normative: either every entry of it applies, or the conversion stops with a list of all
that does not. Nothing falls back to another choice in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import PlanError, Problem
from helia_aot.optimization.knobs import AUTO, KNOBS, MODEL_KNOBS, PLANNER
from helia_aot.optimization.placement import tensor_problems
from helia_aot.optimization.plan import (
    ModelIdentity,
    OptimizationPlan,
    PlanOperator,
    PlatformIdentity,
)
from helia_aot.optimization.resolve import (
    PLANNER_WITH_OPTIONS,
    ResolvableOperator,
    requested,
    requested_attribute,
    values_of,
)


@dataclass(frozen=True)
class PlanSubject:
    """What a plan must belong to.

    Attributes:
        model: The model being converted; its file name may differ from the plan's.
        platform: The target being converted for.
        operators: The operators being converted, in execution order.
        memories: The memories of the target.
        read_only: Those of them that cannot be written to at run time.
    """

    model: ModelIdentity
    platform: PlatformIdentity
    operators: Sequence[ResolvableOperator]
    memories: Collection[str]
    read_only: Collection[str]


def check_plan(plan: OptimizationPlan, subject: PlanSubject, config: ConvertConfig) -> str:
    """Checks that a plan belongs to this conversion and that all of it applies.

    Which tensors the module has is known only when its operators are lowered;
    :func:`helia_aot.optimization.placement.bind_to_plan` checks that then.

    Args:
        plan: The plan to reproduce.
        subject: Model, target and operators of the conversion.
        config: The rest of the configuration, which must not ask for anything else.

    Returns:
        The receipt for the user: ``applied N of N choices and M of M placements of the plan``.

    Raises:
        PlanError: Anything does not match. Every mismatch is listed.
    """
    operators = subject.operators
    problems = [
        *_identity_problems(plan, subject.model, subject.platform),
        *_setting_problems(plan, config),
        *_operator_list_problems(plan, operators),
    ]
    planned = {entry.id: entry for entry in plan.operators}
    applied = len(plan.optimization.knobs)
    for operator in operators:
        entry = planned.get(operator.id.id)
        if entry is not None:
            found = [
                *_operator_problems(entry, operator, config),
                *_fixed_problems(entry, operator, config),
            ]
            problems += found
            applied += len(entry.knobs.keys() & operator.domains.keys()) + len(entry.fixed)
    problems += tensor_problems(
        plan,
        rules=config.memory.tensors,
        memories=subject.memories,
        read_only=subject.read_only,
    )
    if problems:
        raise PlanError(
            "The plan cannot be reproduced here.",
            problems,
            next_step="write a plan for this model, target and transforms, or leave optimization.plan out",
        )
    return _receipt(plan, applied)


def _receipt(plan: OptimizationPlan, applied: int) -> str:
    total = len(plan.optimization.knobs) + sum(
        len(entry.knobs) + len(entry.fixed) for entry in plan.operators
    )
    text = f"applied {applied} of {total} choices"
    if plan.tensors:
        count = len(plan.tensors)
        text += f" and {count} of {count} placements"
    return f"{text} of the plan"


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
    planned_knobs = plan.optimization.knobs
    for name in (name for name in MODEL_KNOBS if name in planned_knobs):
        asked = getattr(config.memory, name)
        if name in config.memory.model_fields_set and asked != planned_knobs[name].value:
            yield Problem(
                f"memory.{name}",
                f"is {asked}, but the plan was made with {planned_knobs[name].value}",
                "remove the setting; the plan decides",
            )
    yield from _planner_option_problems(plan, config)


def _planner_option_problems(plan: OptimizationPlan, config: ConvertConfig) -> Iterator[Problem]:
    planned, settings = plan.optimization.planner_options, config.memory.planner_options
    planner = plan.optimization.knobs.get(PLANNER.name)
    has_options = planner is not None and planner.value == PLANNER_WITH_OPTIONS
    known = type(settings).model_fields
    for name in planned:
        if name not in known or not has_options:
            yield Problem(
                f"optimization.planner_options.{name}", "the plan's planner has no such option here"
            )
    for name in (name for name in known if name in settings.model_fields_set):
        asked = getattr(settings, name)
        if planner is not None and planned.get(name) != asked:
            made_with = f"with {planned[name]}" if name in planned else "without it"
            yield Problem(
                f"memory.planner_options.{name}",
                f"is {asked}, but the plan was made {made_with}",
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


def _knobs_fit(entry: PlanOperator, operator: ResolvableOperator) -> bool:
    return entry.knobs.keys() == operator.domains.keys() and all(
        choice.value in operator.domains[name].entries for name, choice in entry.knobs.items()
    )


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


def _fixed_problems(
    entry: PlanOperator, operator: ResolvableOperator, config: ConvertConfig
) -> Iterator[Problem]:
    where = operator.id.id
    if not _knobs_fit(entry, operator):
        return  # what is fixed can depend on the knobs, which are told to be wrong already
    domains = operator.fixed(values_of(entry.knobs))
    for name, choice in entry.fixed.items():
        domain = domains.get(name)
        if domain is None:
            yield Problem(
                where, f"the plan fixes {name!r}, a choice that this operator has not here"
            )
            continue
        if choice.value not in domain.values:
            known = ", ".join(domain.values)
            yield Problem(where, f"{name} cannot be {choice.value!r} here, only {known}")
        asked = requested_attribute(operator, name, config)
        if asked is not None and asked.value != choice.value:
            rule = f"operators[{asked.index}].attributes"
            yield Problem(
                where,
                f"the plan fixes {name} as {choice.value!r}, but {rule} asks for {asked.value!r}",
                f"remove {name} from {rule}; the plan decides",
            )
