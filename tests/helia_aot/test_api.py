# SPDX-License-Identifier: Apache-2.0
"""Conversion as a library: determinism, reproduction of plans, and writing whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import REPOSITORY

from helia_aot.api import Conversion, convert, output_path, write_module, write_output
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import EmitError, PlanError
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.read import read_plan


def digits(path: Path, **sections: object) -> ConvertConfig:
    return ConvertConfig.model_validate({"model": {"path": path}, **sections})


def texts(conversion: Conversion) -> dict[str, str]:
    return {file.path: file.text for file in conversion.module.files}


_PROGRAM = """
import hashlib, sys
from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
config = ConvertConfig.model_validate({"model": {"path": sys.argv[1]}, "memory": {"dump_residency_json": True}})
for file in convert(config).module.files:
    print(file.path, hashlib.sha256(file.content).hexdigest())
"""


def test_bytes_do_not_depend_on_hash_seed_or_directory(digits_model: Path, tmp_path: Path) -> None:
    listings = set()
    for seed, folder in (("0", REPOSITORY), ("1", tmp_path), ("4711", tmp_path)):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-c", _PROGRAM, str(digits_model)]
        run = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
        listings.add(run.stdout)
    assert len(listings) == 1
    assert "aot_plan.json" in listings.pop()


def test_no_file_names_the_folder_of_the_model(digits_model: Path) -> None:
    for path, text in texts(convert(digits(digits_model))).items():
        assert str(digits_model.parent) not in text, path


@pytest.mark.parametrize("kernel", ["generic", "specialized", None])
def test_a_plan_gives_the_same_c_and_then_changes_nothing(
    kernel: str | None, digits_model: Path
) -> None:
    first = convert(digits(digits_model, optimization={"kernel": kernel}))
    second = convert(digits(digits_model), plan=first.plan)
    third = convert(digits(digits_model), plan=second.plan)
    assert second.receipt == "applied 22 of 22 choices and 44 of 44 placements of the plan"
    changed = {path for path, text in texts(first).items() if texts(second)[path] != text}
    assert changed <= {"aot_plan.json", "aot_report.json"}
    assert texts(third) == texts(second)
    for operator in second.plan.operators:
        for choice in operator.knobs.values():
            assert (choice.resolved_by, choice.source.kind) == ("plan", "plan")


def test_a_plan_file_reproduces_the_module(digits_model: Path, tmp_path: Path) -> None:
    first = convert(digits(digits_model, optimization={"kernel": "generic"}))
    folder = write_module(first, tmp_path / "first")
    again = convert(digits(digits_model, optimization={"plan": folder / "aot_plan.json"}))
    plan = read_plan(folder / "aot_plan.json")
    assert plan == first.plan
    assert {o.entry for o in again.module.operators} == {o.entry for o in first.module.operators}


def test_a_foreign_plan_is_refused_with_every_mismatch(digits_model: Path) -> None:
    content = convert(digits(digits_model)).plan.model_dump(mode="json")
    content["model"]["sha256"] = "0" * 64
    content["platform"]["name"] = "apollo3p_evb"
    content["operators"][0]["id"] = "0:nowhere"
    plan = OptimizationPlan.model_validate(content)
    with pytest.raises(PlanError) as caught:
        convert(digits(digits_model), plan=plan)
    text = str(caught.value)
    for words in ("model.sha256", "platform.name", "0:nowhere"):
        assert words in text
    assert len(caught.value.problems) >= 4  # the operator that was renamed is also missing


def test_the_plan_and_the_report_describe_the_module(digits_model: Path) -> None:
    conversion = convert(digits(digits_model))
    plan = json.loads(texts(conversion)["aot_plan.json"])
    report = json.loads(texts(conversion)["aot_report.json"])
    assert plan["generator"] == {"helia_aot": "0.1.0", "ns_cmsis_nn": "7.37.0"}
    assert [o["id"] for o in plan["operators"]] == [o["id"] for o in report["operators"]]
    assert report["total_macs"] == sum(o["macs"] for o in report["operators"])
    for planned, reported in zip(plan["operators"], report["operators"], strict=True):
        for knob, choice in planned["knobs"].items():
            chosen = [a for a in reported["alternatives"][knob] if a["chosen"]]
            assert [a["value"] for a in chosen] == [choice["value"]]
            assert chosen[0]["entry"] == reported["entry"]


def test_generic_modules_keep_the_lower_kernel_floor(digits_model: Path) -> None:
    plan = convert(digits(digits_model, optimization={"kernel": "generic"})).plan
    assert plan.generator.ns_cmsis_nn == "7.35.0"


def test_an_existing_module_is_not_touched_without_force(
    digits_model: Path, tmp_path: Path
) -> None:
    conversion = convert(digits(digits_model))
    folder = write_module(conversion, tmp_path / "module")
    (folder / "mine.txt").write_text("kept")
    with pytest.raises(EmitError, match="--force"):
        write_module(conversion, folder)
    assert (folder / "mine.txt").exists()
    write_module(conversion, folder, force=True)
    assert not (folder / "mine.txt").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["module"]


def test_force_never_replaces_what_is_no_module(digits_model: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    with pytest.raises(EmitError, match="not a generated module"):
        write_module(convert(digits(digits_model)), tmp_path / "home", force=True)
    assert (tmp_path / "home" / "thesis.tex").exists()


def test_a_full_disk_leaves_nothing_behind(
    digits_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversion = convert(digits(digits_model))
    folder = write_module(conversion, tmp_path / "old" / "module")
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    write_bytes = Path.write_bytes

    def fail(path: Path, data: bytes) -> int:
        if path.name.endswith("_model.c"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write_bytes(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    for target in (folder, tmp_path / "new" / "folder" / "module"):
        with pytest.raises(EmitError, match="No space left on device"):
            write_module(conversion, target, force=True)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    assert [p.name for p in tmp_path.iterdir()] == ["old"]
    assert [p.name for p in (tmp_path / "old").iterdir()] == ["module"]


def archive_config(model: Path, path: Path, **top: object) -> ConvertConfig:
    return digits(model, module={"path": path}, memory={"dump_residency_json": True}, **top)


def test_a_path_that_ends_in_zip_gives_an_archive(digits_model: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "net.zip"
    conversion = convert(archive_config(digits_model, path))
    assert write_output(conversion) == output_path(conversion.config) == path
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    for name in ("aot_plan.json", "aot_report.json", "aot_residency.json", "CMakeLists.txt"):
        assert f"helia_aot_nn/{name}" in names
    assert [p.name for p in path.parent.iterdir()] == ["net.zip"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_folder_may_be_called_like_an_archive(digits_model: Path, tmp_path: Path) -> None:
    config = digits(digits_model, module={"path": tmp_path, "name": "net.zip"})
    assert write_output(convert(config)) == tmp_path / "net.zip"
    assert (tmp_path / "net.zip" / "aot_plan.json").exists()


def test_an_existing_archive_is_not_touched_without_force(
    digits_model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "net.zip"
    first = write_output(convert(archive_config(digits_model, path))).read_bytes()
    other = {"optimization": {"kernel": "generic"}}
    with pytest.raises(EmitError, match="--force"):
        write_output(convert(archive_config(digits_model, path, **other)))
    assert path.read_bytes() == first
    write_output(convert(archive_config(digits_model, path, force=True, **other)))
    assert path.read_bytes() != first
    write_output(convert(archive_config(digits_model, path, force=True)))
    assert path.read_bytes() == first


@pytest.mark.parametrize("content", ["text", "other archive", "damaged", "folder"])
def test_force_never_replaces_what_is_no_archive_of_a_module(
    content: str, digits_model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "photos.zip"
    if content == "folder":
        path.mkdir()
    elif content == "other archive":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("photos/includes.jpg", "x")
    else:
        path.write_bytes(b"PK\x05\x06" + bytes(9) if content == "damaged" else b"my notes")
    with pytest.raises(EmitError, match="not a generated module"):
        write_output(convert(archive_config(digits_model, path, force=True)))
    assert path.exists()


def test_a_full_disk_leaves_the_old_archive(
    digits_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.zip"
    first = write_output(convert(archive_config(digits_model, path))).read_bytes()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(EmitError, match="No space left on device"):
        write_output(convert(archive_config(digits_model, path, force=True)))
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == ["net.zip"]
