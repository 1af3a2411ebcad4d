# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_campaign import synthetic_space, table_measurement

from helia_aot.optimization.budgets import BUDGETS
from optimizer.front import budget_rows, pareto_front
from optimizer.quantities import (
    ERRORS,
    UNMEASURED,
    excesses,
    fits,
    is_quantity,
    known_quantities,
    missing_quantities,
    quantity,
    unit_of,
)
from optimizer.task import SearchTask
from results.records import TrialRecord
from runners.measurement import Measurement
from search_spaces.plans import apply, plan_key

PLAN, SPACE = synthetic_space(6)
MEASURED = table_measurement(PLAN).model_copy(
    update={
        "code_bytes": 10,
        "flash_bytes": 20,
        "ram_bytes": 30,
        "storage_bytes": {"dtcm_bytes": 5},
    }
)


def test_every_quantity_is_read_from_the_measurement() -> None:
    cycles = MEASURED.best_cycles
    assert known_quantities(MEASURED) == {
        "cycles": cycles,
        "latency_us": cycles / 96,
        "code_bytes": 10,
        "flash_bytes": 20,
        "ram_bytes": 30,
        "dtcm_bytes": 5,
    }
    assert quantity(MEASURED, "sram_bytes") is None


def test_every_budget_is_measured_or_refused() -> None:
    measured = {*known_quantities(MEASURED), "arena_bytes", "constant_bytes"}
    assert set(BUDGETS) <= measured | set(UNMEASURED) | set(ERRORS)
    assert not any(is_quantity(name) for name in UNMEASURED)
    assert is_quantity("mram_bytes")
    assert not is_quantity("energy")
    assert (unit_of("dtcm_bytes"), unit_of("latency_us")) == ("bytes", "us")


def test_an_unknown_quantity_does_not_fit() -> None:
    assert fits(MEASURED, {"dtcm_bytes": 5})
    assert not fits(MEASURED, {"dtcm_bytes": 4})
    assert not fits(MEASURED, {"sram_bytes": 1e9})
    assert excesses(MEASURED, {"dtcm_bytes": 3, "sram_bytes": 1}) == {"dtcm_bytes": 2}
    asked = {"cycles": "objectives", "sram_bytes": "budget.sram_bytes"}
    assert missing_quantities(MEASURED, asked) == {"sram_bytes": "budget.sram_bytes"}
    bad = Measurement(status="plan_bad", stage="convert", reason="does not fit")
    assert not fits(bad, {})
    assert known_quantities(bad) == {}


def records(sizes: list[tuple[int, int]]) -> list[TrialRecord]:
    found = []
    for number, (cycles, code_bytes) in enumerate(sizes):
        point = {
            name: "generic" if number >> bit & 1 else "specialized"
            for bit, name in enumerate(SPACE.baseline)
        }
        measurement = MEASURED.model_copy(update={"cycles": [cycles], "code_bytes": code_bytes})
        found.append(
            TrialRecord(
                role="search",
                ask=number,
                plan_key=plan_key(apply(PLAN, SPACE.choices(point))),
                in_space=True,
                choices=point,
                seconds=1.0,
                measurement=measurement,
            )
        )
    return found


@given(
    sizes=st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8)), min_size=1, max_size=20),
    most=st.integers(1, 9),
)
def test_the_front_is_what_nothing_dominates(sizes: list[tuple[int, int]], most: int) -> None:
    task = SearchTask(SPACE, ("cycles", "code_bytes"), {"code_bytes": float(most)})
    found = [tuple(p.values.values()) for p in pareto_front(task, records(sizes))]
    allowed = {item for item in sizes if item[1] <= most}
    expected = {
        one
        for one in allowed
        if not any(o != one and o[0] <= one[0] and o[1] <= one[1] for o in allowed)
    }
    assert found == sorted(expected)


def test_one_objective_has_no_front() -> None:
    assert pareto_front(SearchTask(SPACE), records([(1, 1)])) == ()


def test_the_table_of_limits_counts_what_was_refused() -> None:
    task = SearchTask(SPACE, budget={"code_bytes": 5.0, "dtcm_bytes": 9.0})
    entries = records([(1, 9), (2, 4), (3, 6)])
    overflow = Measurement(
        status="plan_bad",
        stage="convert",
        reason="does not fit",
        evidence={"overflow_bytes": {"dtcm_bytes": 3}},
    )
    entries.append(entries[0].model_copy(update={"ask": 9, "measurement": overflow}))
    rows = budget_rows(task, entries, entries[0].measurement, entries[1].measurement)
    assert [(r.name, r.baseline, r.winner, r.refused) for r in rows] == [
        ("code_bytes", 9.0, 4.0, 2),
        ("dtcm_bytes", 5.0, 5.0, 1),
    ]


@pytest.mark.parametrize("name", ["cycles", "latency_us"])
def test_the_value_of_a_plan_beyond_a_limit_is_none(name: str) -> None:
    assert SearchTask(SPACE, (name,)).value(MEASURED) == quantity(MEASURED, name)
    assert SearchTask(SPACE, (name,), {"ram_bytes": 29}).value(MEASURED) is None
