# SPDX-License-Identifier: Apache-2.0
"""Fixed-point arithmetic of TFLite Micro, computed exactly as its preparation code does.

Scales are stored as 32-bit floats; where TFLite Micro multiplies in single precision before it widens to double, so
does this module: a different order would move multipliers by one unit and outputs with them.
"""

from __future__ import annotations

import math

import numpy as np

from helia_aot.ir.attributes import Activation
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Quantization

_Q31_ONE = 1 << 31
ADD_LEFT_SHIFT_S8 = 20
"""Headroom that TFLite Micro gives both inputs of an int8 addition before it rescales them."""
ADD_LEFT_SHIFT_S16 = 15
"""The same for int16."""
COMPARISON_LEFT_SHIFT = 8
"""Fractional bits of the numbers that a comparison of quantized tensors compares."""
SIGMOID_SCALE = 4096.0 * 3.0
"""Inverse scale of the samples that LOGISTIC and TANH read for int16."""
SOFTMAX_INTEGER_BITS = 5
"""Integer bits of the scaled input difference in TFLite's fixed-point softmax."""


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Splits a real factor into a Q31 multiplier and a power of two.

    Args:
        real: The factor; not negative.

    Returns:
        ``(multiplier, shift)`` with ``real ~= multiplier / 2**31 * 2**shift``; ``(0, 0)`` for factors that are zero
        or too small to matter (TFLite's ``QuantizeMultiplier``).
    """
    if real == 0.0:
        return 0, 0
    mantissa, shift = math.frexp(real)
    # std::round: ties away from zero; the mantissa is positive, so floor(x + 0.5) is the same.
    fixed = math.floor(mantissa * _Q31_ONE + 0.5)
    if fixed == _Q31_ONE:
        fixed //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    if shift > 30:
        return _Q31_ONE - 1, 30
    return fixed, shift


def convolution_multipliers(
    input_q: Quantization, filter_q: Quantization, output_q: Quantization, channels: int
) -> tuple[list[int], list[int]]:
    """Gives the requantization of each output channel of a convolution.

    The product of the scales is taken in double precision, as TFLite's convolution preparation does.

    Args:
        input_q: Per-tensor quantization of the input.
        filter_q: Quantization of the filter, per tensor or with one scale for each channel.
        output_q: Per-tensor quantization of the output.
        channels: Number of output channels.

    Returns:
        Multipliers and shifts, ``channels`` of each.
    """
    scales = filter_q.scales if filter_q.is_per_channel else filter_q.scales * channels
    pairs = [quantize_multiplier(input_q.scale * scale / output_q.scale) for scale in scales]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def fully_connected_multiplier(
    input_q: Quantization, filter_q: Quantization, output_q: Quantization
) -> tuple[int, int]:
    """Gives the requantization of a per-tensor fully connected layer.

    Here TFLite multiplies the two scales as 32-bit floats before it widens the product.
    """
    product = float(np.float32(input_q.scale) * np.float32(filter_q.scale))
    return quantize_multiplier(product / output_q.scale)


def sum_parameters(input_q: Quantization, output_q: Quantization) -> tuple[int, int]:
    """Gives the requantization of a sum of int8 numbers of one scale, which is taken in steps of 2^-19.

    TFLite Micro shifts each number left by 20 bits and halves it; the halves are exact.
    """
    return quantize_multiplier(2 * input_q.scale / ((1 << ADD_LEFT_SHIFT_S8) * output_q.scale))


def activation_range(
    activation: Activation, dtype: DType, output_q: Quantization
) -> tuple[int, int]:
    """Gives the smallest and largest quantized output that a fused activation lets pass.

    Raises:
        ValueError: The activation cannot be fused into a clamp.
    """
    info = np.iinfo(dtype.value)
    low, high = int(info.min), int(info.max)

    def quantize(real: float) -> int:
        scaled = float(np.float32(real) / np.float32(output_q.scale))
        return output_q.zero_point + math.floor(abs(scaled) + 0.5) * (1 if scaled >= 0 else -1)

    match activation:
        case "NONE":
            return low, high
        case "RELU":
            return max(low, quantize(0.0)), high
        case "RELU6":
            return max(low, quantize(0.0)), min(high, quantize(6.0))
        case "RELU_N1_TO_1":
            return max(low, quantize(-1.0)), min(high, quantize(1.0))
        case _:
            raise ValueError(f"{activation} is not a clamp")


def addition_parameters(
    first: Quantization,
    second: Quantization,
    output: Quantization,
    left_shift: int = ADD_LEFT_SHIFT_S8,
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Gives ``(multiplier, shift)`` of the inputs and the output of an addition or a subtraction."""
    twice_max = 2.0 * max(first.scale, second.scale)
    return (
        quantize_multiplier(first.scale / twice_max),
        quantize_multiplier(second.scale / twice_max),
        quantize_multiplier(twice_max / ((1 << left_shift) * output.scale)),
    )


def softmax_parameters(beta: float, input_scale: float) -> tuple[int, int, int]:
    """Gives multiplier, left shift and the smallest difference that still counts in an int8 softmax.

    Args:
        beta: Softmax temperature factor.
        input_scale: Scale of the int8 input.

    Returns:
        ``(multiplier, shift, diff_min)``; differences below ``diff_min`` contribute nothing.

    Raises:
        ValueError: The scaled factor is not above one, which TFLite's arithmetic does not cover.
    """
    factor = min(beta * input_scale * (1 << (31 - SOFTMAX_INTEGER_BITS)), float(_Q31_ONE - 1))
    if factor <= 1.0:
        raise ValueError(f"beta * input scale * 2^26 is {factor:.3g}; it must be above 1")
    multiplier, shift = quantize_multiplier(factor)
    reach = ((1 << SOFTMAX_INTEGER_BITS) - 1) * (1 << (31 - SOFTMAX_INTEGER_BITS))
    return multiplier, shift, -math.floor(reach / (1 << shift))


def multiplication_parameters(
    first: Quantization, second: Quantization, output: Quantization
) -> tuple[int, int]:
    """Gives multiplier and shift of the product of two quantized numbers."""
    return quantize_multiplier(first.scale * second.scale / output.scale)


def division_parameters(
    first: Quantization, second: Quantization, output: Quantization
) -> tuple[int, int]:
    """Gives multiplier and shift of the quotient of two quantized numbers."""
    return quantize_multiplier(first.scale / (second.scale * output.scale))


def squared_difference_parameters(
    first: Quantization, second: Quantization, output: Quantization, left_shift: int
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]]:
    """Gives ``(multiplier, shift)`` of the inputs and the output of the square of a difference."""
    twice_max = 2.0 * max(first.scale, second.scale)
    return (
        quantize_multiplier(first.scale / twice_max),
        quantize_multiplier(second.scale / twice_max),
        quantize_multiplier(twice_max * twice_max / ((1 << (2 * left_shift)) * output.scale)),
    )


