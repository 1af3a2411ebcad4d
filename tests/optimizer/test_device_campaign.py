# SPDX-License-Identifier: Apache-2.0
"""A campaign on two boards, one of which fails half the time. The boards are virtual, and what they count is no timing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_bench import SessionServer, make_bench
from synthetic_campaign import SilentProgress
from tflite_models import ModelBuilder

from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.errors import CampaignError
from optimizer.status import campaign_status
from results.ledger import LEDGER_NAME, read_ledger
from results.records import TrialRecord, board_baselines
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
            "space": {"knobs": ["code_specialization"]},
            "search": {"trials": 3},
            "ray": ray,
            "measurement_cache": False,
            "out": str(out),
        }
    )
    return run_campaign(config, progress=SilentProgress())


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Two layers whose kernels take less where the compiler knows the shapes: four plans."""
    random, m = np.random.default_rng(2), ModelBuilder()
    x = m.tensor((1, 6, 6, 4), scale=0.05, zero_point=3)
    weights = random.integers(-127, 128, (8, 3, 3, 4), dtype=np.int8)
    y = m.conv_2d(x, weights, None, filter_scale=0.01, scale=0.3, zero_point=0)
    weights = random.integers(-127, 128, (4, 288), dtype=np.int8)
    y = m.fully_connected(y, weights, None, filter_scale=0.01, scale=0.6, zero_point=0)
    path = tmp_path / "model.tflite"
    path.write_bytes(m.build(inputs=[x], outputs=[y]))
    return path


def records(folder: Path) -> list[TrialRecord]:
    content = read_ledger(folder / LEDGER_NAME)
    assert content is not None
    return [entry for entry in content[1] if isinstance(entry, TrialRecord)]


def test_a_board_that_fails_half_the_time_changes_no_plan(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    session_server: SessionServer,
) -> None:
    bench = make_bench(tmp_path / "bench", monkeypatch, {"a": PLATFORM, "b": PLATFORM})
    with monkeypatch.context() as patch:
        patch.setattr("runners.device.ladder.run_with_deadline", session_server.run)
        healthy = run(model, bench.boards, tmp_path / "healthy", workers=0)
    bench.break_board("a", is_lost_running=True, sessions="odd")
    shaky = run(model, bench.boards, tmp_path / "shaky", workers="auto")

    plans = [
        (tmp_path / name / "aot_plan.json").read_text("utf-8") for name in ("healthy", "shaky")
    ]
    assert plans[0] == plans[1]
    knobs = [operator["knobs"] for operator in json.loads(plans[0])["operators"]]
    assert {item["code_specialization"]["value"] for item in knobs} == {"inlined"}  # auto: shared
    assert not healthy.is_auto
    assert not shaky.is_auto
    assert abs(healthy.gain_over_auto - shaky.gain_over_auto) < 0.001
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
    assert (
        {record.measurement.board for record in found} == {"a", "b"} == set(board_baselines(found))
    )
    for record in found:
        own = board_baselines(found)[str(record.measurement.board)]
        assert record.measurement.baseline_ratio == record.measurement.best_cycles / own
    status = campaign_status(tmp_path / "shaky")
    assert set(status.boards) == {"a", "b"}
    assert status.best_ratio is not None
    assert status.best_ratio < 0.9
    for board in load_boards(bench.boards).values():
        assert BoardState(board.probe_id).holder() is None
        assert BoardState(board.probe_id).quarantine() is None


@pytest.mark.usefixtures("shared_sessions")
def test_a_campaign_refuses_boards_without_a_counter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    """A virtual board counts nothing unless a test asks for ticks, and that must never look like a timing."""
    bench = make_bench(tmp_path / "bench", monkeypatch, {"a": PLATFORM}, ticks=False)
    with pytest.raises(CampaignError, match="counter stands still"):
        run(model, bench.boards, tmp_path / "campaign", workers=0)
    assert not any(record.measurement.status == "ok" for record in records(tmp_path / "campaign"))
    assert not (tmp_path / "campaign" / "aot_plan.json").exists()
