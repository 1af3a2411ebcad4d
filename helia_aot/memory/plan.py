# SPDX-License-Identifier: Apache-2.0
"""From requests to a checked memory plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from helia_aot.errors import ConfigError, Problem
from helia_aot.memory.budget import check_capacities
from helia_aot.memory.greedy import Slot, place_greedily
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
from helia_aot.memory.requests import ROLES, TensorRequest, check_requests
from helia_aot.memory.verify import verify_plan

__all__ = ["Allocation", "Arena", "MemoryPlan", "constant_blob", "plan_memory"]

PLANNERS = ("greedy",)
_UNNUMBERED = -1


def plan_memory(  # noqa: PLR0913 - each argument is one independent fact of the target
    requests: Sequence[TensorRequest],
    *,
    memories: Mapping[str, int],
    preferred_order: Sequence[str],
    alignment: int,
    read_only: Collection[str] = (),
    planner: str = "greedy",
) -> MemoryPlan:
    """Gives every tensor its place: constants first, then persistent tensors, then scratch.

    Args:
        requests: The tensors, constants in operator order.
        memories: Capacity of each memory in bytes, constraints applied.
        preferred_order: Memories to try for tensors without a rule, in order.
        alignment: Alignment of every slot in bytes.
        read_only: Memories that only cold constants and the sources of staged constants may use.
        planner: Planner of the scratch memory.

    Returns:
        A plan that was verified; the same arguments always give the same plan.

    Raises:
        ConfigError: The planner or a preferred memory is unknown, or a rule cannot be followed.
        BudgetError: A memory is too small.
        InvariantError: The requests contradict themselves, or the plan is faulty: our own bug.
    """
    check_requests(requests)
    target = Memories(dict(memories), tuple(preferred_order), frozenset(read_only), alignment)
    _check_target(target, requests, planner)
    check_rules(requests, target)
    constants = [request for request in requests if request.role == "constant"]
    persistent = merge_aliases([request for request in requests if request.role == "persistent"])
    scratch = merge_aliases([request for request in requests if request.role == "scratch"])

    room = Room(target)
    static = list(
        place_constants(constants, constant_sources(constants, target), target, room).values()
    )
    static += place_persistent(persistent, target, room).values()
    slots = place_greedily(
        scratch,
        room_bytes=room.left_bytes,
        candidates={block.root: scratch_candidates(block, target) for block in scratch},
        alignment=alignment,
    )
    arenas = [_static_arena(arena, alignment) for arena in static]
    arenas += _scratch_arenas(scratch, slots, room.left_bytes, alignment)
    plan = MemoryPlan(_numbered(arenas), _allocations(requests, static, scratch, slots))
    check_capacities(plan, requests, target.size_bytes)
    verify_plan(plan, requests, memories=target.size_bytes, alignment=alignment)
    return plan


def _check_target(target: Memories, requests: Sequence[TensorRequest], planner: str) -> None:
    problems = [
        Problem("platform.preferred_memory_order", f"the target has no memory {memory!r}")
        for memory in target.preferred
        if memory not in target.size_bytes
    ]
    if planner not in PLANNERS:
        problems.append(
            Problem("memory.planner", f"unknown planner {planner!r}", f"use {', '.join(PLANNERS)}")
        )
    if not target.preferred:
        problems.append(Problem("platform.preferred_memory_order", "no memory is named"))
    elif not target.writable and any(request.role != "constant" for request in requests):
        problems.append(
            Problem("platform.preferred_memory_order", "none of its memories can be written to")
        )
    if problems:
        raise ConfigError("The memories of the target cannot be used.", problems)


def _static_arena(arena: StaticArena, alignment: int) -> Arena:
    return Arena(
        region_id=_UNNUMBERED,
        role=arena.role,
        memory=arena.memory,
        source_memory=arena.source_memory,
        used_bytes=arena.used_bytes,
        capacity_bytes=arena.used_bytes,
        alignment=alignment,
        peak_live_bytes=arena.used_bytes,
        tensor_count=len(arena.offsets),
    )


def _scratch_arenas(
    blocks: Sequence[Block],
    slots: Mapping[str, Slot],
    room_bytes: Mapping[str, int],
    alignment: int,
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
            alignment=alignment,
            peak_live_bytes=sum(block.size_bytes for block in live_at_peak(members)),
            tensor_count=sum(len(block.members) for block in members),
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
