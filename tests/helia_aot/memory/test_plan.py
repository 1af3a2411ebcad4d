# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helia_aot.config.convert import PlannerName, PlannerOptions
from helia_aot.errors import BudgetError, ConfigError
from helia_aot.memory.plan import Memories, MemoryPlan, constant_blob, plan_memory
from helia_aot.memory.planners import PLANNERS, Greedy, GreedyBySize, HillClimb, Planner
from helia_aot.memory.requests import TensorRequest

MEMORIES = {"dtcm": 4096, "sram": 1 << 20, "mram": 1 << 20}
EACH_PLANNER = {
    "greedy": Greedy(),
    "greedy_by_size": GreedyBySize(),
    "hill_climb": HillClimb(seed=1, iterations=12),
}
planners = pytest.mark.parametrize("planner", EACH_PLANNER.values(), ids=EACH_PLANNER)


def plan(
    requests: list[TensorRequest],
    memories: Mapping[str, int] = MEMORIES,
    planner: Planner = EACH_PLANNER["greedy"],
    **changes: object,
) -> MemoryPlan:
    facts = {"preferred": ("dtcm", "sram", "mram"), "alignment": 16} | changes
    target = Memories(memories, read_only=frozenset({"mram"}), **facts)
    return plan_memory(requests, target, planner)


def constant(name: str, data: bytes, **rule: object) -> TensorRequest:
    return TensorRequest(name, "constant", len(data), data=data, **rule)


@st.composite
def problems(draw: st.DrawFn) -> list[TensorRequest]:
    """Random graphs: scratch with aliases of earlier tensors, persistent state, few payloads."""
    requests = []
    for index in range(draw(st.integers(1, 25))):
        first = draw(st.integers(0, 12))
        last = first + draw(st.integers(0, 6))
        size = draw(st.integers(1, 900))
        alias_of = None
        if requests and draw(st.booleans()):
            alias_of = draw(st.sampled_from(requests)).id
        requests.append(TensorRequest(f"s{index}", "scratch", size, first, last, alias_of))
    for index in range(draw(st.integers(0, 8))):
        data = bytes([draw(st.integers(0, 3))]) * draw(st.sampled_from([1, 7, 16, 300]))
        requests.append(constant(f"c{index}", data))
    for index in range(draw(st.integers(0, 4))):
        requests.append(TensorRequest(f"p{index}", "persistent", draw(st.integers(1, 200))))
    return requests


def _root(request: TensorRequest, by_id: dict[str, TensorRequest]) -> str:
    while request.alias_of:
        request = by_id[request.alias_of]
    return request.id


@planners
@given(requests=problems())
def test_no_two_live_tensors_overlap(planner: Planner, requests: list[TensorRequest]) -> None:
    result = plan(requests, planner=planner)
    by_id = {r.id: r for r in requests}
    chains = {}
    for request in requests:
        chains.setdefault(_root(request, by_id), []).append(request)
    for one_root, one in chains.items():
        for other_root, other in chains.items():
            if one_root >= other_root or not _live_together(one, other):
                continue
            assert not _share_bytes(one, other, result) or _equal_payloads(one, other, result)


def _live_together(one: list[TensorRequest], other: list[TensorRequest]) -> bool:
    if {one[0].role, other[0].role} != {"scratch"}:
        return True
    return min(r.first_use for r in one) <= max(r.last_use for r in other) and min(
        r.first_use for r in other
    ) <= max(r.last_use for r in one)


def _share_bytes(one: list[TensorRequest], other: list[TensorRequest], result: MemoryPlan) -> bool:
    a, b = result.allocations[one[0].id], result.allocations[other[0].id]
    a_size, b_size = max(r.size_bytes for r in one), max(r.size_bytes for r in other)
    same_arena = (a.role, a.memory) == (b.role, b.memory)
    return same_arena and a.offset < b.offset + b_size and b.offset < a.offset + a_size


def _equal_payloads(
    one: list[TensorRequest], other: list[TensorRequest], result: MemoryPlan
) -> bool:
    offsets = {result.allocations[r.id].offset for r in (*one, *other)}
    return one[0].data is not None and one[0].data == other[0].data and len(offsets) == 1


