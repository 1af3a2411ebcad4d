# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_campaign import synthetic_space, table_measurement

from optimizer.verdict import MAX_FINALISTS, compare, confirm, finalists, separates
from results.records import Role, TrialRecord
from runners.measurement import Measurement
from search_spaces.plans import apply, plan_key

PLAN, SPACE = synthetic_space(6)
CYCLES = st.lists(st.integers(1, 10**9), min_size=1, max_size=6)


def ok(cycles: int) -> Measurement:
    return table_measurement(PLAN).model_copy(update={"cycles": [cycles]})


def record(role: Role, cycles: int, changed: int = 0, *, in_space: bool = True) -> TrialRecord:
    choices = SPACE.baseline
    for name in list(choices)[:changed]:
        choices[name] = "generic"
    return TrialRecord(
        role=role,
        ask=changed if role == "search" else None,
        plan_key=plan_key(apply(PLAN, SPACE.choices(choices))),
        in_space=in_space,
        choices=choices,
        seconds=1.0,
        measurement=ok(cycles),
    )


BASELINE = record("baseline", 1000)


def test_finalists_are_the_fastest_plans_in_order() -> None:
    records = [BASELINE, *(record("search", 900 - changed, changed) for changed in range(1, 6))]
    assert [item.measurement.best_cycles for item in finalists(records, BASELINE)] == [
        895,
        896,
        897,
    ][:MAX_FINALISTS]


def test_a_plan_as_slow_as_the_baseline_is_no_finalist() -> None:
    assert finalists([BASELINE, record("search", 1000, 1)], BASELINE) == ()


def test_of_equally_fast_plans_the_one_with_fewer_changes_comes_first() -> None:
    records = [record("search", 900, 3), record("search", 900, 1)]
    assert finalists(records, BASELINE)[0] == records[1]


def test_a_reference_outside_the_space_cannot_win() -> None:
    assert finalists([record("reference", 500, 2, in_space=False)], BASELINE) == ()
    assert finalists([record("reference", 500, 2)], BASELINE) != ()


@given(finalist=CYCLES, baseline=CYCLES)
def test_a_finalist_that_separates_has_the_lower_highest_cycles(
    finalist: list[int], baseline: list[int]
) -> None:
    if separates(finalist, baseline):
        assert max(finalist) < min(baseline)
        assert not separates(baseline, finalist)


def test_a_deterministic_runner_needs_one_round() -> None:
    calls: list[bool] = []

    def measure(is_finalist: bool, slot: int) -> Measurement:
        assert slot == len(calls)
        calls.append(is_finalist)
        return ok(999 if is_finalist else 1000)

    assert compare("a" * 64, measure).is_faster
    assert calls == [False, True, True, False]


def test_a_failed_repetition_rejects_the_finalist() -> None:
    bad = Measurement(status="plan_bad", stage="run", reason="the core faulted")
    result = compare("a" * 64, lambda is_finalist, _: bad if is_finalist else ok(1000))
    assert not result.is_faster
    assert "the core faulted" in result.reason


@pytest.mark.parametrize("noise", [0.0, 0.0005, 0.01])
def test_no_slower_plan_is_chosen_in_a_thousand_noisy_studies(noise: float) -> None:
    """Plans between 0.5 % faster and 0.5 % slower than the baseline; the luckiest is verified."""
    rng = random.Random(7)
    slower = chosen = 0
    for _ in range(1000):
        true = {changed: 1_000_000 * rng.uniform(0.995, 1.005) for changed in range(1, 7)}

        def noisy(cycles: float) -> int:
            return round(cycles * (1 + rng.gauss(0, noise)))

        baseline = record("baseline", noisy(1_000_000))
        records = [record("search", noisy(true[changed]), changed) for changed in true]
        for finalist in finalists(records, baseline):
            changed = finalist.ask or 0
            result = compare(
                finalist.plan_key,
                lambda is_finalist, _, cycles=true[changed]: ok(
                    noisy(cycles if is_finalist else 1_000_000)
                ),
            )
            if result.is_faster:
                chosen += 1
                slower += true[changed] > 1_000_000
                break
    assert slower == 0
    assert chosen > {0.0: 900, 0.0005: 300, 0.01: -1}[noise]


def test_a_finalist_that_wins_must_win_on_another_worker_too() -> None:
    def here(is_finalist: bool, _: int) -> Measurement:
        return ok(900 if is_finalist else 1000)

    def slower_there(is_finalist: bool, _: int) -> Measurement:
        return ok(1901 if is_finalist else 1900)

    slots: list[int] = []

    def faster_there(is_finalist: bool, slot: int) -> Measurement:
        slots.append(slot)
        return ok(1800 if is_finalist else 1900)

    refuted = compare("a" * 64, here, elsewhere=slower_there)
    assert not refuted.is_faster
    assert refuted.reason.endswith("but not on another worker")
    confirmed = compare("a" * 64, here, elsewhere=faster_there)
    assert confirmed.is_faster
    assert slots == [4, 5]
    assert confirmed.confirmation is not None
    assert confirmed.confirmation.finalist_cycles == 1800


@pytest.mark.parametrize(
    ("status", "is_faster"), [("rig_bad", True), ("unknown", True), ("plan_bad", False)]
)
def test_a_worker_that_fails_confirms_nothing_and_a_plan_that_fails_there_is_refuted(
    status: Literal["rig_bad", "unknown", "plan_bad"], is_faster: bool
) -> None:
    def here(is_finalist: bool, _: int) -> Measurement:
        return ok(900 if is_finalist else 1000)

    def there(is_finalist: bool, _: int) -> Measurement:
        failed = Measurement(status=status, stage="run", reason="no probe")
        return failed if is_finalist else ok(1000)

    result = compare("a" * 64, here, elsewhere=there)
    assert result.is_faster == is_faster
    assert result.confirmation is None
    assert "no probe" in result.reason


def test_a_finalist_that_does_not_win_is_not_measured_elsewhere() -> None:
    def there(is_finalist: bool, slot: int) -> Measurement:
        raise AssertionError((is_finalist, slot))

    assert not compare("a" * 64, lambda *_: ok(1000), elsewhere=there).is_faster


def test_a_plan_that_breaks_a_limit_is_no_finalist() -> None:
    def value(measurement: Measurement) -> float | None:
        cycles = measurement.best_cycles
        return None if cycles < 800 else float(cycles)

    records = [record("search", cycles, n) for n, cycles in enumerate((700, 900, 850))]
    found = [item.measurement.best_cycles for item in finalists(records, BASELINE, value=value)]
    assert found == [850, 900]


def test_any_plan_within_the_limits_is_better_than_a_baseline_beyond_them() -> None:
    def value(measurement: Measurement) -> float | None:
        cycles = measurement.best_cycles
        return None if cycles <= 1000 else float(cycles)

    records = [record("search", cycles, n) for n, cycles in enumerate((900, 1300, 1200))]
    found = [item.measurement.best_cycles for item in finalists(records, BASELINE, value=value)]
    assert found == [1200, 1300]


@pytest.mark.parametrize("is_good", [True, False])
def test_a_finalist_without_a_rival_must_keep_its_promise_twice(is_good: bool) -> None:
    slots: list[tuple[bool, int]] = []

    def measure(is_finalist: bool, slot: int) -> Measurement:
        slots.append((is_finalist, slot))
        return ok(500)

    found = confirm(
        BASELINE.plan_key, measure, is_good=lambda _: is_good, reason="it keeps to the limits"
    )
    assert found.is_faster == is_good
    assert slots == ([(True, 0), (True, 1)] if is_good else [(True, 0)])
    assert ("keeps" in found.reason) == is_good
