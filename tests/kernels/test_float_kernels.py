# SPDX-License-Identifier: Apache-2.0
"""Float32 kernels against double precision, float16 kernels bit by bit against their documented order of additions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference_flt as reference
from flt_cases import (
    DTYPE,
    Conv,
    bits,
    conv_case,
    depthwise_case,
    limits_of,
    linear_case,
    values,
)
from harness import TARGETS, Case, check_cases, check_close, check_rejected

TOLERANCE = {"f32": 2e-6, "f16": 6e-4}
"""Of the range of the expected output: some roundings of float32, half a unit of float16."""
TYPED_TARGETS = [
    (target, suffix)
    for suffix in ("f32", "f16")
    for target in TARGETS
    if suffix == "f32" or target != "m4"
]
typed = pytest.mark.parametrize(("target", "suffix"), TYPED_TARGETS)


def check(target: str, suffix: str, pairs) -> None:
    """Float16 bit by bit, float32 within the tolerance."""
    cases, expected = zip(*pairs, strict=True)
    if suffix == "f16":
        check_cases(target, cases, expected)
    else:
        check_close(target, cases, expected, np.float32, TOLERANCE["f32"])


def convolutions():
    yield from (
        Conv(size=(6, 7), cin=cin, cout=cout, kernel=(3, 3), padding=(1, 1), activation=act)
        for cin, cout, act in [(1, 1, "none"), (3, 8, "relu6"), (5, 9, "relu"), (11, 4, "none")]
    )
    yield Conv(size=(9, 8), cin=2, cout=7, kernel=(3, 2), stride=(2, 3), padding=(1, 0))
    yield Conv(size=(9, 9), cin=3, cout=5, kernel=(3, 3), dilation=(2, 2), padding=(2, 2))
    yield Conv(size=(5, 4), cin=4, cout=16, kernel=(4, 4), padding=(2, 1), batches=2, bias=False)
    yield Conv(size=(1, 1), cin=7, cout=3, kernel=(1, 1))
    yield Conv(size=(8, 4), cin=1, cout=12, kernel=(10, 4), padding=(4, 1), stride=(2, 2))


@typed
def test_convolution(target: str, suffix: str) -> None:
    check(target, suffix, [
        conv_case("arm_convolve_nhwc", suffix, layer, packed=packed, seed=seed)
        for (seed, layer), packed in itertools.product(enumerate(convolutions()), (False, True))
    ])  # fmt: skip


@typed
def test_convolution_in_groups(target: str, suffix: str) -> None:
    layers = [
        Conv(size=(4, 5), cin=6, cout=9, groups=3, kernel=(3, 3), padding=(1, 1)),
        Conv(
            size=(5, 6),
            cin=4,
            cout=4,
            groups=4,
            kernel=(3, 2),
            stride=(2, 1),
            batches=2,
            bias=False,
        ),
        Conv(
            size=(6, 6), cin=18, cout=10, groups=2, kernel=(3, 3), dilation=(2, 2), padding=(2, 2)
        ),
        Conv(size=(2, 3), cin=8, cout=6, groups=2, activation="relu"),
    ]
    check(target, suffix, [
        conv_case("arm_convolve_nhwc", suffix, layer, packed=False, seed=seed)
        for seed, layer in enumerate(layers)
    ])  # fmt: skip


@typed
def test_pointwise_convolution(target: str, suffix: str) -> None:
    layers = [
        Conv(size=(3, 5), cin=cin, cout=cout, activation=act, batches=batches)
        for cin, cout, act, batches in [
            (1, 1, "none", 1), (4, 4, "relu", 2), (7, 10, "relu6", 1), (33, 17, "none", 1), (64, 24, "none", 1),
        ]
    ]  # fmt: skip
    layers.append(Conv(size=(5, 7), cin=9, cout=8, stride=(2, 2), batches=2, bias=False))
    check(target, suffix, [
        conv_case("arm_convolve_1x1_nhwc", suffix, layer, packed=packed, seed=seed)
        for (seed, layer), packed in itertools.product(enumerate(layers), (False, True))
    ])  # fmt: skip


@typed
def test_fully_connected(target: str, suffix: str) -> None:
    shapes = [(1, 1, 1), (1, 40, 3), (3, 31, 8), (5, 32, 12), (4, 65, 9), (1, 100, 33), (9, 8, 16)]
    check(target, suffix, [
        linear_case(suffix, *shape, packed=packed, bias=bool(seed % 3), activation=("none", "relu")[seed % 2], seed=seed)
        for (seed, shape), packed in itertools.product(enumerate(shapes), (False, True))
    ])  # fmt: skip


@typed
def test_depthwise_convolution(target: str, suffix: str) -> None:
    same = {"kernel": (3, 3), "padding": (1, 1)}
    layers = [
        *(Conv(size=(5, 9), cin=c, cout=c, activation=act, **same)
          for c, act in [(1, "none"), (4, "relu"), (7, "relu6"), (8, "none"), (19, "relu")]),
        Conv(size=(4, 12), cin=6, cout=6, kernel=(2, 3), batches=2),
        Conv(size=(8, 9), cin=5, cout=5, stride=(2, 2), **same),
        Conv(size=(9, 9), cin=4, cout=4, kernel=(3, 3), dilation=(2, 3), padding=(2, 3), bias=False),
        Conv(size=(6, 6), cin=3, cout=6, **same),
        Conv(size=(11, 4), cin=9, cout=9, activation="relu", **same),  # rows four at a time, twice a row
        Conv(size=(8, 6), cin=8, cout=8, kernel=(3, 2), stride=(1, 2), batches=2),
        Conv(size=(6, 5), cin=5, cout=5, kernel=(3, 3), dilation=(1, 2), padding=(0, 2), bias=False),
        Conv(size=(25, 5), cin=3, cout=3, kernel=(25, 5)),
    ]  # fmt: skip
    check(target, suffix, [depthwise_case(suffix, layer, seed=i) for i, layer in enumerate(layers)])


@typed
def test_pools(target: str, suffix: str) -> None:
    pairs = []
    for seed, (layer, average) in enumerate(itertools.product(
        [
            Conv(size=(6, 6), cin=8, cout=8, kernel=(2, 2), stride=(2, 2)),
            Conv(size=(7, 5), cin=3, cout=3, kernel=(3, 2), padding=(1, 1), activation="relu"),
            Conv(size=(25, 5), cin=13, cout=13, kernel=(25, 5), batches=2),
        ],
        (True, False),
    )):  # fmt: skip
        x = values(np.random.default_rng(seed), (layer.batches, *layer.size, layer.cin), suffix)
        limits = limits_of(suffix, layer.activation)
        want = reference.pool(
            x, average=average, kernel=layer.kernel, stride=layer.stride, padding=layer.padding,
            output=layer.output, limits=limits,
        )  # fmt: skip
        params = [
            *x.shape, 1, *layer.kernel, 1, *want.shape, *layer.stride[::-1], *layer.padding[::-1], *bits(*limits),
        ]  # fmt: skip
        entry = f"arm_{'avg' if average else 'max'}_pool_{suffix}"
        pairs.append((Case(entry, params, [x], want.size * x.itemsize), want))
    cases, expected = zip(*pairs, strict=True)
    check_close(target, cases, expected, DTYPE[suffix], TOLERANCE[suffix])


OPERATIONS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


@typed
def test_element_wise(target: str, suffix: str) -> None:
    cases, expected = [], []
    rng = np.random.default_rng(5)
    shapes = [
        ((2, 3, 4, 5), (1, 1, 1, 5)), ((1, 1, 1, 1), (1, 2, 3, 9)), ((1, 4, 1, 7), (2, 4, 3, 1)), ((1, 1, 1, 33),) * 2,
    ]  # fmt: skip
    for name, operation in OPERATIONS.items():
        for activation, (first, second) in itertools.product(("none", "relu6"), shapes):
            a, b = values(rng, first, suffix), values(rng, second, suffix, 3)
            limits = limits_of(suffix, activation)
            rounded = operation(a, b)
            assert rounded.dtype == a.dtype
            want = np.clip(rounded, *DTYPE[suffix](limits))
            size = want.size * want.itemsize
            params = [*first, *second, *want.shape, *bits(*limits)]
            cases.append(Case(f"helia_nn_{name}_{suffix}", params, [a, b], size))
            expected.append(want)
            if first == second:
                params = [*bits(*limits), want.size]
                cases.append(Case(f"arm_elementwise_{name}_{suffix}", params, [a, b], size))
                expected.append(want)
    for size in (1, 3, 8, 21):
        x = values(rng, (size,), suffix, 5)
        cases.append(Case(f"helia_nn_clamp_{suffix}", [*bits(0, 6), size], [x], x.nbytes))
        expected.append(np.clip(x, *DTYPE[suffix]((0, 6))))
    check_cases(target, cases, expected)


EXTREMA = {"arm_maximum": np.maximum, "arm_minimum": np.minimum}


@typed
def test_extrema_and_prelu(target: str, suffix: str) -> None:
    cases, expected = [], []
    rng = np.random.default_rng(8)
    shapes = [((2, 3, 4, 5), (1, 1, 1, 5)), ((1, 1, 2, 9), (1, 1, 1, 1)), ((1, 3, 1, 16),) * 2]
    for first, second in shapes:
        a, b = values(rng, first, suffix), values(rng, second, suffix)
        for name, operation in {
            **EXTREMA,
            "arm_prelu": lambda x, y: np.where(x < 0, x * y, x),
        }.items():
            want = operation(a, b)
            assert want.dtype == a.dtype
            params = [*first, *second, *want.shape]
            cases.append(Case(f"{name}_{suffix}", params, [a, b], want.nbytes))
            expected.append(want)
    check_cases(target, cases, expected)


FUNCTIONS = {
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "hard_swish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
}


@typed
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one_element(name: str, target: str, suffix: str) -> None:
    """Every element is right to its own size, not to the range alone, so that small outputs count too."""
    whole = np.concatenate([
        np.linspace(-12, 12, 97), np.geomspace(1e-3, 0.5, 20), -np.geomspace(1e-3, 0.5, 20), [-200, 200, 0],
    ]).astype(DTYPE[suffix])  # fmt: skip
    inputs = [whole, *(np.array([x], DTYPE[suffix]) for x in whole[[20, 40, 100, 110]])]
    cases = [Case(f"helia_nn_{name}_{suffix}", [x.size], [x], x.nbytes) for x in inputs]
    expected = [FUNCTIONS[name](np.maximum(x.astype(np.float64), -300)) for x in inputs]
    check_close(target, cases, expected, DTYPE[suffix], TOLERANCE[suffix])


@typed
def test_softmax(target: str, suffix: str) -> None:
    cases, expected = [], []
    rng = np.random.default_rng(6)
    for rows, size, scale in [(1, 1, 1), (3, 10, 3), (2, 12, 30), (1, 33, 100)]:
        x = values(rng, (rows, size), suffix, scale)
        cases.append(Case(f"arm_softmax_{suffix}", [rows, size], [x], x.nbytes))
        expected.append(reference.softmax(x))
    check_close(target, cases, expected, DTYPE[suffix], TOLERANCE[suffix])


@typed
def test_calls_outside_of_the_rules_are_refused(target: str, suffix: str) -> None:
    layer = Conv(size=(4, 4), cin=3, cout=4, kernel=(3, 3), padding=(1, 1))
    good, _ = conv_case("arm_convolve_nhwc", suffix, layer, packed=False)
    small = Case(good.entry, good.params, good.tensors, good.output_bytes, good.scratch_bytes - 4)
    wrong_channels = Case(
        good.entry, [*good.params[:7], 2, *good.params[8:]], good.tensors, good.output_bytes, good.scratch_bytes,
    )  # fmt: skip
    padded, _ = conv_case(
        "arm_convolve_1x1_nhwc",
        suffix,
        Conv(size=(4, 4), cin=3, cout=4, padding=(1, 1)),
        packed=False,
    )
    depthwise, _ = depthwise_case(suffix, Conv(size=(4, 4), cin=2, cout=4, kernel=(3, 3)))
    wrong_multiplier = Case(
        depthwise.entry, [*depthwise.params[:-1], 1], depthwise.tensors, depthwise.output_bytes
    )
    check_rejected(target, [small, wrong_channels, padded, wrong_multiplier])
