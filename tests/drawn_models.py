# SPDX-License-Identifier: Apache-2.0
"""Draws models with Hypothesis in numbers, and finds the smallest one that fails.

Hypothesis runs a test on one example after the other; a program for each would take most of a second. So the examples are
drawn first, then compiled and run together; where one fails, the same strategy with the same seed is an ordinary Hypothesis
test of one model at a time, which shrinks it. The same seed draws the same models on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from random_operators import Case, graphs, operators, supported

SEED: Final = 20261130
EXCLUDED: Final[dict[tuple[str, str], str]] = {
    **{
        (op_type, dtype): "neither interpreter moves this type; one of the same size is drawn"
        for op_type, types in {
            "DEPTH_TO_SPACE": ("int16", "bool"),
            "PACK": ("bool",),
            "RESIZE_NEAREST_NEIGHBOR": ("int64",),
            "SPACE_TO_DEPTH": ("int16", "bool"),
            "SPLIT": ("bool",),
            "SPLIT_V": ("bool",),
            "UNPACK": ("int64",),
            "ZEROS_LIKE": ("int16", "uint8", "bool"),
        }.items()
        for dtype in types
    },
    **{
        (op_type, "int16"): "neither interpreter has it; a test of its own compares with numpy"
        for op_type in ("ARG_MAX", "ARG_MIN", "RELU_N1_TO_1")
    },
}
"""Operators and types without a generator, and why."""
PAIRS: Final = tuple(pair for pair in supported() if pair not in EXCLUDED)
GRAPHS: Final = ("int8", "int16", "float32", "float16")


Kind = tuple[str, str]
"""Operator and element type, or ``graph`` and element type."""


def strategy_of(kind: Kind) -> st.SearchStrategy[Case]:
    """Gives what draws models of a kind."""
    return graphs(kind[1]) if kind[0] == "graph" else operators(*kind)


def kinds(count: int) -> list[tuple[Kind, int]]:
    """Gives all kinds and how many models of each make about a number in all; at least one of every kind."""
    rounds = max(1, round(count * 0.8 / len(PAIRS)))
    networks = max(1, round(count * 0.2 / len(GRAPHS)))
    return [
        *((pair, rounds) for pair in PAIRS),
        *((("graph", dtype), networks) for dtype in GRAPHS),
    ]


@cache
def drawn(kind: Kind, count: int) -> tuple[Case, ...]:
    """Draws different models; the simplest one, which always comes first, is left out.

    Args:
        kind: Of which kind.
        count: How many; fewer where there are not as many.
    """
    cases: list[Case] = []
    _hypothesis_test(strategy_of(kind), count + 1, cases.append, (Phase.generate,))()
    return tuple(cases[1:] if len(cases) > 1 else cases)


def smallest_failure(
    kind: Kind, count: int, reason_of: Callable[[Case], str]
) -> tuple[Case, str] | None:
    """Finds the simplest model that fails.

    Args:
        kind: Of which kind.
        count: As in :func:`drawn`: the same models are tried first.
        reason_of: Says why a model fails; empty where it passes.

    Returns:
        The model and the reason; None where all pass.
    """
    failed: list[tuple[Case, str]] = []
    passed: set[bytes] = set()

    def check(case: Case) -> None:
        if case.data in passed:
            return
        reason = reason_of(case)
        if reason:
            failed.append((case, reason))
            raise AssertionError(reason)
        passed.add(case.data)

    try:
        _hypothesis_test(strategy_of(kind), count + 1, check, (Phase.generate, Phase.shrink))()
    except AssertionError:
        return failed[-1]  # Hypothesis runs the simplest one last
    return None


def _hypothesis_test(
    strategy: st.SearchStrategy[Case],
    count: int,
    body: Callable[[Case], Any],
    phases: tuple[Phase, ...],
) -> Callable[[], None]:
    @seed(SEED)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(strategy)
    def test(case: Case) -> None:
        body(case)

    return test  # type: ignore[no-any-return]
