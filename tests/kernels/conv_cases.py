# SPDX-License-Identifier: Apache-2.0
"""Makes convolution test cases: shapes, tensors and the expected output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import reference
from harness import Case
from hypothesis import strategies as st

INT8 = (-128, 127)


@dataclass(frozen=True)
class ConvShape:
    """One convolution; pairs are (height, width).

    ``padding`` is above and left; ``output`` may need more below and right.
    """

    size: tuple[int, int]
    cin: int
    cout: int
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    output: tuple[int, int] = (0, 0)
    batches: int = 1
    input_zero_point: int = 3
    output_zero_point: int = -5
    activation: tuple[int, int] = INT8
    folded: bool = True
    bias: bool = True
    extreme: bool = False
    seed: int = 0
    groups: int = 1

    @property
    def depth(self) -> int:
        return self.kernel[0] * self.kernel[1] * self.cin // self.groups


def same(**fields) -> ConvShape:
    """A shape with TFLite's SAME padding."""
    shape = ConvShape(**fields)
    output = tuple(-(-s // t) for s, t in zip(shape.size, shape.stride, strict=True))
    padding = tuple(
        max(0, ((o - 1) * t + (k - 1) * d + 1 - s) // 2)
        for o, t, k, d, s in zip(
            output, shape.stride, shape.kernel, shape.dilation, shape.size, strict=True
        )
    )
    return ConvShape(**{**fields, "output": output, "padding": padding})


def valid(**fields) -> ConvShape:
    """A shape with TFLite's VALID padding."""
    shape = ConvShape(**fields)
    output = tuple(
        (s - (k - 1) * d - 1) // t + 1
        for t, k, d, s in zip(shape.stride, shape.kernel, shape.dilation, shape.size, strict=True)
    )
    return ConvShape(**{**fields, "output": output})


def quantization(rng, channels, depth, *, extreme):
    """Multipliers and shifts that spread outputs over int8 and beyond; ``extreme``: all shifts that TFLite can give."""
    if extreme:
        multiplier = rng.integers(2**30, 2**31, channels)
        multiplier[rng.random(channels) < 0.2] = 2**31 - 1
        multiplier[rng.random(channels) < 0.2] = 0
        return multiplier.astype(np.int32), rng.integers(-31, 8, channels).astype(np.int32)
    typical = 60.0 / (74.0 * 74.0 * np.sqrt(depth))
    pairs = [
        reference.quantize_multiplier(typical * 2.0 ** rng.uniform(-3, 3)) for _ in range(channels)
    ]
    return (np.array([p[i] for p in pairs], np.int32) for i in (0, 1))


def conv_case(entry: str, shape: ConvShape, scratch_bytes: int) -> tuple[Case, np.ndarray]:
    """Gives the case and its expected output."""
    rng = np.random.default_rng(shape.seed)
    x = rng.integers(-128, 128, (shape.batches, *shape.size, shape.cin)).astype(np.int8)
    filters = rng.integers(
        -127, 128, (shape.cout, *shape.kernel, shape.cin // shape.groups)
    ).astype(np.int8)
    if shape.extreme and shape.seed % 2:
        x[:], filters[:] = -128, rng.choice([-127, 127], filters.shape)
    bias = rng.integers(-3000, 3000, shape.cout).astype(np.int32) if shape.bias else None
    multiplier, shift = quantization(rng, shape.cout, shape.depth, extreme=shape.extreme)
    output = shape.output if shape.output != (0, 0) else shape.size
    expected = reference.conv_s8(
        x, filters, bias,
        input_offset=-shape.input_zero_point, output_offset=shape.output_zero_point, stride=shape.stride,
        padding=shape.padding, dilation=shape.dilation, output=output, multiplier=multiplier, shift=shift,
        activation=shape.activation,
    )  # fmt: skip
    sums = reference.conv_weight_sums(filters, bias, -shape.input_zero_point)
    return Case(
        entry,
        conv_params(shape),
        [x, filters, None if shape.folded else bias, sums if shape.folded else None, multiplier, shift],
        expected.size,
        scratch_bytes,
    ), expected  # fmt: skip


def conv_params(shape: ConvShape) -> list[int]:
    """The numbers of a convolution case as driver.c wants them."""
    output = shape.output if shape.output != (0, 0) else shape.size
    return [
        shape.batches, *shape.size, shape.cin,
        shape.cout, *shape.kernel, shape.cin // shape.groups,
        shape.batches, *output, shape.cout,
        -shape.input_zero_point, shape.output_zero_point,
        *reversed(shape.stride), *reversed(shape.padding), *reversed(shape.dilation), *shape.activation,
    ]  # fmt: skip


DILATIONS = st.sampled_from([(1, 1)] * 4 + [(2, 1), (1, 2), (2, 3)])


def pairs(low: int, high: int):
    return st.tuples(st.integers(low, high), st.integers(low, high))


@st.composite
def conv_shapes(
    draw, *, cin=None, cout=None, kernel=None, stride=None, dilation=None, padded=True, size=None
):
    """Any small convolution; a strategy given by name replaces the default one of that field."""
    fields = {
        "kernel": draw(kernel if kernel is not None else pairs(1, 5)),
        "stride": draw(stride if stride is not None else pairs(1, 3)),
        "dilation": draw(dilation if dilation is not None else DILATIONS),
        "cin": draw(cin if cin is not None else st.integers(1, 20)),
        "cout": draw(cout if cout is not None else st.integers(1, 19)),
        "batches": draw(st.sampled_from([1, 1, 1, 2, 3])),
        "input_zero_point": draw(st.sampled_from([-128, 127, 0, 3, -77])),
        "output_zero_point": draw(st.sampled_from([-128, 127, 0, -5])),
        "activation": draw(st.sampled_from([INT8, INT8, (-128, 20), (-5, 127), (0, 0), (-30, 31)])),
        "folded": draw(st.booleans()),
        "bias": draw(st.booleans()),
        "extreme": draw(st.sampled_from([False, False, True])),
        "seed": draw(st.integers(0, 2**20)),
    }  # fmt: skip
    fields["size"] = draw(size if size is not None else pairs(1, 9))
    reach = [(k - 1) * d + 1 for k, d in zip(fields["kernel"], fields["dilation"], strict=True)]
    fits = all(r <= s for r, s in zip(reach, fields["size"], strict=True))
    if padded and (not fits or draw(st.booleans())):
        return same(**fields)
    if not fits:
        fields["size"] = tuple(max(r, s) for r, s in zip(reach, fields["size"], strict=True))
    return valid(**fields)
