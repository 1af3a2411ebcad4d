# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from helia_aot.errors import InvariantError
from helia_aot.memory.layout import MemoryPlan
from helia_aot.memory.verify import verify_plan

if TYPE_CHECKING:
    from conftest import Demo


def _with_place(plan: MemoryPlan, tensor_id: str, **changes: object) -> MemoryPlan:
    place = replace(plan.allocations[tensor_id], **changes)
    return replace(plan, allocations={**plan.allocations, tensor_id: place})


def _with_arena(plan: MemoryPlan, position: int, **changes: object) -> MemoryPlan:
    arenas = list(plan.arenas)
    arenas[position] = replace(arenas[position], **changes)
    return replace(plan, arenas=tuple(arenas))


def _verify(plan: MemoryPlan, demo: Demo) -> None:
    verify_plan(plan, demo.requests, memories=demo.memories, alignment=16)


def test_sound_plan_passes(demo: Demo) -> None:
    _verify(demo.plan(), demo)


PLACE_FAULTS = {
    "scratch overlap": ("0", {"offset": 0}, "'0' and '3' overlap"),
    "constant overlap": ("5", {"offset": 608}, "'conv_2d_0_shift' and '5' overlap"),
    "equal payloads half apart": ("13", {"offset": 43536}, "overlap"),
    "misaligned": ("1", {"offset": 8}, "not a multiple of 16"),
    "negative": ("1", {"offset": -16}, "not a multiple of 16"),
    "beyond the arena": ("conv_2d_2_scratch", {"offset": 5136}, "not the end of the last tensor"),
    "alias apart": ("10", {"offset": 0}, "does not share the storage of '8'"),
    "size": ("1", {"size_bytes": 400}, "differs from the request"),
    "source": ("14", {"source_memory": "sram"}, "source memory of its own"),
    "other memory": ("1", {"memory": "sram"}, "not exactly one arena"),
}


@pytest.mark.parametrize("fault", PLACE_FAULTS.values(), ids=PLACE_FAULTS)
def test_misplaced_tensor_is_found(demo: Demo, fault: tuple[Any, ...]) -> None:
    tensor_id, changes, message = fault
    with pytest.raises(InvariantError) as caught:
        _verify(_with_place(demo.plan(), tensor_id, **changes), demo)
    assert message in str(caught.value)


ARENA_FAULTS = {
    "used": (0, {"used_bytes": 5680}, "not the end of the last tensor"),
    "capacity": (0, {"capacity_bytes": 100}, "beyond the capacity"),
    "peak": (0, {"peak_live_bytes": 5000}, "5696 bytes are live at once"),
    "alignment": (1, {"alignment": 8}, "alignment is 8"),
    "count": (2, {"tensor_count": 13}, "tensor count is 13"),
    "source": (2, {"source_memory": "mram"}, "has source dtcm, not mram"),
    "region": (1, {"region_id": 2}, "region ids are not"),
    "guard": (0, {"guard_bytes": 16}, "guards are 16 and 0 bytes, not 0 and 0"),
    "owner": (0, {"is_external": True}, "wrong about whether the application"),
}


@pytest.mark.parametrize("fault", ARENA_FAULTS.values(), ids=ARENA_FAULTS)
def test_wrong_arena_is_found(demo: Demo, fault: tuple[Any, ...]) -> None:
    position, changes, message = fault
    with pytest.raises(InvariantError) as caught:
        _verify(_with_arena(demo.plan(), position, **changes), demo)
    assert message in str(caught.value)


def test_arenas_out_of_order_are_found(demo: Demo) -> None:
    plan = demo.plan()
    with pytest.raises(InvariantError, match="not in the order"):
        _verify(replace(plan, arenas=plan.arenas[::-1]), demo)


def test_memory_that_is_too_small_is_found(demo: Demo) -> None:
    plan = demo.plan()
    with pytest.raises(InvariantError, match="50000 bytes are placed in 49999"):
        verify_plan(plan, demo.requests, memories={"dtcm": 49999}, alignment=16)
    verify_plan(plan, demo.requests, memories={"dtcm": 50000}, alignment=16)


def test_missing_tensor_is_found(demo: Demo) -> None:
    with pytest.raises(InvariantError, match="exactly the tensors"):
        _verify(replace(demo.plan(), allocations={}), demo)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"memory": "mram"}, "comes from dtcm, but a rule asks for mram"),
        ({"destination_memory": "sram"}, "is in dtcm, but a rule asks for sram"),
    ],
)
def test_broken_rule_is_found(demo: Demo, changes: dict[str, Any], message: str) -> None:
    requests = [replace(r, **changes) if r.id == "1" else r for r in demo.requests]
    with pytest.raises(InvariantError, match=message):
        verify_plan(demo.plan(), requests, memories=demo.memories, alignment=16)


def test_missing_guards_are_found(demo: Demo) -> None:
    with pytest.raises(InvariantError, match="guards are 0 and 0 bytes, not 16 and 0"):
        verify_plan(
            demo.plan(), demo.requests, memories=demo.memories, alignment=16, at_zero=["dtcm"]
        )
