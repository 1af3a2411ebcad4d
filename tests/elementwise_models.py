# SPDX-License-Identifier: Apache-2.0
"""Models of many element-wise operators, comparisons and reductions side by side, each with its own output."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from tflite_models import ACTIVATIONS, ModelBuilder

SHAPE = (2, 3, 4, 5)
ROW = (5,)
COLUMN = (3, 1, 1)
SCALES = {"int8": 0.021, "int16": 0.00013}
COMPARISONS = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
ARITHMETIC_32 = ("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE")
FUSED = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions"}


class Layers:
    """Collects operators that read the inputs of one model."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.model = ModelBuilder()
        self.inputs: list[int] = []
        self.ranges: list[tuple[float, float]] = []
        self.outputs: list[int] = []
        self.names: list[str] = []

    def input(
        self, shape: Sequence[int], dtype: str, limits: tuple[float, float], **fields: Any
    ) -> int:
        """Adds an input of the model; its values lie within the limits."""
        self.inputs.append(self.model.tensor(shape, dtype=dtype, **fields))
        self.ranges.append(limits)
        return self.inputs[-1]

    def op(
        self,
        op_type: str,
        inputs: Sequence[int],
        shape: Sequence[int],
        dtype: str,
        options: tuple[str, dict[str, Any]] | None = None,
        **fields: Any,
    ) -> int:
        """Adds an operator whose output is an output of the model."""
        self.outputs.append(self.model.tensor(shape, dtype=dtype, **fields))
        self.model.operator(op_type, inputs, [self.outputs[-1]], options)
        self.names.append(f"{op_type} {dtype}")
        return self.outputs[-1]

    def numbers(self, values: Any) -> int:
        """Adds int32 constants."""
        return self.model.constant(np.array(values, np.int32))

    def build(self) -> bytes:
        return self.model.build(inputs=self.inputs, outputs=self.outputs)

    def samples(self) -> list[np.ndarray]:
        arrays = []
        for index, (low, high) in zip(self.inputs, self.ranges, strict=True):
            tensor = self.model.tensors[index]
            if tensor.dtype.startswith("float"):
                # Halves, so that both precisions see the same numbers.
                real = self.rng.uniform(low, high, tensor.shape).astype(np.float16)
                arrays.append(real.astype(tensor.dtype))
            else:
                wide = self.rng.integers(int(low), int(high) + 1, tensor.shape)
                arrays.append(wide.astype(tensor.dtype))
        return arrays


def quantized(m: Layers) -> None:
    """Integer operators with scales."""
    for dtype in ("int8", "int16"):
        info = np.iinfo(dtype)
        everything = (info.min, info.max)
        zero = 7 if dtype == "int8" else 0
        scale = SCALES[dtype]
        x = m.input(SHAPE, dtype, everything, scale=scale, zero_point=zero)
        row = m.input(ROW, dtype, everything, scale=scale * 1.7, zero_point=-zero)
        few = m.input(COLUMN, dtype, (zero - 2, zero + 2), scale=scale, zero_point=zero)
        near = m.input(SHAPE, dtype, (zero - 2, zero + 2), scale=scale, zero_point=zero)
        for a, b, out in ((x, row, 0.4), (row, x, 0.02), (x, x, 0.1), (few, near, 0.0001)):
            fields = {"scale": out * (1 if dtype == "int8" else 0.005), "zero_point": -zero}
            m.op("SQUARED_DIFFERENCE", [a, b], SHAPE, dtype, **fields)
        if dtype == "int8":
            for op_type in COMPARISONS:
                for a, b in ((x, row), (few, near), (row, x)):
                    m.op(op_type, [a, b], SHAPE, "bool")
            # Quotients below one step: TFLite Micro shifts by more than 31 bits there, which C does not define.
            large = m.input(SHAPE, dtype, (100, info.max), scale=scale, zero_point=zero)
            positive = m.input(ROW, dtype, (zero + 1, info.max), scale=0.013, zero_point=zero)
            negative = m.input(COLUMN, dtype, (info.min, zero - 1), scale=0.4, zero_point=zero)
            for divisor, out, activation in (
                (positive, 0.1, "none"), (negative, 0.02, "none"), (positive, 1.1, "relu"), (negative, 0.01, "relu6"),
            ):  # fmt: skip
                fused = ("DivOptions", {"FusedActivationFunction": ACTIVATIONS[activation]})
                m.op("DIV", [large, divisor], SHAPE, dtype, fused, scale=out, zero_point=-3)


