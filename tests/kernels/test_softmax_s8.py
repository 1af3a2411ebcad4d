# SPDX-License-Identifier: Apache-2.0
"""Softmax against the oracle and against TensorFlow Lite Micro."""

from __future__ import annotations

import numpy as np
import pytest
from harness import TARGETS, Case, check_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_softmax import softmax_params, softmax_s8
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

BATCH = settings(max_examples=3, deadline=None, derandomize=True, database=None)
each_target = pytest.mark.parametrize("target", list(TARGETS))


def softmax_case(x: np.ndarray, scale: float, beta: float = 1.0) -> tuple[Case, np.ndarray]:
    params = softmax_params(scale, beta)
    expected = softmax_s8(x, *params)
    return Case("arm_softmax_s8", [*x.shape, *params], [x], x.size), expected


def check(target, made) -> None:
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


def rows(count, size, seed, low=-128, high=127):
    return np.random.default_rng(seed).integers(low, high + 1, (count, size)).astype(np.int8)


SCALES = [1e-5, 0.003, 0.02, 0.1, 0.3, 1.0, 4.0, 31.0]


@each_target
def test_row_sizes(target):
    sizes = [1, 2, 3, 4, 10, 12, 15, 16, 17, 31, 33, 257]
    check(target, [softmax_case(rows(3, n, n), scale) for n in sizes for scale in SCALES])


@each_target
def test_equal_extreme_and_far_values(target):
    ramp = np.arange(-128, 128).reshape(1, -1)
    inputs = [
        np.full((2, 7), -128), np.full((1, 1), 127), np.full((1, 300), 5), np.array([[-128, 127]]), ramp, ramp[:, ::-1],
        np.array([[127, *[-128] * 40]]), np.array([[-128] * 15 + [0]]),
    ]  # fmt: skip
    check(target, [softmax_case(x.astype(np.int8), scale) for x in inputs for scale in SCALES])


@each_target
@BATCH
@given(
    st.lists(
        st.tuples(st.integers(1, 20), st.floats(1e-4, 5.0), st.sampled_from([0.5, 1.0, 3.0])),
        min_size=40,
        max_size=40,
    )
)
def test_any_scale(target, drawn):
    check(
        target,
        [
            softmax_case(rows(2, size, i), scale, beta)
            for i, (size, scale, beta) in enumerate(drawn)
        ],
    )


def test_outputs_are_close_to_the_real_function():
    x = rows(50, 12, 4)
    exact = np.exp((x.astype(float) - x.max(axis=1, keepdims=True)) * 0.05)
    exact = exact / exact.sum(axis=1, keepdims=True) * 256 - 128
    assert np.abs(softmax_case(x, 0.05)[1] - np.clip(exact, -128, 127)).max() <= 1


@each_target
def test_against_tensorflow_lite_micro(target):
    runtime = tflite_micro_runtime()
    made = []
    for seed, (size, scale, beta) in enumerate(
        [(12, 0.05, 1.0), (3, 0.7, 1.0), (40, 0.02, 2.0), (256, 0.1, 1.0)]
    ):
        x = rows(8, size, seed)
        builder = ModelBuilder()
        source = builder.tensor(x.shape, scale=scale, zero_point=3)
        y = builder.softmax(source, beta=beta)
        interpreter = runtime.Interpreter.from_bytes(
            builder.build(inputs=[source], outputs=[y]), arena_size=1 << 20
        )
        interpreter.set_input(x, 0)
        interpreter.invoke()
        case, oracle = softmax_case(x, float(np.float32(scale)), beta)
        np.testing.assert_array_equal(oracle, interpreter.get_output(0))
        made.append((case, oracle))
    check(target, made)
