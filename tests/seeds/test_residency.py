# SPDX-License-Identifier: Apache-2.0
"""What the page on residency reports says, held against real conversions."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from module_program import STAGED, converted
from tflite_models import ModelBuilder

from helia_aot.api import Conversion
from helia_aot.cli.main import main
from helia_aot.memory.residency import plan_hash, tensor_layout_hash
from helia_aot.memory.residency_schema import ResidencyReport

CASES: dict[str, dict[str, Any]] = {
    "cold in TCM": {},
    "staged": {"tensors": STAGED},
    "cold in MRAM": {"tensors": [{"type": "constant", "attributes": {"memory": "MRAM"}}]},
    "bound by the application": {"allocate_arenas": False, "tensors": STAGED},
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def conversion(request: pytest.FixtureRequest, digits_model: Path) -> Conversion:
    return converted(digits_model, memory=request.param)


def record(conversion: Conversion) -> dict[str, Any]:
    """Gives the residency record as it is written."""
    (text,) = [f.text for f in conversion.module.files if f.path == "m_residency.json"]
    content: dict[str, Any] = json.loads(text)
    return content


def test_the_record_is_written_on_request_alone(digits_model: Path) -> None:
    for requested in (False, True):
        module = converted(digits_model, memory={"dump_residency_json": requested}).module
        assert ("m_residency.json" in {file.path for file in module.files}) == requested


@pytest.mark.parametrize("verbose", [1, 2])
def test_every_conversion_prints_an_arena_summary_and_verbose_the_diagnostics_of_the_planner(
    verbose: int,
    digits_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = [str(digits_model), "--verbose", str(verbose), "--memory.planner", "greedy"]
    monkeypatch.setattr(sys, "argv", ["helia-aot", "convert", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    assert ["dtcm", "constant", "13,848", "B"] in [line[:4] for line in lines]
    assert ["dtcm", "scratch"] in [line[:2] for line in lines]
    assert ("planner greedy" in printed) == ("Peak live" in printed) == (verbose == 2)


def test_the_diagnostics_name_the_planner_of_an_input_plan(
    digits_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = converted(digits_model, "aot", memory={"planner": "greedy"})
    (plan,) = [file for file in first.module.files if file.path == "aot_plan.json"]
    (tmp_path / "aot_plan.json").write_text(plan.text)
    monkeypatch.chdir(tmp_path)
    arguments = [str(digits_model), "--verbose", "2", "--optimization.plan", "aot_plan.json"]
    monkeypatch.setattr(sys, "argv", ["helia-aot", "convert", *arguments])
    with pytest.raises(SystemExit):
        main()
    assert "planner greedy" in capsys.readouterr().out


def test_a_placement_rule_shows_in_the_record_and_nowhere_else_changes_it(
    digits_model: Path,
) -> None:
    plain = record(converted(digits_model))
    rule = {"type": "constant", "id": "16", "attributes": {"memory": "SRAM"}}
    moved = record(converted(digits_model, memory={"tensors": [rule]}))
    placed = {tensor["id"]: tensor["memory"] for tensor in moved["tensors"]}
    before = {tensor["id"]: tensor["memory"] for tensor in plain["tensors"]}
    assert {key for key in placed if placed[key] != before[key]} == {"16"}


def test_the_record_follows_schema_5(conversion: Conversion) -> None:
    content = record(conversion)
    assert content["schema_version"] == 5
    assert ResidencyReport.model_validate(content).module_prefix == "m"


def test_used_is_the_emitted_size_and_total_size_the_capacity(conversion: Conversion) -> None:
    content = record(conversion)
    for role, arenas in content["arenas"].items():
        for arena in arenas:
            runtime = arena["storage"]["runtime"]
            assert arena["used"] == runtime["size_bytes"] - runtime["data_offset_bytes"]
            if role == "scratch":
                assert arena["total_size"] > arena["used"]  # room that the plan did not need
            else:
                assert arena["total_size"] == arena["used"]


def test_capacities_of_roles_are_no_measure_of_occupied_memory(digits_model: Path) -> None:
    arenas = record(converted(digits_model))["arenas"]
    in_dtcm = [arena for role in arenas.values() for arena in role if arena["memory"] == "dtcm"]
    assert len(in_dtcm) > 1
    occupied = sum(arena["used"] for arena in in_dtcm)
    assert sum(arena["total_size"] for arena in in_dtcm) > 10 * occupied


def test_kind_and_source_tell_cold_from_staged(digits_model: Path) -> None:
    found = {}
    for case in ("cold in TCM", "staged", "cold in MRAM"):
        (arena,) = record(converted(digits_model, memory=CASES[case]))["arenas"]["constant"]
        found[case] = (arena["kind"], arena["source_memory"], arena["memory"])
    assert found == {
        "cold in TCM": ("cold", "dtcm", "dtcm"),
        "staged": ("staged", "mram", "dtcm"),
        "cold in MRAM": ("cold", "mram", "mram"),
    }


def test_both_hashes_follow_from_the_written_record(conversion: Conversion) -> None:
    content = record(conversion)
    arenas = [
        (arena["region_id"], role, arena)
        for role, records in content["arenas"].items()
        for arena in records
    ]
    envelope = "".join(
        f"{role}|{arena['memory'].upper()}|{arena.get('source_memory', arena['memory']).upper()}"
        f"|{arena['used']}|{arena['alignment']}|{int(arena.get('kind') == 'staged')};"
        for _, role, arena in sorted(arenas, key=lambda item: item[0])
    )
    layout = "".join(
        f"{tensor['id']}|{tensor['role']}|{tensor['memory'].upper()}|{tensor['offset']}"
        f"|{tensor['size']};"
        for tensor in content["tensors"]
    )
    assert content["plan_hash"] == hashlib.sha256(envelope.encode()).hexdigest()[:16]
    assert content["tensor_layout_hash"] == hashlib.sha256(layout.encode()).hexdigest()[:16]


def test_the_plan_hash_is_the_macro_of_the_module(conversion: Conversion) -> None:
    headers = "".join(f.text for f in conversion.module.files if f.path.endswith(".h"))
    assert f'M_PLAN_HASH "{record(conversion)["plan_hash"]}"' in headers


def test_two_tensors_that_swap_offsets_change_the_layout_hash_alone(digits_model: Path) -> None:
    plan = converted(digits_model).memory_plan
    places = dict(plan.allocations)
    one, other = [key for key, place in places.items() if place.role == "constant"][:2]
    swapped = places | {
        one: dataclasses.replace(places[one], offset=places[other].offset),
        other: dataclasses.replace(places[other], offset=places[one].offset),
    }
    assert swapped != places
    assert tensor_layout_hash(swapped.values()) != tensor_layout_hash(places.values())
    content = record(converted(digits_model))
    assert (plan_hash(plan.arenas), tensor_layout_hash(places.values())) == (
        content["plan_hash"],
        content["tensor_layout_hash"],
    )


def test_neither_hash_is_a_checksum_of_the_weights(tmp_path: Path) -> None:
    found = []
    for value in (1, 2):
        builder = ModelBuilder()
        x = builder.tensor((1, 16), scale=0.1, name="input")
        weights = np.full((4, 16), value, np.int8)
        y = builder.fully_connected(x, weights, None, filter_scale=0.02, scale=0.1, zero_point=0)
        path = tmp_path / f"{value}.tflite"
        path.write_bytes(builder.build(inputs=[x], outputs=[y]))
        conversion = converted(path)
        content = record(conversion)
        hashes = (content["plan_hash"], content["tensor_layout_hash"])
        found.append((hashes, conversion.plan.model.sha256, conversion.module.constant_blobs))
    (hashes, model, blobs), (same_hashes, other_model, other_blobs) = found
    assert hashes == same_hashes
    assert model != other_model  # the hash of the content, which the plan keeps
    assert blobs != other_blobs


@pytest.mark.parametrize("version", [3, 4, 6])
def test_other_versions_are_a_diagnostic(version: int, digits_model: Path) -> None:
    content = record(converted(digits_model)) | {"schema_version": version}
    with pytest.raises(ValueError, match="schema_version"):
        ResidencyReport.model_validate(content)


def test_the_buffers_of_a_test_case_are_not_in_the_record(
    digits_model: Path, tmp_path: Path
) -> None:
    plain = converted(digits_model)
    shapes = (plain.module.inputs[0].shape, plain.module.outputs[0].shape)
    arrays = {
        name: np.zeros(shape, np.int8)
        for name, shape in zip(("input_0", "output_0"), shapes, strict=True)
    }
    np.savez(tmp_path / "golden.npz", **arrays)
    test = {"enabled": True, "golden_data": tmp_path / "golden.npz"}
    tested = converted(digits_model, test=test)
    assert "src/m_test_case.c" in {file.path for file in tested.module.files}
    assert record(tested) == record(plain)
