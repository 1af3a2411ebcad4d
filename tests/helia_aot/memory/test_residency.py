# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from pydantic import ValidationError

from helia_aot.memory.layout import Allocation, Arena
from helia_aot.memory.plan import Memories, plan_memory
from helia_aot.memory.planners import Greedy
from helia_aot.memory.requests import Role, TensorRequest
from helia_aot.memory.residency import (
    build_residency,
    plan_hash,
    residency_json,
    tensor_layout_hash,
)
from helia_aot.memory.residency_schema import ResidencyReport

if TYPE_CHECKING:
    from conftest import Demo


def _arena(region_id: int, role: Role, used_bytes: int, **changes: object) -> Arena:
    arena = Arena(region_id, role, "dtcm", "dtcm", used_bytes, used_bytes, 16, used_bytes, 1)
    return replace(arena, **changes)


def test_plan_hash_of_the_published_arenas(demo: Demo) -> None:
    arenas = [
        _arena(0, "scratch", 5696, capacity_bytes=463600),
        _arena(1, "persistent", 128),
        _arena(2, "constant", 44176, tensor_count=14),
    ]
    assert plan_hash(arenas) == demo.plan_hash


def test_tensor_layout_hash_of_the_published_tensors(demo: Demo) -> None:
    places = [
        Allocation(name, role, "dtcm", "dtcm", offset, size)
        for name, role, offset, size in demo.places
    ]
    assert tensor_layout_hash(reversed(places)) == demo.tensor_layout_hash


EXAMPLE = Path(__file__).with_name("residency-example.json")


def test_the_published_report_validates_and_its_hashes_follow_from_its_content() -> None:
    report = ResidencyReport.model_validate_json(EXAMPLE.read_text())
    records = [(role, r) for role in get_args(Role) for r in getattr(report.arenas, role)]
    arenas = [
        Arena(
            region_id=record.region_id,
            role=role,
            memory=record.memory,
            source_memory=getattr(record, "source_memory", record.memory),
            used_bytes=record.used,
            capacity_bytes=record.total_size,
            alignment=record.alignment,
            peak_live_bytes=getattr(record, "peak_live", record.used),
            tensor_count=getattr(record, "tensor_count", 0),
        )
        for role, record in records
    ]
    places = [
        Allocation(t.id, t.role, t.memory, t.source_memory, t.offset, t.size)
        for t in report.tensors
    ]
    assert plan_hash(sorted(arenas, key=lambda a: a.region_id)) == report.plan_hash
    assert tensor_layout_hash(places) == report.tensor_layout_hash


def test_the_greedy_planner_gives_the_published_report_byte_for_byte(demo: Demo) -> None:
    record = build_residency(
        demo.plan(Greedy()), prefix="aot", compiler_version=demo.compiler_version
    )
    assert residency_json(record) == EXAMPLE.read_text()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema_version",), 4, "schema_version"),
        (("plan_hash",), "87F6", "plan_hash"),
        (("surplus",), 1, "surplus"),
        (("arenas", "scratch", 0, "peak_live"), 5000, "fragmentation is not used less peak_live"),
        (("arenas", "constant", 0, "kind"), "staged", "kind is 'staged' exactly when"),
        (("arenas", "constant", 0, "used"), 44177, "size_bytes is not used plus"),
        (("arenas", "constant", 0, "storage", "runtime", "symbol"), None, "symbol is set exactly"),
        (("arenas", "constant", 0, "storage", "runtime", "memory"), "sram", "another memory"),
        (("arenas", "persistent", 0, "total_size"), 100, "used is larger than total_size"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(
    path: tuple[Any, ...], value: object, message: str
) -> None:
    content = json.loads(EXAMPLE.read_text())
    part = content
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(ValidationError, match=message):
        ResidencyReport.model_validate(content)


def test_published_example_is_planned_and_reported_in_full(demo: Demo) -> None:
    record = build_residency(demo.plan(), prefix="aot", compiler_version=demo.compiler_version)
    found = [(t["id"], t["role"], t["offset"], t["size"]) for t in record["tensors"]]
    assert found == list(demo.places)
    assert record["plan_hash"] == demo.plan_hash
    assert record["tensor_layout_hash"] == demo.tensor_layout_hash
    assert record["schema_version"] == 5
    assert record["arenas"]["scratch"] == [
        {
            "alignment": 16,
            "fragmentation": 0,
            "memory": "dtcm",
            "peak_live": 5696,
            "region_id": 0,
            "storage": _storage("aot_arena_dtcm", "aot_arena_dtcm_buffer", 5696),
            "total_size": 463600,
            "used": 5696,
        }
    ]
    assert record["arenas"]["persistent"] == [
        {
            "alignment": 16,
            "memory": "dtcm",
            "region_id": 1,
            "storage": _storage(
                "aot_arena_persistent_dtcm", "aot_arena_persistent_dtcm_buffer", 128
            ),
            "total_size": 128,
            "used": 128,
        }
    ]
    assert record["arenas"]["constant"] == [
        {
            "alignment": 16,
            "kind": "cold",
            "memory": "dtcm",
            "region_id": 2,
            "source_memory": "dtcm",
            "storage": _storage("aot_arena_const_dtcm", "aot_arena_const_dtcm__blob", 44176),
            "tensor_count": 14,
            "total_size": 44176,
            "used": 44176,
        }
    ]


def _storage(enum_name: str, symbol: str, size_bytes: int) -> dict[str, Any]:
    return {
        "enum_name": enum_name,
        "runtime": {
            "data_offset_bytes": 0,
            "memory": "dtcm",
            "owner": "generated",
            "size_bytes": size_bytes,
            "symbol": symbol,
        },
        "sidecar": None,
        "source": None,
    }


def test_staged_arena_names_its_buffer_and_its_source() -> None:
    request = TensorRequest(
        "1", "constant", 4, data=b"abcd", memory="mram", destination_memory="dtcm"
    )
    target = Memories({"dtcm": 64, "mram": 64}, ("dtcm",), 16, read_only=frozenset({"mram"}))
    plan = plan_memory([request], target, Greedy())
    record = build_residency(plan, prefix="kws", compiler_version="1")
    (arena,) = record["arenas"]["constant"]
    assert (arena["kind"], arena["memory"], arena["source_memory"]) == ("staged", "dtcm", "mram")
    assert arena["storage"]["runtime"]["symbol"] == "kws_arena_const_dtcm_buffer"
    assert arena["storage"]["runtime"]["memory"] == "dtcm"
    assert arena["storage"]["source"]["symbol"] == "kws_arena_const_dtcm__blob"
    assert arena["storage"]["source"]["memory"] == "mram"
    assert record["tensors"][0]["source_memory"] == "mram"


def test_hashes_see_what_they_cover() -> None:
    arena = _arena(0, "constant", 16)
    assert plan_hash([arena]) != plan_hash([replace(arena, source_memory="mram")])
    assert plan_hash([arena]) != plan_hash([replace(arena, used_bytes=17)])
    assert plan_hash([arena]) == plan_hash([replace(arena, capacity_bytes=99)])
    place = Allocation("1", "constant", "dtcm", "dtcm", 0, 16)
    assert tensor_layout_hash([place]) != tensor_layout_hash([replace(place, offset=16)])


def test_text_is_sorted_and_ends_with_a_newline(demo: Demo) -> None:
    record = build_residency(demo.plan(), prefix="aot", compiler_version="1")
    text = residency_json(record)
    assert json.loads(text) == record
    assert text.startswith('{\n  "arenas": {\n    "constant": [\n      {\n        "alignment": 16')
    assert text.endswith("}\n")
