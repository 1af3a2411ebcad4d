# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

from rich.console import Console

from optimizer.progress import CampaignState, LiveProgress, PlainProgress, state_text

STATE = CampaignState(
    stage="search",
    trials=10,
    total=40,
    best_cycles=500_000,
    baseline_cycles=600_000,
    failures={"plan_bad": 2},
    repeats=3,
    finished_here=5,
)


def test_the_line_says_what_a_user_waits_for() -> None:
    assert state_text(STATE, elapsed_s=10.0) == (
        "search | 10/40 trials | best 500,000 (1.200x of auto) | failed 2 plan_bad | 3 repeats | "
        "0.50 trials/s | about 60 s left"
    )


def test_the_line_before_the_first_measurement() -> None:
    assert state_text(CampaignState(stage="baseline"), elapsed_s=0.0) == "baseline"


def test_plain_progress_prints_a_line_for_each_trial_once() -> None:
    stream = io.StringIO()
    progress = PlainProgress(Console(file=stream))
    for trials in (1, 1, 2):
        progress.update(CampaignState(stage="search", trials=trials, total=9))
    progress.note("[not markup]")
    assert stream.getvalue().splitlines() == [
        "search | 1/9 trials",
        "search | 2/9 trials",
        "[not markup]",
    ]


def test_live_progress_leaves_only_the_notes() -> None:
    stream = io.StringIO()
    with LiveProgress(Console(file=stream, force_terminal=True, width=200)) as progress:
        progress.update(STATE)
        progress.note("a note")
    assert "10/40 trials" in stream.getvalue()
    assert "a note" in stream.getvalue()
