# SPDX-License-Identifier: Apache-2.0
"""What each planner of scratch memory promises; overlaps and peaks are checked in test_plan.py for all of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from helia_aot.memory.first_fit import ScratchProblem, Slot
from helia_aot.memory.layout import align_up
from helia_aot.memory.lifetimes import Block
from helia_aot.memory.planners import Greedy, GreedyBySize, HillClimb, Planner

CLIMB = HillClimb(seed=0, iterations=60)

_lives = st.tuples(st.integers(1, 200), st.integers(0, 8), st.integers(0, 5))


def problem_of(
    lives: list[tuple[int, int, int]], *, alignment: int = 16, room: int = 1 << 20
) -> ScratchProblem:
    blocks = tuple(
        Block(str(i), (str(i),), size, first, first + length, ())
        for i, (size, first, length) in enumerate(lives)
    )
    memories = {"dtcm": room, "sram": 1 << 20}
    return ScratchProblem(blocks, memories, {b.root: tuple(memories) for b in blocks}, alignment)


def end_of(problem: ScratchProblem, planner: Planner, memory: str = "dtcm") -> int:
    slots = planner.place(problem)
    ends = [
        slots[b.root].offset + b.size_bytes
        for b in problem.blocks
        if slots[b.root].memory == memory
    ]
    return max(ends, default=0)


def spilled(problem: ScratchProblem, planner: Planner) -> int:
    slots = planner.place(problem)
    return sum(b.size_bytes for b in problem.blocks if slots[b.root].memory != "dtcm")


def fullest_moment(problem: ScratchProblem) -> int:
    """Bytes that no plan can go below, counted at every operator."""
    least = 0
    for at in range(20):
        live = [b for b in problem.blocks if b.first_use <= at <= b.last_use]
        slots = [align_up(b.size_bytes, problem.alignment) for b in live]
        padding = [slot - b.size_bytes for slot, b in zip(slots, live, strict=True)]
        least = max(least, sum(slots) - max(padding, default=0))
    return least


@given(st.lists(_lives, max_size=12), st.sampled_from([1, 4, 16]))
def test_hill_climb_is_never_larger_than_the_greedy_planners(
    lives: list[tuple[int, int, int]], alignment: int
) -> None:
    problem = problem_of(lives, alignment=alignment)
    climbed = end_of(problem, CLIMB)
    assert climbed <= min(end_of(problem, Greedy()), end_of(problem, GreedyBySize()))
    assert climbed >= fullest_moment(problem)


@given(st.lists(_lives, min_size=1, max_size=12), st.sampled_from([64, 256, 512]))
def test_hill_climb_never_keeps_more_out_of_the_preferred_memory(
    lives: list[tuple[int, int, int]], room: int
) -> None:
    problem = problem_of(lives, room=room)
    others = [spilled(problem, planner) for planner in (Greedy(), GreedyBySize())]
    assert spilled(problem, CLIMB) <= min(others)
    assert end_of(problem, CLIMB) <= room


@given(st.lists(_lives, max_size=12), st.integers(0, 3))
def test_a_seed_gives_the_same_plan_again(lives: list[tuple[int, int, int]], seed: int) -> None:
    problem = problem_of(lives)
    planner = HillClimb(seed=seed, iterations=20)
    assert planner.place(problem) == planner.place(problem)


# First fit cannot place these well in the order of birth or of size: (size, birth, further operators).
HARD = [(48, 1, 1), (64, 3, 0), (64, 3, 1), (48, 1, 2), (96, 4, 2)]


def test_hill_climb_finds_what_the_greedy_planners_miss() -> None:
    problem = problem_of(HARD)
    assert end_of(problem, CLIMB) < min(end_of(problem, Greedy()), end_of(problem, GreedyBySize()))
    assert end_of(problem, CLIMB) == fullest_moment(problem)


def test_without_iterations_it_is_the_better_greedy_planner() -> None:
    problem = problem_of(HARD)
    best = min(end_of(problem, Greedy()), end_of(problem, GreedyBySize()))
    assert end_of(problem, replace(CLIMB, iterations=0)) == best


def test_greedy_places_in_operator_order_large_blocks_first() -> None:
    problem = problem_of([(16, 0, 0), (48, 0, 0), (96, 1, 0)])
    assert Greedy().place(problem) == {
        "0": Slot("dtcm", 48),
        "1": Slot("dtcm", 0),
        "2": Slot("dtcm", 0),
    }


def test_greedy_by_size_places_the_largest_block_of_the_model_first() -> None:
    problem = problem_of([(32, 0, 1), (16, 0, 0), (96, 1, 1)])
    assert GreedyBySize().place(problem)["2"] == Slot("dtcm", 0)
    assert Greedy().place(problem)["0"] == Slot("dtcm", 0)


def test_nothing_to_place() -> None:
    for planner in (Greedy(), GreedyBySize(), CLIMB):
        assert planner.place(problem_of([])) == {}
