# SPDX-License-Identifier: Apache-2.0
"""Proposals and records that do not end: what stands in for them, and what is said."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_campaign import SilentProgress, search_in

from optimizer import deadlines
from optimizer.assignment import Costs, Limit, cheapest
from optimizer.deadlines import LateError
from optimizer.profile import Profile
from results.errors import LedgerError
from results.evidence import search_facts
from results.ledger import LEDGER_NAME, read_ledger
from results.records import Entry, TrialRecord
from search_spaces.space import SearchSpace


def searched(entries: tuple[Entry, ...]) -> list[TrialRecord]:
    return [item for item in entries if isinstance(item, TrialRecord) and item.role == "search"]


@pytest.mark.parametrize("asks", ["propose", "gap"])
def test_a_sampler_that_hangs_is_replaced_by_chance_and_the_ledger_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asks: str
) -> None:
    monkeypatch.setattr(deadlines, "PROPOSE_S", 0.3)
    whole = Profile.next if asks == "propose" else Profile.gap
    asked = []

    def hangs(profile: Profile, *arguments: Any) -> Any:
        asked.append(1)
        if len(asked) == 3:
            time.sleep(600)
        return whole(profile, *arguments)

    monkeypatch.setattr(Profile, whole.__name__, hangs)
    progress = SilentProgress()
    stop, entries = search_in(
        tmp_path, operators=6, sampler="profile", trials=6, progress=progress, gap=-1.0
    )
    assert stop == "trials"
    late = [record for record in searched(entries) if record.late is not None]
    if asks == "gap":
        assert not late
        return
    (record,) = late
    assert record.ask == 2
    assert "the profile sampler was late" in str(record.late)
    assert any("the profile sampler was late" in note for note in progress.notes)
    facts = search_facts(entries, SearchSpace(dimensions=()), stop)
    assert facts.late_proposals == 1
    # What the ledger holds is enough to go on, the late proposal included.
    stop, again = search_in(tmp_path, operators=6, sampler="profile", trials=8)
    assert again[: len(entries)] == entries
    assert len(searched(again)) == 8


def test_a_solver_that_is_late_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "SOLVER_S", 1e-9)
    chance = np.random.default_rng(1)
    costs = Costs([chance.random(8) for _ in range(40)])
    limits = [Limit([chance.random(8) for _ in range(40)], 12.0) for _ in range(12)]
    with pytest.raises(LateError, match="the solver did not end within"):
        cheapest(costs, limits=limits)


def test_a_bound_that_is_late_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> float:
        raise LateError("it did not end")

    monkeypatch.setattr(Profile, "_bound_cycles", late)
    assert Profile(SearchSpace(dimensions=())).optimality(100) is None


def test_a_full_disk_is_an_error_and_what_was_recorded_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that may not grow further refuses like a full disk: a part of the line, then nothing."""
    monkeypatch.setattr("results.ledger.RECORD_S", 30.0)
    search_in(tmp_path, operators=6, sampler="random", trials=3)
    before = read_ledger(tmp_path / LEDGER_NAME)
    assert before is not None
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (tmp_path / LEDGER_NAME).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
    try:
        with pytest.raises(LedgerError, match="bytes could be written") as caught:
            search_in(tmp_path, operators=6, sampler="random", trials=6)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "make room on the disk" in str(caught.value.next_step)
    assert read_ledger(tmp_path / LEDGER_NAME) == before
    _, entries = search_in(tmp_path, operators=6, sampler="random", trials=6)
    assert entries[: len(before[1])] == before[1]
    assert len(searched(entries)) == 6


def test_a_file_system_that_does_not_answer_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_in(tmp_path, operators=6, sampler="random", trials=3)
    before = read_ledger(tmp_path / LEDGER_NAME)
    assert before is not None
    with monkeypatch.context() as patch:
        patch.setattr("results.ledger.RECORD_S", 0.2)
        patch.setattr("results.ledger.os.fsync", lambda _: time.sleep(3))
        with pytest.raises(LedgerError, match="did not take a line within"):
            search_in(tmp_path, operators=6, sampler="random", trials=6)
    _, entries = search_in(tmp_path, operators=6, sampler="random", trials=6)
    assert entries[: len(before[1])] == before[1]
    assert len(searched(entries)) == 6
