# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import shlex
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from double_runner import PriceList
from synthetic_campaign import SilentProgress

from helia_aot.api import convert
from helia_aot.config.options import parse_convert_options
from helia_aot.errors import HeliaError
from helia_aot.optimization.read import read_plan
from helia_aot.optimization.write import dump_json
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.errors import CampaignError
from results.ledger import LEDGER_NAME, read_ledger
from results.records import TrialRecord
from results.summary import CampaignSummary
from search_spaces.plans import knob_key, plan_key


def config(model: Path, out: Path, **changes: Any) -> CampaignConfig:
    tree = {
        "convert": {"model": {"path": str(model)}},
        "search": {"sampler": "tpe", "trials": 12},
        "space": {"knobs": ["kernel"]},  # small enough to measure every plan
        "ray": {"workers": 0},
        "measurement_cache": False,
        "out": str(out),
    }
    return CampaignConfig.model_validate({**tree, **changes})


def run(
    model: Path,
    out: Path,
    prices: PriceList | None = None,
    *,
    fresh: bool = False,
    progress: SilentProgress | None = None,
    **changes: Any,
) -> CampaignSummary:
    return run_campaign(
        config(model, out, **changes),
        progress=progress or SilentProgress(),
        fresh=fresh,
        runner_factory=prices or PriceList(),
    )


def test_the_best_plan_is_written_with_its_evidence(digits_model: Path, tmp_path: Path) -> None:
    summary = run(digits_model, tmp_path, search={"sampler": "brute_force", "trials": 100})
    evidence = json.loads((tmp_path / "evidence.json").read_text())
    plan = read_plan(tmp_path / "aot_plan.json")
    assert not summary.is_auto
    assert summary.search.stop_reason == "exhausted"
    assert summary.best_cycles == summary.baseline_cycles - 200 * len(summary.changes)
    assert len(summary.changes) == len(evidence["space"]["dimensions"])
    assert evidence["plan_key"] == plan_key(plan)
    assert {choice.resolved_by for op in plan.operators for choice in op.knobs.values()} == {"plan"}
    assert not list(tmp_path.glob(".*"))
    assert evidence["optimality"]["is_exhaustive"]


def test_the_profile_sampler_stops_near_the_best_and_says_how_near(
    digits_model: Path, tmp_path: Path
) -> None:
    every = run(digits_model, tmp_path / "every", search={"sampler": "brute_force", "trials": 100})
    summary = run(digits_model, tmp_path / "few", search={})
    assert summary.search.stop_reason == "gap"
    assert summary.search.plans_measured <= 4
    assert summary.best_cycles == every.best_cycles
    assert summary.optimality is not None
    assert summary.optimality.gap <= 0.005
    assert summary.optimality.bound_cycles <= every.best_cycles
    assert len(summary.optimality.checks) >= 2


def test_the_command_of_the_summary_reproduces_the_plan_byte_for_byte(
    digits_model: Path, tmp_path: Path
) -> None:
    summary = run(digits_model, tmp_path, search={"sampler": "tpe", "trials": 5})
    words = shlex.split(summary.reproduce)
    assert words[:2] == ["helia-aot", "convert"]
    conversion = convert(parse_convert_options(words[2:]).config)
    assert dump_json(conversion.plan) == (tmp_path / "aot_plan.json").read_text()


def test_auto_is_written_when_nothing_is_faster(digits_model: Path, tmp_path: Path) -> None:
    prices = PriceList(generic_discount=False)
    summary = run(digits_model, tmp_path, prices, search={"sampler": "tpe", "trials": 8})
    auto = convert(config(digits_model, tmp_path).convert).plan
    assert summary.is_auto
    assert summary.gain_over_auto == 1.0
    assert summary.changes == ()
    assert knob_key(read_plan(tmp_path / "aot_plan.json")) == knob_key(auto)
    assert "no measured plan is faster" in summary.verdict


def test_a_finished_campaign_started_again_changes_no_file(
    digits_model: Path, tmp_path: Path
) -> None:
    run(digits_model, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run(digits_model, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_evidence_is_the_same_but_for_seconds(digits_model: Path, tmp_path: Path) -> None:
    texts = []
    for name in ("first", "second"):
        run(digits_model, tmp_path / name)
        text = (tmp_path / name / "evidence.json").read_text()
        texts.append(re.sub(r'"(seconds|convert|run)": [0-9.e-]+', "", text))
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_more_trials_continue_a_campaign(digits_model: Path, tmp_path: Path) -> None:
    run(digits_model, tmp_path, search={"sampler": "tpe", "trials": 3})
    progress = SilentProgress()
    summary = run(digits_model, tmp_path, search={"sampler": "tpe", "trials": 6}, progress=progress)
    assert summary.search.trials == 6
    assert any("continuing" in note for note in progress.notes)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"search": {"sampler": "tpe", "trials": 3, "seed": 1}}, "seed"),
        ({"search": {"trials": 3, "sampler": "random"}}, "sampler"),
        ({"runner": {"warmups": 2}}, "config_sha256"),
        ({"space": {"pins": [{"type": "CONV_2D", "optimization": {"kernel": "auto"}}]}}, "space"),
    ],
)
def test_a_changed_campaign_is_refused(
    digits_model: Path, tmp_path: Path, changes: dict[str, Any], where: str
) -> None:
    run(digits_model, tmp_path, search={"sampler": "tpe", "trials": 3})
    with pytest.raises(CampaignError) as caught:
        run(digits_model, tmp_path, **{"search": {"sampler": "tpe", "trials": 3}, **changes})
    assert caught.value.exit_code == 9
    assert any(problem.where.startswith(where) for problem in caught.value.problems)


