# SPDX-License-Identifier: Apache-2.0
"""The ``greedy`` planner of scratch memory: first fit over the operators in their order.

At each operator the blocks that died before are given back, gaps that touch are merged, and the
blocks born here are placed from the largest to the smallest at the lowest address with room. Blocks
of one size keep the order of their requests, so the result depends on nothing but the requests.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from helia_aot.memory.layout import align_up
from helia_aot.memory.lifetimes import Block


@dataclass(frozen=True)
class Slot:
    """Where a block goes: an offset in the scratch arena of a memory."""

    memory: str
    offset: int


class FreeList:
    """The free space of one arena: gaps below the highest end so far, and endless room above it."""

    def __init__(self) -> None:
        self._gaps: list[tuple[int, int]] = []  # (start, end), ascending, never touching
        self._top = 0

    def find(self, size_bytes: int) -> int:
        """Gives the lowest offset with room for ``size_bytes``, without taking it.

        A gap that ends at the top may grow beyond it.
        """
        for start, end in self._gaps:
            if end - start >= size_bytes or end == self._top:
                return start
        return self._top

    def take(self, offset: int, size_bytes: int) -> None:
        """Takes room that :meth:`find` gave."""
        end = offset + size_bytes
        remaining: list[tuple[int, int]] = []
        for gap_start, gap_end in self._gaps:
            if gap_end <= offset or gap_start >= end:
                remaining.append((gap_start, gap_end))
                continue
            if gap_start < offset:
                remaining.append((gap_start, offset))
            if gap_end > end:
                remaining.append((end, gap_end))
        self._gaps = remaining
        self._top = max(self._top, end)

    def give_back(self, offset: int, size_bytes: int) -> None:
        """Frees room and merges it with the gaps it touches."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted([*self._gaps, (offset, offset + size_bytes)]):
            if merged and merged[-1][1] == start:
                merged[-1] = (merged[-1][0], end)
            else:
                merged.append((start, end))
        self._gaps = merged


def place_greedily(
    blocks: Sequence[Block],
    *,
    room_bytes: Mapping[str, int],
    candidates: Mapping[str, Sequence[str]],
    alignment: int,
) -> dict[str, Slot]:
    """Gives every block a slot so that no two live blocks overlap.

    Args:
        blocks: The blocks to place.
        room_bytes: For each memory the largest end that a block may have.
        candidates: For each block (by its root) the memories to try, in order. When a block fits
            none, it goes to the one with the most room and overflows it: the caller compares the
            ends with the room.
        alignment: Alignment of every slot in bytes.

    Returns:
        The slot of each block by its root.
    """
    free = {memory: FreeList() for memory in room_bytes}
    live: list[tuple[int, int, str, int]] = []  # heap of (last use, serial, memory, offset)
    sizes: dict[int, int] = {}
    slots: dict[str, Slot] = {}
    for serial, block in enumerate(_birth_order(blocks)):
        while live and live[0][0] < block.first_use:
            _, dead, memory, offset = heapq.heappop(live)
            free[memory].give_back(offset, sizes[dead])
        size_bytes = align_up(block.size_bytes, alignment)
        slot = _first_fit(block, candidates[block.root], free, room_bytes, size_bytes)
        free[slot.memory].take(slot.offset, size_bytes)
        slots[block.root] = slot
        sizes[serial] = size_bytes
        heapq.heappush(live, (block.last_use, serial, slot.memory, slot.offset))
    return slots


def _birth_order(blocks: Iterable[Block]) -> list[Block]:
    return sorted(blocks, key=lambda block: (block.first_use, -block.size_bytes))


def _first_fit(
    block: Block,
    candidates: Sequence[str],
    free: Mapping[str, FreeList],
    room_bytes: Mapping[str, int],
    aligned_bytes: int,
) -> Slot:
    offsets = {memory: free[memory].find(aligned_bytes) for memory in candidates}
    for memory, offset in offsets.items():
        if offset + block.size_bytes <= room_bytes[memory]:
            return Slot(memory, offset)
    roomiest = max(candidates, key=lambda memory: room_bytes[memory])
    return Slot(roomiest, offsets[roomiest])
