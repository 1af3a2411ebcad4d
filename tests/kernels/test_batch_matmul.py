# SPDX-License-Identifier: Apache-2.0
"""Products of two tensors against numpy: every combination of swapped sides, batches that repeat, odd extents."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
import reference_flt
import reference_integer as oracle
from flt_cases import DTYPE, limits_of, values
from harness import ARG_ERROR, TARGETS, Case, check_cases, check_close, run_cases

SHAPES = [
    # batches of the left side, of the right side; rows, depth, columns
    ((1, 1), (1, 1), (1, 1, 1)),
    ((1, 1), (1, 1), (3, 17, 5)),
    ((2, 3), (1, 3), (4, 16, 8)),
    ((1, 1), (2, 1), (2, 33, 7)),
    ((2, 1), (1, 2), (5, 9, 13)),
    ((1, 1), (1, 1), (3, 291, 35)),
]
ADJOINTS = list(itertools.product((0, 1), (0, 1)))
TOLERANCE = 2e-6


def sides(shape, adj_x: int, adj_y: int):
    left, right, (rows, depth, columns) = shape
    return (
        (*left, *((depth, rows) if adj_x else (rows, depth))),
        (*right, *((columns, depth) if adj_y else (depth, columns))),
    )


def ordered(left, right, adj_x: int, adj_y: int):
    """Both sides as [..., rows, depth] and [..., depth, columns]."""
    return (
        np.swapaxes(left, -1, -2) if adj_x else left,
        np.swapaxes(right, -1, -2) if adj_y else right,
    )


def scratch(shape, adj_x: int, adj_y: int, size: int, sums: int) -> int:
    rows, depth, columns = shape[2]

    def words(count: int) -> int:
        return -(-count * size // 4) * 4

    return sums * columns * 4 + (1 - adj_y) * words(columns * depth) + adj_x * words(rows * depth)


def integer_case(rng, dtype, shape, adj_x: int, adj_y: int) -> tuple[Case, np.ndarray]:
    is_narrow = dtype is np.int8
    low, high = oracle.limits(dtype)
    left, right = (
        rng.integers(low, high + 1, size).astype(dtype) for size in sides(shape, adj_x, adj_y)
    )
    offsets = (5, int(rng.choice([0, -9])), -4) if is_narrow else (0, 0, 0)
    factor = oracle.factor(float(rng.uniform(0.001, 0.02)) / (1 if is_narrow else 200))
    a, b = ordered(left.astype(np.int64), right.astype(np.int64), adj_x, adj_y)
    total = (a + offsets[0]) @ (b + offsets[1])
    scaled = (oracle.scaled if is_narrow else oracle.scaled_s64)(total, *factor)
    want = np.clip(scaled + offsets[2], low + 3, high).astype(dtype)
    params = [
        *left.shape, *right.shape, *want.shape, adj_x, adj_y, *offsets, low + 3, high, *factor,
    ]  # fmt: skip
    room = scratch(shape, adj_x, adj_y, left.itemsize, int(is_narrow))
    entry = f"helia_nn_batch_matmul_{'s8' if is_narrow else 's16'}"
    return Case(entry, params, [left, right], want.nbytes, room), want


@cache
def integer_cases():
    """Cases and what they give, made once for all targets."""
    rng = np.random.default_rng(31)
    return [
        integer_case(rng, dtype, shape, *adjoint)
        for dtype, shape, adjoint in itertools.product((np.int8, np.int16), SHAPES, ADJOINTS)
    ]


@pytest.mark.parametrize("target", list(TARGETS))
def test_integer_products(target: str) -> None:
    cases, expected = zip(*integer_cases(), strict=True)
    check_cases(target, cases, expected)


@cache
def float_cases(suffix: str):
    """The same of one float type."""
    rng = np.random.default_rng(32)
    made = []
    for shape, (adj_x, adj_y) in itertools.product(SHAPES, ADJOINTS):
        left, right = (values(rng, size, suffix) for size in sides(shape, adj_x, adj_y))
        a, b = ordered(left, right, adj_x, adj_y)
        batches = np.broadcast_shapes(a.shape[:2], b.shape[:2])
        a, b = (np.broadcast_to(m, (*batches, *m.shape[2:])) for m in (a, b))
        limits = limits_of(suffix, "none")
        want = np.stack([
            reference_flt.products(a[at], b[at].T, None, suffix=suffix, packed=False, limits=limits)
            for at in np.ndindex(batches)
        ]).reshape(*batches, a.shape[2], b.shape[3])  # fmt: skip
        size = left.itemsize
        params = [*left.shape, *right.shape, *want.shape, adj_x, adj_y, 0, 0, 0, 0, 0, 0, 0]
        room = scratch(shape, adj_x, adj_y, size, 0)
        entry = f"helia_nn_batch_matmul_{suffix}"
        made.append((Case(entry, params, [left, right], want.size * size, room), want))
    return made


@pytest.mark.parametrize("target", list(TARGETS))
def test_float32_products(target: str) -> None:
    cases, expected = zip(*float_cases("f32"), strict=True)
    check_close(target, cases, expected, DTYPE["f32"], TOLERANCE)


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "m4"])
def test_float16_products_bit_by_bit(target: str) -> None:
    cases, expected = zip(*float_cases("f16"), strict=True)
    check_cases(target, cases, expected)


def test_sides_that_do_not_fit_are_refused() -> None:
    x = np.zeros(64, np.int8)

    def case(left, right, output, offsets=(0, 0, 0), entry="helia_nn_batch_matmul_s8") -> Case:
        params = [*left, *right, *output, 0, 1, *offsets, -9, 9, 1 << 30, 0]
        return Case(entry, params, [x, x], 4, 64)

    cases = [
        case((1, 1, 1, 4), (1, 1, 1, 5), (1, 1, 1, 1)),
        case((2, 1, 1, 4), (3, 1, 1, 4), (3, 1, 1, 1)),
        case((1, 1, 1, 4), (1, 1, 1, 4), (1, 1, 2, 1)),
        case((1, 1, 1, 4), (1, 1, 1, 4), (1, 1, 1, 1), (1, 0, 0), "helia_nn_batch_matmul_s16"),
    ]
    assert {outcome.status for outcome in run_cases("host", cases)} == {ARG_ERROR}