def test_a_changed_toolchain_is_refused_until_fresh(digits_model: Path, tmp_path: Path) -> None:
    run(digits_model, tmp_path, search={"sampler": "tpe", "trials": 3})
    newer = PriceList(toolchain="prices 2")
    with pytest.raises(CampaignError, match=r"runner\.toolchain"):
        run(digits_model, tmp_path, newer, search={"sampler": "tpe", "trials": 3})
    run(digits_model, tmp_path, newer, search={"sampler": "tpe", "trials": 3}, fresh=True)
    assert (tmp_path / "ledger-1.jsonl").exists()


def test_a_changed_model_is_refused(digits_model: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(digits_model.read_bytes())
    run(model, tmp_path / "out", search={"sampler": "tpe", "trials": 3})
    model.write_bytes(digits_model.read_bytes() + bytes(16))
    with pytest.raises(CampaignError, match="model_sha256"):
        run(model, tmp_path / "out", search={"sampler": "tpe", "trials": 3})


def test_a_plan_with_wrong_outputs_is_never_written(digits_model: Path, tmp_path: Path) -> None:
    prices = PriceList(wrong_entry="arm_convolve_s8")
    summary = run(digits_model, tmp_path, prices, search={"sampler": "brute_force", "trials": 100})
    assert {change.op_type for change in summary.changes} == {"DEPTHWISE_CONV_2D"}
    assert [failure.stage for failure in summary.search.failures] == ["compare"]
    assert summary.generic_cycles is None


def test_pins_hold_in_the_written_plan(digits_model: Path, tmp_path: Path) -> None:
    pins = [{"type": "depthwise_conv_2d", "optimization": {"kernel": "generic"}}]
    summary = run(
        digits_model, tmp_path, space={"pins": pins}, search={"sampler": "tpe", "trials": 3}
    )
    plan = read_plan(tmp_path / "aot_plan.json")
    kernels = {op.knobs["kernel"].value for op in plan.operators if op.op_type.startswith("DEPTH")}
    assert kernels == {"generic"}
    assert {change.op_type for change in summary.changes} >= {"DEPTHWISE_CONV_2D"}


def test_settings_of_the_configuration_hold_in_the_written_plan(
    digits_model: Path, tmp_path: Path
) -> None:
    tree = {
        "model": {"path": str(digits_model)},
        "operators": [{"type": "CONV_2D", "optimization": {"kernel": "specialized"}}],
    }
    summary = run(digits_model, tmp_path, convert=tree, search={"sampler": "tpe", "trials": 5})
    conversion = convert(parse_convert_options(shlex.split(summary.reproduce)[2:]).config)
    assert dump_json(conversion.plan) == (tmp_path / "aot_plan.json").read_text()
    assert {change.op_type for change in summary.changes} == {"DEPTHWISE_CONV_2D"}


def test_a_model_that_cannot_be_converted_leaves_no_folder(tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(b"no model")
    with pytest.raises(HeliaError) as caught:
        run(model, tmp_path / "out")
    assert caught.value.exit_code == 3
    assert not (tmp_path / "out").exists()


def _run_slowly(model: Path, out: Path) -> None:
    run(model, out, PriceList(slow_s=0.01))


def test_killing_the_campaign_at_random_moments_ends_in_the_same_plan(
    digits_model: Path, tmp_path: Path
) -> None:
    whole = run(digits_model, tmp_path / "whole")
    moments = random.Random(3)
    finished: list[TrialRecord] = []
    kills = 0
    for _ in range(100):
        process = multiprocessing.get_context("fork").Process(
            target=_run_slowly, args=(digits_model, tmp_path / "killed")
        )
        process.start()
        time.sleep(moments.uniform(0.1, 0.4))
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.join()
        content = read_ledger(tmp_path / "killed" / LEDGER_NAME)
        now = [e for e in content[1] if isinstance(e, TrialRecord)] if content else []
        assert now[: len(finished)] == finished
        finished = now
        if process.exitcode == 0:
            break
    killed = run(digits_model, tmp_path / "killed", PriceList(slow_s=0.01))
    assert kills > 1
    assert killed.best_cycles == whole.best_cycles
    assert (tmp_path / "killed" / "aot_plan.json").read_bytes() == (
        tmp_path / "whole" / "aot_plan.json"
    ).read_bytes()
