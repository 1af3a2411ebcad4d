# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from synthetic_campaign import (
    RUNNER,
    SilentProgress,
    TableExecutor,
    best_cycles,
    from_table,
    search_in,
    synthetic_space,
    table_measurement,
)

from optimizer.deadlines import Deadlines
from optimizer.errors import CampaignError, RigError
from optimizer.evaluate import Finished, TrialJob
from optimizer.samplers import SamplerName
from optimizer.verdict import finalists
from results.ledger import LEDGER_NAME, read_ledger
from results.records import Entry, RepeatRecord, TrialRecord, board_baselines
from runners.measurement import Measurement
from search_spaces.plans import apply, plan_key


def lines(entries: Sequence[Entry]) -> list[str]:
    """Gives the ledger's lines without the one thing that may differ: wall-clock seconds."""
    return [json.dumps(entry.model_dump(mode="json", exclude={"seconds"})) for entry in entries]


def trials_of(entries: Sequence[Entry]) -> list[TrialRecord]:
    return [entry for entry in entries if isinstance(entry, TrialRecord) and entry.role == "search"]


@pytest.mark.parametrize("sampler", get_args(SamplerName))
def test_a_serial_campaign_is_deterministic(tmp_path: Path, sampler: SamplerName) -> None:
    if sampler == "gp" and importlib.util.find_spec("torch") is None:
        pytest.skip("the gp sampler needs torch")
    results = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        results.append(search_in(tmp_path / name, sampler=sampler)[1])
    assert lines(results[0]) == lines(results[1])


def test_the_baseline_is_measured_first(tmp_path: Path) -> None:
    _, entries = search_in(tmp_path)
    assert isinstance(entries[0], TrialRecord)
    assert entries[0].role == "baseline"


def test_the_search_ends_after_the_trials_asked_for(tmp_path: Path) -> None:
    stop, entries = search_in(tmp_path, operators=10, trials=7)
    assert (stop, len(trials_of(entries))) == ("trials", 7)


def test_a_small_space_is_exhausted(tmp_path: Path) -> None:
    stop, entries = search_in(tmp_path, operators=3, trials=40)
    assert stop == "exhausted"
    assert len(trials_of(entries)) == 7  # the baseline is the eighth plan


def test_brute_force_finds_the_best_plan(tmp_path: Path) -> None:
    plan, space = synthetic_space(5)
    _, entries = search_in(tmp_path, operators=5, sampler="brute_force", trials=100)
    found = [e.measurement.best_cycles for e in entries if isinstance(e, TrialRecord)]
    assert min(found) == best_cycles(plan, space)


def test_tpe_comes_close_to_the_best_plan(tmp_path: Path) -> None:
    plan, space = synthetic_space(10)
    _, entries = search_in(tmp_path, operators=10, trials=60)
    found = min(record.measurement.best_cycles for record in trials_of(entries))
    assert found <= 1.01 * best_cycles(plan, space)


def test_a_space_of_one_plan_needs_no_trial(tmp_path: Path) -> None:
    stop, entries = search_in(tmp_path, operators=0)
    assert (stop, len(entries)) == ("exhausted", 1)


def test_no_plan_is_measured_twice(tmp_path: Path) -> None:
    executor = TableExecutor()
    _, entries = search_in(tmp_path, operators=4, trials=15, executor=executor)
    keys = [entry.plan_key for entry in entries if isinstance(entry, TrialRecord)]
    assert len(set(keys)) == len(keys) == executor.evaluated
    assert any(isinstance(entry, RepeatRecord) for entry in entries)


def test_repeats_do_not_burn_trials(tmp_path: Path) -> None:
    stop, entries = search_in(tmp_path, operators=4, trials=12)
    assert stop in ("trials", "repeating")
    if stop == "trials":
        assert len(trials_of(entries)) == 12


def test_twenty_repeats_in_a_row_end_the_search_and_a_new_start_adds_none(tmp_path: Path) -> None:
    plan, _ = synthetic_space(3)
    stop, entries = search_in(tmp_path, operators=3, sampler="random", seed=5, trials=40)
    assert stop == "exhausted"
    path = tmp_path / LEDGER_NAME
    content = path.read_text().splitlines(keepends=True)
    repeat = RepeatRecord(ask=10_000, plan_key=plan_key(plan)).model_dump_json() + "\n"
    path.write_text("".join(content[:4]) + repeat * 20)
    stop, entries = search_in(tmp_path, operators=3, sampler="random", seed=5, trials=40)
    assert stop == "repeating"
    assert len(entries) == 23


