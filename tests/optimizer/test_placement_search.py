# SPDX-License-Identifier: Apache-2.0
"""Campaigns that move tensors, keep to limits and give Pareto fronts, on a runner with known prices."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from stall_runner import CYCLES_PER_BYTE, StallPrices
from synthetic_campaign import SilentProgress

from helia_aot.api import convert
from helia_aot.optimization.read import read_plan
from helia_aot.optimization.write import dump_json
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.errors import CampaignError
from optimizer.samplers import SamplerName
from optimizer.verify import verify_plan
from results.evidence import Evidence, read_evidence
from results.ledger import LEDGER_NAME, read_ledger
from results.records import TrialRecord
from results.summary import CampaignSummary

DTCM_BYTES = 8192
HEAVY = {"pw6": 6.0, "conv2": 3.0, "pw4": 2.0}


def config(model: Path, out: Path, **changes: Any) -> CampaignConfig:
    tree = {
        "convert": {"model": {"path": str(model)}},
        "budget": {"dtcm_bytes": DTCM_BYTES},
        "search": {"trials": 40},
        "ray": {"workers": 0},
        "measurement_cache": False,
        "out": str(out),
    }
    return CampaignConfig.model_validate({**tree, **changes})


def run(
    model: Path, out: Path, prices: StallPrices | None = None, **changes: Any
) -> tuple[CampaignSummary, Evidence]:
    summary = run_campaign(
        config(model, out, **changes),
        progress=SilentProgress(),
        runner_factory=prices or StallPrices(weights=HEAVY),
    )
    return summary, read_evidence(out)


def constants_by_operator(evidence: Evidence) -> dict[str, dict[str, int]]:
    assert evidence.space.storage is not None
    return {
        item.operator_id: item.variants[0].constants for item in evidence.space.storage.operators
    }


def test_profile_fills_the_knapsack_exactly(digits_model: Path, tmp_path: Path) -> None:
    pins = [{"optimization": {"scratch": "sram"}}]
    space = {
        "knobs": ["constants"],
        "pins": pins,
        "restrict": [{"optimization": {"constants": ["dtcm", "sram"]}}],
    }
    summary, evidence = run(digits_model, tmp_path, space=space)
    stored = {name: sizes for name, sizes in constants_by_operator(evidence).items() if sizes}
    padded = {
        name: sum(-(-size // 16) * 16 for size in sizes.values()) for name, sizes in stored.items()
    }
    factor = {name: next((f for part, f in HEAVY.items() if part in name), 1.0) for name in stored}
    gains = {name: factor[name] * sum(sizes.values()) for name, sizes in stored.items()}
    best = max(
        sum(gains[name] for name in chosen)
        for count in range(len(stored) + 1)
        for chosen in itertools.combinations(stored, count)
        if sum(padded[name] for name in chosen) <= DTCM_BYTES
    )
    in_dtcm = {
        item.operator_id
        for item in evidence.space.dimensions
        if evidence.winner.choices[item.name] == "dtcm"
    }
    assert sum(gains[name] for name in in_dtcm) == best
    assert summary.gain_over_auto > 1.05
    assert summary.search.trials <= 10
    assert summary.optimality is not None
    assert summary.optimality.gap < 0.005
    assert CYCLES_PER_BYTE["dtcm"] == 0


def test_the_whole_space_beats_auto_and_its_plan_is_reproduced(
    digits_model: Path, tmp_path: Path
) -> None:
    space = {"knobs": ["kernel", "constants", "scratch"]}
    summary, evidence = run(digits_model, tmp_path, space=space, search={"trials": 20})
    assert evidence.space.size > 10**9
    assert summary.gain_over_auto > 1.3
    assert summary.optimality is not None
    assert summary.optimality.gap < 0.02
    plan = read_plan(tmp_path / "aot_plan.json")
    free = config(digits_model, tmp_path).convert
    written = convert(free, plan=plan)
    assert dump_json(written.plan) == (tmp_path / "aot_plan.json").read_text()
    assert written.storage_bytes["dtcm_bytes"] <= DTCM_BYTES
    assert plan.optimization.budget == {"dtcm_bytes": DTCM_BYTES}
    (row,) = evidence.budget
    assert (row.name, row.unit, row.limit) == ("dtcm_bytes", "bytes", DTCM_BYTES)
    assert row.winner is not None
    assert row.winner <= DTCM_BYTES
    assert any("constants:" in text for item in evidence.operators for text in item.changes)
    assert sum(item.winner_cycles for item in evidence.operators) + 777 == summary.best_cycles
    prices = StallPrices(weights=HEAVY)
    report = verify_plan(tmp_path / "aot_plan.json", model_path=digits_model, runner_factory=prices)
    assert report.holds


def test_a_campaign_that_moves_tensors_continues_with_the_same_ledger(
    digits_model: Path, tmp_path: Path
) -> None:
    space = {"preset": "placement"}
    run(digits_model, tmp_path / "whole", space=space, search={"trials": 3})
    run(digits_model, tmp_path / "parts", space=space, search={"trials": 1})
    run(digits_model, tmp_path / "parts", space=space, search={"trials": 3})
    keys = []
    for name in ("whole", "parts"):
        content = read_ledger(tmp_path / name / LEDGER_NAME)
        assert content is not None
        keys.append(
            [e.plan_key for e in content[1] if isinstance(e, TrialRecord) and e.role == "search"]
        )
    assert keys[0] == keys[1]


def test_plans_that_do_not_fit_are_refused_before_the_build(
    digits_model: Path, tmp_path: Path
) -> None:
    search = {"trials": 8, "sampler": "random"}
    run(digits_model, tmp_path, search=search, space={"preset": "placement"})
    content = read_ledger(tmp_path / LEDGER_NAME)
    assert content is not None
    refused = [
        entry.measurement
        for entry in content[1]
        if isinstance(entry, TrialRecord) and entry.measurement.status == "plan_bad"
    ]
    assert refused
    for measurement in refused:
        assert measurement.stage == "convert"
        assert measurement.evidence["overflow_bytes"]["dtcm_bytes"] > 0  # type: ignore[index, call-overload, operator]
        assert "build" not in measurement.stage_seconds


@pytest.mark.parametrize("sampler", ["profile", "tpe", "nsga2", "random"])
def test_no_sampler_writes_a_plan_over_a_measured_limit(
    sampler: SamplerName, digits_model: Path, tmp_path: Path
) -> None:
    prices = StallPrices(generic=2000)
    budget = {"code_bytes": 11500.0}
    search = {"sampler": sampler, "trials": 8}
    space = {"knobs": ["kernel"]}
    summary, evidence = run(
        digits_model, tmp_path, prices, budget=budget, search=search, space=space
    )
    (row,) = summary.budget
    assert row.baseline is not None
    assert row.winner is not None
    assert row.winner <= 11500 < row.baseline
    assert not summary.is_auto
    assert summary.best_cycles > summary.baseline_cycles
    assert "which auto does not" in evidence.verdict
    report = verify_plan(tmp_path / "aot_plan.json", model_path=digits_model, runner_factory=prices)
    assert report.holds
    assert ("limits", "ok") in {(check.name, check.status) for check in report.checks}
    if sampler == "profile":
        assert row.refused <= 9  # plans that may fit, as far as the builds tell, are looked at


def test_no_plan_is_written_when_none_keeps_to_the_limits(
    digits_model: Path, tmp_path: Path
) -> None:
    with pytest.raises(CampaignError) as caught:
        run(digits_model, tmp_path, budget={"code_bytes": 100.0, "cycles": 10.0})
    assert {problem.where for problem in caught.value.problems} == {
        "budget.code_bytes",
        "budget.cycles",
    }
    assert not (tmp_path / "aot_plan.json").exists()


def test_what_the_runner_does_not_measure_is_an_error(digits_model: Path, tmp_path: Path) -> None:
    with pytest.raises(CampaignError) as caught:
        run(digits_model, tmp_path, objectives=["cycles", "ram_bytes"])
    assert [(p.where, "ram_bytes" in p.reason) for p in caught.value.problems] == [
        ("objectives", True)
    ]


def test_latency_is_limited_like_cycles(digits_model: Path, tmp_path: Path) -> None:
    summary, _ = run(
        digits_model,
        tmp_path,
        objectives=["latency_us"],
        budget={"dtcm_bytes": DTCM_BYTES, "latency_us": 1e9},
        space={"preset": "placement"},
        search={"trials": 3},
    )
    values = {row.name: row.winner for row in summary.budget}
    assert values["latency_us"] == summary.best_cycles / 100


def dominated(values: dict[str, float], others: list[dict[str, float]]) -> bool:
    return any(o != values and all(o[n] <= values[n] for n in values) for o in others)


@pytest.mark.parametrize("sampler", ["profile", "nsga2", "tpe"])
def test_several_objectives_give_a_front_with_a_plan_for_each_point(
    sampler: SamplerName, digits_model: Path, tmp_path: Path
) -> None:
    summary, evidence = run(
        digits_model,
        tmp_path,
        budget={},
        objectives=["cycles", "dtcm_bytes"],
        space={"knobs": ["constants"], "group": "type"},
        search={"sampler": sampler, "trials": 10},
    )
    front = evidence.front
    assert len(front) >= 3
    values = [point.values for point in front]
    assert not any(dominated(value, values) for value in values)
    for point in front:
        assert point.plan_file is not None
        plan = read_plan(tmp_path / point.plan_file)
        written = convert(config(digits_model, tmp_path, budget={}).convert, plan=plan)
        assert written.storage_bytes["dtcm_bytes"] == point.values["dtcm_bytes"]
    assert summary.front == front
    assert summary.best_cycles == min(point.values["cycles"] for point in front)
    assert json.loads((tmp_path / "evidence.json").read_text())["front"]


def test_profile_sweeps_the_front_exactly(digits_model: Path, tmp_path: Path) -> None:
    arguments = {
        "budget": {},
        "objectives": ["cycles", "dtcm_bytes"],
        "space": {
            "knobs": ["constants"],
            "group": "type",
            "restrict": [{"optimization": {"constants": ["dtcm", "sram"]}}],
        },
    }
    every = {"sampler": "brute_force", "trials": 1000}
    _, whole = run(digits_model, tmp_path / "whole", search=every, **arguments)
    _, swept = run(digits_model, tmp_path / "swept", search={"trials": 6}, **arguments)
    exact = {tuple(point.values.values()) for point in whole.front}
    found = {tuple(point.values.values()) for point in swept.front}
    assert found <= exact
    assert len(found) >= min(5, len(exact))


def test_profile_sweeps_three_objectives_together(digits_model: Path, tmp_path: Path) -> None:
    """Limits of one memory at a time never give a plan that splits what is slow between two."""
    names = ("cycles", "dtcm_bytes", "sram_bytes")
    arguments = {
        "budget": {},
        "objectives": list(names),
        "space": {
            "knobs": ["constants"],
            "group": "type",
            "restrict": [{"optimization": {"constants": ["dtcm", "sram", "mram"]}}],
        },
    }
    every = {"sampler": "brute_force", "trials": 1000}
    _, whole = run(digits_model, tmp_path / "whole", search=every, **arguments)
    _, swept = run(digits_model, tmp_path / "swept", search={"trials": 14}, **arguments)
    exact = {tuple(point.values[name] for name in names) for point in whole.front}
    found = {tuple(point.values[name] for name in names) for point in swept.front}
    assert found <= exact
    assert any(dtcm and sram for _, dtcm, sram in found)
    assert len(found) >= 8


def test_options_of_the_configuration_bind_their_planner(
    digits_model: Path, tmp_path: Path
) -> None:
    memory = {"planner_options": {"seed": 3}}
    _, evidence = run(
        digits_model,
        tmp_path,
        convert={"model": {"path": str(digits_model)}, "memory": memory},
        search={"trials": 2},
    )
    assert not any(item.knob == "planner" for item in evidence.space.dimensions)
    assert evidence.search.failures == ()
