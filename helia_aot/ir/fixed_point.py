# SPDX-License-Identifier: Apache-2.0
"""Fixed-point arithmetic as the kernels do it, for tables that are computed at conversion.

The functions take and give Python integers. Numbers written Qn have n integer bits and 31 - n fractional bits, as in
gemmlowp, from whose definitions of the transcendental functions the results follow bit by bit.
"""

from __future__ import annotations

from typing import Final

INT32_MAX: Final = (1 << 31) - 1
INT32_MIN: Final = -(1 << 31)
_EXP_OF_MINUS_ONE_EIGHTH: Final = 1895147668
_ONE_THIRD: Final = 715827883
_EXP_FACTORS: Final = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-1/4), exp(-1/2), exp(-1) ... exp(-16) in Q0."""
_FORTY_EIGHT_SEVENTEENTHS_Q2: Final = 1515870810
_MINUS_THIRTY_TWO_SEVENTEENTHS_Q2: Final = -1010580540
_ONE_Q2: Final = 1 << 29


def clamp(value: int, low: int, high: int) -> int:
    """Limits a number to ``[low, high]``."""
    return max(low, min(high, value))


def doubling_high_mult(a: int, b: int, bits: int = 32) -> int:
    """Gives the high half of the doubled product of two ``bits``-wide numbers, rounded to nearest, saturating."""
    lowest = -(1 << (bits - 1))
    if a == lowest and b == lowest:
        return -lowest - 1
    return (a * b + (1 << (bits - 2))) >> (bits - 1)


def divide_by_power_of_two(value: int, exponent: int) -> int:
    """Divides by ``2**exponent`` and rounds to nearest, halves away from zero."""
    if exponent == 0:
        return value
    half = (1 << (exponent - 1)) - (1 if value < 0 else 0)
    return (value + half) >> exponent


def requantize(value: int, multiplier: int, shift: int) -> int:
    """Multiplies by ``multiplier / 2**31 * 2**shift`` with double rounding; the left shift wraps at 32 bits."""
    shifted = ((value << max(shift, 0)) - INT32_MIN) % (1 << 32) + INT32_MIN
    return divide_by_power_of_two(doubling_high_mult(shifted, multiplier), max(-shift, 0))


def logistic(value: int, integer_bits: int) -> int:
    """Gives ``1 / (1 + exp(-x))`` in Q0 of a number with ``integer_bits`` integer bits."""
    if value == 0:
        return 1 << 30
    positive = _one_over_one_plus(_exp_of_negative(-abs(value), integer_bits))
    return positive if value > 0 else INT32_MAX - positive


def tanh(value: int, integer_bits: int) -> int:
    """Gives ``tanh(x)`` in Q0 of a number with ``integer_bits`` integer bits."""
    if value == 0:
        return 0
    magnitude = _one_minus_over_one_plus(_exp_of_negative(-abs(value), integer_bits + 1))
    return magnitude if value > 0 else -magnitude


def _saturated(value: int) -> int:
    return clamp(value, INT32_MIN, INT32_MAX)


def _exp_of_negative(value: int, integer_bits: int) -> int:
    """Gives ``exp(x)`` in Q0 for ``x <= 0``: by quarters, each bit of their number by its power of e."""
    if value == 0:
        return INT32_MAX
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    remainder = value % quarter - quarter
    result = _exp_near_zero(_saturated(remainder << integer_bits))
    quarters = (remainder - value) >> (fraction_bits - 2)
    for bit, factor in enumerate(_EXP_FACTORS[: integer_bits + 2]):
        if quarters >> bit & 1:
            result = doubling_high_mult(result, factor)
    return result


def _exp_near_zero(value: int) -> int:
    """Gives ``exp(x)`` for x in ``[-1/4, 0)``, Q0 to Q0: the Taylor series to the fourth power around -1/8."""
    x = value + (1 << 28)
    x2 = doubling_high_mult(x, x)
    x3 = doubling_high_mult(x2, x)
    quarter_x4 = divide_by_power_of_two(doubling_high_mult(x2, x2), 2)
    higher = divide_by_power_of_two(doubling_high_mult(quarter_x4 + x3, _ONE_THIRD) + x2, 1)
    return _EXP_OF_MINUS_ONE_EIGHTH + doubling_high_mult(_EXP_OF_MINUS_ONE_EIGHTH, x + higher)


def _reciprocal_of_half(value: int) -> int:
    """Gives ``2 / (1 + x)`` in Q2 for x in ``[0, 1]`` (Q0), by three Newton-Raphson steps."""
    half_denominator = (value + INT32_MAX + 1) // 2
    x = _FORTY_EIGHT_SEVENTEENTHS_Q2 + doubling_high_mult(
        half_denominator, _MINUS_THIRTY_TWO_SEVENTEENTHS_Q2
    )
    for _ in range(3):
        error = _ONE_Q2 - doubling_high_mult(half_denominator, x)
        x += _saturated(doubling_high_mult(x, error) << 2)
    return x


def _one_over_one_plus(value: int) -> int:
    return _saturated(_reciprocal_of_half(value) << 1)


def _one_minus_over_one_plus(value: int) -> int:
    return _saturated((_reciprocal_of_half(value) - _ONE_Q2) << 2)


INVERSE_SQRT_BITS: Final = 20
"""Fractional bits of :func:`inverse_sqrt`."""
_ONE_AND_A_HALF_Q3: Final = 3 << 27
_HALF_SQRT_2: Final = 1518500250


def inverse_sqrt(value: int) -> int:
    """Gives ``1 / sqrt(value)`` with 20 fractional bits for a whole number of at least 1, as TFLite's RSQRT does.

    The number is brought to ``[1/4, 1)`` by a power of four; five Newton-Raphson steps in Q3 find the root, and the
    power of four comes back as a power of two.
    """
    if value == 1:
        mantissa, shift = INT32_MAX, 0
    else:
        pairs = (32 - value.bit_length() - 1) // 2 - 1
        mantissa, shift = _newton_inverse_sqrt(value << (2 * pairs) >> 1), 11 - pairs
        if shift < 0:
            mantissa, shift = mantissa << -shift, 0
    return requantize(1, mantissa, INVERSE_SQRT_BITS - shift)


def _newton_inverse_sqrt(value_q3: int) -> int:
    half = divide_by_power_of_two(value_q3, 1)
    x = 1 << 28
    for _ in range(5):
        cube = _q3(doubling_high_mult(doubling_high_mult(x, x), x), 6)
        x = _q3(doubling_high_mult(_ONE_AND_A_HALF_Q3, x) - doubling_high_mult(half, cube), 3)
    return doubling_high_mult(x, _HALF_SQRT_2)


def _q3(value: int, extra_integer_bits: int) -> int:
    """Brings a product with more integer bits back to Q3."""
    return _saturated(value << extra_integer_bits)
