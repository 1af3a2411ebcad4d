# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import stat
from pathlib import Path

import pytest
from synthetic_campaign import synthetic_identity, synthetic_space, table_measurement

from results.errors import CampaignError
from results.evidence import (
    Evidence,
    FailureClass,
    failure_classes,
    measured_plan,
    search_facts,
)
from results.files import write_atomically
from results.records import Entry, RepeatRecord, Role, TrialRecord
from results.summary import build_summary
from runners.measurement import Measurement
from search_spaces.plans import apply, plan_key

PLAN, SPACE = synthetic_space(3)
BAD = Measurement(status="plan_bad", stage="run", reason="the core faulted")


def record(role: Role, generic: str = "", measurement: Measurement | None = None) -> TrialRecord:
    choices = SPACE.baseline | ({generic: "generic"} if generic else {})
    plan = apply(PLAN, SPACE.choices(choices))
    return TrialRecord(
        role=role,
        ask=0 if role == "search" else None,
        plan_key=plan_key(plan),
        in_space=True,
        choices=choices,
        seconds=1.0,
        measurement=measurement or table_measurement(plan),
    )


NAMES = [dimension.name for dimension in SPACE.dimensions]
BASELINE = record("baseline")
ENTRIES: tuple[Entry, ...] = (
    BASELINE,
    record("search", NAMES[0]),
    record("search", NAMES[1], BAD),
    record("search", NAMES[2], BAD),
    RepeatRecord(ask=9, plan_key=BASELINE.plan_key),
)


def evidence(winner: TrialRecord, *, reference: TrialRecord | None = None) -> Evidence:
    return Evidence(
        plan_file="aot_plan.json",
        plan_sha256="0" * 64,
        plan_key=winner.plan_key,
        is_auto=winner is BASELINE,
        verdict="because",
        identity=synthetic_identity(SPACE),
        baseline=measured_plan(BASELINE),
        reference=None if reference is None else measured_plan(reference),
        winner=measured_plan(winner),
        comparisons=(),
        search=search_facts(ENTRIES, SPACE, "trials"),
        space=SPACE,
    )


def test_facts_are_counted_from_the_ledger() -> None:
    facts = search_facts(ENTRIES, SPACE, "trials")
    assert (facts.space_size, facts.plans_measured, facts.trials, facts.repeats) == (8, 4, 3, 1)


def test_failures_are_grouped() -> None:
    assert failure_classes(ENTRIES) == (
        FailureClass(status="plan_bad", stage="run", reason="the core faulted", count=2),
    )


def test_evidence_survives_a_round_trip() -> None:
    before = evidence(record("search", NAMES[0]))
    assert Evidence.model_validate_json(before.to_json()) == before


def test_the_summary_shows_what_changed_and_by_how_much() -> None:
    winner = record("search", NAMES[0])
    summary = build_summary(evidence(winner), plan_path="p", evidence_path="e", reproduce="r")
    (change,) = summary.changes
    assert (change.operator_id, change.before, change.after) == (
        "0:conv0",
        "specialized",
        "generic",
    )
    assert change.cycles_before is not None
    assert change.cycles_after is not None
    assert change.cycles_after - change.cycles_before == (
        summary.best_cycles - summary.baseline_cycles
    )
    assert summary.gain_over_auto == summary.baseline_cycles / summary.best_cycles


def test_the_summary_of_auto_has_no_change_and_no_gain() -> None:
    summary = build_summary(evidence(BASELINE), plan_path="p", evidence_path="e", reproduce="r")
    assert (summary.changes, summary.gain_over_auto, summary.generic_cycles) == ((), 1.0, None)


def test_a_failed_reference_gives_no_figure() -> None:
    found = evidence(BASELINE, reference=record("reference", NAMES[0], BAD))
    summary = build_summary(found, plan_path="p", evidence_path="e", reproduce="r")
    assert (summary.generic_cycles, summary.gain_over_generic) == (None, None)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_atomically(path, "old\n")
    write_atomically(path, "new\n")
    assert path.read_text() == "new\n"
    assert [item.name for item in tmp_path.iterdir()] == ["plan.json"]


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="cannot be written"):
        write_atomically(tmp_path / "missing" / "plan.json", "text")


def test_a_written_file_can_be_read_by_others(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_atomically(path, "text")
    assert path.stat().st_mode & stat.S_IRUSR
