# SPDX-License-Identifier: Apache-2.0
"""An independent check of a memory plan against the requests it was made for.

It shares no code with the planner: it recomputes storage sharing, ends, peaks and sums from the
requests and the finished plan alone, in the plainest way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from helia_aot.errors import InvariantError, Problem
from helia_aot.memory.layout import Allocation, Arena, MemoryPlan
from helia_aot.memory.requests import TensorRequest

_Placed = tuple[TensorRequest, Allocation]


@dataclass(frozen=True)
class _Life:
    """Storage of one alias chain and the operator positions at which it is in use."""

    name: str
    first: int
    last: int
    size_bytes: int


def verify_plan(  # noqa: PLR0913 - each argument is one independent fact of the target
    plan: MemoryPlan,
    requests: Sequence[TensorRequest],
    *,
    memories: Mapping[str, int],
    alignment: int,
    at_zero: Collection[str] = (),
    external: bool = False,
) -> None:
    """Checks that a plan is right: nothing overlaps, everything is aligned, inside its arena and
    inside its memory.

    Args:
        plan: The plan to check.
        requests: The requests that it was made for.
        memories: Capacity of each memory in bytes.
        alignment: Alignment that slots and arenas must have, in bytes.
        at_zero: Memories that start at address zero.
        external: Whether the application supplies the arenas.

    Raises:
        InvariantError: Something is wrong; every fault found is listed.
    """
    if list(plan.allocations) != [request.id for request in requests]:
        raise InvariantError(
            "The memory plan does not place exactly the tensors that were requested."
        )
    parents = {request.id: request.alias_of for request in requests}
    owner = {request.id: _owner(request.id, parents) for request in requests}
    problems: list[Problem] = []
    placed_in: dict[tuple[str, str], list[_Placed]] = {}
    for request in requests:
        place = plan.allocations[request.id]
        problems += [Problem(f"tensor {request.id!r}", r) for r in _place_faults(request, place)]
        placed_in.setdefault((place.role, place.memory), []).append((request, place))
    problems += [Problem("arenas", reason) for reason in _arena_list_faults(plan, placed_in)]
    for arena in plan.arenas:
        where = f"{arena.role} arena in {arena.memory}"
        placed = placed_in.get((arena.role, arena.memory), [])
        lives = _lives(placed, owner)
        faults = [*_arena_faults(arena, placed, alignment), *_overlaps(placed, owner, lives)]
        faults += _guard_faults(arena, alignment, at_zero, external)
        if arena.role == "scratch" and placed:
            faults += _peak_faults(arena, lives.values())
        problems += [Problem(where, reason) for reason in faults]
    problems += [Problem(memory, r) for memory, r in _memory_faults(plan, memories, alignment)]
    if problems:
        raise InvariantError("The memory plan is faulty.", problems)


def _place_faults(request: TensorRequest, place: Allocation) -> Iterator[str]:
    if (place.id, place.role, place.size_bytes) != (request.id, request.role, request.size_bytes):
        yield "identity, role or size differs from the request"
    if request.destination_memory is not None and place.memory != request.destination_memory:
        yield f"is in {place.memory}, but a rule asks for {request.destination_memory}"
    if request.memory is not None and place.source_memory != request.memory:
        yield f"comes from {place.source_memory}, but a rule asks for {request.memory}"
    if request.destination_memory is None and request.memory not in (None, place.memory):
        yield f"is in {place.memory}, but a rule asks for {request.memory}"
    if request.role != "constant" and place.source_memory != place.memory:
        yield f"a {request.role} tensor has a source memory of its own"


def _arena_list_faults(
    plan: MemoryPlan, placed_in: Mapping[tuple[str, str], Sequence[_Placed]]
) -> Iterator[str]:
    keys = [(arena.role, arena.memory) for arena in plan.arenas]
    rank = {"scratch": 0, "persistent": 1, "constant": 2}
    if sorted(keys) != sorted(placed_in):
        yield "there is not exactly one arena for each role and memory in use"
    if keys != sorted(keys, key=lambda key: (rank[key[0]], key[1])):
        yield "the arenas are not in the order of roles and memories"
    if [arena.region_id for arena in plan.arenas] != list(range(len(plan.arenas))):
        yield "region ids are not 0, 1, 2, ..."


def _arena_faults(arena: Arena, placed: Sequence[_Placed], alignment: int) -> Iterator[str]:
    if arena.alignment != alignment:
        yield f"alignment is {arena.alignment}, not {alignment}"
    for request, place in placed:
        if place.offset < 0 or place.offset % alignment:
            yield f"{request.id!r} is at offset {place.offset}, not a multiple of {alignment}"
        if place.source_memory != arena.source_memory:
            yield f"{request.id!r} has source {place.source_memory}, not {arena.source_memory}"
    if arena.used_bytes != max((p.offset + p.size_bytes for _, p in placed), default=0):
        yield f"used is {arena.used_bytes}, which is not the end of the last tensor"
    if arena.used_bytes > arena.capacity_bytes:
        yield f"used is {arena.used_bytes}, beyond the capacity of {arena.capacity_bytes}"
    if arena.tensor_count != len(placed):
        yield f"tensor count is {arena.tensor_count}, not {len(placed)}"


def _guard_faults(
    arena: Arena, alignment: int, at_zero: Collection[str], external: bool
) -> Iterator[str]:
    if arena.is_external != external:
        yield "it is wrong about whether the application brings the storage"
    own = alignment if arena.memory in at_zero and not external else 0
    is_copied = arena.source_memory != arena.memory
    source = alignment if is_copied and arena.source_memory in at_zero else 0
    if (arena.guard_bytes, arena.source_guard_bytes) != (own, source):
        guards = f"{arena.guard_bytes} and {arena.source_guard_bytes}"
        yield f"guards are {guards} bytes, not {own} and {source}"


def _overlaps(
    placed: Sequence[_Placed], owner: Mapping[str, str], lives: Mapping[str, _Life]
) -> Iterator[str]:
    """Finds pairs that share bytes without being allowed to, and aliases that do not share."""
    by_offset = sorted(placed, key=lambda item: item[1].offset)
    for index, (one, one_place) in enumerate(by_offset):
        for other, other_place in by_offset[index + 1 :]:
            if other_place.offset >= one_place.offset + one_place.size_bytes:
                break
            a, b = lives[owner[one.id]], lives[owner[other.id]]
            apart = one.role == "scratch" and (a.last < b.first or b.last < a.first)
            if a != b and not apart and not _same_payload(one, one_place, other, other_place):
                yield f"{one.id!r} and {other.id!r} overlap while both are in use"
    offsets = {request.id: place.offset for request, place in placed}
    for request, place in placed:
        if request.alias_of is not None and offsets.get(request.alias_of) != place.offset:
            yield f"{request.id!r} does not share the storage of {request.alias_of!r}"


def _peak_faults(arena: Arena, lives: Iterable[_Life]) -> Iterator[str]:
    lives = list(lives)
    peak_bytes = max(
        sum(life.size_bytes for life in lives if life.first <= at.first <= life.last)
        for at in lives
    )
    if arena.peak_live_bytes != peak_bytes:
        yield f"peak is {arena.peak_live_bytes}, but {peak_bytes} bytes are live at once"


def _lives(placed: Sequence[_Placed], owner: Mapping[str, str]) -> dict[str, _Life]:
    lives: dict[str, _Life] = {}
    for request, place in placed:
        name = owner[request.id]
        known = lives.get(name, _Life(name, request.first_use, request.last_use, 0))
        lives[name] = _Life(
            name,
            min(known.first, request.first_use),
            max(known.last, request.last_use),
            max(known.size_bytes, place.size_bytes),
        )
    return lives


def _owner(tensor_id: str, parents: Mapping[str, str | None]) -> str:
    parent = parents[tensor_id]
    while parent is not None:
        tensor_id, parent = parent, parents[parent]
    return tensor_id


def _same_payload(
    one: TensorRequest, one_place: Allocation, other: TensorRequest, other_place: Allocation
) -> bool:
    same_slot = one_place.offset == other_place.offset
    return same_slot and one.data is not None and one.data == other.data


def _memory_faults(
    plan: MemoryPlan, memories: Mapping[str, int], alignment: int
) -> Iterator[tuple[str, str]]:
    need = dict.fromkeys(memories, 0)
    for arena in plan.arenas:
        guards = {arena.source_memory: arena.source_guard_bytes, arena.memory: arena.guard_bytes}
        for memory, guard_bytes in guards.items():
            end = -(-need.get(memory, 0) // alignment) * alignment
            need[memory] = end + guard_bytes + arena.used_bytes
    for memory, need_bytes in need.items():
        if need_bytes > memories.get(memory, -1):
            yield memory, f"{need_bytes} bytes are placed in {memories.get(memory, 0)}"