@planners
@given(requests=problems())
def test_arena_is_between_peak_and_sum(planner: Planner, requests: list[TensorRequest]) -> None:
    for arena in plan(requests, planner=planner).arenas:
        sizes = [-(-r.size_bytes // 16) * 16 for r in requests if r.role == arena.role]
        assert arena.peak_live_bytes <= arena.used_bytes <= sum(sizes)
        assert arena.used_bytes <= arena.capacity_bytes
        assert arena.fragmentation >= 0


@planners
@given(requests=problems())
def test_alias_chains_share_one_slot(planner: Planner, requests: list[TensorRequest]) -> None:
    result = plan(requests, planner=planner)
    for request in requests:
        if request.alias_of:
            mine, root = (result.allocations[i] for i in (request.id, request.alias_of))
            assert (mine.memory, mine.offset) == (root.memory, root.offset)


@given(problems())
def test_equal_constants_share_one_slot_and_the_blob_holds_all_payloads(
    requests: list[TensorRequest],
) -> None:
    result = plan(requests)
    for arena in (a for a in result.arenas if a.role == "constant"):
        blob = constant_blob(result, arena, requests)
        assert len(blob) == arena.used_bytes
        offsets = {}
        for request in (r for r in requests if r.role == "constant"):
            place = result.allocations[request.id]
            assert blob[place.offset :][: place.size_bytes] == request.data
            assert offsets.setdefault(request.data, place.offset) == place.offset


@planners
@given(requests=problems())
def test_same_requests_give_the_same_plan(planner: Planner, requests: list[TensorRequest]) -> None:
    assert plan(requests, planner=planner) == plan(list(requests), planner=planner)


@planners
@given(requests=problems(), alignment=st.sampled_from([1, 4, 16, 32]))
def test_offsets_are_aligned_and_regions_numbered(
    planner: Planner, requests: list[TensorRequest], alignment: int
) -> None:
    result = plan(requests, planner=planner, alignment=alignment)
    assert all(a.offset % alignment == 0 for a in result.allocations.values())
    order = [("scratch", "persistent", "constant").index(a.role) for a in result.arenas]
    keys = list(zip(order, (a.memory for a in result.arenas), strict=True))
    assert keys == sorted(keys)
    assert [result.arena(i).region_id for i in range(len(keys))] == list(range(len(keys)))


def test_arena_ends_exactly_where_its_last_tensor_ends() -> None:
    result = plan([TensorRequest("0", "scratch", 20), TensorRequest("1", "scratch", 10)])
    (arena,) = result.arenas
    assert (arena.used_bytes, arena.peak_live_bytes, arena.fragmentation) == (42, 30, 12)


def test_scratch_capacity_is_what_constants_and_persistent_tensors_leave() -> None:
    result = plan(
        [
            constant("c", bytes(17)),
            TensorRequest("p", "persistent", 3),
            TensorRequest("s", "scratch", 5),
        ]
    )
    assert result.arena(0).capacity_bytes == 4096 - 32 - 16
    assert result.memory_bytes("dtcm") == 16 + 16 + 32


def test_tensors_without_room_go_to_the_next_preferred_memory() -> None:
    result = plan(
        [
            constant("big", bytes(5000)),
            constant("small", b"x" * 4080),
            TensorRequest("state", "persistent", 16),
            TensorRequest("0", "scratch", 64, 0, 1),
            TensorRequest("1", "scratch", 8, 1, 1),
        ]
    )
    memories = {name: place.memory for name, place in result.allocations.items()}
    assert memories == {"big": "sram", "small": "dtcm", "state": "dtcm", "0": "sram", "1": "sram"}


def test_rule_binds_even_if_a_preferred_memory_has_room() -> None:
    requests = [
        constant("c", b"abc", memory="mram"),
        TensorRequest("s", "scratch", 8, memory="sram"),
        TensorRequest("t", "scratch", 8, alias_of="s"),
        TensorRequest("p", "persistent", 8, memory="sram"),
    ]
    memories = {name: place.memory for name, place in plan(requests).allocations.items()}
    assert memories == {"c": "mram", "s": "sram", "t": "sram", "p": "sram"}


def test_staged_constants_take_room_in_both_memories() -> None:
    result = plan([constant("c", bytes(100), memory="mram", destination_memory="dtcm")])
    (arena,) = result.arenas
    assert (arena.memory, arena.source_memory, arena.is_staged) == ("dtcm", "mram", True)
    assert result.memory_bytes("dtcm") == result.memory_bytes("mram") == 112


def test_staged_constants_without_a_source_come_from_read_only_memory() -> None:
    result = plan([constant("c", bytes(100), destination_memory="dtcm")])
    assert result.arena(0).source_memory == "mram"


def test_constant_without_a_rule_joins_those_staged_to_its_memory() -> None:
    requests = [
        constant("free", bytes(9)),
        constant("staged", b"abc", memory="mram", destination_memory="dtcm"),
    ]
    result = plan(requests)
    assert {a.source_memory for a in result.allocations.values()} == {"mram"}
    assert len(result.arenas) == 1


def test_constants_of_one_memory_from_two_sources_are_refused() -> None:
    requests = [
        constant("cold", b"a", memory="dtcm"),
        constant("staged", b"b", memory="mram", destination_memory="dtcm"),
        constant("other", b"c", memory="sram", destination_memory="dtcm"),
    ]
    with pytest.raises(ConfigError) as caught:
        plan(requests)
    text = str(caught.value)
    assert "one source memory" in text
    assert all(
        f"'{name}' from {m}" in text
        for name, m in zip(("cold", "staged", "other"), ("dtcm", "mram", "sram"), strict=True)
    )


def test_every_impossible_rule_is_reported_at_once() -> None:
    requests = [
        constant("c", b"a", memory="flash"),
        constant("d", b"b", memory="dtcm", destination_memory="mram"),
        TensorRequest("s", "scratch", 8, memory="mram"),
        TensorRequest("t", "scratch", 8, memory="dtcm"),
        TensorRequest("u", "scratch", 8, alias_of="t", memory="sram"),
        TensorRequest("p", "persistent", 8, destination_memory="dtcm"),
    ]
    with pytest.raises(ConfigError) as caught:
        plan(requests)
    text = str(caught.value)
    assert len(caught.value.problems) == 4
    for part in (
        "no memory 'flash'",
        "'d', 's': mram is read-only",
        "share one storage",
        "for constants",
    ):
        assert part in text


def test_staging_needs_a_second_memory() -> None:
    with pytest.raises(ConfigError, match="no other memory can hold"):
        plan_memory(
            [constant("c", b"a", destination_memory="ram")],
            Memories({"ram": 64}, ("ram",), 16),
            Greedy(),
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"preferred": ("flash",)}, "no memory 'flash'"),
        ({"preferred": ()}, "no memory is named"),
        ({"preferred": ("mram",)}, "can be written to"),
    ],
)
def test_unusable_target_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plan([TensorRequest("s", "scratch", 8)], **changes)


