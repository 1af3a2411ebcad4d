# SPDX-License-Identifier: Apache-2.0
"""From the marker events of one run to cycles of windows and operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from runners.firmware_result import MalformedResult

_OPEN = 0
_CLOSE = 1
_FIRST_OPERATOR = 2


@dataclass(frozen=True)
class WindowCycles:
    """Modelled cycles by window, the overhead of a window subtracted.

    Attributes:
        overhead: An empty window.
        warmups: Whole-model runs before the timed ones.
        repeats: The timed ones.
        instrumented: The run with callbacks; None if there was none.
        operators: Its operators, in execution order.
    """

    overhead: int
    warmups: tuple[int, ...]
    repeats: tuple[int, ...]
    instrumented: int | None
    operators: tuple[int, ...]


def marker_count(n_operators: int) -> int:
    """Gives the number of markers of a module."""
    return _FIRST_OPERATOR + 2 * n_operators


def read_windows(
    events: Sequence[Sequence[int]],
    *,
    n_operators: int,
    warmups: int,
    repeats: int,
    per_operator: bool,
) -> WindowCycles:
    """Reads the events of one run; their order must be exactly that of the firmware.

    Args:
        events: ``(marker, cycles so far, instructions so far)`` in order of time.
        n_operators: Operators of the module.
        warmups: Runs before the timed ones.
        repeats: Timed runs.
        per_operator: Whether a run with callbacks ends it.

    Raises:
        MalformedResult: If an event is missing, out of order or too much.
    """
    plain = [_OPEN, _CLOSE] * (1 + warmups + repeats)
    operators = [_FIRST_OPERATOR + index for index in range(2 * n_operators)]
    expected = plain + ([_OPEN, *operators, _CLOSE] if per_operator else [])
    markers = [event[0] for event in events]
    if markers != expected:
        raise MalformedResult(
            f"{len(markers)} events, or another order than the expected {len(expected)}"
        )
    cycles = [event[1] for event in events]
    if any(later < earlier for earlier, later in pairwise(cycles)):
        raise MalformedResult("cycles go backwards")
    windows = [cycles[i + 1] - cycles[i] for i in range(0, len(plain), 2)]
    overhead = windows[0]
    last = cycles[len(plain) :]
    marks = last[1:-1]
    return WindowCycles(
        overhead=overhead,
        warmups=tuple(window - overhead for window in windows[1 : 1 + warmups]),
        repeats=tuple(window - overhead for window in windows[1 + warmups :]),
        instrumented=last[-1] - last[0] - overhead if per_operator else None,
        operators=tuple(marks[i + 1] - marks[i] for i in range(0, len(marks), 2)),
    )
