# SPDX-License-Identifier: Apache-2.0
"""Addition, elementwise and with broadcasting, against the oracle and against TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import reference
from harness import TARGETS, Case, check_cases, check_rejected
from hypothesis import given, settings
from hypothesis import strategies as st
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

BATCH = settings(max_examples=3, deadline=None, derandomize=True, database=None)
LEFT_SHIFT = 20
each_target = pytest.mark.parametrize("target", list(TARGETS))


@dataclass(frozen=True)
class Quantization:
    """Scales and zero points of both inputs and the output, and the output range."""

    scales: tuple[float, float, float] = (0.037, 0.051, 0.06)
    zero_points: tuple[int, int, int] = (-4, 9, -1)
    activation: tuple[int, int] = (-128, 127)

    def multipliers(self) -> list[tuple[int, int]]:
        """(multiplier, shift) of input 1, input 2 and the output, as TFLite's Prepare computes them."""
        one, two, out = (float(np.float32(s)) for s in self.scales)
        twice = 2 * max(one, two)
        return [
            reference.quantize_multiplier(f)
            for f in (one / twice, two / twice, twice / (2**LEFT_SHIFT * out))
        ]

    def params(self) -> list[int]:
        one, two, out = self.multipliers()
        zero1, zero2, zero_out = self.zero_points
        return [-zero1, *one, -zero2, *two, LEFT_SHIFT, zero_out, *out, *self.activation]


def add_s8(a: np.ndarray, b: np.ndarray, q: Quantization) -> np.ndarray:
    one, two, out = q.multipliers()
    shifted = [
        (x.astype(np.int64) - z) << LEFT_SHIFT for x, z in zip((a, b), q.zero_points, strict=False)
    ]
    scaled = [
        reference.multiply_by_quantized_multiplier(s, *m)
        for s, m in zip(shifted, (one, two), strict=True)
    ]
    return reference.requantize(scaled[0] + scaled[1], *out, q.zero_points[2], q.activation)


def tensors(shape1, shape2, seed):
    rng = np.random.default_rng(seed)
    values = [rng.integers(-128, 128, shape).astype(np.int8) for shape in (shape1, shape2)]
    if seed % 5 == 0:
        values = [rng.choice([-128, 127], shape).astype(np.int8) for shape in (shape1, shape2)]
    return values


def add_case(shape1, shape2, q: Quantization, seed: int = 1) -> tuple[Case, np.ndarray]:
    a, b = tensors(shape1, shape2, seed)
    expected = add_s8(a, b, q)
    return Case(
        "arm_add_s8", [*shape1, *shape2, *expected.shape, *q.params()], [a, b], expected.size
    ), expected


def elementwise_case(count: int, q: Quantization, seed: int = 1) -> tuple[Case, np.ndarray]:
    a, b = tensors((count,), (count,), seed)
    expected = add_s8(a, b, q)
    return Case("arm_elementwise_add_s8", [*q.params(), count], [a, b], count), expected


def check(target, made) -> None:
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


PLAIN = Quantization()
QUANTIZATIONS = [
    PLAIN,
    Quantization(scales=(0.05, 0.05, 0.05), zero_points=(0, 0, 0)),
    Quantization(scales=(0.5, 0.001, 0.4), zero_points=(-128, 127, -128)),
    Quantization(scales=(0.001, 0.5, 0.9), zero_points=(127, -128, 127)),
    Quantization(scales=(0.02, 0.03, 0.0004)),
    Quantization(scales=(0.02, 0.03, 5.0), activation=(-5, 3)),
    Quantization(scales=(1.0, 1.0, 1e-7)),  # the output shift is to the left
    Quantization(activation=(17, 17)),
]


@each_target
def test_elementwise(target):
    counts = [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 64, 65, 1000]
    check(
        target,
        [elementwise_case(n, q, seed=s) for n in counts for s, q in enumerate(QUANTIZATIONS)],
    )


@each_target
@BATCH
@given(st.lists(st.tuples(st.integers(1, 40), st.tuples(*[st.floats(1e-4, 2.0)] * 3), st.tuples(*[st.integers(-128, 127)] * 3)),
                min_size=40, max_size=40))  # fmt: skip
def test_any_scales(target, drawn):
    made = [
        elementwise_case(count, Quantization(scales, zeros), seed=i)
        for i, (count, scales, zeros) in enumerate(drawn)
    ]
    check(target, made)


@each_target
def test_broadcasting_of_every_axis(target):
    extents = [(2, 3, 4, 5), (1, 3, 2, 18)]
    made = []
    for full in extents:
        for mask1 in range(16):
            for mask2 in range(0, 16, 1 if full[0] > 1 else 3):
                shapes = [
                    tuple(1 if m >> i & 1 else e for i, e in enumerate(full))
                    for m in (mask1, mask2)
                ]
                made.append(
                    add_case(*shapes, QUANTIZATIONS[len(made) % len(QUANTIZATIONS)], seed=len(made))
                )
    check(target, made)


@each_target
def test_shapes_that_do_not_broadcast_are_refused(target):
    case, expected = add_case((1, 2, 3, 4), (1, 2, 3, 4), PLAIN)
    refused = []
    for index, value in [(3, 2), (7, 3), (11, 5), (8, 2), (2, 2), (11, 1)]:
        params = list(case.params)
        params[index] = value
        refused.append(replace(case, params=params, output_bytes=2 * expected.size))
    check_rejected(target, refused)


@each_target
def test_against_tensorflow_lite_micro(target):
    runtime = tflite_micro_runtime()
    made = []
    for seed, shapes in enumerate(
        [((1, 5, 4, 7), (1, 5, 4, 7)), ((1, 4, 3, 6), (1, 1, 1, 6)), ((2, 3, 3, 1), (2, 3, 3, 8))]
    ):
        q = replace(QUANTIZATIONS[seed], activation=(QUANTIZATIONS[seed].zero_points[2], 127))
        builder = ModelBuilder()
        sources = [
            builder.tensor(s, scale=q.scales[i], zero_point=q.zero_points[i])
            for i, s in enumerate(shapes)
        ]
        y = builder.add(*sources, scale=q.scales[2], zero_point=q.zero_points[2], activation="relu")
        interpreter = runtime.Interpreter.from_bytes(builder.build(inputs=sources, outputs=[y]))
        case, oracle = add_case(*shapes, q, seed=seed + 1)
        for index, tensor in enumerate(case.tensors):
            interpreter.set_input(tensor, index)
        interpreter.invoke()
        np.testing.assert_array_equal(oracle, interpreter.get_output(0))
        made.append((case, oracle))
    check(target, made)
