# SPDX-License-Identifier: Apache-2.0
"""Float kernels of one element, of two, of axes and of images, against double precision; half precision within its rounding."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import reference_integer
from flt_cases import DTYPE, bits, limits_of, values
from harness import TARGETS, Case, check_cases, check_close, check_rejected, run_cases

from helia_aot.ir.attributes import ResizeAttributes
from helia_aot.operators.resize import real_neighbours

TOLERANCE = {"f32": 2e-6, "f16": 6e-4}
typed = pytest.mark.parametrize(
    ("target", "suffix"),
    [(t, s) for s in ("f32", "f16") for t in TARGETS if s == "f32" or t != "m4"],
)
SHAPES = [
    ((2, 3, 4, 5), (1, 1, 1, 5)), ((1, 1, 1, 1), (1, 2, 3, 9)), ((1, 4, 1, 7), (2, 4, 3, 1)), ((1, 1, 1, 33),) * 2,
]  # fmt: skip
MAPS = {
    0: np.negative, 1: np.abs, 2: np.square, 3: np.sqrt, 4: lambda x: 1 / np.sqrt(x), 5: np.floor, 6: np.ceil,
    7: np.round,
}  # fmt: skip
EXACT_MAPS = (0, 1, 5, 6, 7)


def error_function(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ELEMENTARY = {
    8: np.exp, 9: np.log, 10: np.sin, 11: np.cos, 12: lambda x: np.where(x < 0, np.expm1(x), x),
    13: lambda x: x / 2 * (1 + error_function(x * math.sqrt(0.5))), 14: gelu_tanh,
}  # fmt: skip
POSITIVE = (3, 4, 9)
TAILED = (13, 14)
"""Far below zero these are so small that neither the exponent of a half nor a difference of singles holds them."""


def exact_cases(suffix: str):
    """Results that no rounding can touch."""
    rng = np.random.default_rng(1)
    dtype = DTYPE[suffix]
    halves = np.arange(-9, 9.5, 0.5)
    x = np.concatenate(
        [halves, [0.0, -0.0, 0.4999, -0.4999, 2047.5, 1e4, -1e4], rng.normal(size=30) * 50]
    ).astype(dtype)
    for size, function in itertools.product((1, 3, 4, x.size), EXACT_MAPS):
        expected = MAPS[function](x[:size]) + dtype(0)
        yield (
            Case(f"helia_nn_map_{suffix}", [function, size], [x[:size]], expected.nbytes),
            expected,
        )
    for first, second in SHAPES:
        a, b = (rng.integers(-2, 3, s).astype(dtype) for s in (first, second))
        a.reshape(-1)[0] = np.nan
        size = np.broadcast_shapes(first, second)
        for orders in (1, 3, 4, 6, 2, 13):
            stand = np.select([a < b, a == b, a > b], [1, 2, 4], 8)
            expected = (stand & orders) != 0
            params = [*first, *second, *size, orders]
            yield Case(f"helia_nn_compare_{suffix}", params, [a, b], expected.size), expected
    ends = (3e-38, 3e38) if suffix == "f32" else (1e-4, 6e4)
    a, b = (np.geomspace(*end, 40).astype(dtype) for end in (ends, ends[::-1]))
    for one, two in ((a, a[:1]), (a[::-1], b), (-a, b), (a, -b), (-a, -a[3:4])):
        # Of two signs the rest is the difference to the divisor, which rounds.
        expected = np.mod(one, two)
        sizes = [1, 1, 1, one.size, 1, 1, 1, two.size, 1, 1, 1, one.size]
        params = [*sizes, 5, *bits(*limits_of(suffix, "none"))]
        entry = f"helia_nn_arithmetic_{suffix}"
        yield Case(entry, params, [one, two], expected.nbytes), expected + dtype(0)
    few = rng.integers(-3, 3, (2, 3, 4, 5)).astype(dtype)
    for axis, (largest, function) in itertools.product(range(4), ((1, np.argmax), (0, np.argmin))):
        expected = function(few, axis=axis).astype(np.int32)
        params = [2, 3, 4, 5, axis, largest]
        yield Case(f"helia_nn_arg_extremum_{suffix}", params, [few], expected.nbytes), expected
    if suffix == "f16":
        for quantized, scale, zero in ((np.int8, 0.0123, -5), (np.int16, 0.003, 0)):
            x = (rng.normal(size=40) * 60 * scale).astype(np.float16)
            q = rng.integers(*reference_integer.limits(quantized), 40).astype(quantized)
            params = [40, zero, *bits(scale)]
            number = 8 * q.itemsize
            expected = reference_integer.quantize(x.astype(np.float32), scale, zero, quantized)
            yield Case(f"helia_nn_quantize_f16_s{number}", params, [x], expected.nbytes), expected
            expected = (np.float32(scale) * (q.astype(int) - zero).astype(np.float32)).astype(
                np.float16
            )
            yield Case(f"helia_nn_dequantize_s{number}_f16", params, [q], expected.nbytes), expected


def close_cases(suffix: str):
    """Results that are rounded; expected in double precision."""
    rng = np.random.default_rng(2)
    dtype = DTYPE[suffix]
    spread = np.concatenate(
        [np.linspace(-9, 9, 61), np.geomspace(1e-3, 0.5, 20), -np.geomspace(1e-3, 0.5, 20)]
    )
    for entry, functions in (("map", MAPS), ("elementary", ELEMENTARY)):
        for code, function in functions.items():
            x = (np.geomspace(1e-4, 6e4, 60) if code in POSITIVE else spread).astype(dtype)
            if code in TAILED and entry == "elementary":
                x = np.maximum(x, dtype(-3))
            for part in (
                x,
                *(x[i : i + 1] for i in (10, 30, 40, 55)),
            ):  # each is right to its own size
                expected = function(part.astype(np.float64))
                yield (
                    Case(f"helia_nn_{entry}_{suffix}", [code, part.size], [part], part.nbytes),
                    expected,
                )
    for first, second in SHAPES:
        a = values(rng, first, suffix, 3)
        b = (rng.uniform(0.5, 3, second) * rng.choice([-1, 1], second)).astype(dtype)
        size = np.broadcast_shapes(first, second)
        for activation in ("none", "relu6"):
            limits = limits_of(suffix, activation)
            results = ((3, a / b), (4, np.floor(a / b)), (5, np.mod(a, b)), (8, (a - b) * (a - b)))
            for operation, result in results:
                params = [*first, *second, *size, operation, *bits(*limits)]
                expected = np.clip(result.astype(np.float64), *limits)
                yield Case(f"helia_nn_arithmetic_{suffix}", params, [a, b], result.nbytes), expected
    x = values(rng, (2, 5, 7, 9), suffix) + dtype(1)  # sums that do not cancel
    walks = {
        (1, 2): ([1, 2, 9], [0, 315, 1], [1, 1, 35], [0, 0, 9]),
        (3,): ([1, 1, 70], [0, 0, 9], [1, 1, 9], [0, 0, 1]),
        (0, 2): ([1, 5, 9], [0, 63, 1], [1, 2, 7], [0, 315, 9]),
        (0, 1, 2, 3): ([1, 1, 1], [0, 0, 0], [1, 1, 630], [0, 0, 1]),
    }
    for axes, walk in walks.items():
        flat = [number for part in walk for number in part]
        for operation, function in enumerate((np.sum, np.mean, np.max, np.min)):
            expected = np.atleast_1d(function(x.astype(np.float64), axis=axes))
            case = Case(
                f"helia_nn_reduce_{suffix}", [*flat, operation], [x], expected.size * x.itemsize
            )
            yield case, expected
    for rows, size, scale in [(1, 1, 1), (3, 10, 3), (2, 12, 30), (1, 33, 9)]:
        x = values(rng, (rows, size), suffix, scale)
        wide = x.astype(np.float64) - x.max(axis=1, keepdims=True)
        expected = wide - np.log(np.exp(wide).sum(axis=1, keepdims=True))
        yield Case(f"helia_nn_log_softmax_{suffix}", [rows, size], [x], x.nbytes), expected
    for rows, size, scale in [(1, 1, 1), (3, 10, 3), (1, 33, 9)]:
        x = values(rng, (rows, size), suffix, scale)
        wide = x.astype(np.float64)
        expected = wide / np.sqrt((wide**2).sum(axis=1, keepdims=True))
        yield Case(f"helia_nn_l2_normalize_{suffix}", [rows, size], [x], x.nbytes), expected
    x = values(rng, (2, 3, 4, 5), suffix)
    for size in ((6, 9), (2, 2), (1, 1)):
        options = ResizeAttributes(align_corners=False, half_pixel_centers=True)
        rows, columns = (real_neighbours(n, m, options) for n, m in zip((3, 4), size, strict=True))
        params = [2, 3, 4, 5, 2, *size, 5]
        expected = bilinear(x.astype(np.float64), rows, columns)
        tensors = [x, *rows, *columns]
        yield (
            Case(f"helia_nn_resize_bilinear_{suffix}", params, tensors, expected.size * x.itemsize),
            expected,
        )


def bilinear(x: np.ndarray, rows, columns) -> np.ndarray:
    (pairs, down), (sides, across) = rows, columns
    above, below = x[:, pairs[::2]], x[:, pairs[1::2]]
    lines = above + (below - above) * down[:, None, None]
    left, right = lines[:, :, sides[::2]], lines[:, :, sides[1::2]]
    return left + (right - left) * across[:, None]


@typed
def test_results_without_rounding(target: str, suffix: str) -> None:
    cases, expected = zip(*exact_cases(suffix), strict=True)
    check_cases(target, cases, expected)


@typed
def test_results_with_rounding(target: str, suffix: str) -> None:
    cases, expected = zip(*close_cases(suffix), strict=True)
    check_close(target, cases, expected, DTYPE[suffix], TOLERANCE[suffix])


@typed
def test_ends_of_the_functions(target: str, suffix: str) -> None:
    """Zeros, infinities and what is outside of a function's domain."""
    x = np.array([0, -0.0, np.inf, -np.inf, -1, np.nan], DTYPE[suffix])
    wanted = {
        ("map", 3): [0, 0, np.inf, np.nan, np.nan, np.nan],
        ("map", 4): [np.inf, np.inf, 0, np.nan, np.nan, np.nan],
        ("elementary", 8): [1, 1, np.inf, 0, np.exp(-1), np.nan],
        ("elementary", 9): [-np.inf, -np.inf, np.inf, np.nan, np.nan, np.nan],
        ("elementary", 12): [0, 0, np.inf, -1, np.expm1(-1), np.nan],
    }
    cases = [Case(f"helia_nn_{e}_{suffix}", [code, 6], [x], x.nbytes) for e, code in wanted]
    for outcome, numbers in zip(run_cases(target, cases), wanted.values(), strict=True):
        np.testing.assert_allclose(outcome.array(x.dtype.type), numbers, rtol=1e-3)


