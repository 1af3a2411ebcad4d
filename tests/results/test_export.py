# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import json

import pytest
from synthetic_campaign import synthetic_space, table_measurement

from results.export import to_csv, to_t4
from results.records import RepeatRecord, TrialRecord
from runners.measurement import Measurement
from search_spaces.plans import plan_key

PLAN, SPACE = synthetic_space(2)


def record(measurement: Measurement, *, in_space: bool = True) -> TrialRecord:
    return TrialRecord(
        role="reference",
        plan_key=plan_key(PLAN),
        in_space=in_space,
        choices=SPACE.baseline if in_space else {},
        seconds=3.0,
        measurement=measurement,
    )


GOOD = record(
    table_measurement(PLAN).model_copy(
        update={"stage_seconds": {"convert": 0.25, "build": 1.0, "run": 0.5}}
    )
)


def test_times_are_told_apart() -> None:
    (result,) = json.loads(to_t4([GOOD, RepeatRecord(ask=1, plan_key=GOOD.plan_key)]))["results"]
    assert result["configuration"] == SPACE.baseline
    assert result["times"] == {"compilation_time": 1.25, "runtimes": [0.5], "framework": 1.25}
    assert result["measurements"][0]["unit"] == "cycles"
    assert (result["invalidity"], result["correctness"]) == ("correct", 1.0)


@pytest.mark.parametrize(
    ("stage", "evidence", "invalidity"),
    [
        ("convert", {}, "constraints"),
        ("link", {"overflow_bytes": {"dtcm": 4}}, "constraints"),
        ("link", {}, "compile"),
        ("build", {}, "compile"),
        ("run", {}, "runtime"),
        ("result", {}, "runtime"),
        ("compare", {}, "correctness"),
    ],
)
def test_failures_have_their_class(stage: str, evidence: dict, invalidity: str) -> None:
    bad = Measurement(status="plan_bad", stage=stage, reason="because", evidence=evidence)
    (result,) = json.loads(to_t4([record(bad)]))["results"]
    assert (result["invalidity"], result["correctness"]) == (invalidity, 0.0)


def test_plans_outside_the_space_have_no_configuration_and_stay_in_the_csv() -> None:
    outside = record(table_measurement(PLAN), in_space=False)
    assert json.loads(to_t4([outside]))["results"] == []
    head, *rows = to_csv([outside, GOOD]).splitlines()
    assert head.endswith("kernel@0:conv0,kernel@0:conv1")
    assert len(rows) == 2
    assert rows[0].endswith(",,")


def test_the_csv_has_the_board_and_its_ratio() -> None:
    update = {"evidence": {"board": "evb-b"}, "baseline_ratio": 0.75, "baseline_cycles": 1000}
    on_board = record(GOOD.measurement.model_copy(update=update))
    first, second = csv.DictReader(to_csv([on_board, GOOD]).splitlines())
    assert (first["board"], first["baseline_ratio"]) == ("evb-b", "0.75")
    assert (second["board"], second["baseline_ratio"]) == ("", "")
    assert on_board.measurement.comparable_cycles == 750
    assert GOOD.measurement.comparable_cycles == GOOD.measurement.best_cycles