def comparison_parameters(quantization: Quantization) -> tuple[int, int]:
    """Gives multiplier and shift that bring one side of a comparison to real numbers with 8 fractional bits."""
    return quantize_multiplier(quantization.scale)


def rescale_parameters(input_q: Quantization, output_q: Quantization) -> tuple[int, int]:
    """Gives multiplier and shift from one scale to another, in double precision."""
    return quantize_multiplier(input_q.scale / output_q.scale)


def mean_parameters(input_q: Quantization, output_q: Quantization, count: int) -> tuple[int, int]:
    """Gives multiplier and shift that turn a sum of ``count`` quantized numbers into their mean."""
    multiplier, shift = rescale_parameters(input_q, output_q)
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << extra) // count, shift - extra


def sigmoid_parameters_s16(input_scale: float, free_shifts: tuple[int, ...]) -> tuple[int, int]:
    """Gives multiplier and left shift of int16 LOGISTIC or TANH.

    Args:
        input_scale: Scale of the input.
        free_shifts: Left shifts of a power-of-two scale that need no multiplier: ``(0,)`` for LOGISTIC, ``(0, 1)`` for
            TANH.
    """
    # TFLite accepts a scale as a power of two when its logarithm is within 1e-3 of a whole number.
    logarithm = math.log2(input_scale)
    if abs(logarithm - round(logarithm)) < 1e-3:
        shift = 12 + round(logarithm)
        if shift in free_shifts:
            return 0, shift
    multiplier, shift = input_scale * SIGMOID_SCALE, 0
    while multiplier <= 32767.0 / 2.0 and shift <= 30:
        shift += 1
        multiplier *= 2.0
    return int(multiplier), shift


def softmax_parameters_s16(beta: float, input_scale: float) -> tuple[int, int]:
    """Gives multiplier and shift that bring an int16 difference of -10 to -65535."""
    return quantize_multiplier(input_scale * float(np.float32(beta)) / (10.0 / 65535.0))
