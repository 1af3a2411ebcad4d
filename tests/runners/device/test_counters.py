# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import struct
from dataclasses import replace
from types import SimpleNamespace

import pytest

from runners.base import MeasureSettings
from runners.device.counters import CounterLimits, check_counter, read_counts
from runners.failure import CandidateFailure
from runners.firmware_result import FirmwareResult

SETTINGS = MeasureSettings(warmups=1, repeats=2)
MODULE = SimpleNamespace(operators=(1, 2))
LIMITS = CounterLimits(core="cortex-m55", macs=40_000, clock_mhz=96, run_s=0.5, counts_ticks=False)
MARKERS = struct.pack("<6I", 0, 0, 100, 4_110, 0xFFFF_FF00, 0x0000_0F0A)
GOOD = FirmwareResult(
    status="ok", detail=0, failed_operator=-1, build_id=b"", counter="cyccnt", counter_check=4000,
    counter_check_ticks=4003, n_operators=2, runs=4, differing_runs=0, stack_bytes=4096, stack_used_bytes=100,
    fault={}, window_cycles=(10, 30_010, 20_010, 20_012, 21_000), window_ticks=(20, 30_020, 20_021, 20_022, 21_010),
    caches=(), events={}, outputs=b"",
)  # fmt: skip


def counts(result: FirmwareResult, markers: bytes = MARKERS):
    return read_counts(result, markers, MODULE, SETTINGS)


def check(limits: CounterLimits = LIMITS, **changes) -> None:
    result = replace(GOOD, **changes)
    check_counter(result, counts(result), limits)


def test_overhead_is_subtracted_and_counters_wrap():
    found = counts(GOOD)
    assert (found.overhead, found.warmups, found.repeats, found.instrumented) == (
        10,
        (30_000,),
        (20_000, 20_002),
        20_990,
    )
    assert found.operators == (4_000, 0xF0A + 0x100 - 10)


def test_timer_ticks_are_the_upper_bits():
    windows = tuple(window << 8 for window in GOOD.window_cycles)
    markers = struct.pack("<6I", 0, 0, 100 << 8, 4_110 << 8, 0xFFFF_F0 << 8, 0xF0A << 8)
    found = counts(replace(GOOD, counter="timer", window_cycles=windows), markers)
    assert (found.repeats, found.operators) == ((20_000, 20_002), (4_000, 0xF0A + 0x10 - 10))


def test_a_counter_that_agrees_with_the_second_clock_is_believed():
    check()


def test_long_windows_compare_modulo_the_second_clock():
    cycles = 5 * (1 << 24) + 77
    check(
        replace(LIMITS, run_s=10.0),
        window_cycles=(10, cycles, cycles, cycles, cycles),
        window_ticks=(20, *(4 * [cycles % (1 << 24)])),
    )


IMPLAUSIBLE = {
    "none": ({"counter": "none"}, "stands still"),
    "timer": ({"counter": "timer"}, "stands still"),
    "frozen later": ({"window_cycles": (0, 0, 0, 0, 0)}, "took no cycles"),
    "slow": ({"window_cycles": (10, 15_000, 10_000, 10_000, 10_500)}, "second clock counted 30020"),
    "frozen in the loop": ({"counter_check": 12}, "1000 iterations of a short loop took 12 cycles"),
    "loop too long": ({"counter_check": 500_000}, "took 500000 cycles"),
    "loop and clock": ({"counter_check": 9000}, "second clock counted 4003"),
}


@pytest.mark.parametrize("case", IMPLAUSIBLE)
def test_implausible_counters_are_refused(case):
    changes, reason = IMPLAUSIBLE[case]
    with pytest.raises(CandidateFailure, match=reason) as caught:
        check(**changes)
    assert (caught.value.status, caught.value.evidence["outcome"]) == (
        "rig_bad",
        "counter_implausible",
    )


def test_more_than_peak_macs_is_no_measurement():
    check(replace(LIMITS, macs=160_000))
    with pytest.raises(CandidateFailure, match="is more than 8 a cycle"):
        check(replace(LIMITS, macs=160_001))
    with pytest.raises(CandidateFailure, match="is more than 2 a cycle"):
        check(replace(LIMITS, core="cortex-m4", macs=40_001))


def test_more_time_than_passed_is_no_measurement():
    with pytest.raises(CandidateFailure, match="were counted within"):
        check(
            replace(LIMITS, clock_mhz=1, run_s=0.0),
            window_cycles=(10, *4 * [300_000]),
            window_ticks=(10, *4 * [300_000]),
        )


def test_missing_windows_are_unknown():
    with pytest.raises(CandidateFailure) as caught:
        counts(replace(GOOD, window_cycles=(1, 2)))
    assert caught.value.status == "unknown"
