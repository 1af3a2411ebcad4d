# SPDX-License-Identifier: Apache-2.0
"""The commands ``plan`` and ``schema`` from outside, on the plans of a real model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from helia_aot.cli.main import main
from helia_aot.schemas import SCHEMAS, schema_file_name, schema_text

MODEL = str(Path(__file__).parents[3] / "examples" / "digits" / "digits_int8.tflite")


@dataclass(frozen=True)
class Ran:
    """One run of the command."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def start(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["helia-aot", *arguments])
        code: object = 0
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code or 0
        assert isinstance(code, int)
        return Ran(code, *capsys.readouterr())

    return start


@pytest.fixture
def plans(run: Run) -> tuple[str, str]:
    """Two plans of one model; one operator of the second is generic, and its constants are staged."""
    rules = [{"type": "CONV_2D", "id": "0:stem_3x3", "optimization": {"kernel": "generic"}}]
    stage = [
        {
            "type": "constant",
            "attributes": {"memory": "mram", "constant_destination_memory": "dtcm"},
        }
    ]
    a = run("convert", MODEL, "--json", "--module.path", "a")
    b = run(
        *("convert", MODEL, "--json", "--module.path", "b", "--operators", json.dumps(rules)),
        *("--memory.tensors", json.dumps(stage)),
    )
    assert (a.code, b.code) == (0, 0)
    return json.loads(a.out)["plan_file"], json.loads(b.out)["plan_file"]


def test_show_lists_choices_with_provenance(run: Run, plans: tuple[str, str]) -> None:
    ran = run("plan", "show", plans[1])
    assert (ran.code, ran.err) == (0, "")
    line = next(line for line in ran.out.splitlines() if "0:stem_3x3" in line)
    assert "generic" in line
    assert "operators[0] (CONV_2D, id 0:stem_3x3)" in line
    assert "default, auto_table" in ran.out
    assert "digits_int8.tflite for apollo510_evb (cortex-m55)" in ran.out
    assert "dtcm (from mram)" in ran.out
    assert "memory.tensors[0] (constant)" in ran.out


def test_show_as_json_has_a_row_for_each_choice(run: Run, plans: tuple[str, str]) -> None:
    content = json.loads(run("plan", "show", plans[1], "--json").out)
    plan = json.loads(Path(plans[1]).read_text())
    count = sum(len(o["knobs"]) + len(o["fixed"]) for o in plan["operators"])
    assert len(content["choices"]) == count + len(plan["optimization"]["knobs"])
    assert content["choices"][0]["name"] == "planner"
    assert content["choices"][1] == {
        "id": "0:stem_3x3",
        "op_type": "CONV_2D",
        "kind": "knob",
        "name": "kernel",
        **plan["operators"][0]["knobs"]["kernel"],
    }
    assert content["tensors"] == plan["tensors"]


def test_diff_shows_what_differs_with_mac_shares(run: Run, plans: tuple[str, str]) -> None:
    ran = run("plan", "diff", *plans)
    assert (ran.code, ran.err) == (1, "")
    report = json.loads(Path(plans[0]).with_name("aot_report.json").read_text())
    share = report["operators"][0]["mac_share"]
    line = next(line for line in ran.out.splitlines() if "0:stem_3x3" in line)
    assert line.split() == [
        "0:stem_3x3",
        "CONV_2D",
        "kernel",
        "specialized",
        "generic",
        f"{share:.1%}",
    ]
    found = json.loads(run("plan", "diff", *plans, "--json").out)
    assert [row["kind"] for row in found].count("operator") == 1
    assert {(row["a"], row["b"]) for row in found if row["kind"] == "tensor"} == {
        ("dtcm", "dtcm (from mram)")
    }


def test_diff_of_equal_plans_is_silent_about_provenance(run: Run, plans: tuple[str, str]) -> None:
    again = run(
        *("convert", MODEL, "--json", "--module.path", "c", "--optimization.plan", plans[0])
    )
    ran = run("plan", "diff", plans[0], json.loads(again.out)["plan_file"])
    assert (ran.code, ran.out) == (0, "The plans make the same choices.\n")


