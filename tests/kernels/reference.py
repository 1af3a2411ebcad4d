# SPDX-License-Identifier: Apache-2.0
"""Int8 operators in numpy with wide integers: the oracle of the kernel tests.

Written from the definitions of TensorFlow Lite Micro's reference operators (double rounding), independently of the C
sources. Everything is computed in int64; int32 accumulators are checked not to overflow.
"""

from __future__ import annotations

import math

import numpy as np

INT32_MAX = 2**31 - 1
INT32_MIN = -(2**31)


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Gives (Q0.31 multiplier, shift) of a real factor as TFLite's QuantizeMultiplier does."""
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    fixed = math.floor(fraction * 2**31 + 0.5)
    if fixed == 2**31:
        fixed //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    return fixed, shift


def saturating_rounding_doubling_high_mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """gemmlowp's definition: nudge by sign, divide by 2^31 with truncation towards zero."""
    product = a.astype(np.int64) * b.astype(np.int64)
    nudge = np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    total = product + nudge
    result = np.sign(total) * (np.abs(total) >> 31)
    return np.where((a == b) & (a == INT32_MIN), INT32_MAX, result)


def rounding_divide_by_pot(x: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """gemmlowp's definition: arithmetic shift, plus one where the remainder is above the threshold."""
    mask = (np.int64(1) << exponent) - 1
    remainder = x & mask
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + (remainder > threshold)


def wrap_int32(x: np.ndarray) -> np.ndarray:
    return ((x + 2**31) % 2**32) - 2**31


def multiply_by_quantized_multiplier(
    x: np.ndarray, multiplier: np.ndarray, shift: np.ndarray
) -> np.ndarray:
    """Double rounding, with one multiplier and shift for each element of the last axis (or scalars)."""
    multiplier, shift = np.asarray(multiplier, np.int64), np.asarray(shift, np.int64)
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    shifted = wrap_int32(x.astype(np.int64) << left)
    return rounding_divide_by_pot(saturating_rounding_doubling_high_mul(shifted, multiplier), right)


def checked_accumulator(x: np.ndarray) -> np.ndarray:
    assert x.size == 0 or (x.min() >= INT32_MIN and x.max() <= INT32_MAX), (
        "test case overflows int32"
    )
    return x


def requantize(acc, multiplier, shift, output_offset, activation) -> np.ndarray:
    low, high = activation
    scaled = multiply_by_quantized_multiplier(checked_accumulator(acc), multiplier, shift)
    return np.clip(scaled + output_offset, low, high).astype(np.int8)


def padded_patches(x, kernel, stride, padding, dilation, output, fill):
    """Gives patches [N, OH, OW, KH, KW, C] of an NHWC tensor; positions outside it are ``fill``.

    ``kernel``, ``stride``, ``padding`` (top, left), ``dilation`` and ``output`` are (height, width) pairs.
    """
    n, h, w, c = x.shape
    patches = np.full((n, *output, *kernel, c), fill, np.int64)
    for oy in range(output[0]):
        for ky in range(kernel[0]):
            y = oy * stride[0] - padding[0] + ky * dilation[0]
            if not 0 <= y < h:
                continue
            for ox in range(output[1]):
                for kx in range(kernel[1]):
                    col = ox * stride[1] - padding[1] + kx * dilation[1]
                    if 0 <= col < w:
                        patches[:, oy, ox, ky, kx] = x[:, y, col]
    return patches


def conv_s8(x, filters, bias, *, input_offset, output_offset, stride, padding, dilation, output, multiplier, shift,
            activation):  # fmt: skip
    """Convolution; ``filters`` [CO, KH, KW, CI], pairs (height, width), ``output`` the output's height and width."""
    co, kh, kw, ci = filters.shape
    groups = x.shape[3] // ci
    patches = padded_patches(
        x.astype(np.int64), (kh, kw), stride, padding, dilation, output, -input_offset
    )
    parts = [
        np.einsum("nyxhwc,ohwc->nyxo", part, own.astype(np.int64))
        for part, own in zip(
            np.split(patches + input_offset, groups, axis=-1),
            np.split(filters, groups),
            strict=True,
        )
    ]
    acc = np.concatenate(parts, axis=-1)
    acc = acc + (0 if bias is None else bias.astype(np.int64))
    assert acc.shape[-1] == co
    return requantize(acc, multiplier, shift, output_offset, activation)


def depthwise_conv_s8(x, filters, bias, *, input_offset, output_offset, ch_mult, stride, padding, dilation, output,
                      multiplier, shift, activation):  # fmt: skip
    """Depthwise convolution; ``filters`` [1, KH, KW, CI * ch_mult]."""
    _, kh, kw, co = filters.shape
    patches = padded_patches(
        x.astype(np.int64), (kh, kw), stride, padding, dilation, output, -input_offset
    )
    spread = np.repeat(patches + input_offset, ch_mult, axis=-1)
    acc = np.einsum("nyxhwc,hwc->nyxc", spread, filters[0].astype(np.int64))
    acc = acc + (0 if bias is None else bias.astype(np.int64))
    assert acc.shape[-1] == co
    return requantize(acc, multiplier, shift, output_offset, activation)


def fully_connected_s8(
    x, weights, bias, *, input_offset, filter_offset, output_offset, multiplier, shift, activation
):
    """Fully connected; ``x`` [batches, inputs], ``weights`` [outputs, inputs]."""
    acc = (x.astype(np.int64) + input_offset) @ (weights.astype(np.int64) + filter_offset).T
    acc = acc + (0 if bias is None else bias.astype(np.int64))
    return requantize(acc, multiplier, shift, output_offset, activation)


def conv_weight_sums(filters, bias, input_offset):
    """The folded sums of a convolution or fully connected layer: bias + input_offset * sum(weights)."""
    sums = filters.reshape(filters.shape[0], -1).astype(np.int64).sum(axis=1) * input_offset
    return (sums + (0 if bias is None else bias.astype(np.int64))).astype(np.int32)


def depthwise_weight_sums(filters, bias, input_offset):
    """The folded sums of a depthwise convolution."""
    sums = filters.astype(np.int64).sum(axis=(0, 1, 2)) * input_offset
    return (sums + (0 if bias is None else bias.astype(np.int64))).astype(np.int32)