def plain(m: Layers) -> None:
    """Operators of int32 and bool."""
    x = m.input(SHAPE, "int32", (-(2**31), 2**31 - 1))
    y = m.input(SHAPE, "int32", (-3000, 3000))
    row = m.input(ROW, "int32", (1, 90))
    column = m.input(COLUMN, "int32", (-9, -1))
    for op_type in ARITHMETIC_32:
        for a, b in ((y, row), (y, column), *(() if op_type == "DIV" else ((row, y), (y, y)))):
            # TFLite Micro leaves the activation of an int32 ADD out.
            activations = ("none",) if op_type == "ADD" else ("none", "relu", "relu6")
            activations = activations if op_type in FUSED else (None,)
            for activation in activations if a == y and b == row else activations[:1]:
                options = activation and (
                    FUSED[op_type], {"FusedActivationFunction": ACTIVATIONS[activation]}
                )  # fmt: skip
                m.op(op_type, [a, b], SHAPE, "int32", options)
    for op_type in ("ADD", "SUB", "MAXIMUM", "MINIMUM"):
        m.op(op_type, [x, y], SHAPE, "int32", FUSED.get(op_type) and (FUSED[op_type], {}))
    small = m.input(SHAPE, "int32", (-1, 1))
    flags = [m.op(op_type, [small, column], SHAPE, "bool") for op_type in COMPARISONS]
    flags += [m.op(op_type, [small, m.numbers([0, 1, -1, 0, 1])], SHAPE, "bool") for op_type in COMPARISONS]  # fmt: skip
    for a, b in itertools.pairwise(flags[6:]):
        for op_type in ("LOGICAL_AND", "LOGICAL_OR", "EQUAL", "NOT_EQUAL"):
            m.op(op_type, [a, b], SHAPE, "bool")
    m.op("LOGICAL_NOT", [flags[-1]], SHAPE, "bool")


def functions(m: Layers) -> None:
    """Functions of one number, and selections."""
    for dtype in ("int8", "int16"):
        info = np.iinfo(dtype)
        zero = -20 if dtype == "int8" else 0
        fine = 1.0 if dtype == "int8" else 0.004
        for scale, out in ((0.02, 0.03), (0.0007, 0.4), (1.3, 0.001)):
            x = m.input(SHAPE, dtype, (zero, info.max), scale=scale * fine, zero_point=zero)
            m.op("RSQRT", [x], SHAPE, dtype, scale=out * fine, zero_point=zero)
        flag = m.op("GREATER", [m.input(COLUMN, "int32", (-1, 1)), m.numbers([0])], COLUMN, "bool")
        y = m.input(ROW, dtype, (info.min, info.max), scale=1.3 * fine, zero_point=zero)
        if dtype == "int8":
            m.op("SELECT_V2", [flag, x, y], SHAPE, dtype, scale=1.3 * fine, zero_point=zero)
    for rows, size, scale in ((3, 1, 0.1), (4, 7, 0.05), (2, 60, 0.3), (5, 4, 0.004)):
        z = m.input((rows, size), "int8", (-128, 127), scale=scale, zero_point=5)
        m.op("LOG_SOFTMAX", [z], (rows, size), "int8", scale=1 / 16, zero_point=127)
        m.op("L2_NORMALIZATION", [z], (rows, size), "int8", ("L2NormOptions", {}), scale=1 / 128)


def only_in_litert(m: Layers) -> None:
    """Operators and types that TFLite Micro lacks."""
    x = m.input(SHAPE, "int16", (-300, 300), scale=0.01)
    y = m.input(SHAPE, "int32", (-90, 90))
    flag = m.op("LESS", [y, m.numbers([0])], SHAPE, "bool")
    fused = ("AddOptions", {"FusedActivationFunction": ACTIVATIONS["relu6"]})
    m.op("ADD", [y, y], SHAPE, "int32", fused)
    divisor, negative = m.input(ROW, "int32", (1, 9)), m.input(COLUMN, "int32", (-9, -1))
    for op_type in ("FLOOR_DIV", "FLOOR_MOD"):
        for other in (divisor, negative):
            m.op(op_type, [y, other], SHAPE, "int32")
    m.op("SELECT_V2", [flag, divisor, y], SHAPE, "int32")
    m.op("SELECT", [flag, x, x], SHAPE, "int16", scale=0.01)
    for scale, zero in ((0.03, -11), (0.004, 60), (0.11, 0)):
        z = m.input(SHAPE, "int8", (-128, 127), scale=scale, zero_point=zero)
        positive = m.input(SHAPE, "int8", (zero + 1, 127), scale=scale, zero_point=zero)
        m.op("EXP", [z], SHAPE, "int8", scale=0.05, zero_point=-100)
        m.op("LOG", [positive], SHAPE, "int8", scale=0.03, zero_point=20)
        m.op("SQRT", [positive], SHAPE, "int8", scale=0.02, zero_point=-128)
        # Outputs on whole steps: where they are divided by the scale they are exact, and times its inverse they are not.
        exact = m.input(SHAPE, "int8", (0, 127), scale=0.0005)
        m.op("SQRT", [exact], SHAPE, "int8", scale=0.0005)
        # LiteRT negates the stored numbers, which is right for the zero point 0 alone.
        if zero == 0:
            inside = m.input(SHAPE, "int8", (-127, 127), scale=scale)
            m.op("NEG", [inside], SHAPE, "int8", scale=scale)
        for approximate in (False, True):
            options = ("GeluOptions", {"Approximate": approximate})
            m.op("GELU", [z], SHAPE, "int8", options, scale=scale * 0.9, zero_point=-3)