def test_every_memory_that_is_too_small_is_reported() -> None:
    requests = [
        *(constant(f"c{i}", bytes([i]) * 200, memory="mram") for i in range(6)),
        TensorRequest("0", "scratch", 300, 0, 1, memory="dtcm"),
        TensorRequest("1", "scratch", 50, 1, 1, memory="dtcm"),
        TensorRequest("dead", "scratch", 60, 2, 2, memory="dtcm"),
    ]
    with pytest.raises(BudgetError) as caught:
        plan(requests, memories={"dtcm": 320, "sram": 1000, "mram": 500})
    mram, dtcm = sorted(caught.value.problems, key=lambda p: p.where, reverse=True)
    assert "needs 1248 bytes, 500 are available (constant 1248)" in mram.reason
    assert "c0 (constant, 200), c1" in mram.reason
    assert "c5" not in mram.reason
    assert "needs 368 bytes, 320 are available (scratch 368)" in dtcm.reason
    assert "largest: 0 (scratch, 300), 1 (scratch, 50)" in dtcm.reason
    assert "dead" not in dtcm.reason
    assert "sram (1000 bytes free)" in dtcm.next_step


def test_only_constants_are_sent_to_memories_that_cannot_be_written() -> None:
    requests = [
        TensorRequest("0", "scratch", 300, 0, 1, memory="dtcm"),
        constant("c", bytes(200), memory="dtcm"),
    ]
    with pytest.raises(BudgetError) as caught:
        plan(requests, memories={"dtcm": 320, "sram": 10, "mram": 4000})
    (problem,) = caught.value.problems
    assert problem.next_step.startswith("move tensors such as c with memory.tensors to mram")


