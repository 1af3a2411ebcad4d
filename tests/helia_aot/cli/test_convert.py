# SPDX-License-Identifier: Apache-2.0
"""The command ``convert`` from outside, on a real model: files, tables, JSON, exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from helia_aot.cli.main import main

MODEL = str(Path(__file__).parents[3] / "examples" / "digits" / "digits_int8.tflite")


@dataclass(frozen=True)
class Ran:
    """One run of the command."""

    code: int
    out: str
    err: str


Convert = Callable[..., Ran]


@pytest.fixture
def convert(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Convert:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["helia-aot", "convert", *arguments])
        code: object = 0
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code
        assert isinstance(code, int)
        return Ran(code, *capsys.readouterr())

    return run


def test_one_argument_writes_a_module(convert: Convert, tmp_path: Path) -> None:
    ran = convert(MODEL)
    assert (ran.code, ran.err) == (0, "")
    module = tmp_path / "out" / "helia_aot_nn"
    assert (module / "aot_plan.json").is_file()
    assert (module / "includes-api" / "aot_model.h").is_file()
    assert "Module: out/helia_aot_nn\n" in ran.out


def test_tables_show_arenas_operators_and_choices(convert: Convert) -> None:
    out = convert(MODEL).out
    assert "Memory" in out
    assert "scratch" in out
    assert "CONV_2D" in out
    assert "arm_convolve" in out
    assert "kernel: specialized" in out


def test_hints_are_those_of_the_report(convert: Convert, tmp_path: Path) -> None:
    out = convert(MODEL, "--optimization.kernel", "generic").out
    report = json.loads((tmp_path / "out/helia_aot_nn/aot_report.json").read_text())
    assert report["hints"]
    assert "Optimization hints" in out
    for hint in report["hints"]:
        assert hint["message"] in out
        assert all(line.strip() in out for line in hint["yaml"].splitlines())


def test_no_hints_no_heading(convert: Convert, tmp_path: Path) -> None:
    out = convert(MODEL, "--platform.name", "host").out
    report = json.loads((tmp_path / "out/helia_aot_nn/aot_report.json").read_text())
    assert report["hints"] == []
    assert "Optimization hints" not in out


def test_quiet_prints_the_folder_alone(convert: Convert) -> None:
    assert convert(MODEL, "--verbose", "0").out == "out/helia_aot_nn\n"


def test_more_verbose_lists_tensors(convert: Convert, tmp_path: Path) -> None:
    out = convert(MODEL, "--verbose", "2", "--memory.dump-residency-json").out
    residency = json.loads((tmp_path / "out/helia_aot_nn/aot_residency.json").read_text())
    assert all(tensor["id"] in out for tensor in residency["tensors"])


def test_json_is_one_object_on_standard_output(convert: Convert, tmp_path: Path) -> None:
    ran = convert(MODEL, "--json", "--operators", '[{"type": "NOTHING"}]')
    result = json.loads(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert result["module"] == "out/helia_aot_nn"
    assert result["platform"] == "apollo510_evb"
    plan = json.loads((tmp_path / result["plan_file"]).read_text())
    assert [item["id"] for item in result["operators"]] == [
        item["id"] for item in plan["operators"]
    ]
    assert result["memories"] == {"dtcm": sum(item["used_bytes"] for item in result["arenas"])}
    assert sum(item["mac_share"] for item in result["operators"]) == pytest.approx(1)
    assert result["receipt"] is None
    assert "operators[0]" in result["warnings"][0]


def test_staged_constants_count_in_both_memories(convert: Convert) -> None:
    rule = {
        "type": "CONSTANT",
        "attributes": {"memory": "MRAM", "constant_destination_memory": "DTCM"},
    }
    out = convert(MODEL, "--json", "--memory.tensors", json.dumps([rule])).out
    result = json.loads(out)
    [staged] = [item for item in result["arenas"] if item["role"] == "constant"]
    assert (staged["memory"], staged["source_memory"]) == ("dtcm", "mram")
    assert result["memories"]["mram"] == staged["used_bytes"]
    assert (
        "dtcm (from mram)" in convert(MODEL, "--force", "--memory.tensors", json.dumps([rule])).out
    )


BUDGET = (
    *("--optimization.budget.dtcm_bytes", "100000"),
    *("--optimization.budget.ram_bytes", "100000"),
    *("--optimization.budget.cycles", "2000000"),
)


def test_budgets_show_use_and_limit(convert: Convert) -> None:
    out = convert(MODEL, *BUDGET).out
    table = [line.split() for line in out.partition("Budget")[2].splitlines()[1:5]]
    assert table[0] == ["Name", "Used", "Limit", "Share", "Enforced", "by"]
    assert table[1][0::2] == ["dtcm_bytes", "bytes", "bytes", "conversion"]
    assert table[2][:3] == ["ram_bytes", "at", "least"]
    assert table[3] == ["cycles", "-", "2,000,000", "cycles", "-", "search"]
    assert "Budget" not in convert(MODEL, "--force").out


def test_budgets_in_json(convert: Convert) -> None:
    result = json.loads(convert(MODEL, "--json", *BUDGET).out)
    dtcm, ram, cycles = result["budget"]
    assert (
        dtcm["used"]
        == ram["used"]
        == sum(-(-arena["used_bytes"] // 16) * 16 for arena in result["arenas"])
    )
    assert dtcm == {
        "name": "dtcm_bytes",
        "unit": "bytes",
        "limit": 100000,
        "used": dtcm["used"],
        "enforced_by": "conversion",
    }
    assert (cycles["used"], cycles["limit"]) == (None, 2000000)


def test_error_of_the_target_names_the_line(convert: Convert, tmp_path: Path) -> None:
    file = tmp_path / "convert.yaml"
    file.write_text("optimization:\n  budget:\n    dtcm_bytes: 10\n", encoding="utf-8")
    ran = convert(MODEL, "--path", "convert.yaml", "--log-file", "aot.log")
    assert ran.code == 6
    assert "  convert.yaml:3: optimization.budget.dtcm_bytes: needs " in ran.err
    assert (tmp_path / "aot.log").read_text(encoding="utf-8") == ran.err
    again = convert(MODEL, "--path", "convert.yaml", "--optimization.budget.dtcm_bytes", "11")
    assert "  optimization.budget.dtcm_bytes: needs " in again.err


def test_html_report_on_request(convert: Convert, tmp_path: Path) -> None:
    convert(MODEL, "--documentation.html", "--module.prefix", "kws")
    assert (tmp_path / "out/helia_aot_nn/kws_report.html").is_file()


def test_warnings_go_to_standard_error(convert: Convert) -> None:
    ran = convert(MODEL, "--verbose", "0", "--operators", '[{"type": "NOTHING"}]')
    assert ran.out == "out/helia_aot_nn\n"
    assert ran.err.startswith("warning: operators[0]")


def test_plan_is_reproduced_with_a_receipt(convert: Convert, tmp_path: Path) -> None:
    first = json.loads(convert(MODEL, "--json", "--module.path", "first").out)
    plan = ["--optimization.plan", first["plan_file"]]
    count = sum(len(item["knobs"]) for item in first["operators"])
    again = convert(MODEL, "--module.path", "again", *plan)
    assert f"applied {count + 1} of {count + 1} choices" in again.out  # and the planner
    for file in (tmp_path / "first").rglob("*.[ch]"):
        same = tmp_path / "again" / file.relative_to(tmp_path / "first")
        assert same.read_bytes() == file.read_bytes()


def test_existing_module_needs_force(convert: Convert) -> None:
    assert convert(MODEL).code == 0
    refused = convert(MODEL)
    assert (refused.code, refused.out) == (7, "")
    assert "--force" in refused.err
    assert convert(MODEL, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["none.tflite"], 3, "none.tflite"),
        ([MODEL, "--platform.name", "apolo510_evb"], 2, "did you mean apollo510_evb?"),
        ([MODEL, "--modul.path", "x"], 2, "did you mean --module.path?"),
        ([MODEL, "--optimization.plan", "none.json"], 5, "none.json"),
        (
            [
                MODEL,
                "--memory.constraints",
                '[{"name":"dtcm","max_size":0},{"name":"sram","max_size":0}]',
            ],
            6,
            "dtcm: needs",
        ),
    ],
)
def test_failure_writes_nothing(
    convert: Convert, tmp_path: Path, arguments: list[str], code: int, told: str
) -> None:
    ran = convert(*arguments, "--json")
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("error: ")
    assert told in ran.err
    assert not (tmp_path / "out").exists()


def test_log_file_holds_what_was_printed(convert: Convert, tmp_path: Path) -> None:
    out = convert(MODEL, "--log-file", "aot.log").out
    log = (tmp_path / "aot.log").read_text(encoding="utf-8")
    assert log == out


def test_log_file_holds_the_error(convert: Convert, tmp_path: Path) -> None:
    err = convert("none.tflite", "--log-file", "aot.log").err
    assert (tmp_path / "aot.log").read_text(encoding="utf-8") == err


def test_log_file_that_cannot_be_written_is_told(convert: Convert) -> None:
    ran = convert(MODEL, "--log-file", "no/folder/aot.log")
    assert ran.code == 2
    assert "log_file: no/folder/aot.log: No such file or directory" in ran.err


def test_help_needs_no_model(convert: Convert) -> None:
    ran = convert("--help")
    assert ran.code == 0
    assert "--optimization.plan" in ran.out
