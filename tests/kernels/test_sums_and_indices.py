# SPDX-License-Identifier: Apache-2.0
"""Sums of several inputs, running sums, root mean squares, what indices name, int64 pairs and weights with an offset."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference_flt
import reference_integer as oracle
from flt_cases import DTYPE, Conv, bits, limits_of, values
from harness import TARGETS, Case, check_cases, check_close, check_rejected

each_target = pytest.mark.parametrize("target", list(TARGETS))
typed = pytest.mark.parametrize(
    ("target", "suffix"),
    [(t, s) for s in ("f32", "f16") for t in TARGETS if s == "f32" or t != "m4"],
)
TOLERANCE = {"f32": 2e-6, "f16": 6e-4}
WAYS = tuple(itertools.product((0, 1), (0, 1)))
"""Whether a running sum leaves its own number out, and whether it runs from the end."""
BLOCKS = ((1, 1, 1), (3, 7, 1), (1, 5, 4), (2, 9, 3), (1, 200, 2))


def quantized(total: np.ndarray, factor: float, zero: int) -> np.ndarray:
    """Sums in steps of 2^-19, which wrap."""
    wide = oracle.scaled(total.astype(np.int64) << 19, *oracle.factor(factor))
    return np.clip(wide + zero, -128, 127).astype(np.int8)


def running(x: np.ndarray, exclusive: int, reverse: int, start: float = 0) -> np.ndarray:
    """Running sums along the middle dimension, in the type of the numbers."""
    x = x[:, ::-1] if reverse else x
    sums = np.cumsum(x, axis=1, dtype=x.dtype) + x.dtype.type(start)
    if exclusive:
        first = np.full_like(sums[:, :1], start)
        sums = np.concatenate([first, sums[:, :-1]], axis=1)
    return sums[:, ::-1] if reverse else sums


def integer_cases():
    rng = np.random.default_rng(3)
    for count, size, zero in ((1, 1, 0), (2, 15, -128), (3, 33, 127), (8, 16, 5)):
        inputs = [rng.integers(-128, 128, size).astype(np.int8) for _ in range(count)]
        # TFLite Micro starts at minus the zero point, not at 0.
        total = np.sum(inputs, axis=0, dtype=np.int64) - (count + 1) * zero
        for factor in (2.0**-19, 0.7 * 2.0**-21):
            params = [count, size, -zero, *oracle.factor(factor), 3]
            expected = quantized(total, factor, 3)
            yield Case("helia_nn_add_n_s8", params, inputs, size), expected
    for shape, zero, way in itertools.product(BLOCKS, (0, -128, 127), WAYS):
        x = rng.integers(-128, 128, shape).astype(np.int8)
        expected = quantized(running(x.astype(np.int64) - zero, *way, -zero), 2.0**-20, -9)
        params = [*shape, *way, -zero, *oracle.factor(2.0**-20), -9]
        yield Case("helia_nn_cumulative_sum_s8", params, [x], x.size), expected


def moved_cases():
    rng = np.random.default_rng(4)
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        x = rng.integers(-100, 100, (4, 3, 5)).astype(dtype)
        for depth in (1, 2, 3):
            extents = np.array(x.shape[:depth], np.int32)
            indices = rng.integers(0, extents, (6, depth)).astype(np.int32)
            expected = np.ascontiguousarray(x[tuple(indices.T)])
            params = [6, depth, expected.nbytes // 6]
            yield (
                Case("helia_nn_gather_nd", params, [x, indices, extents], expected.nbytes),
                expected,
            )
        for size, starts in (
            ((1, 1, 1), (3, 2, 4)), ((2, 3, 2), (-5, 7, 1)), ((4, 3, 5), (1, 1, 1)), ((4, 1, 3), (-(2**31), 1, 2**31 - 1)),
        ):  # fmt: skip
            update = rng.integers(-100, 100, size).astype(dtype)
            at = [max(0, min(s, w - p)) for s, w, p in zip(starts, x.shape, size, strict=True)]
            expected = x.copy()
            expected[tuple(slice(a, a + p) for a, p in zip(at, size, strict=True))] = update
            walks = [np.array(x.shape, np.int32), np.array(size, np.int32)]
            for kind in (np.int32, np.int64):
                tensors = [x, update, np.array(starts, kind), *walks]
                params = [np.dtype(kind).itemsize, 3, x.itemsize]
                yield Case("helia_nn_update_slice", params, tensors, x.nbytes), expected
    line = np.arange(9, dtype=np.int16)
    walks = [np.array([9], np.int32), np.array([4], np.int32)]
    expected = np.concatenate([line[:2], line[:4], line[6:]])
    tensors = [line, line[:4], np.array([2], np.int32), *walks]
    yield Case("helia_nn_update_slice", [4, 1, 2], tensors, line.nbytes), expected


PAIRS = (((2, 3, 4, 5), (1, 1, 1, 5)), ((1, 1, 1, 1), (1, 2, 3, 9)), ((1, 4, 1, 7), (2, 4, 3, 1)))


def wide_cases():
    """Pairs of int64 numbers of which many are equal, some only in their low halves."""
    rng = np.random.default_rng(6)
    for first, second in PAIRS:
        a, b = (rng.integers(-1, 2, s) + (rng.integers(-1, 2, s) << 40) for s in (first, second))
        size = np.broadcast_shapes(first, second)
        for orders in (1, 2, 3, 4, 6, 13):
            expected = (np.select([a < b, a == b], [1, 2], 4) & orders) != 0
            params = [*first, *second, *size, orders]
            yield Case("helia_nn_compare_s64", params, [a, b], expected.size), expected
        for largest, function in ((0, np.minimum), (1, np.maximum)):
            expected = function(a, b)
            params = [*first, *second, *size, largest]
            yield Case("helia_nn_extremum_s64", params, [a, b], expected.nbytes), expected


def shape_cases():
    x = np.arange(60, dtype=np.int16).reshape(4, 3, 5)
    for size, starts in (((1, 1, 1), (3, 2, 4)), ((4, 3, 5), (0, 0, 0)), ((2, 1, 4), (2, 1, 1))):
        expected = x[tuple(slice(s, s + n) for s, n in zip(starts, size, strict=True))]
        walks = [np.array(x.shape, np.int32), np.array(size, np.int32)]
        for kind in (np.int32, np.int64):
            tensors = [x, np.array(starts, kind), *walks]
            params = [np.dtype(kind).itemsize, 3, 2]
            yield Case("helia_nn_slice", params, tensors, expected.nbytes), np.array(expected)
    for first, second in (((3,), (1,)), ((2, 1, 5), (4, 1)), ((1,), (7, 1, 2)), ((6, 6), (6, 6))):
        for kind in (np.int32, np.int64):
            expected = np.array(np.broadcast_shapes(first, second), kind)
            tensors = [np.array(first, kind), np.array(second, kind)]
            params = [len(first), len(second), np.dtype(kind).itemsize]
            yield Case("helia_nn_broadcast_extents", params, tensors, expected.nbytes), expected


def layer_cases():
    rng = np.random.default_rng(7)
    for rows, depth, channels, has_bias in (
        (1, 1, 1, 0),
        (3, 7, 5, 1),
        (2, 33, 16, 1),
        (1, 64, 3, 0),
    ):
        x, w = (
            rng.integers(-128, 128, s).astype(np.int8) for s in ((rows, depth), (channels, depth))
        )
        bias = rng.integers(-4000, 4000, channels).astype(np.int32) if has_bias else None
        for offset in (0, 128, -127):
            total = (x.astype(np.int64) + 9) @ (w.astype(np.int64) + offset).T
            scaled = oracle.scaled(total + (0 if bias is None else bias), *oracle.factor(0.002))
            expected = np.clip(scaled - 4, -100, 90).astype(np.int8)
            params = [rows, depth, channels, 9, offset, -4, -100, 90, *oracle.factor(0.002)]
            case = Case("helia_nn_fully_connected_offsets_s8", params, [x, w, bias], expected.size)
            yield case, expected
        x = rng.integers(-32768, 32768, (rows, depth)).astype(np.int16)
        factors = [oracle.factor(real) for real in rng.uniform(1e-5, 1e-2, channels)]
        multipliers, shifts = np.array(factors, np.int32).T
        total = x.astype(np.int64) @ w.astype(np.int64).T + (0 if bias is None else bias)
        scaled = [oracle.scaled(total[:, c], *factors[c]) for c in range(channels)]
        expected = np.clip(np.stack(scaled, axis=1), -30000, 32767).astype(np.int16)
        tensors = [x, w, bias, np.array(multipliers), np.array(shifts)]
        params = [rows, depth, channels, -30000, 32767]
        yield Case("helia_nn_fully_connected_s16_s32", params, tensors, expected.nbytes), expected


@each_target
def test_pairs_shapes_and_weights_with_an_offset(target: str) -> None:
    made, expected = zip(*wide_cases(), *shape_cases(), *layer_cases(), strict=True)
    check_cases(target, made, expected)


@each_target
def test_integers_and_bytes(target: str) -> None:
    made, expected = zip(*integer_cases(), *moved_cases(), strict=True)
    check_cases(target, made, expected)


def float_cases(suffix: str):
    rng = np.random.default_rng(5)
    dtype = DTYPE[suffix]
    for count, size in ((1, 1), (2, 15), (5, 33)):
        inputs = [values(rng, (size,), suffix) for _ in range(count)]
        expected = np.sum([x.astype(np.float64) for x in inputs], axis=0)
        size_bytes = size * inputs[0].itemsize
        yield Case(f"helia_nn_add_n_{suffix}", [count, size], inputs, size_bytes), expected
    for shape, way in itertools.product(BLOCKS, WAYS):
        x = values(rng, shape, suffix)
        expected = running(x.astype(np.float64), *way)
        yield Case(f"helia_nn_cumulative_sum_{suffix}", [*shape, *way], [x], x.nbytes), expected
    for layer in (
        Conv(size=(6, 6), cin=8, cout=8, kernel=(2, 2), stride=(2, 2)),
        Conv(size=(7, 5), cin=3, cout=3, kernel=(3, 2), padding=(1, 1), activation="relu6"),
        Conv(size=(9, 5), cin=1, cout=1, kernel=(9, 5), batches=2),
    ):
        x = values(rng, (layer.batches, *layer.size, layer.cin), suffix, 3)
        limits = limits_of(suffix, layer.activation)
        squares = reference_flt.pool(
            x.astype(np.float64) ** 2, average=True, kernel=layer.kernel, stride=layer.stride, padding=layer.padding,
            output=layer.output, limits=(0.0, np.inf),
        )  # fmt: skip
        params = [
            *x.shape, 1, *layer.kernel, 1, *squares.shape, *layer.stride[::-1], *layer.padding[::-1], *bits(*limits),
        ]  # fmt: skip
        expected = np.clip(np.sqrt(squares), *limits)
        yield Case(f"helia_nn_l2_pool_{suffix}", params, [x], squares.size * x.itemsize), expected
    for rows, size, beta in ((1, 1, 2.0), (3, 10, 0.5), (2, 33, 1.7), (2, 5, -0.3)):
        x = values(rng, (rows, size), suffix, 3)
        powers = np.exp(x.astype(np.float64) * np.float64(np.float32(beta)))
        expected = powers / powers.sum(axis=1, keepdims=True)
        params = [rows, size, *bits(beta)]
        yield Case(f"helia_nn_softmax_beta_{suffix}", params, [x], x.nbytes), expected
    for rows, size, count in ((1, 1, 1), (7, 5, 4), (3, 33, 2)):
        table = rng.integers(-128, 128, (rows, size)).astype(np.int8)
        indices = rng.integers(0, rows, count).astype(np.int32)
        expected = table[indices] * np.float64(np.float32(0.013))
        params = [rows, count, size, *bits(0.013)]
        size_bytes = expected.size * dtype().itemsize
        yield (
            Case(f"helia_nn_embedding_s8_{suffix}", params, [table, indices], size_bytes),
            expected,
        )


@typed
def test_floats(target: str, suffix: str) -> None:
    made, expected = zip(*float_cases(suffix), strict=True)
    check_close(target, made, expected, DTYPE[suffix], TOLERANCE[suffix])


@each_target
def test_calls_outside_of_the_rules_are_refused(target: str) -> None:
    x, two = np.zeros(16, np.int8), np.array([2, 2], np.int32)
    walks = [np.array([4], np.int32), np.array([5], np.int32)]
    check_rejected(
        target,
        [
            Case("helia_nn_add_n_s8", [0, 4, 0, 1 << 30, 0, 0], [x], 4),
            Case("helia_nn_add_n_f32", [1, 0], [x], 4),
            Case("helia_nn_cumulative_sum_s8", [1, 0, 1, 0, 0, 0, 1 << 30, 0, 0], [x], 4),
            Case("helia_nn_cumulative_sum_f32", [1, 1, 0, 0, 0], [x], 4),
            Case("helia_nn_gather_nd", [1, 2, 1], [x, np.array([0, 2], np.int32), two], 1),
            Case("helia_nn_gather_nd", [1, 2, 1], [x, np.array([-1, 0], np.int32), two], 1),
            Case("helia_nn_embedding_s8_f32", [2, 1, 1, *bits(1)], [x, np.array([2], np.int32)], 4),
            Case("helia_nn_embedding_s8_f32", [2, 1, 1, *bits(1)], [x, -two], 4),
            Case("helia_nn_update_slice", [4, 1, 1], [x, x, two, *walks], 4),
            Case("helia_nn_update_slice", [2, 1, 1], [x, x, two, *walks[:1] * 2], 4),
            Case("helia_nn_update_slice", [4, 9, 1], [x, x, two, *walks], 4),
            Case("helia_nn_slice", [4, 1, 1], [x, two, walks[0], walks[0] - 1], 3),
            Case("helia_nn_slice", [4, 1, 1], [x, -two, walks[0], walks[0] - 1], 3),
            Case("helia_nn_slice", [4, 0, 1], [x, two, *walks], 4),
            Case("helia_nn_broadcast_extents", [2, 1, 4], [two, two + 1], 8),
            Case("helia_nn_broadcast_extents", [2, 1, 2], [two, two], 8),
            Case("helia_nn_compare_s64", [1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 3, 1], [x, x], 3),
            Case("helia_nn_extremum_s64", [1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 3, 1], [x, x], 24),
            Case("helia_nn_softmax_beta_f32", [0, 4, *bits(2)], [x], 16),
            Case("helia_nn_fully_connected_s16_s32", [0, 1, 1, -9, 9], [x, x, None, two, two], 2),
            Case(
                "helia_nn_fully_connected_offsets_s8",
                [1, 0, 1, 0, 0, 0, -128, 127, 1 << 30, 0],
                [x, x, None],
                1,
            ),
        ],
    )
