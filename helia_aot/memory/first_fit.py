# SPDX-License-Identifier: Apache-2.0
"""First fit: given an order, every block goes to the lowest place that no other live block takes.

All planners place blocks this way and differ in the order alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from helia_aot.memory.layout import align_up
from helia_aot.memory.lifetimes import Block


@dataclass(frozen=True)
class Slot:
    """Where a block goes: an offset in the scratch arena of a memory."""

    memory: str
    offset: int


@dataclass(frozen=True)
class ScratchProblem:
    """What a planner of scratch memory is given.

    Attributes:
        blocks: The blocks to place, in the order of the requests.
        room_bytes: For each memory the largest end that a block may have.
        candidates: For each block (by its root) the memories to try, in order. When a block fits
            none, it goes to the one with the most room and overflows it: the caller compares the
            ends with the room.
        alignment: Alignment of every slot in bytes.
    """

    blocks: tuple[Block, ...]
    room_bytes: Mapping[str, int]
    candidates: Mapping[str, Sequence[str]]
    alignment: int


class FirstFit:
    """Places the blocks of one problem in any order, again and again."""

    def __init__(self, problem: ScratchProblem) -> None:
        self._problem = problem
        self._sizes = [align_up(block.size_bytes, problem.alignment) for block in problem.blocks]
        self._neighbours = _neighbours(problem.blocks)

    def place(self, order: Iterable[int]) -> list[Slot]:
        """Gives every block a slot so that no two live blocks overlap.

        Args:
            order: The positions of all blocks in ``problem.blocks``, first to be placed first.

        Returns:
            The slots in the order of ``problem.blocks``.
        """
        slots: dict[int, Slot] = {}
        for index in order:
            slots[index] = self._lowest(index, slots)
        return [slots[index] for index in range(len(slots))]

    def _lowest(self, index: int, slots: Mapping[int, Slot]) -> Slot:
        block, room_bytes = self._problem.blocks[index], self._problem.room_bytes
        candidates = self._problem.candidates[block.root]
        placed = [(slots[n], self._sizes[n]) for n in self._neighbours[index] if n in slots]
        fallback: dict[str, int] = {}
        for memory in candidates:
            offset = _lowest_gap(memory, placed, self._sizes[index])
            if offset + block.size_bytes <= room_bytes[memory]:
                return Slot(memory, offset)
            fallback[memory] = offset
        roomiest = max(candidates, key=lambda memory: room_bytes[memory])
        return Slot(roomiest, fallback[roomiest])


def _lowest_gap(memory: str, placed: Iterable[tuple[Slot, int]], size_bytes: int) -> int:
    taken = sorted((slot.offset, size) for slot, size in placed if slot.memory == memory)
    offset = 0
    for start, size in taken:
        if start - offset >= size_bytes:
            break
        offset = max(offset, start + size)
    return offset


def _neighbours(blocks: Sequence[Block]) -> list[list[int]]:
    """Gives for each block the others that are live together with it at some operator."""
    found: list[list[int]] = [[] for _ in blocks]
    live: list[int] = []
    for index in sorted(range(len(blocks)), key=lambda i: blocks[i].first_use):
        live = [other for other in live if blocks[other].last_use >= blocks[index].first_use]
        for other in live:
            found[index].append(other)
            found[other].append(index)
        live.append(index)
    return found
