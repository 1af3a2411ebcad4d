# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import reference
from conv_cases import INT8, quantization
from harness import Case, available_targets, check_everywhere, check_rejected
from hypothesis import given, settings
from hypothesis import strategies as st

BATCH = settings(max_examples=5, deadline=None, derandomize=True, database=None)


@dataclass(frozen=True)
class Linear:
    batches: int
    inputs: int
    outputs: int
    input_zero_point: int = 3
    output_zero_point: int = -5
    activation: tuple[int, int] = INT8
    folded: bool = True
    bias: bool = True
    extreme: bool = False
    bias_limit: int = 3000
    seed: int = 0


def linear_case(layer: Linear, *, per_channel: bool) -> tuple[Case, np.ndarray]:
    rng = np.random.default_rng(layer.seed)
    x = rng.integers(-128, 128, (layer.batches, layer.inputs)).astype(np.int8)
    weights = rng.integers(-127, 128, (layer.outputs, layer.inputs)).astype(np.int8)
    limit = layer.bias_limit
    bias = rng.integers(-limit, limit, layer.outputs).astype(np.int32) if layer.bias else None
    channels = layer.outputs if per_channel else 1
    multiplier, shift = quantization(rng, channels, layer.inputs, extreme=layer.extreme)
    offset = -layer.input_zero_point
    expected = reference.fully_connected_s8(
        x, weights, bias,
        input_offset=offset, filter_offset=0, output_offset=layer.output_zero_point, multiplier=multiplier,
        shift=shift, activation=layer.activation,
    )  # fmt: skip
    sums = reference.conv_weight_sums(weights, bias, offset)
    tensors = [x, weights, None if layer.folded else bias, sums if layer.folded else None]
    dims = [
        layer.batches,
        1,
        1,
        layer.inputs,
        layer.inputs,
        1,
        1,
        layer.outputs,
        layer.batches,
        1,
        1,
        layer.outputs,
    ]
    params = [*dims, offset, 0, layer.output_zero_point, *layer.activation]
    if per_channel:
        case = Case(
            "arm_fully_connected_per_channel_s8",
            params,
            [*tensors, multiplier, shift],
            expected.size,
        )
    else:
        case = Case(
            "arm_fully_connected_s8", [*params, multiplier[0], shift[0]], tensors, expected.size
        )
    return case, expected


layers = st.builds(
    Linear,
    batches=st.integers(1, 4),
    inputs=st.integers(1, 80),
    outputs=st.integers(1, 21),
    input_zero_point=st.sampled_from([-128, 127, 0, 3]),
    output_zero_point=st.sampled_from([-128, 127, 0, -5]),
    activation=st.sampled_from([INT8, INT8, (-128, 20), (-5, 127)]),
    folded=st.booleans(),
    bias=st.booleans(),
    extreme=st.booleans(),
    seed=st.integers(0, 2**20),
)


@pytest.mark.parametrize("per_channel", [False, True])
@BATCH
@given(st.lists(layers, min_size=60, max_size=60))
def test_fully_connected(per_channel, batch):
    made = [linear_case(layer, per_channel=per_channel) for layer in batch]
    check_everywhere([case for case, _ in made], [expected for _, expected in made])


def test_fully_connected_fixed_sizes():
    sizes = [(1, 1, 1), (1, 640, 128), (1, 128, 8), (1, 8, 128), (1, 15, 3), (1, 16, 4), (5, 17, 5)]
    made = [
        linear_case(Linear(*size, folded=folded), per_channel=per_channel)
        for size in sizes
        for folded in (False, True)
        for per_channel in (False, True)
    ]
    check_everywhere([case for case, _ in made], [expected for _, expected in made])


def test_one_row_of_any_depth_and_number_of_channels():
    """Tails of depth, blocks of channels with a rest, a depth above one block, sums that twice do not fit into 32 bits."""
    sizes = [(depth, outputs) for depth in (*range(1, 20), 300) for outputs in (1, 2, 3, 4, 7, 26)]
    sizes += [(33, outputs) for outputs in (64, 65, 130)]
    made = [
        linear_case(
            Linear(1, depth, outputs, folded=number % 3 > 0, bias_limit=limit, seed=number),
            per_channel=number % 2 == 0,
        )
        for number, (depth, outputs) in enumerate(sizes)
        for limit in (3000, 2**31 - 2**24)
    ]
    check_everywhere([case for case, _ in made], [expected for _, expected in made])


@pytest.mark.parametrize("target", available_targets())
def test_a_filter_offset_is_refused(target):
    case, _ = linear_case(Linear(1, 8, 4), per_channel=False)
    params = list(case.params)
    params[13] = 1
    check_rejected(target, [Case(case.entry, params, case.tensors, case.output_bytes)])


def test_vector_sums():
    rng = np.random.default_rng(1)
    weights = rng.integers(-128, 128, (7, 33)).astype(np.int8)
    bias = rng.integers(-(2**20), 2**20, 7).astype(np.int32)
    plain = reference.conv_weight_sums(weights, None, -11)
    shifted = reference.conv_weight_sums(weights.astype(np.int64) + 5, bias, -11)
    check_everywhere(
        [
            Case("arm_vector_sum_s8", [33, 7, -11, 0], [weights, None], 28),
            Case("arm_vector_sum_s8", [33, 7, -11, 5], [weights, bias], 28),
        ],
        [plain, shifted],
    )