def test_diff_needs_no_report_and_tells_a_damaged_one(run: Run, plans: tuple[str, str]) -> None:
    reports = [Path(plan).with_name("aot_report.json") for plan in plans]
    reports[0].write_text("{")
    reports[1].unlink()
    ran = run("plan", "diff", *plans)
    assert ran.code == 1
    assert "warning: no MAC shares from a/helia_aot_nn/aot_report.json" in ran.err
    assert ran.out.rstrip().endswith("-")


def test_rules_give_the_same_module(run: Run, plans: tuple[str, str], tmp_path: Path) -> None:
    ran = run("plan", "rules", plans[1], "--out", "rules.yaml")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert run("plan", "rules", plans[1]).out == (tmp_path / "rules.yaml").read_text()
    assert yaml.safe_load((tmp_path / "rules.yaml").read_text())["operators"][0]["id"] == [
        "0:stem_3x3"
    ]
    again = run("convert", MODEL, "--json", "--module.path", "c", "--path", "rules.yaml")
    assert (again.code, again.err) == (0, "")
    made = json.loads(again.out)["plan_file"]
    for file in Path(plans[1]).parent.rglob("*.[ch]"):
        same = Path(made).parent / file.relative_to(Path(plans[1]).parent)
        assert same.read_bytes() == file.read_bytes()
    assert run("plan", "diff", plans[1], made).code == 0


def test_rules_do_not_overwrite(run: Run, plans: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "convert.yaml").write_text("mine: 1\n")
    ran = run("plan", "rules", plans[0], "--out", "convert.yaml")
    assert ran.code == 7
    assert "convert.yaml: File exists" in ran.err
    assert (tmp_path / "convert.yaml").read_text() == "mine: 1\n"


@pytest.mark.parametrize("command", ["show", "rules"])
def test_a_report_is_no_plan(run: Run, plans: tuple[str, str], command: str) -> None:
    ran = run("plan", command, plans[0].replace("_plan", "_report"))
    assert (ran.code, ran.out) == (5, "")
    assert "is an optimization report, not a plan" in ran.err
    assert "next: give the plan that it explains: aot_plan.json" in ran.err


def test_a_plan_that_is_missing_is_told(run: Run) -> None:
    ran = run("plan", "diff", "a.json", "b.json")
    assert ran.code == 5
    assert "The plan a.json cannot be read: No such file or directory." in ran.err


def test_names_are_shown_as_they_are(run: Run, plans: tuple[str, str]) -> None:
    path = Path(plans[0])
    content = json.loads(path.read_text())
    content["operators"][0]["id"] = "0:[bold]x[/bold]"
    path.write_text(json.dumps(content))
    assert "0:[bold]x[/bold]" in run("plan", "show", plans[0]).out
    assert "0:[bold]x[/bold]" in run("plan", "diff", *plans).out


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_printed_or_written(run: Run, name: str, tmp_path: Path) -> None:
    assert run("schema", name).out == schema_text(name)
    ran = run("schema", name, "--out", "new/folder/s.json")
    assert (ran.code, ran.out) == (0, "")
    assert (tmp_path / "new/folder/s.json").read_text(encoding="utf-8") == schema_text(name)


def test_all_schemas_go_to_a_folder(run: Run, tmp_path: Path) -> None:
    assert run("schema", "all", "--out", "schemas").code == 0
    names = {path.name for path in (tmp_path / "schemas").iterdir()}
    assert names == {schema_file_name(name) for name in SCHEMAS}
    ran = run("schema", "all")
    assert (ran.code, ran.out) == (2, "")
    assert "--out: missing" in ran.err


def test_unknown_schema_suggests_the_nearest(run: Run) -> None:
    ran = run("schema", "plans")
    assert ran.code == 2
    assert "did you mean plan?" in ran.err


def test_schema_that_cannot_be_written_is_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = run("schema", "plan", "--out", "file/s.json")
    assert ran.code == 7
    assert "file/s.json" in ran.err