def test_budget_error_counts_what_fits_nowhere() -> None:
    with pytest.raises(BudgetError) as caught:
        plan([TensorRequest("0", "scratch", 300)], memories={"dtcm": 64, "sram": 128, "mram": 128})
    assert [problem.where for problem in caught.value.problems] == ["sram"]
    assert "use a smaller model" in str(caught.value)


def test_source_of_staged_constants_counts_against_its_memory() -> None:
    with pytest.raises(BudgetError, match="source of staged constant 112"):
        plan(
            [constant("c", bytes(100), memory="mram", destination_memory="dtcm")],
            memories={"dtcm": 4096, "sram": 64, "mram": 64},
        )


@given(requests=problems(), room=st.sampled_from([512, 2048, 4096]))
def test_a_constrained_memory_is_never_overfull(requests: list[TensorRequest], room: int) -> None:
    for planner in EACH_PLANNER.values():
        result = plan(requests, {**MEMORIES, "dtcm": room}, planner)
        assert result.memory_bytes("dtcm") <= room


def test_constants_are_cold_and_staged_in_several_memories_at_once() -> None:
    requests = [
        constant("a", b"a" * 20, memory="mram", destination_memory="dtcm"),
        constant("b", b"b" * 30, memory="mram", destination_memory="sram"),
        constant("c", b"c" * 40, memory="mram"),
        TensorRequest("s", "scratch", 8),
    ]
    result = plan(requests)
    arenas = {(a.role, a.memory, a.source_memory): a.used_bytes for a in result.arenas}
    assert arenas == {
        ("scratch", "dtcm", "dtcm"): 8,
        ("constant", "dtcm", "mram"): 20,
        ("constant", "mram", "mram"): 40,
        ("constant", "sram", "mram"): 30,
    }
    assert result.memory_bytes("mram") == 32 + 32 + 48


@given(requests=problems(), external=st.booleans())
def test_storage_in_a_memory_at_zero_is_guarded(
    requests: list[TensorRequest], external: bool
) -> None:
    result = plan(requests, at_zero=frozenset({"dtcm"}), external=external)
    for arena in result.arenas:
        guarded = arena.memory == "dtcm" and not external
        assert (arena.guard_bytes, arena.is_external) == (16 if guarded else 0, external)
        assert arena.guard_bytes % arena.alignment == 0
    assert result.memory_bytes("dtcm") <= MEMORIES["dtcm"]


def test_guards_count_against_the_memory() -> None:
    facts = {"at_zero": frozenset({"itcm"}), "preferred": ("itcm", "sram")}
    requests = [constant("c", bytes(32)), TensorRequest("s", "scratch", 64)]
    exact = plan(requests, {"itcm": 32 + 64 + 2 * 16, "sram": 1024}, **facts)
    assert {a.memory for a in exact.arenas} == {"itcm"}
    assert exact.memory_bytes("itcm") == 32 + 64 + 2 * 16
    less = plan(requests, {"itcm": 32 + 64 + 2 * 16 - 1, "sram": 1024}, **facts)
    assert {a.memory for a in less.arenas} == {"itcm", "sram"}


def test_the_source_of_staged_constants_is_guarded_too() -> None:
    staged = constant("c", bytes(32), memory="itcm", destination_memory="sram")
    for external in (False, True):
        result = plan(
            [staged],
            {"itcm": 64, "sram": 64},
            preferred=("itcm", "sram"),
            at_zero=frozenset({"itcm"}),
            external=external,
        )
        (arena,) = result.arenas
        assert (arena.guard_bytes, arena.source_guard_bytes) == (0, 16)
        assert result.memory_bytes("itcm") == 48


def test_every_name_of_the_configuration_makes_a_planner() -> None:
    assert set(PLANNERS) == set(get_args(PlannerName))
    options = PlannerOptions(seed=3, iterations=5)
    assert PLANNERS["hill_climb"](options) == HillClimb(seed=3, iterations=5)
