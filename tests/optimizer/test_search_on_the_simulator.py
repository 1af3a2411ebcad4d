# SPDX-License-Identifier: Apache-2.0
"""Searches by modelled cycles: what the best plan under a limit is worth against ``auto``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from required import missing
from space_models import two_rates
from synthetic_campaign import SilentProgress

from helia_aot.api import convert
from helia_aot.optimization.read import read_plan
from helia_aot.optimization.write import dump_json
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from results.summary import CampaignSummary

if not all(map(shutil.which, ("arm-none-eabi-gcc", "qemu-system-arm"))):
    missing("arm-none-eabi-gcc or qemu-system-arm is not installed")

CODE_BYTES = 26_000


def search(out: Path, **settings: Any) -> tuple[CampaignSummary, CampaignConfig]:
    tree = {"ray": {"workers": 0}, "measurement_cache": False, "out": str(out), **settings}
    config = CampaignConfig.model_validate(tree)
    return run_campaign(config, progress=SilentProgress()), config


def assert_reproduced(out: Path, config: CampaignConfig) -> None:
    written = convert(config.convert, plan=read_plan(out / "aot_plan.json"))
    assert dump_json(written.plan) == (out / "aot_plan.json").read_text()


def test_the_digits_model_gets_the_entries_that_pay_within_its_code(
    digits_model: Path, tmp_path: Path
) -> None:
    summary, config = search(
        tmp_path,
        convert={"model": {"path": str(digits_model)}, "optimization": {"goal": "size"}},
        budget={"dtcm_bytes": 16384, "code_bytes": CODE_BYTES},
        space={"knobs": ["kernel"]},
    )
    assert summary.gain_over_auto > 1.3
    used = {row.name: row.winner for row in summary.budget}
    assert used["code_bytes"] is not None
    assert used["dtcm_bytes"] is not None
    assert used["code_bytes"] <= CODE_BYTES
    assert used["dtcm_bytes"] <= 16384
    assert summary.optimality is not None
    assert summary.optimality.gap < 0.005
    assert_reproduced(tmp_path, config)


def test_tightly_coupled_memory_goes_to_the_weights_that_are_read_often(tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(two_rates())
    summary, config = search(
        tmp_path / "out",
        convert={"model": {"path": str(model)}},
        budget={"dtcm_bytes": 90_000},
        space={"knobs": ["constants"]},
    )
    assert summary.gain_over_auto > 1.4
    after = {change.operator_id: change.after for change in summary.changes}
    assert after["0:read_often"] == "dtcm"
    assert after["0:read_once"] != "dtcm"
    assert_reproduced(tmp_path / "out", config)
