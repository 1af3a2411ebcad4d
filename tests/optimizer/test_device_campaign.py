# SPDX-License-Identifier: Apache-2.0
"""A campaign on two boards, one of which fails half the time. The boards are virtual, and what they count is no timing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from device_bench import make_bench
from synthetic_campaign import SilentProgress

from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from results.ledger import LEDGER_NAME, read_ledger
from results.records import TrialRecord
from results.summary import CampaignSummary
from runners.device.board_state import BoardState
from runners.device.boards import load_boards

PLATFORM = "apollo510_evb"
TICKS_APART = 3
"""The timer of a virtual board repeats to within a tick or two."""


def run(model: Path, boards: Path, out: Path, **ray: Any) -> CampaignSummary:
    config = CampaignConfig.model_validate(
        {
            "convert": {"model": {"path": str(model)}, "platform": {"name": PLATFORM}},
            "runner": {"name": "device", "boards": str(boards), "timeout_s": 30},
            "space": {"knobs": ["kernel"]},
            "search": {"trials": 3},
            "ray": ray,
            "measurement_cache": False,
            "out": str(out),
        }
    )
    return run_campaign(config, progress=SilentProgress())


def records(folder: Path) -> list[TrialRecord]:
    content = read_ledger(folder / LEDGER_NAME)
    assert content is not None
    return [entry for entry in content[1] if isinstance(entry, TrialRecord)]


def test_a_board_that_fails_half_the_time_changes_no_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digits_model: Path
) -> None:
    bench = make_bench(tmp_path / "bench", monkeypatch, {"a": PLATFORM, "b": PLATFORM})
    healthy = run(digits_model, bench.boards, tmp_path / "healthy", workers=0)
    bench.break_board("a", is_lost_running=True, sessions="odd")
    shaky = run(digits_model, bench.boards, tmp_path / "shaky", workers="auto")

    plans = [
        (tmp_path / name / "aot_plan.json").read_text("utf-8") for name in ("healthy", "shaky")
    ]
    assert plans[0] == plans[1]
    assert (healthy.counts, shaky.counts) == ("virtual board ticks", "virtual board ticks")
    counted = {
        record.plan_key: record.measurement.best_cycles for record in records(tmp_path / "healthy")
    }
    found = records(tmp_path / "shaky")
    assert {record.measurement.status for record in found} == {"ok"}
    assert sum(record.attempts for record in found) > len(
        found
    )  # what board a lost was measured again
    for record in found:
        if record.plan_key in counted:
            assert abs(record.measurement.best_cycles - counted[record.plan_key]) <= TICKS_APART
    assert {record.measurement.evidence["board"] for record in found} == {"a", "b"}
    for board in load_boards(bench.boards).values():
        assert BoardState(board.probe_id).holder() is None
        assert BoardState(board.probe_id).quarantine() is None
