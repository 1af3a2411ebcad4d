# SPDX-License-Identifier: Apache-2.0
"""The storage identities of the residency record against the module that they describe.

Each test takes one sentence of the published description of ``storage`` and holds it against the compiled module.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from module_program import STAGED, check, converted, run_application, written

from helia_aot.api import Conversion
from helia_aot.frontend.tflite.reader import read_model
from helia_aot.memory.residency_schema import ResidencyReport
from helia_aot.version import __version__

IN_ITCM = [
    {"type": "*", "attributes": {"memory": "ITCM"}},
    {"type": "constant", "id": "2", "attributes": {"memory": "ITCM", "constant_destination_memory": "DTCM"}},
    {"type": "constant", "id": "4", "attributes": {"memory": "MRAM", "constant_destination_memory": "SRAM"}},
]  # fmt: skip
CASES: dict[str, dict[str, Any]] = {
    "cold": {},
    "staged": {"tensors": STAGED},
    "external": {"allocate_arenas": False},
    "external staged": {"allocate_arenas": False, "tensors": STAGED},
    "at zero": {"tensors": IN_ITCM},
    "external at zero": {"allocate_arenas": False, "tensors": IN_ITCM},
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES)
def conversion(request: pytest.FixtureRequest, digits_model: Path) -> Conversion:
    return converted(digits_model, memory=request.param)


def arenas(conversion: Conversion) -> Iterator[tuple[str, dict[str, Any]]]:
    for role, records in conversion.residency["arenas"].items():
        for record in records:
            yield role, record


def test_the_record_follows_the_schema_and_names_the_compiler(conversion: Conversion) -> None:
    """'Schema v5 adds compiler_version and a storage object on each arena.'"""
    report = ResidencyReport.model_validate(conversion.residency)
    assert (report.schema_version, report.compiler_version) == (5, __version__)
    assert all(record["storage"] for _, record in arenas(conversion))


def test_enum_name_is_the_enumerator_of_the_region_id(
    conversion: Conversion, tmp_path: Path
) -> None:
    """'storage.enum_name is the generated C region enumerator for region_id.' The plan hash is the macro's."""
    conditions = [
        check(f"{record['storage']['enum_name']} == {record['region_id']}", 1)
        for _, record in arenas(conversion)
    ]
    conditions += [
        check(f"m_arena_sizes[{record['region_id']}] == {record['used']}", 2)
        + check(f"m_arena_alignments[{record['region_id']}] == {record['alignment']}", 3)
        for _, record in arenas(conversion)
    ]
    conditions.append(check(f'!strcmp(M_PLAN_HASH, "{conversion.residency["plan_hash"]}")', 4))
    main = '#include "m_model.h"\n#include <string.h>\nint main(void) {\n'
    module = written(conversion, tmp_path)
    done = run_application(main + "".join(conditions) + "    return 0;\n}\n", [module], tmp_path)
    assert done.returncode == 0


def symbols(module: Path) -> dict[str, int]:
    """Sizes of the data objects of a module by name."""
    objects = []
    for source in sorted(module.glob("src/*.c")):
        target = source.with_suffix(".o")
        subprocess.run(["cc", "-std=c11", "-c", str(source), "-o", str(target)], check=True)
        objects.append(str(target))
    table = subprocess.run(["nm", "-S", *objects], capture_output=True, text=True, check=True)
    lines = [line.split() for line in table.stdout.splitlines()]
    return {line[3]: int(line[1], 16) for line in lines if len(line) == 4 and line[2] in "BDRbdr"}


def test_symbols_are_the_emitted_objects_and_sizes_include_guards(
    conversion: Conversion, tmp_path: Path
) -> None:
    """'symbol is the exact emitted C object name, or null when the application supplies the buffer.'

    'size_bytes includes any address-zero guard'. No other storage of arenas is emitted.
    """
    emitted = {
        name: size
        for name, size in symbols(written(conversion, tmp_path)).items()
        if name.startswith("m_arena_") and name.endswith(("_buffer", "__blob"))
    }
    stated = {
        item["symbol"]: item["size_bytes"]
        for _, record in arenas(conversion)
        for item in (record["storage"]["runtime"], record["storage"]["source"])
        if item is not None and item["symbol"] is not None
    }
    assert emitted == stated


def test_owner_is_the_application_exactly_for_external_arenas(conversion: Conversion) -> None:
    """'owner is generated for internal arenas or application for externally bound arenas.'

    'External callers provide at least used bytes with the arena's alignment; compiler guard bytes are not added'.
    """
    external = not conversion.module.allocates_arenas
    for _, record in arenas(conversion):
        runtime = record["storage"]["runtime"]
        assert runtime["owner"] == ("application" if external else "generated")
        assert (runtime["symbol"] is None) == external
        assert runtime["memory"] == record["memory"]
        if external:
            assert (runtime["data_offset_bytes"], runtime["size_bytes"]) == (0, record["used"])


def test_no_generated_arena_starts_at_address_zero(conversion: Conversion) -> None:
    """'size_bytes includes any address-zero guard': storage in the ITCM, which starts at 0, has one."""
    objects = [
        (record["used"], item)
        for _, record in arenas(conversion)
        for item in (record["storage"]["runtime"], record["storage"]["source"])
        if item is not None and item["owner"] == "generated"
    ]
    assert objects or not conversion.module.allocates_arenas
    for used, item in objects:
        assert item["data_offset_bytes"] == (16 if item["memory"] == "itcm" else 0)
        assert item["size_bytes"] == used + item["data_offset_bytes"]


