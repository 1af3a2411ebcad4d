# SPDX-License-Identifier: Apache-2.0
"""Tables that replace a function of one number, computed as TFLite Micro computes the function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir import fixed_point
from helia_aot.ir.graph import Quantization
from helia_aot.ir.quantization import quantize_multiplier, rescale_parameters

_INT8: Final = range(-128, 128)
_INTEGER_BITS: Final = 4
"""Integer bits of the scaled input of LOGISTIC and TANH."""
_SAMPLES: Final = 513
"""Samples of an int16 table: 512 steps of 128 and the end."""


def round_half_away(value: float) -> int:
    """Rounds to nearest, halves away from zero, as C's ``round``."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def signed_multiplier(real: float) -> tuple[int, int]:
    """Splits a factor of either sign into a Q31 multiplier and a power of two."""
    multiplier, shift = quantize_multiplier(abs(real))
    return (multiplier if real >= 0 else -multiplier), shift


def by_entry(function: Callable[[int], int]) -> NDArray[np.int8]:
    """Gives the table of a function on int8 numbers in the order in which the kernel reads it: by ``(uint8_t)x``.

    Args:
        function: The output for an input in -128..127; limited to int8 here.
    """
    outputs = {value: fixed_point.clamp(function(value), -128, 127) for value in _INT8}
    return np.array([outputs[value] for value in (*range(128), *range(-128, 0))], dtype=np.int8)


def rescaled(
    input_q: Quantization, output_q: Quantization, slope: float = 1.0
) -> Callable[[int], int]:
    """Gives LEAKY_RELU on quantized numbers; ``slope`` 1 is a plain change of scale."""
    identity = rescale_parameters(input_q, output_q)
    alpha, alpha_shift = signed_multiplier(input_q.scale * slope / output_q.scale)

    def function(value: int) -> int:
        steps = value - input_q.zero_point
        if steps >= 0:
            scaled = fixed_point.requantize(steps, *identity)
        else:
            scaled = fixed_point.requantize(steps, abs(alpha), alpha_shift)
            scaled = -scaled if alpha < 0 else scaled
        return scaled + output_q.zero_point

    return function


def magnitude(input_q: Quantization, output_q: Quantization) -> Callable[[int], int]:
    """Gives ABS on quantized numbers."""
    factor = rescale_parameters(input_q, output_q)
    same = input_q.scale == output_q.scale

    def function(value: int) -> int:
        steps = abs(value - input_q.zero_point)
        return (steps if same else fixed_point.requantize(steps, *factor)) + output_q.zero_point

    return function


def sigmoid(input_q: Quantization, kind: str) -> Callable[[int], int]:
    """Gives LOGISTIC (output scale 1/256, zero point -128) or TANH (1/128, 0) on int8 numbers.

    Args:
        input_q: Quantization of the input.
        kind: ``LOGISTIC`` or ``TANH``.
    """
    mantissa, shift = math.frexp(input_q.scale * (1 << (31 - _INTEGER_BITS)))
    multiplier = round_half_away(mantissa * (1 << 31))
    reach = ((1 << _INTEGER_BITS) - 1) * (1 << (31 - _INTEGER_BITS)) / 2.0**shift
    radius = math.floor(reach)

    def function(value: int) -> int:
        steps = value - input_q.zero_point
        if steps <= -radius:
            return -128
        if steps >= radius:
            return 127
        scaled = fixed_point.requantize(steps, multiplier, shift)
        if kind == "LOGISTIC":
            wide = fixed_point.logistic(scaled, _INTEGER_BITS)
            return fixed_point.divide_by_power_of_two(wide, 23) - 128
        wide = fixed_point.tanh(scaled, _INTEGER_BITS)
        return fixed_point.divide_by_power_of_two(wide, 24)

    return function


def hard_swish_exponent(input_q: Quantization, output_q: Quantization) -> int:
    """Gives the power of two of HARD_SWISH's output factor; TFLite Micro takes none above 0."""
    fine = np.float32(1 / 128) * np.float32(input_q.scale)
    return quantize_multiplier(float(fine / np.float32(output_q.scale)))[1]


