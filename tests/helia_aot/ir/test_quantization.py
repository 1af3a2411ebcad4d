# SPDX-License-Identifier: Apache-2.0
"""Fixed-point parameters against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Quantization
from helia_aot.ir.quantization import activation_range, quantize_multiplier, softmax_parameters


@given(st.floats(min_value=2.0**-30, max_value=2.0**20))
def test_multiplier_is_the_nearest_q31_number(real: float) -> None:
    multiplier, shift = quantize_multiplier(real)
    assert 1 << 30 <= multiplier < 1 << 31
    exact = Fraction(real) / Fraction(2) ** shift * (1 << 31)
    assert abs(exact - multiplier) <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("real", "expected"),
    [(0.0, (0, 0)), (2.0**-40, (0, 0)), (0.5, (1 << 30, 0)), (1.0, (1 << 30, 1)),
     (1.0 - 2.0**-40, (1 << 30, 1))],
)  # fmt: skip
def test_multiplier_at_its_edges(real: float, expected: tuple[int, int]) -> None:
    assert quantize_multiplier(real) == expected


@pytest.mark.parametrize(
    ("activation", "zero_point", "expected"),
    [
        ("NONE", 5, (-128, 127)),
        ("RELU", 5, (5, 127)),
        ("RELU", -128, (-128, 127)),
        ("RELU6", -128, (-128, -8)),
        ("RELU6", 100, (100, 127)),
        ("RELU_N1_TO_1", 0, (-20, 20)),
    ],
)
def test_activation_range(activation: str, zero_point: int, expected: tuple[int, int]) -> None:
    output = Quantization((0.05,), (zero_point,))
    assert activation_range(activation, DType.INT8, output) == expected  # type: ignore[arg-type]


def test_a_tanh_is_no_clamp() -> None:
    with pytest.raises(ValueError, match="TANH"):
        activation_range("TANH", DType.INT8, Quantization((0.05,), (0,)))


def test_softmax_refuses_scales_that_its_arithmetic_cannot_hold() -> None:
    with pytest.raises(ValueError, match="must be above 1"):
        softmax_parameters(1.0, 4.3e-9)
    multiplier, shift, diff_min = softmax_parameters(1.0, 0.1)
    assert multiplier > 0
    assert shift > 0
    assert diff_min < 0
