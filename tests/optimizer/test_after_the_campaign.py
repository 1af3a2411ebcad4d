# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a campaign's folder: status, verify, compare and export."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from double_runner import PriceList
from synthetic_campaign import SilentProgress
from typer.testing import CliRunner

from helia_aot.errors import ConfigError, HeliaError, PlanError
from optimizer.campaign import run_campaign
from optimizer.cli import app
from optimizer.config import CampaignConfig
from optimizer.console import comparison_parts, status_parts, verify_parts
from optimizer.errors import CampaignError
from optimizer.status import campaign_status
from optimizer.verify import VerifyReport, verify_plan
from results.comparison import compare_campaigns
from results.ledger import LEDGER_NAME, Ledger, read_ledger


def campaign(model: Path, out: Path, prices: PriceList | None = None, **search: Any) -> Path:
    config = CampaignConfig.model_validate(
        {
            "convert": {"model": {"path": str(model)}},
            "search": search,
            "ray": {"workers": 0},
            "measurement_cache": False,
            "out": str(out),
        }
    )
    run_campaign(config, progress=SilentProgress(), runner_factory=prices or PriceList())
    return out


@pytest.fixture(scope="module")
def tuned(digits_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign whose plan is faster than auto."""
    return campaign(digits_model, tmp_path_factory.mktemp("tuned"))


@pytest.fixture(scope="module")
def kept(digits_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign that keeps auto."""
    prices = PriceList(generic_discount=False)
    return campaign(digits_model, tmp_path_factory.mktemp("kept"), prices)


def shown(parts: Any) -> str:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=200)
    for part in parts:
        console.print(part)
    return console.file.getvalue()  # type: ignore[attr-defined]


def verified(
    folder: Path, model: Path, prices: PriceList | None = None
) -> tuple[VerifyReport, dict[str, str]]:
    report = verify_plan(
        folder / "aot_plan.json", model_path=model, runner_factory=prices or PriceList()
    )
    return report, {check.name: check.status for check in report.checks}


def test_the_status_of_a_finished_campaign(tuned: Path) -> None:
    status = campaign_status(tuned)
    assert status.state == "finished"
    assert status.best_cycles is not None
    assert status.baseline_cycles is not None
    assert status.best_cycles < status.baseline_cycles
    assert status.optimality is not None
    text = shown(status_parts(status))
    assert "finished" in text
    assert "within" in text


def test_the_status_of_a_running_and_of_a_killed_campaign(tuned: Path, tmp_path: Path) -> None:
    path = tmp_path / LEDGER_NAME
    path.write_bytes((tuned / LEDGER_NAME).read_bytes()[:-20])
    assert campaign_status(tmp_path).state == "stopped"
    content = read_ledger(path)
    assert content is not None
    with Ledger.open(path, content[0].identity):
        status = campaign_status(tmp_path)
    assert (status.state, status.space_size) == ("running", None)
    assert "running" in shown(status_parts(status))


def test_a_folder_without_a_campaign_has_no_status(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="holds no campaign"):
        campaign_status(tmp_path)


def test_a_plan_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"no_plan\.json"):
        verify_plan(tmp_path / "no_plan.json")


def test_a_true_claim_holds(tuned: Path, kept: Path, digits_model: Path) -> None:
    report, checks = verified(tuned, digits_model)
    assert report.holds
    assert set(checks.values()) == {"ok"}
    assert "faster than auto" in checks
    assert report.plan_cycles is not None
    assert report.baseline_cycles is not None
    assert report.plan_cycles < report.baseline_cycles
    assert "the claim holds" in shown(verify_parts(report))
    report, checks = verified(kept, digits_model, PriceList(generic_discount=False))
    assert report.holds
    assert set(checks.values()) == {"ok"}


def test_the_model_is_found_beside_the_plan(
    tuned: Path, digits_model: Path, tmp_path: Path
) -> None:
    shutil.copytree(tuned, tmp_path / "copy")
    plan = tmp_path / "copy" / "aot_plan.json"
    with pytest.raises(CampaignError, match="--model"):
        verify_plan(plan, runner_factory=PriceList())
    shutil.copy(digits_model, tmp_path / "copy")
    assert verify_plan(plan, runner_factory=PriceList()).holds


