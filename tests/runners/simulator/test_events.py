# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.firmware_result import MalformedResult
from runners.simulator.events import marker_count, read_windows

SETTINGS = {"n_operators": 2, "warmups": 1, "repeats": 2, "per_operator": True}
# empty window, warm-up, two repeats, the run with callbacks
EVENTS = [
    (0, 10), (1, 13), (0, 100), (1, 203), (0, 300), (1, 353), (0, 400), (1, 453),
    (0, 500), (2, 510), (3, 530), (4, 535), (5, 560), (1, 570),
]  # fmt: skip


def test_windows_without_their_overhead():
    windows = read_windows(EVENTS, **SETTINGS)
    assert windows.overhead == 3
    assert windows.warmups == (100,)
    assert windows.repeats == (50, 50)
    assert windows.instrumented == 67
    assert windows.operators == (20, 25)


def test_without_operators():
    windows = read_windows(EVENTS[:8], **{**SETTINGS, "per_operator": False})
    assert windows.instrumented is None
    assert windows.operators == ()


@given(st.integers(0, len(EVENTS) - 1))
def test_missing_event_is_noticed(index):
    with pytest.raises(MalformedResult):
        read_windows(EVENTS[:index] + EVENTS[index + 1 :], **SETTINGS)


@given(st.integers(0, len(EVENTS) - 1), st.integers(0, 5))
def test_extra_event_is_noticed(index, marker):
    with pytest.raises(MalformedResult):
        read_windows([*EVENTS[:index], (marker, EVENTS[index][1]), *EVENTS[index:]], **SETTINGS)


def test_cycles_that_go_backwards_are_noticed():
    events = [*EVENTS[:5], (1, 200), *EVENTS[6:]]
    with pytest.raises(MalformedResult, match="backwards"):
        read_windows(events, **SETTINGS)


def test_each_operator_has_two_markers():
    assert marker_count(2) == 1 + max(marker for marker, _ in EVENTS)
