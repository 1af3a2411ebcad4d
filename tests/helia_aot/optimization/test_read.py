# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import helia_aot.optimization as public
from helia_aot.errors import PlanError
from helia_aot.optimization.measurements import measurements_for
from helia_aot.optimization.read import parse_plan, parse_report, read_plan, read_report
from helia_aot.optimization.report import OptimizationReport
from helia_aot.optimization.write import dump_json

if TYPE_CHECKING:
    from conftest import Case


@pytest.fixture
def report() -> OptimizationReport:
    return OptimizationReport(
        schema_version=1,
        plan_file="aot_plan.json",
        total_macs=0,
        operators=[],
        measurements=measurements_for("apollo510_evb", "cortex-m55"),
        constant_placement=None,
        hints=[],
    )


def test_file_survives_a_round_trip(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "aot_plan.json"
    path.write_text(dump_json(case.plan()), encoding="utf-8")
    plan = read_plan(path)
    assert plan == case.plan()
    assert dump_json(plan) == path.read_text(encoding="utf-8")


def test_missing_file_is_a_plan_error(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot be read: No such file"):
        read_plan(tmp_path / "no.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{", "line 1, column 2"), (b"\xff\xfe", "no UTF-8 text"), (b"[]", "does not follow")],
)
def test_unreadable_content_is_a_plan_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(PlanError, match=message):
        read_plan(path)


def test_other_schema_version_is_named(case: Case) -> None:
    content = case.plan().model_dump(mode="json") | {"schema_version": 2}
    with pytest.raises(PlanError, match="schema version 2, this release reads 1") as caught:
        parse_plan(content)
    assert "use the release that wrote it (0.1.0) or a newer one" in caught.value.next_step
    assert "convert the model with this release" in caught.value.next_step


def test_older_schema_version_says_how_to_get_a_new_plan(case: Case) -> None:
    content = case.plan().model_dump(mode="json") | {"schema_version": 0}
    with pytest.raises(PlanError, match="schema version 0") as caught:
        parse_plan(content)
    assert caught.value.next_step.startswith("convert the model with this release")


@pytest.mark.parametrize("version", [None, "1", 1.5, True])
def test_a_schema_version_that_is_no_version_is_a_schema_fault(case: Case, version: object) -> None:
    content = case.plan().model_dump(mode="json") | {"schema_version": version}
    with pytest.raises(PlanError, match="does not follow the schema") as caught:
        parse_plan(content)
    assert caught.value.problems[0].where == "schema_version"


def test_every_schema_fault_is_listed_with_its_place(case: Case) -> None:
    content: Any = json.loads(dump_json(case.plan()))
    content["extra"] = 1
    content["model"]["sha256"] = "abc"
    content["operators"][0]["knobs"]["kernel"]["value"] = "turbo"
    content["operators"][0]["knobs"]["kernel"]["resolved_by"] = "magic"
    choice = json.loads(dump_json(case.plan()))["operators"][0]["knobs"]["kernel"]
    content["operators"][1]["knobs"] = {
        "unroll": choice,
        "kernel": choice | {"value": "turbo"},
    }
    del content["operators"][2]["op_type"]
    with pytest.raises(PlanError) as caught:
        parse_plan(content)
    found = {problem.where: problem.reason for problem in caught.value.problems}
    assert set(found) == {
        "model.sha256",
        "operators[0].knobs.kernel.resolved_by",
        "operators[1]",
        "operators[2].op_type",
        "extra",
    }
    assert found["operators[1]"].startswith("operator '0:a:b': ")
    assert "unknown knob 'unroll'" in found["operators[1]"]
    assert "no value 'turbo'" in found["operators[1]"]


@pytest.mark.parametrize("name", public.__all__)
def test_the_package_gives_every_public_name(name: str) -> None:
    assert getattr(public, name) is not None


def test_the_package_reads_both_files(
    case: Case, report: OptimizationReport, tmp_path: Path
) -> None:
    (tmp_path / "plan.json").write_text(dump_json(case.plan()))
    (tmp_path / "report.json").write_text(dump_json(report))
    assert public.read_plan(tmp_path / "plan.json") == case.plan()
    assert public.read_report(tmp_path / "report.json") == report


def test_no_public_name_is_hidden_by_a_module() -> None:
    modules = {path.stem for path in Path(public.__file__).parent.glob("*.py")}
    assert modules.isdisjoint(public.__all__)


def test_a_plan_reader_ignores_the_report(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "aot_plan.json"
    path.write_text(dump_json(case.plan()))
    path.with_name("aot_report.json").write_text("{ damaged")
    assert read_plan(path) == case.plan()


def test_a_report_in_place_of_a_plan_names_the_plan(report: OptimizationReport) -> None:
    with pytest.raises(PlanError, match="is an optimization report, not a plan") as caught:
        parse_plan(json.loads(dump_json(report)))
    assert "aot_plan.json" in caught.value.next_step


def test_other_schema_version_of_a_report_is_named(report: OptimizationReport) -> None:
    content = json.loads(dump_json(report)) | {"schema_version": 2}
    with pytest.raises(PlanError, match=r"report .* has schema version 2, this release reads 1"):
        parse_report(content)


def test_report_without_an_entry_for_every_setting_is_refused(report: OptimizationReport) -> None:
    content = json.loads(dump_json(report))
    del content["measurements"]["goal"]
    with pytest.raises(PlanError) as caught:
        parse_report(content)
    assert "measurements must have the entries" in caught.value.problems[0].reason


def test_damaged_report_names_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "aot_report.json"
    path.write_text('{"schema_version": 1,')
    with pytest.raises(PlanError, match=r"The report .*aot_report.json is not JSON: line 1"):
        read_report(path)


def test_misspelt_key_suggests_the_nearest(case: Case) -> None:
    content = json.loads(dump_json(case.plan()))
    content["operators"][0]["fixd"] = content["operators"][0].pop("fixed")
    with pytest.raises(PlanError) as caught:
        parse_plan(content)
    (problem,) = caught.value.problems
    assert problem.where == "operators[0].fixd"
    assert problem.reason == "operator '0:first': unknown key"
    assert problem.next_step == "did you mean fixed?"
