# SPDX-License-Identifier: Apache-2.0
"""TFLite's int8 softmax with Python integers: the oracle of the softmax tests.

Written from gemmlowp's definitions of fixed-point numbers: ``Fixed(raw, bits)`` stands for ``raw * 2^(bits - 31)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import reference

LOWEST, HIGHEST = -(2**31), 2**31 - 1


def saturate(value: int) -> int:
    return max(LOWEST, min(HIGHEST, value))


def divide_by_pot(value: int, exponent: int) -> int:
    """Rounds to nearest, halves away from zero."""
    half = (1 << exponent) >> 1
    return (value + half) >> exponent if value >= 0 else -((-value + half) >> exponent)


@dataclass(frozen=True)
class Fixed:
    raw: int
    bits: int

    def __mul__(self, other: Fixed) -> Fixed:
        raw = reference.saturating_rounding_doubling_high_mul(
            np.int64(self.raw), np.int64(other.raw)
        )
        return Fixed(int(raw), self.bits + other.bits)

    def __add__(self, other: Fixed) -> Fixed:
        assert self.bits == other.bits
        total = self.raw + other.raw
        assert LOWEST <= total <= HIGHEST
        return Fixed(total, self.bits)

    def __sub__(self, other: Fixed) -> Fixed:
        return self + Fixed(-other.raw, other.bits)

    def rescale(self, bits: int) -> Fixed:
        """The same number with another count of integer bits."""
        up = self.bits - bits
        return Fixed(saturate(self.raw << up) if up >= 0 else divide_by_pot(self.raw, -up), bits)

    def times_pot(self, exponent: int) -> Fixed:
        """Multiplies by 2^exponent, exponent <= 0, rounding."""
        return Fixed(divide_by_pot(self.raw, -exponent), self.bits)


def fixed(value: float, bits: int) -> Fixed:
    return Fixed(saturate(round(value * 2.0 ** (31 - bits))), bits)


def exp_between_minus_quarter_and_zero(a: Fixed) -> Fixed:
    constant = Fixed(1895147668, 0)  # exp(-1/8)
    third = Fixed(715827883, 0)
    x = a + fixed(1 / 8, 0)
    x2 = x * x
    x3 = x2 * x
    x4 = x2 * x2
    polynomial = (((x4.times_pot(-2) + x3) * third) + x2).times_pot(-1)
    return constant + constant * (x + polynomial)


EXP_FACTORS = {
    -2: 1672461947,
    -1: 1302514674,
    0: 790015084,
    1: 290630308,
    2: 39332535,
    3: 720401,
    4: 242,
}


def exp_on_negative_values(a: Fixed) -> Fixed:
    if a.raw == 0:
        return Fixed(HIGHEST, 0)
    fraction_bits = 31 - a.bits
    quarter = 1 << (fraction_bits - 2)
    rest = a.raw % quarter - quarter
    result = exp_between_minus_quarter_and_zero(Fixed(rest, a.bits).rescale(0))
    remainder = rest - a.raw
    for exponent, factor in EXP_FACTORS.items():
        if remainder & (1 << (fraction_bits + exponent)):
            result = result * Fixed(factor, 0)
    return result


def one_over_one_plus(a: Fixed) -> Fixed:
    half_denominator = Fixed((a.raw + HIGHEST + 1) // 2, 0)
    x = Fixed(1515870810, 2) + half_denominator * Fixed(-1010580540, 2)
    one = fixed(1.0, 2)
    for _ in range(3):
        x = x + (x * (one - half_denominator * x)).rescale(2)
    return Fixed(x.raw, 1).rescale(0)


def softmax_params(scale: float, beta: float) -> tuple[int, int, int]:
    """Gives multiplier, shift and smallest difference as TFLite's Prepare computes them."""
    multiplier, shift = reference.quantize_multiplier(min(beta * scale * 2**26, 2**31 - 1.0))
    return multiplier, shift, -math.floor(31 * 2.0 ** (26 - shift))


def softmax_row(row: list[int], multiplier: int, shift: int, diff_min: int) -> list[int]:
    def exponential(value: int) -> Fixed:
        scaled = reference.saturating_rounding_doubling_high_mul(
            np.int64((value - max(row)) << shift), np.int64(multiplier)
        )
        return exp_on_negative_values(Fixed(int(scaled), 5))

    taken = {v: exponential(v) for v in set(row) if v - max(row) >= diff_min}
    total = sum(taken[v].rescale(12).raw for v in row if v in taken)
    headroom = 32 - total.bit_length()
    scale = one_over_one_plus(Fixed((total << headroom) - 2**31, 0))
    outputs = {
        v: saturate_int8(divide_by_pot((scale * e).raw, 12 - headroom + 31 - 8) - 128)
        for v, e in taken.items()
    }
    return [outputs.get(v, -128) for v in row]


def saturate_int8(value: int) -> int:
    return max(-128, min(127, value))


def softmax_s8(x: np.ndarray, multiplier: int, shift: int, diff_min: int) -> np.ndarray:
    rows = [softmax_row([int(v) for v in row], multiplier, shift, diff_min) for row in x]
    return np.array(rows, np.int8)