def test_source_is_the_separate_object_of_staged_constants(conversion: Conversion) -> None:
    """'storage.source is a separate generated source object for staged constants, including in external-arena mode.

    It is null for other arenas. Its memory can differ from runtime memory'.
    """
    for role, record in arenas(conversion):
        source = record["storage"]["source"]
        is_staged = role == "constant" and record["kind"] == "staged"
        assert (source is not None) == is_staged
        if source is not None:
            assert source["owner"] == "generated"
            assert source["memory"] == record["source_memory"] != record["memory"]
            assert source["symbol"] != record["storage"]["runtime"]["symbol"]


def test_sidecars_hold_payload_and_padding_without_guard(conversion: Conversion) -> None:
    """'storage.sidecar gives the exact relative filename and size_bytes of the constant binary'.

    'Sidecars contain payload and inter-tensor padding, but no address-zero guard.' 'Internal mode has no sidecars.'
    """
    files = {f.path: f.content for f in conversion.module.files if f.path.endswith(".bin")}
    blobs = {blob.symbol: blob.data for blob in conversion.module.constant_blobs}
    stated = {}
    for role, record in arenas(conversion):
        sidecar = record["storage"]["sidecar"]
        assert (sidecar is not None) == (
            role == "constant" and not conversion.module.allocates_arenas
        )
        if sidecar is None:
            continue
        stated[sidecar["filename"]] = sidecar["size_bytes"]
        assert sidecar["filename"] == record["storage"]["enum_name"] + "__blob.bin"
        source = record["storage"]["source"]
        if source is not None:  # 'an additional representation of the generated source'
            assert (
                files[sidecar["filename"]] == blobs[source["symbol"]][source["data_offset_bytes"] :]
            )
    assert {path: len(content) for path, content in files.items()} == stated


def test_constants_are_at_their_offsets(conversion: Conversion, digits_model: Path) -> None:
    files = {f.path: f.content for f in conversion.module.files}
    names = {
        record["memory"]: record["storage"]["sidecar"]["filename"]
        for role, record in arenas(conversion)
        if role == "constant" and record["storage"]["sidecar"]
    }
    internal = {
        record["memory"]: record["storage"]
        for role, record in arenas(conversion)
        if role == "constant" and not record["storage"]["sidecar"]
    }
    blobs = {blob.symbol: blob.data for blob in conversion.module.constant_blobs}
    weights = next(t for t in conversion.residency["tensors"] if t["id"] == "16")
    storage = internal.get(weights["memory"])
    if storage is None:
        data = files[names[weights["memory"]]]
    else:
        item = storage["source"] or storage["runtime"]
        data = blobs[item["symbol"]][item["data_offset_bytes"] :]
    payload = data[weights["offset"] : weights["offset"] + weights["size"]]
    graph = read_model(digits_model, 0).graph
    assert payload == graph.tensor("16").data.tobytes()


def test_the_arena_begins_behind_the_guard(digits_model: Path, tmp_path: Path) -> None:
    """'the usable arena begins at symbol + data_offset_bytes'."""
    conversion = converted(digits_model, memory=CASES["at zero"])
    lines = ['#include "m_model.h"', "static m_model_context_t ctx;"]
    conditions = []
    for _, record in arenas(conversion):
        storage = record["storage"]
        runtime, region = storage["runtime"], storage["enum_name"]
        lines.append(f"extern const uint8_t {runtime['symbol']}[];")
        start = f"{runtime['symbol']} + {runtime['data_offset_bytes']}"
        conditions.append(check(f"ctx.arena_buffers[{region}] == {start}", 2))
        conditions.append(check(f"(uintptr_t)({start}) % {record['alignment']} == 0", 3))
        if storage["source"]:
            source = storage["source"]
            lines.append(f"extern const uint8_t {source['symbol']}[];")
            origin = f"{source['symbol']} + {source['data_offset_bytes']}"
            conditions.append(check(f"!memcmp({start}, {origin}, {record['used']})", 4))
    main = "\n".join(["#include <string.h>", *lines, "int main(void) {", ""])
    main += check("m_model_init(&ctx) == 0", 1) + "".join(conditions)
    main += check("m_model_run(&ctx) == 0", 5) + "    return 0;\n}\n"
    done = run_application(main, [written(conversion, tmp_path)], tmp_path)
    assert done.returncode == 0


def test_sizes_of_both_copies_count_against_their_memories(digits_model: Path) -> None:
    """'Its memory can differ from runtime memory; count both when budgeting physical storage.'"""
    conversion = converted(digits_model, memory=CASES["at zero"])
    need: dict[str, int] = {}
    for _, record in arenas(conversion):
        for item in (record["storage"]["runtime"], record["storage"]["source"]):
            if item is not None:
                padded = -(-item["size_bytes"] // record["alignment"]) * record["alignment"]
                need[item["memory"]] = need.get(item["memory"], 0) + padded
    assert need == {memory: conversion.memory_plan.memory_bytes(memory) for memory in need}
    assert {"itcm", "dtcm", "sram", "mram"} == set(need)


def test_text_of_the_record_is_sorted_json(conversion: Conversion) -> None:
    text = next(f.text for f in conversion.module.files if f.path == "m_residency.json")
    keys = [line.split('"')[1] for line in text.splitlines() if line.startswith('  "')]
    assert keys == sorted(keys)