REAL_FUNCTIONS = ("NEG", "ABS", "SQUARE", "FLOOR", "CEIL", "ROUND", "EXP", "SIN", "COS", "ELU")


def real(m: Layers) -> None:
    """Operators of float32."""
    dtype = "float32"
    x = m.input(SHAPE, dtype, (-4, 4))
    row = m.input(ROW, dtype, (0.5, 3))
    column = m.input(COLUMN, dtype, (-3, -0.5))
    for op_type in REAL_FUNCTIONS:
        m.op(op_type, [x], SHAPE, dtype)
    for op_type in ("SQRT", "RSQRT", "LOG"):
        m.op(op_type, [row], ROW, dtype)
    for alpha in (0.1, 1.5):
        m.op("LEAKY_RELU", [x], SHAPE, dtype, ("LeakyReluOptions", {"Alpha": alpha}))
    for divisor, activation in ((row, "none"), (column, "none"), (row, "relu6")):
        fused = ("DivOptions", {"FusedActivationFunction": ACTIVATIONS[activation]})
        m.op("DIV", [x, divisor], SHAPE, dtype, fused)
    for other in (row, column):
        m.op("SQUARED_DIFFERENCE", [other, x], SHAPE, dtype)
    for op_type in COMPARISONS:
        m.op(op_type, [x, row], SHAPE, "bool")
        flag = m.op(op_type, [row, row], ROW, "bool")
    m.op("SELECT_V2", [flag, x, column], SHAPE, dtype)
    m.op("LOG_SOFTMAX", [x], SHAPE, dtype)
    m.op("L2_NORMALIZATION", [x], SHAPE, dtype, ("L2NormOptions", {}))
    kinds: list[tuple[list[int], bool, tuple[int, ...]]] = [
        ([1, 2], True, (2, 1, 1, 5)), ([3], False, (2, 3, 4)), ([0, 2], False, (3, 5)), ([-1, 0, 1, 2], False, ()),
    ]  # fmt: skip
    for axes, keep, shape in kinds:
        for op_type in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
            options = ("ReducerOptions", {"KeepDims": keep})
            m.op(op_type, [x, m.numbers(axes)], shape, dtype, options)
    for axis in (1, 3):
        shape = tuple(size for i, size in enumerate(SHAPE) if i != axis)
        m.op("ARG_MAX", [x, m.numbers([axis])], shape, "int32", ("ArgMaxOptions", {}))
        m.op("ARG_MIN", [x, m.numbers([axis])], shape, "int32", ("ArgMinOptions", {}))
    for size in ((6, 9), (2, 3), (1, 1)):
        for corners, half in ((False, False), (True, False), (False, True)):
            options = ("ResizeBilinearOptions", {"AlignCorners": corners, "HalfPixelCenters": half})
            m.op("RESIZE_BILINEAR", [x, m.numbers(size)], (2, *size, 5), dtype, options)
    wide = m.input((2, 1, 1, 2, 4), dtype, (-4, 4))
    deep = m.input((1, 3, 5, 2, 4), dtype, (-4, 4))
    m.op("MUL", [wide, deep], (2, 3, 5, 2, 4), dtype, ("MulOptions", {}))


def real_only_in_litert(m: Layers) -> None:
    """Float operators that TFLite Micro lacks or computes otherwise."""
    x = m.input(SHAPE, "float32", (-4, 4))
    row = m.input(ROW, "float32", (0.5, 3))
    for approximate in (False, True):
        m.op("GELU", [x], SHAPE, "float32", ("GeluOptions", {"Approximate": approximate}))
    m.op("FLOOR_DIV", [x, row], SHAPE, "float32")


INTEGER_PARTS = (quantized, plain, functions, only_in_litert)


def element_wise_operators() -> set[str]:
    """The operators of the models below."""
    made = Layers(seed=3)
    for part in INTEGER_PARTS:
        part(made)
    return {name.split()[0] for name in made.names}