def test_another_plan_than_the_one_that_was_measured_fails(
    tuned: Path, kept: Path, digits_model: Path, tmp_path: Path
) -> None:
    shutil.copytree(tuned, tmp_path / "copy")
    shutil.copy(kept / "aot_plan.json", tmp_path / "copy")
    report, checks = verified(tmp_path / "copy", digits_model)
    assert not report.holds
    assert {checks[name] for name in ("plan file", "choices", "module", "image")} == {"failed"}
    assert "does NOT hold" in shown(verify_parts(report))


def test_a_gain_that_is_gone_fails(tuned: Path, digits_model: Path) -> None:
    report, checks = verified(tuned, digits_model, PriceList(generic_discount=False))
    assert not report.holds
    assert checks["faster than auto"] == "failed"


def test_wrong_outputs_fail(tuned: Path, digits_model: Path) -> None:
    report, checks = verified(tuned, digits_model, PriceList(wrong_entry="arm_softmax_s8"))
    assert not report.holds
    assert checks["outputs"] == "failed"


def test_another_toolchain_is_named_and_the_claim_measured(tuned: Path, digits_model: Path) -> None:
    report, checks = verified(tuned, digits_model, PriceList(toolchain="prices 2"))
    assert report.holds
    assert checks["runner and toolchain"] == "differs"
    assert "prices 2" in next(c.detail for c in report.checks if c.name == "runner and toolchain")


def test_another_model_is_refused(tuned: Path, digits_model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tflite"
    other.write_bytes(digits_model.read_bytes() + bytes(8))
    with pytest.raises(HeliaError) as caught:
        verified(tuned, other)
    assert caught.value.exit_code == 5


def test_equal_campaigns_do_not_differ(tuned: Path) -> None:
    found = compare_campaigns(tuned, tuned)
    assert found.is_comparable
    assert (found.ratio, found.identity, found.choices) == (1.0, (), ())
    assert "same choices" in shown(comparison_parts(found))


def test_campaigns_with_other_plans_differ_in_choices(tuned: Path, kept: Path) -> None:
    found = compare_campaigns(tuned, kept)
    assert found.is_comparable
    assert found.choices
    assert {(item.first, item.second) for item in found.choices} == {("generic", "specialized")}
    assert "kernel@0:dw1_3x3" in shown(comparison_parts(found))


def test_campaigns_of_other_toolchains_are_not_comparable(
    tuned: Path, digits_model: Path, tmp_path: Path
) -> None:
    campaign(digits_model, tmp_path, PriceList(toolchain="prices 2"))
    found = compare_campaigns(tuned, tmp_path)
    assert not found.is_comparable
    assert [(item.name, item.first, item.second) for item in found.identity] == [
        ("runner.toolchain", "prices 1", "prices 2")
    ]
    assert "cannot be compared" in shown(comparison_parts(found))


def test_a_campaign_that_is_not_finished_cannot_be_compared(tuned: Path, tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="helia-search status"):
        compare_campaigns(tuned, tmp_path)
    (tmp_path / "evidence.json").write_text("{")
    with pytest.raises(CampaignError, match="damaged"):
        compare_campaigns(tuned, tmp_path)


def test_the_command_line_reaches_all_of_it(tuned: Path) -> None:
    runner = CliRunner()
    status = runner.invoke(app, ["status", str(tuned), "--json"])
    assert json.loads(status.stdout)["state"] == "finished"
    compared = runner.invoke(app, ["compare", str(tuned), str(tuned), "--json"])
    assert json.loads(compared.stdout)["ratio"] == 1.0
    rows = list(
        csv.DictReader(
            io.StringIO(runner.invoke(app, ["export", str(tuned), "--format", "csv"]).stdout)
        )
    )
    t4 = json.loads(runner.invoke(app, ["export", str(tuned)]).stdout)
    assert [row["role"] for row in rows[:2]] == ["baseline", "reference"]
    assert t4["schema_version"] == "1.0.0"
    assert len(t4["results"]) == len([row for row in rows if row["role"] != "verify"])
    assert {row["cycles"] for row in rows} == {
        str(next(m["value"] for m in item["measurements"] if m["name"] == "cycles"))
        for item in t4["results"]
    }
    wrong = runner.invoke(app, ["export", str(tuned), "--format", "xml"])
    assert isinstance(wrong.exception, ConfigError)
    empty = runner.invoke(app, ["export", str(tuned.parent)])
    assert isinstance(empty.exception, CampaignError)
