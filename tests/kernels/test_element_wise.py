# SPDX-License-Identifier: Apache-2.0
"""Element-wise kernels besides ADD, SUB and MUL: int8, int16, int32 and bool, all in one start of each target."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import reference_integer as oracle
from harness import TARGETS, Case, check_cases, check_rejected, run_cases

from helia_aot.ir import tables
from helia_aot.ir.graph import Quantization
from helia_aot.ir.quantization import softmax_parameters

each_target = pytest.mark.parametrize("target", list(TARGETS))
SHAPES = [
    ((1, 1, 1, 37), (1, 1, 1, 37)),
    ((1, 3, 4, 5), (1, 1, 1, 5)),
    ((1, 1, 1, 1), (1, 2, 3, 9)),
    ((2, 3, 1, 4), (1, 1, 5, 4)),
]
LESS, EQUAL, GREATER, NONE = 1, 2, 4, 8


def numbers(rng, shape, dtype) -> np.ndarray:
    low, high = oracle.limits(dtype)
    values = rng.integers(low, high + 1, shape)
    return np.where(rng.random(shape) < 0.2, rng.choice([low, high, 0], shape), values).astype(
        dtype
    )


def squared_differences():
    rng = np.random.default_rng(1)
    for dtype, end, left in ((np.int8, "s8", 7), (np.int16, "s16", 0)):
        for shape1, shape2 in SHAPES:
            a, b = numbers(rng, shape1, dtype), numbers(rng, shape2, dtype)
            size = np.broadcast_shapes(shape1, shape2)
            for output in (0.9, 0.0004):
                zero = (3, -7, 11) if end == "s8" else (0, 0, 0)
                one, two = oracle.factor(0.5), oracle.factor(0.5 * 0.37)
                out = oracle.factor(output / 2 ** (2 * left + (0 if end == "s8" else 8)))
                params = [zero[0], *one, zero[1], *two, left, zero[2], *out, *oracle.limits(dtype)]
                first = oracle.scaled((a.astype(np.int64) + zero[0]) << left, *one)
                second = oracle.scaled((b.astype(np.int64) + zero[1]) << left, *two)
                square = oracle.scaled((first - second) ** 2, *out) + zero[2]
                expected = np.clip(square, *oracle.limits(dtype)).astype(dtype)
                case = Case(
                    f"arm_squared_difference_{end}",
                    [*shape1, *shape2, *size, *params],
                    [a, b],
                    expected.nbytes,
                )
                yield case, expected


def quotients():
    """The true quotient, rounded; the fixed-point reciprocal must not be off by more than one step, and only at a tie."""
    rng = np.random.default_rng(2)
    for shape1, shape2 in SHAPES:
        a, b = numbers(rng, shape1, np.int8), numbers(rng, shape2, np.int8)
        size = np.broadcast_shapes(shape1, shape2)
        for scale in (0.71, 13.3, 0.004):
            params = [5, -3, 9, *oracle.factor(scale), -128, 120]
            wide_a, wide_b = np.broadcast_arrays(a.astype(int) + 5, b.astype(int) - 3)
            expected = np.array(
                [
                    quotient(int(n), int(d), scale)
                    for n, d in zip(wide_a.flat, wide_b.flat, strict=True)
                ]
            )
            expected = np.clip(expected + 9, -128, 120).astype(np.int8)
            case = Case(
                "helia_nn_div_s8", [*shape1, *shape2, *size, *params], [a, b], expected.size
            )
            yield case, expected


def quotient(numerator: int, denominator: int, scale: float) -> int:
    if denominator == 0:
        return 255 * ((numerator > 0) - (numerator < 0))
    real = Fraction(numerator, denominator) * Fraction(scale)
    return tables.round_half_away(float(real))


def arithmetic_32():
    rng = np.random.default_rng(3)
    low, high = oracle.limits(np.int32)
    for shape1, shape2 in SHAPES:
        a, b = numbers(rng, shape1, np.int32), numbers(rng, shape2, np.int32)
        near = rng.integers(-9, 10, shape2).astype(np.int32)
        near[near == 0] = -1
        size = np.broadcast_shapes(shape1, shape2)
        wide_a, wide_b, wide_near = (v.astype(np.int64) for v in (a, b, near))
        quotient = np.sign(wide_a) * np.sign(wide_near) * (np.abs(wide_a) // np.abs(wide_near))
        results = [
            (0, b, wide_a + wide_b), (1, b, wide_a - wide_b), (2, b, wide_a * wide_b), (3, near, quotient),
            (4, near, wide_a // wide_near), (5, near, wide_a % wide_near), (6, b, np.maximum(wide_a, wide_b)),
            (7, b, np.minimum(wide_a, wide_b)),
            (8, b, wrap(wide_a - wide_b).astype(np.int64) ** 2),
        ]  # fmt: skip
        for operation, second, result in results:
            for limits in ((low, high), (-1000, 6)):
                expected = np.clip(wrap(result), *limits).astype(np.int32)
                params = [*shape1, *shape2, *size, operation, *limits]
                yield (
                    Case("helia_nn_arithmetic_s32", params, [a, second], expected.nbytes),
                    expected,
                )


def wrap(wide) -> np.ndarray:
    return np.asarray(wide).astype(np.uint64).astype(np.uint32).astype(np.int32)


def orders_of(a, b) -> np.ndarray:
    return np.select([a < b, a == b, a > b], [LESS, EQUAL, GREATER], NONE)


def comparisons():
    rng = np.random.default_rng(4)
    for shape1, shape2 in SHAPES:
        size = np.broadcast_shapes(shape1, shape2)
        a, b = numbers(rng, shape1, np.int8), numbers(rng, shape2, np.int8)
        one, two = (3, *oracle.factor(0.021)), (-5, *oracle.factor(0.034))
        first, second = (
            oracle.scaled((x.astype(np.int64) + s[0]) << 8, *s[1:]) for x, s in ((a, one), (b, two))
        )
        few = rng.integers(-1, 2, shape1).astype(np.int32)
        other = rng.integers(-1, 2, shape2).astype(np.int32)
        for orders in (LESS, LESS | EQUAL, EQUAL, LESS | GREATER | NONE, GREATER, GREATER | EQUAL):
            expected = (orders_of(first, second) & orders) != 0
            params = [*shape1, *shape2, *size, *one, *two, 8, orders]
            yield Case("helia_nn_compare_s8", params, [a, b], expected.size), expected
            expected = (orders_of(few, other) & orders) != 0
            params = [*shape1, *shape2, *size, orders]
            yield Case("helia_nn_compare_s32", params, [few, other], expected.size), expected


def selections():
    rng = np.random.default_rng(5)
    for shape1, shape2 in SHAPES:
        for shape in (shape1, (1, 1, 1, 1), (1, 1, 1, shape2[3])):
            size = np.broadcast_shapes(shape, shape1, shape2)
            condition = rng.random(shape) < 0.5
            for dtype in (np.int8, np.int16, np.float32, np.int64):
                a, b = (rng.integers(-100, 100, s).astype(dtype) for s in (shape1, shape2))
                expected = np.ascontiguousarray(np.broadcast_to(np.where(condition, a, b), size))
                params = [*shape, *shape1, *shape2, *size, expected.itemsize]
                yield Case("helia_nn_select", params, [condition, a, b], expected.nbytes), expected


def reciprocal_roots():
    rng = np.random.default_rng(6)
    source, output = (Quantization((s,), (0,)) for s in (0.0003, 0.001))
    x = np.concatenate([[0, 1, 2, 32767, -1, -32768], rng.integers(-99, 32768, 75)]).astype(
        np.int16
    )
    table, roots = tables.rsqrt_outputs_s16(source, output), tables.rsqrt_roots()
    expected = table[np.maximum(x, 0)]
    yield (
        Case("arm_rsqrt_s16_per_op", [0, 0, -32768, 32767, x.size], [x, table], x.nbytes),
        expected,
    )
    limited = np.clip(expected.astype(int) + 7, 0, 3000).astype(np.int16)
    yield Case("arm_rsqrt_s16_per_op", [0, 7, 0, 3000, x.size], [x, table], x.nbytes), limited
    factor = tables.rsqrt_factor(source, output)
    params = [0, 0, *factor, 1, -32768, 32767, x.size]
    yield Case("arm_rsqrt_s16_universal", params, [x, roots], x.nbytes), expected
    plain = np.clip(roots[np.maximum(x, 0)], -32768, 32767).astype(np.int16)
    params = [0, 0, 0, 0, 0, -32768, 32767, x.size]
    yield Case("arm_rsqrt_s16_universal", params, [x, roots], x.nbytes), plain


def hard_swishes():
    x = np.arange(-128, 128).astype(np.int8)
    for scale, zero, out_scale, out_zero in (
        (0.05, -7, 0.04, -120),
        (0.3, 60, 0.31, 3),
        (0.002, 0, 0.001, -5),
    ):
        ends = (Quantization((scale,), (zero,)), Quantization((out_scale,), (out_zero,)))
        compat, precise = (
            tables.hard_swish_parameters(*ends),
            tables.precise_hard_swish_parameters(*ends),
        )
        assert precise is not None
        params = [-zero, out_zero, *compat.output, *compat.relu, x.size]
        expected = look_up(x, tables.hard_swish(*ends))
        yield Case("arm_hard_swish_compat_s8", params, [x], x.size), expected
        params = [
            -zero,
            out_zero,
            *precise.factor,
            precise.three,
            precise.six,
            precise.prescale,
            x.size,
        ]
        expected = look_up(x, tables.precise_hard_swish(precise, *ends))
        yield Case("arm_hard_swish_precise_s8", params, [x], x.size), expected
        real = scale * (x.astype(float) - zero)
        exact = real * np.clip(real + 3, 0, 6) / 6 / out_scale + out_zero
        assert (
            np.abs(np.clip(exact, -128, 127) - expected).max() < 0.56
        )  # the constants 3 and 6 are rounded


def look_up(x: np.ndarray, function) -> np.ndarray:
    return tables.by_entry(function)[x.view(np.uint8)]


def log_softmax_cases():
    rng = np.random.default_rng(7)
    for rows, size, scale in ((1, 1, 0.1), (3, 7, 0.05), (2, 100, 0.3), (1, 17, 0.004)):
        x = numbers(rng, (rows, size), np.int8)
        real = scale * (x.astype(float) - x.max(axis=1, keepdims=True).astype(float))
        exact = real - np.log(np.exp(real).sum(axis=1, keepdims=True))
        params = [rows, size, *softmax_parameters(1.0, scale)]
        yield Case("helia_nn_log_softmax_s8", params, [x], x.size), exact * 16 + 127


def l2_normalizations():
    rng = np.random.default_rng(8)
    for rows, size, zero in ((1, 1, 0), (3, 7, -20), (2, 64, 127), (1, 515, 3), (4, 3, -128)):
        x = numbers(rng, (rows, size), np.int8)
        x[0] = zero  # no length
        real = x.astype(float) - zero
        length = np.sqrt((real**2).sum(axis=1, keepdims=True))
        yield (
            Case("helia_nn_l2_normalize_s8", [zero, rows, size], [x], x.size),
            (128 * real / np.where(length == 0, 1, length)),
        )


GROUPS = (
    squared_differences, quotients, arithmetic_32, comparisons, selections, reciprocal_roots, hard_swishes,
)  # fmt: skip


@cache
def cases() -> tuple[list[Case], list[np.ndarray]]:
    made = [pair for group in GROUPS for pair in group()]
    return [case for case, _ in made], [np.ascontiguousarray(want) for _, want in made]


@each_target
def test_every_entry_equals_its_oracle(target: str) -> None:
    check_cases(target, *cases())


@each_target
def test_the_logarithm_of_the_softmax_is_within_one_step(target: str) -> None:
    """TFLite Micro is the bit-exact oracle, in the tests of models; here every target is near the real function."""
    made, expected = zip(*log_softmax_cases(), strict=True)
    for outcome, want in zip(run_cases(target, made), expected, strict=True):
        got = outcome.array().reshape(want.shape)
        assert np.abs(got - np.clip(want, -128, 127)).max() < 0.6
        assert not outcome.problems


@each_target
def test_rows_of_length_one_are_within_one_step(target: str) -> None:
    """As above: the tests of models compare bit by bit with TFLite Micro."""
    made, expected = zip(*l2_normalizations(), strict=True)
    for outcome, want in zip(run_cases(target, made), expected, strict=True):
        got = outcome.array().reshape(want.shape)
        assert np.abs(got - np.clip(want, -128, 127)).max() < 0.6
        assert not outcome.problems


@each_target
def test_calls_outside_of_the_rules_are_refused(target: str) -> None:
    x, flags = np.ones(16, np.int32), np.ones(16, np.bool_)
    shapes = [1, 1, 1, 3, 1, 1, 1, 3, 1, 1, 1, 3]
    wrong = [1, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 3]
    divisors = np.array([1, 0, 2], np.int32)
    check_rejected(
        target,
        [
            Case("helia_nn_arithmetic_s32", [*wrong, 0, -9, 9], [x, x], 12),
            Case("helia_nn_arithmetic_s32", [*shapes, 9, -9, 9], [x, x], 12),
            *(
                Case("helia_nn_arithmetic_s32", [*shapes, o, -9, 9], [x, divisors], 12)
                for o in (3, 4, 5)
            ),
            Case("helia_nn_compare_s32", [*wrong, 1], [x, x], 3),
            Case("helia_nn_select", [1, 1, 1, 2, *shapes, 4], [flags, x, x], 12),
            Case("arm_hard_swish_precise_s8", [0, 0, 1 << 30, 0, 3, 6, 16, 4], [x], 4),
            Case("helia_nn_log_softmax_s8", [1, 0, 1 << 30, 5, -30], [x], 4),
            Case("helia_nn_l2_normalize_s8", [0, 1, 0], [x], 4),
            Case("arm_hard_swish_compat_s8", [0, 0, 1 << 14, 1, 1 << 14, 0, 4], [x], 4),
        ],
    )


def test_the_table_of_roots_is_within_one_step_of_the_real_roots() -> None:
    exact = np.array([2**20 / math.sqrt(v) for v in range(1, 32768)])
    assert np.abs(tables.rsqrt_roots()[1:] - exact).max() < 1.3
