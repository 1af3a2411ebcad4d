# SPDX-License-Identifier: Apache-2.0
"""A campaign goes on when the head of its cluster is stopped and started again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from double_runner import PriceList
from price_campaign import run, trials_of
from synthetic_campaign import SilentProgress

import optimizer.ray_process
from optimizer.errors import CampaignError
from optimizer.progress import CampaignState
from results.ledger import LEDGER_NAME

PROGRAM = Path(__file__).parents[1] / "ray_head.py"


class Head:
    """The process that starts and stops the cluster."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("", 0))
            port = probe.getsockname()[1]
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def tell(self, order: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("answer "):
                return line.split()[1]
        raise AssertionError("the cluster ended")

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def head() -> Iterator[Head]:
    process = Head()
    yield process
    process.close()


class _StopsTheHead(SilentProgress):
    """Stops the head once something was measured, and has it started again or not."""

    def __init__(self, head: Head, ledger: Path, *, is_started_again: bool) -> None:
        super().__init__()
        self._head = head
        self._ledger = ledger
        self._is_started_again = is_started_again
        self.is_done = False

    def update(self, state: CampaignState) -> None:
        super().update(state)
        if not self.is_done and len(trials_of(self._ledger)) >= 4:
            self.is_done = True
            self._head.tell("stop")
            assert self._head.answer() == "stopped"
            if self._is_started_again:
                self._head.tell("start")


def test_a_campaign_connects_again_and_ends_in_the_same_plan(
    head: Head, digits_model: Path, tmp_path: Path
) -> None:
    head.tell("start")
    address = head.answer()
    whole = run(digits_model, tmp_path / "whole", PriceList(), SilentProgress(), workers=0)
    ledger = tmp_path / "lost" / LEDGER_NAME
    progress = _StopsTheHead(head, ledger, is_started_again=True)
    prices = PriceList(slow_s=0.1)
    summary = run(digits_model, tmp_path / "lost", prices, progress, address=address)
    assert progress.is_done
    assert [note for note in progress.notes if "connected to Ray again" in note]
    assert summary.search.stop_reason == "exhausted"
    assert summary.best_cycles == whole.best_cycles
    plans = [(tmp_path / name / "aot_plan.json").read_bytes() for name in ("whole", "lost")]
    assert plans[0] == plans[1]
    searched = [record.plan_key for record in trials_of(ledger) if record.role != "verify"]
    assert len(set(searched)) == len(searched)


def test_a_head_that_stays_away_ends_a_campaign_that_can_go_on(
    head: Head, digits_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimizer.ray_process, "RECONNECT_S", 1.0)
    head.tell("start")
    address = head.answer()
    ledger = tmp_path / LEDGER_NAME
    progress = _StopsTheHead(head, ledger, is_started_again=False)
    with pytest.raises(CampaignError, match="could not be made again") as caught:
        run(digits_model, tmp_path, PriceList(slow_s=0.1), progress, address=address)
    assert "the same command continues" in str(caught.value.next_step)
    before = len(trials_of(ledger))
    assert before >= 4
    summary = run(digits_model, tmp_path, PriceList(), SilentProgress(), workers=0)
    assert summary.search.stop_reason == "exhausted"
    assert len(trials_of(ledger)) > before
