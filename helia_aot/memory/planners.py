# SPDX-License-Identifier: Apache-2.0
"""The planners of scratch memory: which block is placed first.

All of them place by first fit (:mod:`helia_aot.memory.first_fit`), are deterministic, and are
checked by the same independent verifier afterwards.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Protocol

from helia_aot.config.convert import PlannerName, PlannerOptions
from helia_aot.memory.first_fit import FirstFit, ScratchProblem, Slot
from helia_aot.memory.layout import align_up
from helia_aot.memory.lifetimes import Block


class Planner(Protocol):
    """Gives every block of scratch memory its place."""

    def place(self, problem: ScratchProblem) -> Mapping[str, Slot]:
        """Gives the slot of each block by its root; the same problem always gives the same."""


class Greedy:
    """First fit over the operators in their order; blocks born together from large to small."""

    def place(self, problem: ScratchProblem) -> Mapping[str, Slot]:
        """Gives the slots, see :class:`Planner`."""
        return _by_root(problem, FirstFit(problem).place(_birth_order(problem)))


class GreedyBySize:
    """First fit from the largest block of the whole model to the smallest."""

    def place(self, problem: ScratchProblem) -> Mapping[str, Slot]:
        """Gives the slots, see :class:`Planner`."""
        return _by_root(problem, FirstFit(problem).place(_size_order(problem)))


@dataclass(frozen=True)
class HillClimb:
    """Local search over the order that first fit takes the blocks in.

    It starts from the better of the two greedy orders and moves single blocks forward, those that
    end highest first, keeping every order that is not worse. It ends early when an arena is as
    small as its live bytes allow, which no plan can beat.

    Orders are compared by the bytes that overflow a memory, then by those outside the memory that
    the block would rather be in, then by the sum of the arenas. So the result is never worse by
    this measure than either greedy planner's.

    Attributes:
        seed: Seed of the moves.
        iterations: Number of moves tried at most.
    """

    seed: int
    iterations: int

    def place(self, problem: ScratchProblem) -> Mapping[str, Slot]:
        """Gives the slots, see :class:`Planner`."""
        first_fit = FirstFit(problem)
        starts = [_birth_order(problem), _size_order(problem)]
        found = [(order, first_fit.place(order)) for order in starts]
        order, slots = min(found, key=lambda item: _cost(problem, item[1]))
        cost, least = _cost(problem, slots), _least_cost(problem)
        chance = random.Random(self.seed)
        for _ in range(self.iterations):
            if cost <= least or len(order) < 2:
                break
            moved = _moved(problem, order, slots, chance)
            tried = first_fit.place(moved)
            tried_cost = _cost(problem, tried)
            if tried_cost <= cost:
                order, slots, cost = moved, tried, tried_cost
        return _by_root(problem, slots)


PLANNERS: Final[Mapping[PlannerName, Callable[[PlannerOptions], Planner]]] = MappingProxyType(
    {
        "greedy": lambda _: Greedy(),
        "greedy_by_size": lambda _: GreedyBySize(),
        "hill_climb": lambda options: HillClimb(options.seed, options.iterations),
    }
)
"""How to make each planner from the options of a configuration."""


_ANY_BLOCK: Final = 0.5
"""Share of the moves that take any block; the others take one that ends highest."""


def _birth_order(problem: ScratchProblem) -> list[int]:
    blocks = problem.blocks
    return sorted(range(len(blocks)), key=lambda i: (blocks[i].first_use, -blocks[i].size_bytes))


def _size_order(problem: ScratchProblem) -> list[int]:
    blocks = problem.blocks
    return sorted(range(len(blocks)), key=lambda i: (-blocks[i].size_bytes, blocks[i].first_use))


def _by_root(problem: ScratchProblem, slots: Sequence[Slot]) -> dict[str, Slot]:
    return {block.root: slot for block, slot in zip(problem.blocks, slots, strict=True)}


Cost = tuple[int, int, int]
"""Bytes beyond the room of memories, bytes outside the preferred memory, bytes of all arenas."""


def _cost(problem: ScratchProblem, slots: Sequence[Slot]) -> Cost:
    ends: dict[str, int] = {}
    spilled = 0
    for block, slot in zip(problem.blocks, slots, strict=True):
        ends[slot.memory] = max(ends.get(slot.memory, 0), slot.offset + block.size_bytes)
        spilled += block.size_bytes * (slot.memory != problem.candidates[block.root][0])
    overflow = sum(max(0, end - problem.room_bytes[memory]) for memory, end in ends.items())
    return overflow, spilled, sum(ends.values())


def _least_cost(problem: ScratchProblem) -> Cost:
    """Gives a cost that no order can go below: every arena as small as its fullest moment."""
    by_memory: dict[str, list[Block]] = {}
    for block in problem.blocks:
        by_memory.setdefault(problem.candidates[block.root][0], []).append(block)
    return 0, 0, sum(_least_bytes(blocks, problem.alignment) for blocks in by_memory.values())


def _least_bytes(blocks: Sequence[Block], alignment: int) -> int:
    """Gives the most that is live at once: aligned slots, without the padding behind the last."""
    least = 0
    live: list[Block] = []
    for block in sorted(blocks, key=lambda b: b.first_use):
        live = [other for other in live if other.last_use >= block.first_use] + [block]
        slots = [align_up(other.size_bytes, alignment) for other in live]
        paddings = [slot - b.size_bytes for slot, b in zip(slots, live, strict=True)]
        least = max(least, sum(slots) - max(paddings))
    return least


def _moved(
    problem: ScratchProblem, order: Sequence[int], slots: Sequence[Slot], chance: random.Random
) -> list[int]:
    """Gives the order with one of the blocks that end highest, or any other, moved forward."""
    ends = [slot.offset + b.size_bytes for b, slot in zip(problem.blocks, slots, strict=True)]
    highest = max(ends)
    movable = [position for position in range(1, len(order)) if ends[order[position]] == highest]
    if not movable or chance.random() < _ANY_BLOCK:
        movable = list(range(1, len(order)))
    position = movable[int(chance.random() * len(movable))]
    moved = list(order)
    moved.insert(int(chance.random() * position), moved.pop(position))
    return moved
