# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

from helia_aot.memory.first_fit import FirstFit, ScratchProblem, Slot
from helia_aot.memory.lifetimes import Block


def block(name: str, size_bytes: int, first_use: int, last_use: int) -> Block:
    return Block(name, (name,), size_bytes, first_use, last_use, ())


def problem(*blocks: Block, room_bytes: int = 1 << 20) -> ScratchProblem:
    candidates = {b.root: ["ram"] for b in blocks}
    return ScratchProblem(blocks, {"ram": room_bytes}, candidates, 16)


def offsets(order: Sequence[int], *blocks: Block) -> list[int]:
    return [slot.offset for slot in FirstFit(problem(*blocks)).place(order)]


def test_room_of_a_dead_block_is_reused() -> None:
    blocks = (block("a", 64, 0, 0), block("b", 16, 0, 2), block("c", 32, 1, 2))
    assert offsets([0, 1, 2], *blocks) == [0, 64, 0]


def test_gaps_that_touch_are_one() -> None:
    blocks = (
        block("a", 32, 0, 1),
        block("b", 32, 0, 0),
        block("c", 16, 0, 3),
        block("d", 64, 2, 3),
    )
    assert offsets([0, 1, 2, 3], *blocks) == [0, 32, 64, 0]


def test_a_gap_that_is_too_small_is_passed_over() -> None:
    blocks = (block("a", 16, 0, 0), block("b", 16, 0, 1), block("c", 32, 1, 1))
    assert offsets([0, 1, 2], *blocks) == [0, 16, 32]


def test_the_order_decides() -> None:
    blocks = (block("a", 16, 0, 0), block("b", 48, 0, 0))
    assert offsets([0, 1], *blocks) == [0, 16]
    assert offsets([1, 0], *blocks) == [48, 0]


def test_last_use_is_inclusive() -> None:
    assert offsets([0, 1], block("in", 16, 0, 1), block("out", 16, 1, 1)) == [0, 16]


def test_blocks_try_their_memories_in_order_and_overflow_the_roomiest() -> None:
    blocks = (block("a", 16, 0, 0), block("b", 32, 0, 0), block("c", 100, 0, 0))
    candidates = {b.root: ["dtcm", "sram"] for b in blocks}
    rooms = {"dtcm": 16, "sram": 32}
    slots = FirstFit(ScratchProblem(blocks, rooms, candidates, 16)).place([0, 1, 2])
    assert slots == [Slot("dtcm", 0), Slot("sram", 0), Slot("sram", 32)]