def test_a_search_without_gain_ends(tmp_path: Path) -> None:
    stop, entries = search_in(tmp_path, operators=10, sampler="random", trials=200, no_gain=5)
    assert stop == "no_gain"
    cycles = [e.measurement.best_cycles for e in entries if isinstance(e, TrialRecord)]
    assert min(cycles[-5:]) >= min(cycles[:-5])
    _, again = search_in(tmp_path, operators=10, sampler="random", trials=200, no_gain=5)
    assert again == entries


def test_profile_finds_the_best_plan_and_ends_by_its_gap(tmp_path: Path) -> None:
    plan, space = synthetic_space(10)
    stop, entries = search_in(tmp_path, operators=10, sampler="profile", gap=0.005)
    assert stop == "gap"
    assert len(trials_of(entries)) <= 5
    found = [e.measurement.best_cycles for e in entries if isinstance(e, TrialRecord)]
    assert min(found) == best_cycles(plan, space)


def test_profile_keeps_four_workers_busy_with_different_plans(tmp_path: Path) -> None:
    executor = TableExecutor(workers=4, seed=1)
    _, entries = search_in(tmp_path, operators=6, sampler="profile", trials=20, executor=executor)
    assert len(trials_of(entries)) == executor.evaluated - 1 == 20
    assert not any(isinstance(entry, RepeatRecord) for entry in entries)


@pytest.mark.parametrize("sampler", ["profile", "tpe"])
def test_the_same_next_proposal_after_every_line(tmp_path: Path, sampler: SamplerName) -> None:
    _, whole = search_in(tmp_path, operators=5, trials=8, sampler=sampler)
    path = tmp_path / LEDGER_NAME
    content = path.read_bytes().splitlines(keepends=True)
    for count in range(1, len(content)):
        path.write_bytes(b"".join(content[:count]))
        _, entries = search_in(tmp_path, operators=5, trials=8, sampler=sampler)
        assert lines(entries) == lines(whole), f"after {count} lines"


def test_several_workers_measure_each_plan_once(tmp_path: Path) -> None:
    executor = TableExecutor(workers=4, seed=1)
    stop, entries = search_in(tmp_path, operators=4, trials=40, executor=executor)
    keys = [entry.plan_key for entry in entries if isinstance(entry, TrialRecord)]
    assert stop in ("exhausted", "repeating")
    assert len(set(keys)) == len(keys) == executor.evaluated


