# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments and in the middle of ledger writes; ``tests/benchmarks/kills.py`` does a hundred."""

from __future__ import annotations

from pathlib import Path

from kills import Tally, kill_drivers


def test_kills_lose_nothing_and_end_in_the_same_plan(digits_model: Path, tmp_path: Path) -> None:
    tally = Tally()
    kill_drivers(digits_model, tmp_path, kills=10, seed=3, tally=tally)
    assert tally.kills.total() == 10
    assert tally.kills["ledger write"] >= 2
    assert tally.torn_lines >= 2
    assert (tally.lost, tally.other_plans) == (0, 0)
