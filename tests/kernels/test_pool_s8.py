# SPDX-License-Identifier: Apache-2.0
"""Average and max pooling against the oracle and against TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from conv_cases import pairs
from harness import TARGETS, Case, check_cases, check_rejected
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_pool import pool_s8
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

BATCH = settings(max_examples=3, deadline=None, derandomize=True, database=None)
each_target = pytest.mark.parametrize("target", list(TARGETS))
ENTRIES = {"average": "arm_avgpool_s8", "max": "arm_max_pool_s8"}
each_kind = pytest.mark.parametrize("kind", list(ENTRIES))


@dataclass(frozen=True)
class PoolShape:
    """One pooling; pairs are (height, width)."""

    size: tuple[int, int]
    channels: int
    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    output: tuple[int, int] = (0, 0)
    batches: int = 1
    activation: tuple[int, int] = (-128, 127)
    values: tuple[int, ...] = ()
    seed: int = 0


def same(**fields) -> PoolShape:
    shape = PoolShape(**fields)
    output = tuple(-(-s // t) for s, t in zip(shape.size, shape.stride, strict=True))
    axes = zip(output, shape.stride, shape.kernel, shape.size, strict=True)
    return replace(
        shape,
        output=output,
        padding=tuple(max(0, ((o - 1) * t + k - s) // 2) for o, t, k, s in axes),
    )


def valid(**fields) -> PoolShape:
    shape = PoolShape(**fields)
    axes = zip(shape.size, shape.kernel, shape.stride, strict=True)
    return replace(shape, output=tuple((s - k) // t + 1 for s, k, t in axes))


def params_of(shape: PoolShape) -> list[int]:
    return [
        shape.batches, *shape.size, shape.channels, 1, *shape.kernel, 1, shape.batches, *shape.output, shape.channels,
        *shape.stride[::-1], *shape.padding[::-1], *shape.activation,
    ]  # fmt: skip


def input_of(shape: PoolShape) -> np.ndarray:
    rng = np.random.default_rng(shape.seed)
    size = (shape.batches, *shape.size, shape.channels)
    return (
        rng.choice(shape.values, size) if shape.values else rng.integers(-128, 128, size)
    ).astype(np.int8)


def pool_case(kind: str, shape: PoolShape) -> tuple[Case, np.ndarray]:
    x = input_of(shape)
    expected = pool_s8(
        kind, x, kernel=shape.kernel, stride=shape.stride, padding=shape.padding, output=shape.output,
        activation=shape.activation,
    )  # fmt: skip
    return Case(ENTRIES[kind], params_of(shape), [x], expected.size), expected


def check(target: str, kind: str, shapes: list[PoolShape]) -> None:
    made = [pool_case(kind, shape) for shape in shapes]
    check_cases(target, [case for case, _ in made], [expected for _, expected in made])


FIXED = [
    valid(size=(25, 5), channels=64, kernel=(25, 5)),
    valid(size=(3, 3), channels=256, kernel=(3, 3)),
    valid(size=(8, 8), channels=64, kernel=(8, 8)),
    valid(size=(1, 1), channels=1, kernel=(1, 1)),
    same(size=(5, 7), channels=5, kernel=(4, 3), stride=(3, 2), batches=3),
    same(size=(2, 2), channels=3, kernel=(5, 5)),
    *[valid(size=(2, 2), channels=c, kernel=(2, 2), seed=c) for c in range(1, 35)],
    *[valid(size=(n, 1), channels=2, kernel=(n, 1), seed=n) for n in (2, 3, 254, 255, 256, 257, 511, 513)],
    *[valid(size=(64, 80), channels=17, kernel=(n, 80), values=v) for n in (62, 63, 64) for v in [(-128,), (127,), ()]],
    *[valid(size=(2, 4), channels=9, kernel=(2, 4), values=v, seed=s) for s in range(4) for v in [(-128, -127), (0, 1), (-1, 0)]],
    *[valid(size=(3, 3), channels=9, kernel=(3, 3), activation=a) for a in [(-3, 5), (0, 127), (-128, -100), (7, 7)]],
    PoolShape(size=(3, 3), channels=6, kernel=(4, 4), padding=(3, 3), output=(6, 6)),
]  # fmt: skip


@each_target
@each_kind
def test_fixed_shapes(target, kind):
    check(target, kind, FIXED)


@st.composite
def pool_shapes(draw):
    fields = {
        "kernel": draw(pairs(1, 6)),
        "stride": draw(pairs(1, 4)),
        "channels": draw(st.integers(1, 40)),
        "batches": draw(st.sampled_from([1, 1, 2, 3])),
        "activation": draw(
            st.sampled_from([(-128, 127), (-128, 127), (-128, 6), (-9, 127), (0, 0)])
        ),
        "values": draw(st.sampled_from([(), (), (-128, 127), (-1, 0, 1)])),
        "seed": draw(st.integers(0, 2**20)),
    }
    size = draw(pairs(1, 10))
    if draw(st.booleans()):
        return same(size=size, **fields)
    return valid(
        size=tuple(max(s, k) for s, k in zip(size, fields["kernel"], strict=True)), **fields
    )


@each_target
@each_kind
@BATCH
@given(st.lists(pool_shapes(), min_size=40, max_size=40))
def test_any_shape(target, kind, shapes):
    check(target, kind, shapes)


@each_target
@each_kind
def test_shapes_outside_the_rule_are_refused(target, kind):
    inside = valid(size=(4, 4), channels=3, kernel=(2, 2))
    shapes = [
        replace(inside, padding=(2, 0)),  # the first window is padding alone
        replace(inside, output=(3, 5)),  # the last window is
    ]
    cases = [
        Case(ENTRIES[kind], params_of(s), [input_of(s)], int(np.prod(s.output)) * 3) for s in shapes
    ]
    more_channels, more_batches = params_of(inside), params_of(inside)
    more_channels[11], more_batches[8] = 4, 2
    cases += [
        Case(ENTRIES[kind], p, [input_of(inside)], 9 * 3 * 4) for p in (more_channels, more_batches)
    ]
    check_rejected(target, cases)


@each_target
def test_against_tensorflow_lite_micro(target):
    runtime = tflite_micro_runtime()
    cases, expected = [], []
    for kind in ENTRIES:
        for padding in ("same", "valid"):
            shape_of = same if padding == "same" else valid
            shape = shape_of(
                size=(9, 7), channels=10, kernel=(4, 3), stride=(2, 3), seed=len(cases)
            )
            builder = ModelBuilder()
            source = builder.tensor((1, 9, 7, 10), scale=0.1, zero_point=4)
            add = builder.average_pool_2d if kind == "average" else builder.max_pool_2d
            y = add(
                source, kernel=shape.kernel, stride=shape.stride, padding=padding, activation="relu"
            )
            model = builder.build(inputs=[source], outputs=[y])
            interpreter = runtime.Interpreter.from_bytes(model)
            interpreter.set_input(input_of(shape), 0)
            interpreter.invoke()
            case, oracle = pool_case(kind, replace(shape, activation=(4, 127)))
            np.testing.assert_array_equal(oracle, interpreter.get_output(0))
            cases.append(case)
            expected.append(oracle)
    check_cases(target, cases, expected)
