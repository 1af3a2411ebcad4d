# SPDX-License-Identifier: Apache-2.0
"""Float transpose convolution and SVDF against their definitions in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from flt_cases import DTYPE, bits, limits_of, values
from harness import ARG_ERROR, TARGETS, Case, check_close, run_cases

from helia_aot.operators.transpose_convolution import by_phase

TOLERANCE = {"f32": 2e-6, "f16": 2e-3}
"""Of the range."""
typed = pytest.mark.parametrize(
    ("target", "suffix"),
    [(t, s) for s in ("f32", "f16") for t in TARGETS if s == "f32" or t != "m4"],
)


def transpose_case(rng, suffix, size, shape, stride, padding, output, *, activation="none", bias=True):  # fmt: skip
    x, filters = values(rng, size, suffix), values(rng, shape, suffix, 0.3)
    start = values(rng, shape[:1], suffix) if bias else None
    limits = limits_of(suffix, activation)
    acc = np.zeros((size[0], *output, shape[0]))
    wide, weights = x.astype(np.float64), filters.astype(np.float64)
    for y, col, ky, kx in np.ndindex(*size[1:3], *shape[1:3]):
        oy, ox = y * stride[0] - padding[0] + ky, col * stride[1] - padding[1] + kx
        if 0 <= oy < output[0] and 0 <= ox < output[1]:
            acc[:, oy, ox] += wide[:, y, col] @ weights[:, ky, kx].T
    want = np.clip(acc + (0 if start is None else start.astype(np.float64)), *limits)
    params = [
        *size, *shape, size[0], *output, shape[0], *stride[::-1], *padding[::-1], 1, 1, *bits(*limits), 0,
    ]  # fmt: skip
    taps = -(-shape[1] // stride[0]) * -(-shape[2] // stride[1])
    tensors = [x, by_phase(filters, *stride), start]
    entry = f"helia_nn_transpose_conv_{suffix}"
    return Case(entry, params, tensors, want.size * x.itemsize, taps * size[3] * x.itemsize), want


@typed
def test_transpose_convolution(target: str, suffix: str) -> None:
    rng = np.random.default_rng(41)
    plans = [
        ((1, 4, 5, 3), (4, 3, 3, 3), (2, 2), (0, 0), (9, 11), "none"),
        ((2, 3, 3, 18), (9, 2, 4, 18), (1, 3), (0, 1), (4, 8), "relu"),
        ((1, 5, 4, 2), (3, 1, 2, 2), (3, 1), (0, 0), (15, 5), "none"),
        ((1, 3, 3, 4), (2, 5, 5, 4), (2, 2), (2, 1), (6, 6), "relu6"),
        ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0), (1, 1), "none"),
    ]
    pairs = [
        transpose_case(rng, suffix, *plan[:5], activation=plan[5], bias=i % 2 == 0)
        for i, plan in enumerate(plans)
    ]
    cases, expected = zip(*pairs, strict=True)
    check_close(target, cases, expected, DTYPE[suffix], TOLERANCE[suffix])


@typed
def test_svdf(target: str, suffix: str) -> None:
    rng = np.random.default_rng(42)
    cases, expected = [], []
    for batches, inputs, units, rank, memory in (
        (1, 9, 4, 1, 5),
        (2, 3, 5, 2, 3),
        (1, 40, 8, 2, 10),
    ):
        filters = units * rank
        x, bias = values(rng, (batches, inputs), suffix), values(rng, (units,), suffix)
        feature = values(rng, (filters, inputs), suffix, inputs**-0.5)
        time = values(rng, (filters, memory), suffix)
        state = values(rng, (batches, filters, memory), suffix)
        limits = limits_of(suffix, "relu")
        after = np.roll(state.astype(np.float64), -1, axis=2)
        after[:, :, -1] = x.astype(np.float64) @ feature.astype(np.float64).T
        sums = (after * time.astype(np.float64)).sum(axis=2).reshape(batches, units, rank)
        want = np.clip(sums.sum(axis=2) + bias.astype(np.float64), *limits)
        both = np.concatenate([want.reshape(-1), after.reshape(-1)])
        params = [batches, inputs, units, rank, memory, *bits(*limits)]
        tensors = [x, feature, time, bias, state]
        cases.append(
            Case(f"helia_nn_svdf_{suffix}", params, tensors, both.size * x.itemsize, filters * x.itemsize)
        )  # fmt: skip
        expected.append(both)
    check_close(target, cases, expected, DTYPE[suffix], TOLERANCE[suffix])


@typed
def test_weights_scaled_by_blocks(target: str, suffix: str) -> None:
    rng = np.random.default_rng(44)
    cases, expected = [], []
    for rows, depth, channels, block in (
        (1, 8, 1, 8),
        (2, 64, 5, 32),
        (1, 96, 7, 16),
        (3, 40, 4, 40),
    ):
        x, bias = values(rng, (rows, depth), suffix), values(rng, (channels,), suffix)
        weights = rng.integers(-8, 8, (channels, depth)).astype(np.int8)
        packed = ((weights[:, ::2] & 15) | (weights[:, 1::2] << 4)).astype(np.int8)
        scales = rng.uniform(0.01, 0.2, (channels, depth // block)).astype(np.float32)
        limits = limits_of(suffix, "relu" if rows == 1 else "none")
        real = weights * np.repeat(scales.astype(np.float64), block, axis=1)
        want = np.clip(x.astype(np.float64) @ real.T + bias.astype(np.float64), *limits)
        params = [rows, depth, channels, block, *bits(*limits)]
        tensors = [x, packed, scales, bias if channels > 1 else None]
        want = want if channels > 1 else np.clip(x.astype(np.float64) @ real.T, *limits)
        entry = f"helia_nn_fully_connected_blockwise_{suffix}"
        cases.append(Case(entry, params, tensors, want.size * x.itemsize))
        expected.append(want)
    check_close(target, cases, expected, DTYPE[suffix], TOLERANCE[suffix])


def test_scratch_and_strides_are_needed() -> None:
    rng = np.random.default_rng(43)
    case, _ = transpose_case(rng, "f32", (1, 2, 2, 1), (1, 1, 1, 1), (1, 1), (0, 0), (2, 2))
    no_stride = [*case.params[:12], 0, *case.params[13:]]
    x = np.zeros(16, np.float32)
    blocks = Case(
        "helia_nn_fully_connected_blockwise_f32", [1, 12, 1, 12, *bits(0, 1)], [x, x, x, None], 4
    )
    cases = [
        blocks,
        Case(case.entry, case.params, case.tensors, case.output_bytes, 0),
        Case(case.entry, no_stride, case.tensors, case.output_bytes, case.scratch_bytes),
    ]
    assert [outcome.status for outcome in run_cases("host", cases)] == [ARG_ERROR] * 3
