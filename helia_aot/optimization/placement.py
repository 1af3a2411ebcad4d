# SPDX-License-Identifier: Apache-2.0
"""The tensors of a plan: what is recorded of a memory plan, what binds on reproduction, what conflicts.

Every constant is recorded, so that a plan places it the same way when rules, constraints or the
planner's preference have changed. Another tensor is recorded where a rule, an attribute or a plan
placed it, and all of them are when scratch did not fit into the memory that it would rather be in.
Which offset it gets is the planner's business, and a plan records the planner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from helia_aot.config.convert import UNSET, TensorRule
from helia_aot.config.rules import winning_rule
from helia_aot.errors import PlanError, Problem
from helia_aot.memory.layout import MemoryPlan
from helia_aot.memory.requests import TensorRequest
from helia_aot.optimization.plan import OptimizationPlan, PlanTensor, RuleRef

_PLAN_DECIDES = "the plan decides"


def bind_to_plan(
    requests: Sequence[TensorRequest],
    plan: OptimizationPlan | None,
    scratch_placement: Mapping[str, str],
) -> list[TensorRequest]:
    """Gives the requests with the memories of the plan in place of what rules ask.

    Args:
        requests: The tensors with what rules ask of them.
        plan: An input plan whose tensors were checked; None binds nothing.
        scratch_placement: Memory by id of scratch buffers that ``operators[].attributes`` place.

    Raises:
        PlanError: The plan names tensors that the module does not have, or with another role, or
            against an attribute. All are listed.
    """
    entries = {entry.id: entry for entry in plan.tensors} if plan is not None else {}
    roles = {request.id: request.role for request in requests}
    problems = [
        _unknown_tensor(entry, roles)
        for entry in entries.values()
        if roles.get(entry.id) != entry.role
    ]
    problems += [
        Problem(
            f"tensor {entry.id}",
            f"the plan places it in {entry.memory}, but scratch_placement asks for "
            f"{scratch_placement[entry.id]}",
            f"remove scratch_placement from the operator's rule; {_PLAN_DECIDES}",
        )
        for entry in entries.values()
        if scratch_placement.get(entry.id, entry.memory) != entry.memory
    ]
    if problems:
        raise PlanError(
            "The tensors of the plan cannot be placed here.",
            problems,
            next_step="correct these entries under tensors in the plan, or write a new plan",
        )
    return [_bound(request, entries.get(request.id)) for request in requests]


def plan_tensors(
    requests: Sequence[TensorRequest],
    memory_plan: MemoryPlan,
    *,
    rules: Sequence[TensorRule],
    scratch_placement: Collection[str],
    plan: OptimizationPlan | None,
) -> list[PlanTensor]:
    """Gives the tensors that a plan records, in the order of the requests.

    Args:
        requests: The tensors as the planner got them.
        memory_plan: Where the planner put them.
        rules: The rules of ``memory.tensors``.
        scratch_placement: Ids of scratch buffers that ``operators[].attributes`` place.
        plan: The input plan, if any.
    """
    planned = {entry.id for entry in plan.tensors} if plan is not None else set()
    tensors = []
    for request in requests:
        is_recorded = request.role == "constant" or memory_plan.has_spilled_scratch
        if request.memory is None and not is_recorded:
            continue
        place = memory_plan.allocations[request.id]
        provenance = _provenance(request, rules, scratch_placement, planned)
        tensors.append(
            PlanTensor.model_validate(
                {
                    "id": request.id,
                    "role": request.role,
                    "memory": place.memory,
                    "source_memory": place.source_memory,
                    **provenance,
                }
            )
        )
    return tensors


def tensor_problems(
    plan: OptimizationPlan,
    *,
    rules: Sequence[TensorRule],
    memories: Collection[str],
    read_only: Collection[str],
) -> Iterator[Problem]:
    """Gives what is wrong with the tensors of a plan on this target and beside these rules.

    Args:
        plan: The plan to reproduce.
        rules: The rules of ``memory.tensors``, which must not ask for anything else.
        memories: The memories of the target.
        read_only: Those of them that cannot be written to at run time.
    """
    for tensor_id, count in Counter(entry.id for entry in plan.tensors).items():
        if count > 1:
            yield Problem(f"tensor {tensor_id}", f"the plan lists this tensor {count} times")
    for entry in plan.tensors:
        yield from _memory_problems(entry, memories, read_only)
        yield from _rule_conflicts(entry, rules)
    yield from _source_problems(plan)


def place_text(memory: str, source_memory: str) -> str:
    """Gives a placement in words: ``dtcm``, or ``dtcm (from mram)`` for a staged constant."""
    return memory if memory == source_memory else f"{memory} (from {source_memory})"


def _bound(request: TensorRequest, entry: PlanTensor | None) -> TensorRequest:
    if entry is None:
        return request
    return replace(
        request,
        memory=entry.source_memory,
        destination_memory=entry.memory if entry.is_staged else None,
    )


def _unknown_tensor(entry: PlanTensor, roles: Mapping[str, str]) -> Problem:
    where = f"tensor {entry.id}"
    if entry.id not in roles:
        return Problem(where, f"the plan places this {entry.role} tensor, the module has none")
    return Problem(where, f"is {entry.role} in the plan and {roles[entry.id]} in the module")


def _provenance(
    request: TensorRequest,
    rules: Sequence[TensorRule],
    scratch_placement: Collection[str],
    planned: Collection[str],
) -> dict[str, object]:
    if request.id in planned:
        return {"set_by": "plan"}
    won = _winner(rules, request.role, request.id)
    if request.id in scratch_placement and (won is None or won[1].id is None):
        return {"set_by": "attribute"}
    if won is None:
        return {"set_by": "default"}
    index, rule = won
    return {"set_by": "rule", "rule": RuleRef(index=index, type=rule.type, id=rule.id)}


def _winner(
    rules: Sequence[TensorRule], role: str, tensor_id: str
) -> tuple[int, TensorRule] | None:
    """Gives the rule that places a tensor: the one that stages it, else the one that names a memory."""
    fields = ("constant_destination_memory", "memory") if role == "constant" else ("memory",)
    found = (_winner_of(rules, role, tensor_id, field) for field in fields)
    return next((won for won in found if won is not None), None)


def _winner_of(
    rules: Sequence[TensorRule], role: str, tensor_id: str, field: str
) -> tuple[int, TensorRule] | None:
    won = winning_rule(
        rules,
        op_type=role,
        ids=(tensor_id,),
        field_of=lambda rule: getattr(rule.attributes, field),
    )
    is_unset = field != "memory" and won is not None and _destination(won[1]) == UNSET
    return None if is_unset else won


def _destination(rule: TensorRule) -> str | None:
    return rule.attributes.constant_destination_memory


def _memory_problems(
    entry: PlanTensor, memories: Collection[str], read_only: Collection[str]
) -> Iterator[Problem]:
    where = f"tensor {entry.id}"
    for memory in dict.fromkeys((entry.memory, entry.source_memory)):
        if memory not in memories:
            known = ", ".join(memories)
            yield Problem(where, f"the target has no memory {memory!r}", f"it has {known}")
    if entry.memory in read_only and (entry.role != "constant" or entry.is_staged):
        yield Problem(where, f"{entry.memory} cannot be written to at run time")


def _rule_conflicts(entry: PlanTensor, rules: Sequence[TensorRule]) -> Iterator[Problem]:
    staged = _winner_of(rules, entry.role, entry.id, "constant_destination_memory")
    stays = _winner_of(rules, entry.role, entry.id, "memory")
    wanted: dict[int, str] = {}
    if entry.role == "constant" and staged is not None:
        destination = _destination(staged[1])
        if destination != entry.memory:
            wanted[staged[0]] = f"constant_destination_memory {destination}"
    elif stays is not None and entry.is_staged:
        wanted[stays[0]] = f"memory {stays[1].attributes.memory} without a copy"
    if stays is not None and stays[1].attributes.memory != entry.source_memory:
        wanted[stays[0]] = f"memory {stays[1].attributes.memory}"
    placed = place_text(entry.memory, entry.source_memory)
    for index, asked in wanted.items():
        rule = f"memory.tensors[{index}]"
        yield Problem(
            f"tensor {entry.id}",
            f"the plan places it in {placed}, but {rule} asks for {asked}",
            f"take the tensor out of {rule}; {_PLAN_DECIDES}",
        )


def _source_problems(plan: OptimizationPlan) -> Iterator[Problem]:
    sources: dict[str, dict[str, str]] = {}
    for entry in plan.tensors:
        if entry.role == "constant":
            sources.setdefault(entry.memory, {}).setdefault(entry.source_memory, entry.id)
    for memory, by_source in sources.items():
        if len(by_source) > 1:
            parts = " and ".join(f"{source} (tensor {tid})" for source, tid in by_source.items())
            yield Problem(
                f"tensors in {memory}",
                f"the plan takes constants of {memory} from {parts}; one copy fills the arena of a "
                "memory, so all of them must come from one",
            )