def test_a_continued_campaign_makes_the_same_proposals(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    _, whole = search_in(tmp_path / "whole", operators=8, trials=24)
    for trials in (1, 5, 11, 12, 24):
        _, parts = search_in(tmp_path / "parts", operators=8, trials=trials)
    assert lines(parts) == lines(whole)


def test_cutting_the_ledger_at_any_line_ends_in_the_same_ledger(tmp_path: Path) -> None:
    _, whole = search_in(tmp_path, operators=5, trials=18)
    path = tmp_path / LEDGER_NAME
    content = path.read_bytes().splitlines(keepends=True)
    for count in range(len(content)):
        path.write_bytes(b"".join(content[:count]) + content[count][:20])
        _, entries = search_in(tmp_path, operators=5, trials=18)
        assert lines(entries) == lines(whole), f"after {count} lines"


def test_a_finished_campaign_measures_nothing_again(tmp_path: Path) -> None:
    _, before = search_in(tmp_path, trials=10)
    executor = TableExecutor()
    _, after = search_in(tmp_path, trials=10, executor=executor)
    assert (executor.evaluated, after) == (0, before)


def _run_slowly(folder: Path) -> None:
    search_in(folder, operators=8, trials=40, executor=TableExecutor(seconds=0.01))


def test_killing_the_process_at_random_moments_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    _, whole = search_in(tmp_path / "whole", operators=8, trials=40)
    moments = random.Random(20)
    seen: list[str] = []
    kills = 0
    for _ in range(200):
        process = multiprocessing.get_context("fork").Process(
            target=_run_slowly, args=(tmp_path / "killed",)
        )
        process.start()
        time.sleep(moments.uniform(0.02, 0.09))
        if process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.join()
        content = read_ledger(tmp_path / "killed" / LEDGER_NAME)
        now = lines(content[1]) if content else []
        assert now[: len(seen)] == seen
        seen = now
        if process.exitcode == 0:
            break
    assert kills >= 10
    _, entries = search_in(tmp_path / "killed", operators=8, trials=40)
    assert lines(entries) == lines(whole)


class _Faults:
    """Evaluates by the table, but fails the jobs that are named by their order."""

    def __init__(self, outcomes: dict[int, Measurement]) -> None:
        self.calls = 0
        self._outcomes = outcomes

    def __call__(self, job: TrialJob) -> Measurement:
        self.calls += 1
        return self._outcomes.get(self.calls - 1, from_table(job))


def lost(status: str = "rig_bad") -> Measurement:
    return Measurement(status=status, stage="run", reason="the worker was lost")  # type: ignore[arg-type]


def test_rig_faults_change_no_proposal(tmp_path: Path) -> None:
    (tmp_path / "quiet").mkdir()
    (tmp_path / "faulty").mkdir()
    faults = random.Random(1)
    outcomes = {call: lost() for call in range(200) if faults.random() < 0.1}
    _, quiet = search_in(tmp_path / "quiet", trials=30, operators=8)
    _, faulty = search_in(
        tmp_path / "faulty", trials=30, operators=8, executor=TableExecutor(_Faults(outcomes))
    )

    def points(entries: Sequence[Entry]) -> list[tuple[str, int]]:
        return [(item.plan_key, item.measurement.best_cycles) for item in trials_of(entries)]

    assert points(faulty) == points(quiet)
    assert any(record.attempts > 1 for record in trials_of(faulty))


def test_a_rig_that_never_works_is_an_error_that_can_be_continued(tmp_path: Path) -> None:
    broken = TableExecutor(_Faults({call: lost() for call in range(10, 1000)}))
    with pytest.raises(RigError) as caught:
        search_in(tmp_path, operators=8, executor=broken)
    assert "the worker was lost" in str(caught.value)
    stop, entries = search_in(tmp_path, operators=8)
    assert stop == "trials"
    assert len([record for record in trials_of(entries) if record.is_conclusive]) == 20


def test_a_plan_with_an_unknown_outcome_is_tried_twice_and_left_alone(tmp_path: Path) -> None:
    executor = TableExecutor(_Faults({1: lost("unknown"), 2: lost("unknown")}))
    stop, entries = search_in(tmp_path, operators=3, trials=40, executor=executor)
    unknown = [record for record in trials_of(entries) if record.measurement.status == "unknown"]
    assert stop == "exhausted"
    assert [record.attempts for record in unknown] == [2]
    assert executor.evaluated == 9  # eight plans, one of them twice


def test_a_bad_plan_counts_as_a_trial_and_is_not_measured_again(tmp_path: Path) -> None:
    bad = Measurement(status="plan_bad", stage="run", reason="the core faulted")
    executor = TableExecutor(_Faults({2: bad}))
    stop, entries = search_in(tmp_path, operators=3, trials=40, executor=executor)
    assert stop == "exhausted"
    assert executor.evaluated == 8
    assert [record.measurement.status for record in trials_of(entries)].count("plan_bad") == 1


def test_a_result_of_another_toolchain_is_not_believed(tmp_path: Path) -> None:
    def other(job: TrialJob) -> Measurement:
        identity = RUNNER.model_copy(update={"toolchain": "another"})
        return from_table(job).model_copy(update={"identity": identity})

    with pytest.raises(CampaignError, match="another runner or toolchain"):
        search_in(tmp_path, executor=TableExecutor(other))


def test_a_baseline_that_cannot_be_measured_ends_the_campaign(tmp_path: Path) -> None:
    bad = Measurement(status="plan_bad", stage="link", reason="region DTCM overflowed")
    with pytest.raises(CampaignError, match="region DTCM overflowed"):
        search_in(tmp_path, executor=TableExecutor(_Faults({0: bad})))


def test_every_trial_must_compute_what_the_baseline_computes(tmp_path: Path) -> None:
    jobs: list[TrialJob] = []

    def keep(job: TrialJob) -> Measurement:
        jobs.append(job)
        return from_table(job)

    search_in(tmp_path, executor=TableExecutor(keep))
    assert jobs[0].expected_outputs_sha256 is None
    assert {job.expected_outputs_sha256 for job in jobs[1:]} == {"b" * 64}


def test_progress_counts_up_to_the_end(tmp_path: Path) -> None:
    progress = SilentProgress()
    search_in(tmp_path, operators=8, trials=9, progress=progress)
    last = progress.states[-1]
    assert (last.stage, last.trials, last.total) == ("search", 9, 9)
    assert last.best_cycles is not None
    assert last.baseline_cycles is not None
    assert last.best_cycles <= last.baseline_cycles


def test_a_rig_fault_is_tried_again_on_another_worker(tmp_path: Path) -> None:
    jobs: list[TrialJob] = []

    class Workers(TableExecutor):
        def wait(self, timeout_s: float) -> list[Finished]:
            return [replace(item, worker=item.job.number % 3) for item in super().wait(timeout_s)]

    def evaluate(job: TrialJob) -> Measurement:
        jobs.append(job)
        return lost() if 2 <= len(jobs) <= 3 else from_table(job)

    _, entries = search_in(tmp_path, executor=Workers(evaluate), trials=3)
    assert [sorted(job.avoid) for job in jobs[1:5]] == [[], [1], [1, 2], []]
    first = trials_of(entries)[0]
    assert (first.attempts, first.worker) == (3, 0)


def test_deadlines_follow_the_baseline(tmp_path: Path) -> None:
    jobs: list[TrialJob] = []

    def evaluate(job: TrialJob) -> Measurement:
        jobs.append(job)
        return from_table(job).model_copy(update={"stage_seconds": {"run": 3.0, "build": 20.0}})

    search_in(tmp_path, executor=TableExecutor(evaluate), trials=2)
    assert jobs[0].deadlines == Deadlines()
    assert jobs[1].deadlines == Deadlines(build_s=200.0, run_s=30.0)
    assert all(job.deadline_s == job.deadlines.total_s for job in jobs)


class _Boards(TableExecutor):
    """Worker ``n`` has board ``n``, and each board counts more than the one before for the same plan."""

    FACTORS = (1.0, 1.5, 0.7)

    def __init__(self, *, without_baseline: int | None = None) -> None:
        super().__init__(workers=len(self.FACTORS))
        self.placed: list[tuple[TrialJob, int]] = []
        self.without_baseline = without_baseline

    def submit(self, job: TrialJob) -> None:
        free = [n for n in range(self.workers) if n not in {board for _, board in self.placed}]
        self.placed.append((job, next((n for n in free if n not in job.avoid), free[0])))

    def wait(self, timeout_s: float) -> list[Finished]:
        assert timeout_s > 0
        job, board = self.placed.pop(0)
        assert job.plan is not None
        table = table_measurement(job.plan)
        if board == self.without_baseline and job.plan == synthetic_space(6)[0]:
            return [Finished(job, lost(), 0.0, worker=board)]
        update = {
            "cycles": [round(table.best_cycles * self.FACTORS[board])],
            "evidence": {"board": f"board {board}"},
        }
        return [Finished(job, table.model_copy(update=update), 0.0, worker=board)]


def test_each_result_of_a_board_is_stated_over_the_baseline_on_that_board(tmp_path: Path) -> None:
    plan, space = synthetic_space(8)
    _, entries = search_in(
        tmp_path, operators=8, executor=_Boards(), sampler="brute_force", trials=256
    )
    records = [entry for entry in entries if isinstance(entry, TrialRecord)]
    baseline = table_measurement(plan).best_cycles
    assert {record.measurement.board for record in records} == {"board 0", "board 1", "board 2"}
    assert sum(record.role == "baseline" for record in records) == 3
    assert list(board_baselines(entries).values()) == [
        baseline,
        *(round(baseline * factor) for factor in (1.5, 0.7)),
    ]
    for record in records:
        expected = table_measurement(apply(plan, space.choices(record.choices))).best_cycles
        assert record.measurement.baseline_ratio == pytest.approx(expected / baseline, rel=1e-4)
    best = finalists(records, records[0])[0]
    assert round(best.measurement.comparable_cycles, -2) == round(best_cycles(plan, space), -2)
    again = search_in(tmp_path, operators=8, executor=_Boards(), sampler="brute_force", trials=256)
    assert again[1] == entries


def test_a_board_on_which_the_baseline_fails_has_no_ratio_and_is_asked_once(tmp_path: Path) -> None:
    _, entries = search_in(tmp_path, executor=_Boards(without_baseline=1), trials=20)
    ratios: dict[str | None, set[bool]] = {}
    records = [entry for entry in entries if isinstance(entry, TrialRecord)]
    for record in records:
        if record.is_good:
            known = record.measurement.baseline_ratio is not None
            ratios.setdefault(record.measurement.board, set()).add(known)
    assert ratios["board 0"] == ratios["board 2"] == {True}
    assert ratios["board 1"] == {False}
    assert sum(record.role == "search" for record in trials_of(entries)) == 20
