# SPDX-License-Identifier: Apache-2.0
"""A campaign on a real model whose measurements come from a price list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from double_runner import PriceList
from synthetic_campaign import SilentProgress

from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from results.ledger import read_ledger
from results.records import TrialRecord
from results.summary import CampaignSummary


def run(
    model: Path, out: Path, prices: PriceList, progress: SilentProgress, **ray: Any
) -> CampaignSummary:
    tree = {
        "convert": {"model": {"path": str(model)}},
        "space": {"knobs": ["kernel"]},
        "search": {"sampler": "brute_force", "trials": 100},
        "ray": ray,
        "measurement_cache": False,
        "out": str(out),
    }
    return run_campaign(
        CampaignConfig.model_validate(tree), progress=progress, runner_factory=prices
    )


def trials_of(ledger: Path) -> list[TrialRecord]:
    content = read_ledger(ledger)
    return [entry for entry in content[1] if isinstance(entry, TrialRecord)] if content else []
