# SPDX-License-Identifier: Apache-2.0
"""Tables that replace a function of one number, computed as TFLite Micro computes the function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir import fixed_point
from helia_aot.ir.graph import Quantization
from helia_aot.ir.quantization import quantize_multiplier, rescale_parameters

_INT8: Final = range(-128, 128)
_INTEGER_BITS: Final = 4
"""Integer bits of the scaled input of LOGISTIC and TANH."""
_FAR: Final = 1e6
"""Beyond the reach of every quantized type."""
_MOST_PRESCALE: Final = 7
"""Extra bits of the input of the precise HARD_SWISH, as many as TFLite's arithmetic has."""
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


@dataclass(frozen=True)
class HardSwish:
    """Parameters of HARD_SWISH in the 16-bit arithmetic of TFLite.

    Attributes:
        output: Multiplier (Q15) and power of two from the input with 7 more bits to the output.
        relu: Multiplier (Q15) and power of two from the input with 7 more bits to a third in Q15.
    """

    output: tuple[int, int]
    relu: tuple[int, int]


def hard_swish_parameters(input_q: Quantization, output_q: Quantization) -> HardSwish:
    """Gives the parameters of HARD_SWISH; TFLite Micro takes no output power above 0."""
    fine = np.float32(1 / 128) * np.float32(input_q.scale)
    output = quantize_multiplier(float(fine / np.float32(output_q.scale)))
    relu = quantize_multiplier(float(fine / (np.float32(3.0) / np.float32(32768.0))))
    return HardSwish((_to_16_bits(output[0]), output[1]), (_to_16_bits(relu[0]), relu[1]))


def hard_swish(input_q: Quantization, output_q: Quantization) -> Callable[[int], int]:
    """Gives HARD_SWISH on int8 numbers in 16-bit arithmetic."""
    parameters = hard_swish_parameters(input_q, output_q)
    output_16, output_exponent = parameters.output
    relu_16, relu_exponent = parameters.relu

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


@dataclass(frozen=True)
class PreciseHardSwish:
    """Parameters of HARD_SWISH in 32-bit arithmetic.

    Attributes:
        factor: Multiplier and shift from the product to the output.
        three: 3 in the input's scale with ``prescale`` more bits.
        six: 6 in the same scale.
        prescale: Extra bits of the input.
    """

    factor: tuple[int, int]
    three: int
    six: int
    prescale: int


def precise_hard_swish_parameters(
    input_q: Quantization, output_q: Quantization
) -> PreciseHardSwish | None:
    """Gives the parameters with as many extra bits as the product has room for; None where it has none at all."""
    for prescale in range(_MOST_PRESCALE, -1, -1):
        step = input_q.scale / (1 << prescale)
        three, six = round_half_away(3 / step), round_half_away(6 / step)
        if (255 << prescale) * six < 1 << 31 and three < 1 << 30:
            factor = quantize_multiplier(step * step / (6 * output_q.scale))
            return PreciseHardSwish(factor, three, six, prescale)
    return None


def precise_hard_swish(
    parameters: PreciseHardSwish, input_q: Quantization, output_q: Quantization
) -> Callable[[int], int]:
    """Gives HARD_SWISH on int8 numbers in 32-bit arithmetic."""

    def function(value: int) -> int:
        x = (value - input_q.zero_point) << parameters.prescale
        gate = fixed_point.clamp(x + parameters.three, 0, parameters.six)
        return fixed_point.requantize(x * gate, *parameters.factor) + output_q.zero_point

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
    return real_function(
        input_q, output_q, lambda x: np.float32(np.exp(x)) - np.float32(1) if x < 0 else x
    )


def real_function(
    input_q: Quantization,
    output_q: Quantization,
    function: Callable[[Any], Any],
) -> Callable[[int], int]:
    """Gives a function of real numbers on quantized ones, computed with 32-bit floats.

    Args:
        input_q: Quantization of the input.
        output_q: Quantization of the output.
        function: From ``np.float32`` to a number; an infinity stands for the end of the range.
    """
    inverse = np.float32(1) / np.float32(output_q.scale)

    def on_steps(value: int) -> int:
        real = np.float32(input_q.scale) * np.float32(value - input_q.zero_point)
        with np.errstate(over="ignore"):
            scaled = float(np.float32(np.float32(function(real)) * inverse))
        return round_half_away(max(-_FAR, min(_FAR, scaled))) + output_q.zero_point

    return on_steps


def real_exp(x: Any) -> Any:
    """Gives ``exp(x)``."""
    with np.errstate(over="ignore"):
        return np.exp(x)


def real_log(x: Any) -> Any:
    """Gives ``log(x)``; minus infinity for numbers that have none."""
    return np.log(x) if x > 0 else -np.inf


def square_root(input_q: Quantization, output_q: Quantization) -> Callable[[int], int]:
    """Gives SQRT on quantized numbers, divided by the scale and rounded down as LiteRT does; below 0 it is 0."""

    def on_steps(value: int) -> int:
        real = np.float32(input_q.scale) * np.float32(max(0, value - input_q.zero_point))
        scaled = float(np.float32(np.sqrt(real)) / np.float32(output_q.scale))
        return math.floor(min(_FAR, scaled)) + output_q.zero_point

    return on_steps


def real_gelu(x: Any) -> Any:
    """Gives ``x * P(X <= x)`` of the normal distribution."""
    return float(x) * 0.5 * (1.0 + math.erf(float(x) * math.sqrt(0.5)))


def real_gelu_tanh(x: Any) -> Any:
    """Gives :func:`real_gelu` by its approximation with tanh."""
    wide = float(x)
    inner = math.sqrt(2.0 / math.pi) * (wide + 0.044715 * wide**3)
    return wide * 0.5 * (1.0 + math.tanh(inner))


def negated(input_q: Quantization, output_q: Quantization) -> Callable[[int], int]:
    """Gives NEG on numbers of one quantization."""
    return lambda value: input_q.zero_point - value + output_q.zero_point


def rsqrt_factor(input_q: Quantization, output_q: Quantization) -> tuple[int, int]:
    """Gives multiplier and shift from :func:`helia_aot.ir.fixed_point.inverse_sqrt` to the output."""
    multiplier, shift = quantize_multiplier(1.0 / (math.sqrt(input_q.scale) * output_q.scale))
    return multiplier, shift - fixed_point.INVERSE_SQRT_BITS


def rsqrt(
    input_q: Quantization, output_q: Quantization, highest: int = 127
) -> Callable[[int], int]:
    """Gives RSQRT on quantized numbers; numbers that have no root give the highest output."""
    factor = rsqrt_factor(input_q, output_q)

    def function(value: int) -> int:
        steps = value - input_q.zero_point
        if steps <= 0:
            return highest
        scaled = fixed_point.requantize(fixed_point.inverse_sqrt(steps), *factor)
        return scaled + output_q.zero_point

    return function


def rsqrt_outputs_s16(input_q: Quantization, output_q: Quantization) -> NDArray[np.int16]:
    """Gives the table of int16 RSQRT for one operator: the output for 0..32767."""
    function = rsqrt(input_q, output_q, 32767)
    return np.array([_int16(function(value)) for value in range(32768)], dtype=np.int16)


@cache
def rsqrt_roots() -> NDArray[np.int32]:
    """Gives the table of int16 RSQRT for every operator: roots of 0..32767 with 20 fractional bits."""
    roots = [fixed_point.inverse_sqrt(value) for value in range(1, 32768)]
    return np.array([fixed_point.INT32_MAX, *roots], dtype=np.int32)


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
