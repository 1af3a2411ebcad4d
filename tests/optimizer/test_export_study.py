# SPDX-License-Identifier: Apache-2.0
"""The study that other tools open: Optuna's own, with the objectives and constraints of the campaign."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest
from double_runner import PriceList
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from synthetic_campaign import SilentProgress

from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.export_study import write_study
from results.errors import CampaignError
from results.ledger import LEDGER_NAME, read_ledger
from results.records import known_plans


def test_optuna_opens_what_a_campaign_leaves(digits_model: Path, tmp_path: Path) -> None:
    config = CampaignConfig.model_validate(
        {
            "convert": {"model": {"path": str(digits_model)}},
            "space": {"knobs": ["kernel"]},
            "search": {"sampler": "tpe", "trials": 6},
            "ray": {"workers": 0},
            "measurement_cache": False,
            "out": str(tmp_path),
        }
    )
    run_campaign(config, progress=SilentProgress(), runner_factory=PriceList())
    path = write_study(tmp_path)
    write_study(tmp_path)  # replaces, and does not append
    study = optuna.load_study(
        study_name=config.campaign_name, storage=JournalStorage(JournalFileBackend(str(path)))
    )
    content = read_ledger(tmp_path / LEDGER_NAME)
    assert content is not None
    cycles = {
        record.measurement.best_cycles
        for record in known_plans(content[1]).values()
        if record.in_space
    }
    assert {trial.values[0] for trial in study.trials} == cycles
    assert study.user_attrs["objectives"] == ["cycles"]
    assert study.best_value == min(cycles)
    assert not list(tmp_path.glob(".*"))


def test_a_folder_without_a_campaign_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="holds no campaign"):
        write_study(tmp_path)
