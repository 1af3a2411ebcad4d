# SPDX-License-Identifier: Apache-2.0
"""LSTM kernels against their definition in numpy: outputs and both states after a sequence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import reference_integer as oracle
from flt_cases import DTYPE, bits, values
from harness import ARG_ERROR, TARGETS, Case, check_cases, check_close, run_cases

SHAPES = [
    # batches, steps, inputs, units, time major
    (1, 1, 1, 1, 0),
    (1, 3, 28, 20, 0),
    (2, 3, 5, 7, 0),
    (3, 2, 17, 4, 1),
    (1, 2, 33, 18, 1),
    (1, 1, 263, 42, 0),
]
FLOAT_TOLERANCE = {"f32": 2e-6, "f16": 4e-3}
"""Of the range; float16 rounds products, gates and cells to halves."""


def rows(shape) -> np.ndarray:
    """Gives the row of input and output of each [batch, step]."""
    batches, steps, *_, time_major = shape
    index = np.arange(batches * steps)
    return index.reshape(steps, batches).T if time_major else index.reshape(batches, steps)


def integer_case(rng, shape, dtype, *, clip: int, tanh: tuple[int, int]):
    batches, steps, inputs, units, _ = shape
    is_wide = dtype is np.int16
    low, high = oracle.limits(dtype)
    x = rng.integers(low, high + 1, (batches * steps, inputs)).astype(dtype)
    hidden = rng.integers(low, high + 1, (batches, units)).astype(dtype)
    cell = rng.integers(-32768, 32768, (batches, units)).astype(np.int16)
    seen_w = rng.integers(-127, 128, (4, units, inputs)).astype(np.int8)
    kept_w = rng.integers(-127, 128, (4, units, units)).astype(np.int8)
    starts = [
        rng.integers(-3000, 3000, (4, units)).astype(np.int64 if is_wide else np.int32)
        for _ in range(2)
    ]
    size = 256 if is_wide else 1
    gates = [oracle.factor(float(rng.uniform(0.2, 1.5)) / size) for _ in range(8)]
    updates = [oracle.factor(2.0**-15), oracle.factor(2.0**-18), oracle.factor(2.0**-30 * high)]
    offset = 0 if is_wide else -3
    limits = (-clip, clip) if clip else (-32768, 32767)
    scaled = oracle.scaled_s64 if is_wide else oracle.scaled

    def clamp16(v):
        return np.clip(v, -32768, 32767)

    before, kept_cell = hidden.astype(np.int64), cell.astype(np.int64)
    output = np.zeros((batches * steps, units), np.int64)
    for step in range(steps):
        at = rows(shape)[:, step]
        sums = []
        for g in range(4):
            seen = x[at].astype(np.int64) @ seen_w[g].T.astype(np.int64) + starts[0][g]
            past = before @ kept_w[g].T.astype(np.int64) + (0 if is_wide else starts[1][g])
            both = clamp16(scaled(seen, *gates[g])) + clamp16(scaled(past, *gates[4 + g]))
            sums.append(clamp16(both).astype(np.int16))
        i, f, o = (oracle.sigmoid(s, 0, 0, "logistic").astype(np.int64) for s in sums[:3])
        candidate = oracle.sigmoid(sums[3], 0, 0, "tanh").astype(np.int64)
        kept = clamp16(oracle.scaled(f * kept_cell, *updates[0]))
        kept_cell = np.clip(kept + clamp16(oracle.scaled(i * candidate, *updates[1])), *limits)
        told = oracle.sigmoid(kept_cell.astype(np.int16), *tanh, "tanh").astype(np.int64)
        before = np.clip(oracle.scaled(told * o, *updates[2]) + offset, low, high)
        output[at] = before
    parts = [output.astype(dtype), before.astype(dtype), kept_cell.astype(np.int16)]
    expected = np.concatenate([part.reshape(-1).view(np.uint8) for part in parts])
    params = [*shape, *updates[0], *updates[1], *updates[2], offset, *tanh, *limits]
    for half in (gates[:4], gates[4:]):
        params += [g[0] for g in half] + [g[1] for g in half]
    tensors = [x, seen_w, starts[0], kept_w, starts[1], hidden, cell]
    if is_wide:
        tensors.pop(4)
    entry = f"helia_nn_lstm_{'s16' if is_wide else 's8'}"
    return Case(entry, params, tensors, expected.size, 4 * units * 2), expected


def even(shape) -> bool:
    """The driver puts an int16 cell behind int8 numbers, whose count must be even then."""
    batches, steps, _, units, _ = shape
    return (batches * units * (steps + 1)) % 2 == 0


@cache
def integer_cases():
    """Cases and what they give, made once for all targets."""
    rng = np.random.default_rng(21)
    made = []
    for dtype in (np.int8, np.int16):
        for shape in SHAPES:
            for clip, tanh in ((0, (0, 0)), (0, (0, 1)), (9000, (3, 2))):
                if dtype is np.int16 or even(shape):
                    made.append(integer_case(rng, shape, dtype, clip=clip, tanh=tanh))
    return made


@pytest.mark.parametrize("target", list(TARGETS))
def test_integer_lstm(target: str) -> None:
    cases, expected = zip(*integer_cases(), strict=True)
    check_cases(target, cases, expected)


def float_case(rng, shape, suffix: str, clip: float):
    batches, steps, inputs, units, _ = shape
    x = values(rng, (batches * steps, inputs), suffix)
    hidden, cell = (values(rng, (batches, units), suffix, 0.5) for _ in range(2))
    seen_w = values(rng, (4, units, inputs), suffix, inputs**-0.5)
    kept_w = values(rng, (4, units, units), suffix, units**-0.5)
    bias = values(rng, (4, units), suffix)
    before, kept_cell = hidden.astype(np.float64), cell.astype(np.float64)
    output = np.zeros((batches * steps, units))
    for step in range(steps):
        at = rows(shape)[:, step]
        sums = [
            x[at].astype(np.float64) @ seen_w[g].T.astype(np.float64)
            + before @ kept_w[g].T.astype(np.float64)
            + bias[g].astype(np.float64)
            for g in range(4)
        ]
        i, f, o = (1 / (1 + np.exp(-s)) for s in sums[:3])
        kept_cell = f * kept_cell + i * np.tanh(sums[3])
        kept_cell = np.clip(kept_cell, -clip, clip) if clip else kept_cell
        before = o * np.tanh(kept_cell)
        output[at] = before
    expected = np.concatenate([part.reshape(-1) for part in (output, before, kept_cell)])
    size = np.dtype(DTYPE[suffix]).itemsize
    tensors = [x, seen_w, bias, kept_w, hidden, cell]
    case = Case(
        f"helia_nn_lstm_{suffix}", [*shape, *bits(clip)], tensors, expected.size * size, 8 * units * size
    )  # fmt: skip
    return case, expected


@pytest.mark.parametrize(
    ("target", "suffix"),
    [(t, s) for s in ("f32", "f16") for t in TARGETS if s == "f32" or t != "m4"],
)
def test_float_lstm(target: str, suffix: str) -> None:
    rng = np.random.default_rng(22)
    pairs = [float_case(rng, shape, suffix, clip) for shape in SHAPES for clip in (0.0, 0.4)]
    cases, expected = zip(*pairs, strict=True)
    check_close(target, cases, expected, DTYPE[suffix], FLOAT_TOLERANCE[suffix])


def test_scratch_is_needed() -> None:
    rng = np.random.default_rng(23)
    made = [
        integer_case(rng, SHAPES[1], dtype, clip=0, tanh=(0, 0)) for dtype in (np.int8, np.int16)
    ]
    made += [float_case(rng, SHAPES[1], "f32", 0.0)]
    cases = [replace(case, scratch_bytes=0) for case, _ in made]
    assert [outcome.status for outcome in run_cases("host", cases)] == [ARG_ERROR] * 3