def hard_swish(input_q: Quantization, output_q: Quantization) -> Callable[[int], int]:
    """Gives HARD_SWISH on int8 numbers in 16-bit arithmetic."""
    fine = np.float32(1 / 128) * np.float32(input_q.scale)
    output_32, output_exponent = quantize_multiplier(float(fine / np.float32(output_q.scale)))
    relu_32, relu_exponent = quantize_multiplier(
        float(fine / (np.float32(3.0) / np.float32(32768.0)))
    )
    output_16, relu_16 = (_to_16_bits(value) for value in (output_32, relu_32))

    def function(value: int) -> int:
        steps = (value - input_q.zero_point) * 128
        scaled = fixed_point.doubling_high_mult(steps, output_16, 16)
        relu = steps
        if relu_exponent > 0:
            relu = _int16(relu << (relu_exponent - 1))
        relu = fixed_point.doubling_high_mult(relu, relu_16, 16)
        if relu_exponent > 0:
            relu = _int16(relu << 1)
        elif relu_exponent < 0:
            relu = fixed_point.divide_by_power_of_two(relu, -relu_exponent)
        relu = (relu + (1 << 15)) >> 1
        product = abs(relu * scaled) >> 15
        product = -product if relu * scaled < 0 else product
        return fixed_point.divide_by_power_of_two(product, -output_exponent) + output_q.zero_point

    return function


def _int16(value: int) -> int:
    return fixed_point.clamp(value, -(1 << 15), (1 << 15) - 1)


def _to_16_bits(multiplier: int) -> int:
    half = 1 << 15
    return (
        (1 << 15) - 1 if multiplier >= fixed_point.INT32_MAX - half else (multiplier + half) >> 16
    )


def elu(input_q: Quantization, output_q: Quantization) -> Callable[[int], int]:
    """Gives ELU on int8 numbers, computed with 32-bit floats."""
    inverse = np.float32(1) / np.float32(output_q.scale)

    def function(value: int) -> int:
        real = np.float32(input_q.scale) * np.float32(value - input_q.zero_point)
        if real < 0:
            real = np.float32(np.exp(real)) - np.float32(1)
        return round_half_away(float(np.float32(real * inverse))) + output_q.zero_point

    return function


def softmax_samples_s16() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Gives the two tables of the int16 softmax: ``exp`` from -10 to 0 and ``1 / (1 + x)`` from 0 to 1, in Q15."""
    span = np.float32(65535)
    return (
        _samples_s16(np.float32(10) / span, 32767, np.float32(2) / span, np.exp),
        _samples_s16(
            np.float32(1) / span,
            -32768,
            np.float32(2) / span,
            lambda x: np.float32(1) / (np.float32(1) + x),
        ),
    )


def _samples_s16(
    input_scale: Any, zero_point: int, output_scale: Any, function: Callable[[Any], Any]
) -> NDArray[np.int16]:
    """Samples a function in single precision; a sample is moved by half of what the line between errs in its middle."""
    f32 = np.float32
    low = f32(input_scale * f32(-32768 - zero_point))
    high = f32(input_scale * f32(32767 - zero_point))
    step = f32((high - low) / f32(_SAMPLES - 1))
    half = f32(step / f32(2))
    factor = f32(f32(65536) / f32(f32(output_scale * f32(32767)) - f32(output_scale * f32(-32768))))

    def at(x: Any) -> Any:
        return f32(function(f32(x)))

    def rounded(x: Any) -> Any:
        return f32(round_half_away(float(f32(x))))

    samples = []
    for i in range(_SAMPLES - 1):
        start = f32(low + f32(f32(i) * step))
        value, middle = at(start), at(f32(start + half))
        after = at(f32(low + f32(f32(i + 1) * step)))
        sample = rounded(value * factor)
        line = rounded(f32(f32(after * factor) + sample) / f32(2))
        bias = rounded(f32(line - rounded(middle * factor)) / f32(2))
        samples.append(_int16(int(sample - bias)))
    samples.append(_int16(round_half_away(float(f32(at(high) * factor)))))
    return np.array(samples, dtype=np.int16)
