# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from helia_aot.memory.greedy import FreeList, Slot, place_greedily
from helia_aot.memory.lifetimes import Block


def _block(name: str, size_bytes: int, first_use: int, last_use: int) -> Block:
    return Block(name, (name,), size_bytes, first_use, last_use, ())


def _place(*blocks: Block, room_bytes: int = 1 << 20) -> dict[str, int]:
    slots = place_greedily(
        blocks,
        room_bytes={"ram": room_bytes},
        candidates={block.root: ["ram"] for block in blocks},
        alignment=16,
    )
    return {name: slot.offset for name, slot in slots.items()}


def test_gap_of_a_dead_block_is_reused() -> None:
    assert _place(_block("a", 64, 0, 0), _block("b", 16, 0, 2), _block("c", 32, 1, 2)) == {
        "a": 0,
        "b": 64,
        "c": 0,
    }


def test_gaps_that_touch_are_merged() -> None:
    blocks = [_block("a", 32, 0, 1), _block("b", 32, 0, 0), _block("c", 16, 0, 3)]
    assert _place(*blocks, _block("d", 64, 2, 3))["d"] == 0


def test_largest_block_of_an_operator_is_placed_first() -> None:
    assert _place(_block("small", 16, 0, 0), _block("large", 48, 0, 0)) == {"large": 0, "small": 48}


def test_last_use_is_inclusive() -> None:
    assert _place(_block("in", 16, 0, 1), _block("out", 16, 1, 1)) == {"in": 0, "out": 16}


def test_block_that_fits_nowhere_overflows_the_roomiest_memory() -> None:
    slots = place_greedily(
        [_block("a", 100, 0, 0)],
        room_bytes={"dtcm": 16, "sram": 32},
        candidates={"a": ["dtcm", "sram"]},
        alignment=16,
    )
    assert slots == {"a": Slot("sram", 0)}


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 64)), max_size=60))
def test_free_list_never_gives_taken_room(steps: list[tuple[bool, int]]) -> None:
    free, taken = FreeList(), []
    for take, number in steps:
        if take or not taken:
            offset = free.find(number)
            assert all(offset + number <= start or start + size <= offset for start, size in taken)
            free.take(offset, number)
            taken.append((offset, number))
        else:
            free.give_back(*taken.pop(number % len(taken)))
    for start, size in taken:
        free.give_back(start, size)
    assert free.find(1 << 20) == 0