@typed
def test_calls_outside_of_the_rules_are_refused(target: str, suffix: str) -> None:
    x = np.ones(6, DTYPE[suffix])
    shapes = [1, 1, 1, 3, 1, 1, 1, 3, 1, 1, 1, 3]
    limits = bits(-9, 9)
    check_rejected(
        target,
        [
            Case(f"helia_nn_map_{suffix}", [8, 4], [x], 16),
            Case(f"helia_nn_elementary_{suffix}", [15, 4], [x], 16),
            Case(f"helia_nn_arithmetic_{suffix}", [*shapes, 0, *limits], [x, x], 12),
            Case(
                f"helia_nn_arithmetic_{suffix}",
                [*shapes[:7], 2, *shapes[8:], 3, *limits],
                [x, x],
                12,
            ),
            Case(f"helia_nn_compare_{suffix}", [*shapes[:7], 2, *shapes[8:], 1], [x, x], 3),
            Case(f"helia_nn_reduce_{suffix}", [1, 1, 1, 0, 0, 0, 1, 1, 3, 0, 0, 1, 4], [x], 4),
            Case(f"helia_nn_log_softmax_{suffix}", [0, 3], [x], 12),
            Case(f"helia_nn_l2_normalize_{suffix}", [1, 0], [x], 12),
            Case(f"helia_nn_arg_extremum_{suffix}", [1, 1, 1, 4, 4, 1], [x], 4),
        ],
    )
