# SPDX-License-Identifier: Apache-2.0
"""Whether a memory plan fits, and if not, why not and what would help."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from helia_aot.errors import BudgetError, Problem
from helia_aot.ir.graph import Graph
from helia_aot.memory.layout import Allocation, Arena, MemoryPlan
from helia_aot.memory.lifetimes import live_at_peak, merge_aliases
from helia_aot.memory.requests import TensorRequest

CONTRIBUTORS = 5
"""How many of the largest tensors an error names."""


def check_tensors(graph: Graph, memory_sizes: Mapping[str, int]) -> None:
    """Checks that no tensor alone is larger than all memories together, before anything is computed from its shape.

    Raises:
        BudgetError: Names each tensor that is.
    """
    total_bytes = sum(memory_sizes.values())
    used = {i for o in graph.operators for i in (*o.inputs, *o.outputs) if i is not None}
    problems = [
        Problem(
            f"tensor {tensor.id} {tensor.name}".rstrip(),
            f"{list(tensor.shape)} of {tensor.dtype} takes {tensor.size_bytes} bytes; "
            f"all memories together have {total_bytes}",
        )
        for tensor in graph.tensors.values()
        if tensor.id in used
        and tensor.dtype.is_numeric
        and min(tensor.shape, default=1) > 0
        and tensor.size_bytes > total_bytes
    ]
    if problems:
        raise BudgetError("The model has tensors that no memory holds.", problems)


def check_capacities(
    plan: MemoryPlan,
    requests: Sequence[TensorRequest],
    size_bytes: Mapping[str, int],
    *,
    read_only: Collection[str] = (),
) -> None:
    """Checks every memory against its capacity.

    Args:
        plan: Where everything is.
        requests: The tensors.
        size_bytes: What may be used of each memory.
        read_only: Memories that hold constants alone; an error does not send other tensors there.

    Raises:
        BudgetError: At least one memory is too small. It names each such memory, the bytes needed
            and available, the arenas, the five largest contributors and what would lower the need.
    """
    free = {memory: size - plan.memory_bytes(memory) for memory, size in size_bytes.items()}
    problems = [
        _exceeded(memory, plan, requests, size_bytes[memory], _Free(free, frozenset(read_only)))
        for memory in size_bytes
        if free[memory] < 0
    ]
    if problems:
        overflow = {f"{memory}_bytes": -left for memory, left in free.items() if left < 0}
        raise BudgetError("The module does not fit into its memories.", problems, overflow=overflow)


@dataclass(frozen=True)
class _Free:
    """Bytes left in each memory, and which of them hold constants alone."""

    left_bytes: Mapping[str, int]
    read_only: frozenset[str]

    def room(self, place: Allocation) -> dict[str, int]:
        """Gives the memories that a tensor could move to, with what is free there."""
        return {
            memory: left
            for memory, left in self.left_bytes.items()
            if left >= place.size_bytes
            and left > 0
            and (place.role == "constant" or memory not in self.read_only)
        }


def _exceeded(
    memory: str,
    plan: MemoryPlan,
    requests: Sequence[TensorRequest],
    size_bytes: int,
    free: _Free,
) -> Problem:
    arenas = [arena for arena in plan.arenas if memory in (arena.memory, arena.source_memory)]
    parts = ", ".join(
        f"{'source of staged ' if arena.memory != memory else ''}{arena.role} "
        f"{arena.storage_bytes(memory)}"
        for arena in arenas
    )
    places = [place for arena in arenas for place in contributors(arena, plan, requests)]
    places.sort(key=lambda place: -place.size_bytes)
    largest = ", ".join(f"{p.id} ({p.role}, {p.size_bytes})" for p in places[:CONTRIBUTORS])
    return Problem(
        memory,
        f"needs {plan.memory_bytes(memory)} bytes, {size_bytes} are available ({parts}); "
        f"largest: {largest}",
        _remedy(places, free),
    )


def contributors(
    arena: Arena, plan: MemoryPlan, requests: Sequence[TensorRequest]
) -> list[Allocation]:
    """Gives one tensor for each slot that makes the arena as large as it is."""
    members = [
        request
        for request in requests
        if request.role == arena.role and plan.allocations[request.id].memory == arena.memory
    ]
    if arena.role == "scratch":
        return [plan.allocations[block.root] for block in live_at_peak(merge_aliases(members))]
    slots: dict[int, Allocation] = {}
    for member in members:
        slots.setdefault(plan.allocations[member.id].offset, plan.allocations[member.id])
    return list(slots.values())


def _remedy(places: Sequence[Allocation], free: _Free) -> str:
    movable = next((place for place in places if free.room(place)), None)
    if movable is None:
        return (
            "use a smaller model, or raise memory.constraints if they are below the target's sizes"
        )
    room = ", ".join(f"{memory} ({left} bytes free)" for memory, left in free.room(movable).items())
    return (
        f"move tensors such as {movable.id} with memory.tensors to {room}, or use a smaller model"
    )
