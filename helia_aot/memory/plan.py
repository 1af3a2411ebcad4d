# SPDX-License-Identifier: Apache-2.0
"""From requests to a checked memory plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from helia_aot.errors import ConfigError, Problem
from helia_aot.memory.budget import check_capacities
from helia_aot.memory.first_fit import ScratchProblem, Slot
from helia_aot.memory.layout import Allocation, Arena, MemoryPlan, constant_blob
from helia_aot.memory.lifetimes import Block, live_at_peak, merge_aliases
from helia_aot.memory.placement import (
    Memories,
    Room,
    StaticArena,
    check_rules,
    constant_sources,
    place_constants,
    place_persistent,
    scratch_candidates,
)
from helia_aot.memory.planners import Planner
from helia_aot.memory.requests import ROLES, TensorRequest, check_requests
from helia_aot.memory.verify import verify_plan

__all__ = ["Allocation", "Arena", "Memories", "MemoryPlan", "constant_blob", "plan_memory"]

_UNNUMBERED = -1


def plan_memory(
    requests: Sequence[TensorRequest], target: Memories, planner: Planner
) -> MemoryPlan:
    """Gives every tensor its place: constants first, then persistent tensors, then scratch.

    Args:
        requests: The tensors, constants in operator order.
        target: The memories of the target, constraints applied.
        planner: Planner of the scratch memory.

    Returns:
        A plan that was verified; the same arguments always give the same plan.

    Raises:
        ConfigError: A preferred memory is unknown, or a rule cannot be followed.
        BudgetError: A memory is too small.
        InvariantError: The requests contradict themselves, or the plan is faulty: our own bug.
    """
    check_requests(requests)
    _check_target(target, requests)
    check_rules(requests, target)
    constants = [request for request in requests if request.role == "constant"]
    persistent = merge_aliases([request for request in requests if request.role == "persistent"])
    scratch = merge_aliases([request for request in requests if request.role == "scratch"])

    room = Room(target)
    static = list(
        place_constants(constants, constant_sources(constants, target), target, room).values()
    )
    static += place_persistent(persistent, target, room).values()
    room_bytes = {m: left - target.guard_bytes(m) for m, left in room.left_bytes.items()}
    problem = ScratchProblem(
        blocks=scratch,
        room_bytes=room_bytes,
        candidates={block.root: scratch_candidates(block, target) for block in scratch},
        alignment=target.alignment,
    )
    slots, is_bound = _place_scratch(problem, planner)
    arenas = [_static_arena(arena, target) for arena in static]
    arenas += _scratch_arenas(scratch, slots, room_bytes, target)
    plan = MemoryPlan(
        _numbered(arenas),
        _allocations(requests, static, scratch, slots),
        has_spilled_scratch=is_bound,
    )
    check_capacities(plan, requests, target.size_bytes, read_only=target.read_only)
    verify_plan(
        plan,
        requests,
        memories=target.size_bytes,
        alignment=target.alignment,
        at_zero=target.at_zero,
        external=target.external,
    )
    return plan


def _place_scratch(problem: ScratchProblem, planner: Planner) -> tuple[Mapping[str, Slot], bool]:
    """Gives the slots of scratch, and whether some block is not in the memory that it would rather be in.

    Then every block is placed once more with its memory given, as a plan that names these memories
    does: so that plan gives the same slots when there is more or less room. Where that overflows a
    memory, the slots stay as they were.
    """
    slots = planner.place(problem)
    if all(slot.memory == problem.candidates[root][0] for root, slot in slots.items()):
        return slots, False
    candidates = {root: (slot.memory,) for root, slot in slots.items()}
    again = planner.place(replace(problem, candidates=candidates))
    if any(
        again[block.root].offset + block.size_bytes > problem.room_bytes[again[block.root].memory]
        for block in problem.blocks
    ):
        return slots, False
    return again, True


def _check_target(target: Memories, requests: Sequence[TensorRequest]) -> None:
    problems = [
        Problem("platform.preferred_memory_order", f"the target has no memory {memory!r}")
        for memory in target.preferred
        if memory not in target.size_bytes
    ]
    if not target.preferred:
        problems.append(Problem("platform.preferred_memory_order", "no memory is named"))
    elif not target.writable and any(request.role != "constant" for request in requests):
        problems.append(
            Problem("platform.preferred_memory_order", "none of its memories can be written to")
        )
    if problems:
        raise ConfigError("The memories of the target cannot be used.", problems)


def _static_arena(arena: StaticArena, target: Memories) -> Arena:
    is_staged = arena.source_memory != arena.memory
    return Arena(
        region_id=_UNNUMBERED,
        role=arena.role,
        memory=arena.memory,
        source_memory=arena.source_memory,
        used_bytes=arena.used_bytes,
        capacity_bytes=arena.used_bytes,
        alignment=target.alignment,
        peak_live_bytes=arena.used_bytes,
        tensor_count=len(arena.offsets),
        is_external=target.external,
        guard_bytes=target.guard_bytes(arena.memory),
        source_guard_bytes=target.source_guard_bytes(arena.source_memory) if is_staged else 0,
    )


def _scratch_arenas(
    blocks: Sequence[Block],
    slots: Mapping[str, Slot],
    room_bytes: Mapping[str, int],
    target: Memories,
) -> list[Arena]:
    by_memory: dict[str, list[Block]] = {}
    for block in blocks:
        by_memory.setdefault(slots[block.root].memory, []).append(block)
    return [
        Arena(
            region_id=_UNNUMBERED,
            role="scratch",
            memory=memory,
            source_memory=memory,
            used_bytes=max(slots[block.root].offset + block.size_bytes for block in members),
            capacity_bytes=room_bytes[memory],
            alignment=target.alignment,
            peak_live_bytes=sum(block.size_bytes for block in live_at_peak(members)),
            tensor_count=sum(len(block.members) for block in members),
            is_external=target.external,
            guard_bytes=target.guard_bytes(memory),
        )
        for memory, members in by_memory.items()
    ]


def _numbered(arenas: Iterable[Arena]) -> tuple[Arena, ...]:
    ordered = sorted(arenas, key=lambda arena: (ROLES.index(arena.role), arena.memory))
    return tuple(replace(arena, region_id=index) for index, arena in enumerate(ordered))


def _allocations(
    requests: Sequence[TensorRequest],
    static: Iterable[StaticArena],
    scratch: Iterable[Block],
    slots: Mapping[str, Slot],
) -> dict[str, Allocation]:
    places = {
        tensor_id: (arena.memory, arena.source_memory, offset)
        for arena in static
        for tensor_id, offset in arena.offsets.items()
    }
    for block in scratch:
        slot = slots[block.root]
        places.update(dict.fromkeys(block.members, (slot.memory, slot.memory, slot.offset)))
    return {
        request.id: Allocation(request.id, request.role, *places[request.id], request.size_bytes)
        for request in requests
    }
