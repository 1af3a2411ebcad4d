# SPDX-License-Identifier: Apache-2.0
"""Convolutions with enormous biases, many channels and deep rows, which kernels take in blocks.

A channel that training has switched off has a tiny scale, so its bias is near the limits of int32; doubling its sums
overflows, and its multiplier may be 0.
"""

from __future__ import annotations

import numpy as np
import reference
from conv_cases import ConvShape, conv_params, quantization, same, valid
from harness import Case, check_everywhere

ENORMOUS = [2**30 - 1, 2**30 + 1, -(2**30) - 1, 2**31 - 2**25, -(2**31) + 2**25, 2**29, -(2**29)]


def pruned(rng, bias, multiplier, shift, smallest_right):
    """Gives every third channel an enormous bias and a shift from ``smallest_right``, and every fourth multiplier 0."""
    channels = np.arange(len(bias))
    bias = np.where(channels % 3 == 0, rng.choice(ENORMOUS, len(bias)), bias).astype(np.int32)
    right = rng.integers(smallest_right, 32, len(bias))
    shift = np.where(channels % 3 == 0, -right, shift).astype(np.int32)
    return bias, np.where(channels % 4 == 3, 0, multiplier).astype(np.int32), shift


def convolution(entry, shape: ConvShape, smallest_right: int | None = None):
    rng = np.random.default_rng(shape.seed)
    x = rng.integers(-128, 128, (shape.batches, *shape.size, shape.cin)).astype(np.int8)
    filters = rng.integers(-127, 128, (shape.cout, *shape.kernel, shape.cin)).astype(np.int8)
    bias = rng.integers(-3000, 3000, shape.cout).astype(np.int32)
    multiplier, shift = quantization(rng, shape.cout, shape.depth, extreme=False)
    if smallest_right is not None:
        bias, multiplier, shift = pruned(rng, bias, multiplier, shift, smallest_right)
    output = shape.output if shape.output != (0, 0) else shape.size
    numbers = {
        "input_offset": -shape.input_zero_point,
        "output_offset": shape.output_zero_point,
        "stride": shape.stride,
        "padding": shape.padding,
        "dilation": shape.dilation,
        "output": output,
        "multiplier": multiplier,
        "shift": shift,
        "activation": shape.activation,
    }
    expected = reference.conv_s8(x, filters, bias, **numbers)
    sums = reference.conv_weight_sums(filters, bias, -shape.input_zero_point)
    tensors = [x, filters, None if shape.folded else bias, sums if shape.folded else None]
    scratch = 4 * (-shape.depth // 8 * -8) if entry == "arm_convolve_s8" else 0
    case = Case(entry, conv_params(shape), [*tensors, multiplier, shift], expected.size, scratch)
    return case, expected


def depthwise(shape: ConvShape, smallest_right: int):
    rng = np.random.default_rng(shape.seed)
    x = rng.integers(-128, 128, (1, *shape.size, shape.cin)).astype(np.int8)
    filters = rng.integers(-127, 128, (1, *shape.kernel, shape.cin)).astype(np.int8)
    multiplier, shift = quantization(rng, shape.cin, 9, extreme=False)
    bias, multiplier, shift = pruned(
        rng, rng.integers(-3000, 3000, shape.cin), multiplier, shift, smallest_right
    )
    expected = reference.depthwise_conv_s8(
        x, filters, bias,
        input_offset=-shape.input_zero_point, output_offset=shape.output_zero_point, ch_mult=1,
        stride=shape.stride, padding=shape.padding, dilation=shape.dilation,
        output=shape.output, multiplier=multiplier, shift=shift, activation=shape.activation,
    )  # fmt: skip
    params = conv_params(shape)
    params[4], params[7] = 1, shape.cin
    tensors = [x, filters, bias, None, multiplier, shift]
    return Case("arm_depthwise_conv_3x3_s8", [*params, 1], tensors, expected.size), expected


def check(made) -> None:
    check_everywhere([case for case, _ in made], [expected for _, expected in made])


def test_enormous_biases():
    """Shifts by 1 need another way than longer ones, and both another one than usual biases."""
    made = []
    for right in (1, 2, 20):
        for folded in (False, True):
            fields = {"folded": folded, "seed": right}
            made += [
                convolution("arm_convolve_1x1_s8_fast", same(size=(1, 3), cin=cin, cout=13, **fields), right)
                for cin in (1, 6, 16, 21)
            ]  # fmt: skip
            shape = same(
                size=(3, 3), cin=4, cout=10, kernel=(3, 3), activation=(-100, 90), **fields
            )
            made.append(convolution("arm_convolve_s8", shape, right))
        made.append(depthwise(same(size=(4, 5), cin=14, cout=14, kernel=(3, 3), seed=right), right))
    check(made)


def test_many_channels_and_deep_rows():
    """Blocks of channels and of depth: just one, one more than one, tails of 1 to 3."""
    sizes = [(8, 64), (9, 65), (10, 67), (7, 130), (256, 5), (257, 35), (514, 33), (255, 66)]
    check(
        [
            convolution(
                "arm_convolve_1x1_s8_fast",
                same(size=(1, pixels), cin=cin, cout=cout, folded=folded, seed=cin),
            )
            for cin, cout in sizes
            for pixels in (1, 3)
            for folded in (False, True)
        ]
    )


def test_patches_with_whole_words_of_channels():
    """All sides of the padding, strides, a filter wider than the input, an odd number of positions."""
    shapes = [
        same(size=(3, 5), cin=4, cout=3, kernel=(3, 3)),
        same(size=(5, 5), cin=8, cout=3, kernel=(5, 4), stride=(2, 3), input_zero_point=-128),
        same(size=(1, 2), cin=12, cout=2, kernel=(3, 5), folded=False),
        valid(size=(4, 5), cin=4, cout=5, kernel=(2, 3), folded=False),
        same(size=(3, 3), cin=4, cout=66, kernel=(3, 3), batches=3),
    ]
    check([convolution("arm_convolve_s8", shape) for shape in shapes])
