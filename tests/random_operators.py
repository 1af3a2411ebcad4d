# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies of ``.tflite`` models: one operator of one type, or a small graph of several with branches.

    case = data.draw(operators("CONV_2D", "int8"))
    model = case.data  # bytes
    print(case)  # every tensor and operator in words

Everything that decides what is compiled (shapes, types, options, quantization) is drawn, and so shrinks towards one row,
one column and one channel; weights and inputs are random numbers from a drawn seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st
from tflite_models import ACTIVATIONS, DTYPES, PADDINGS, ModelBuilder, Tensor, output_extent

from helia_aot.operators.registry import FAMILIES

CLAMPS: Final = ("none", "relu", "relu6")
CHANNELS: Final = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24)
ANY: Final = ("int8", "int16", "int32", "int64", "uint8", "bool", "float32", "float16")
"""Types that stand for "any" of the page of operators: one byte, two, four and eight, and both kinds of floats."""
RANKS: Final = (4, 3, 2, 1, 5)
FLAT: Final = frozenset({"L2_NORMALIZATION", "STRIDED_SLICE"})
"""Operators that TFLite Micro has up to four dimensions of."""
PLATFORMS: Final = ("host", "apollo4p_evb", "apollo510_evb")
"""Without extensions, with DSP, and with MVE and FP16."""
COARSENESS: Final = (1, 1, 1, 1, 0.02, 30)
"""Most scales suit their operator, some saturate or leave one step of the output."""
REAL: Final = (-4.0, 4.0)
"""Float inputs, small enough for float16."""
STEPS: Final = {"uint8": 128, "int32": 0}
"""Zero points of the other types that QUANTIZE reads."""


@dataclass(frozen=True)
class Case:
    """A model with what to run it on.

    Attributes:
        name: Operator and element type, or ``graph`` and element type.
        precision: ``model.precision`` of the conversion.
        platform: ``platform.name`` of the conversion, which decides what is called.
        model: The model that is written.
        inputs: Its input tensors.
        outputs: Its output tensors.
        limits: Lowest and highest stored value of each input.
        seed: Of the inputs.
        file: The model as it is written, where it is not what :attr:`model` writes.
        refused_by: Interpreters that do not take this form of file, though they have the operators. TFLite Micro runs
            :attr:`plain` then, which says the same; LiteRT is left out.
    """

    name: str
    precision: str
    platform: str
    model: ModelBuilder
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    limits: tuple[tuple[float, float], ...]
    seed: int
    file: bytes | None = None
    refused_by: tuple[str, ...] = ()

    @cached_property
    def data(self) -> bytes:
        """The file."""
        return self.file or self.plain

    @cached_property
    def plain(self) -> bytes:
        """The file as :attr:`model` writes it."""
        return self.model.build(inputs=self.inputs, outputs=self.outputs)

    @cached_property
    def samples(self) -> list[list[np.ndarray]]:
        """Three arrays for each input: random numbers, and each end of their range everywhere."""
        rng = np.random.default_rng(self.seed)
        tensors = [self.model.tensors[x] for x in self.inputs]
        pairs = list(zip(tensors, self.limits, strict=True))
        return [
            [_array(rng, *pair) for pair in pairs],
            *([np.full(t.shape, ends[k], t.dtype) for t, ends in pairs] for k in (0, 1)),
        ]

    def op_types(self) -> set[str]:
        """Gives the operator types in the model."""
        return {operator.op_type for operator in self.model.operators}

    def __repr__(self) -> str:
        """Gives the model in words, one operator a line."""
        lines = [
            f"{self.name}, precision {self.precision}, platform {self.platform}, inputs from seed {self.seed}:"
        ]
        for x, (low, high) in zip(self.inputs, self.limits, strict=True):
            lines.append(f"  input  {self._tensor(x)} from {low:g} to {high:g}")
        for operator in self.model.operators:
            inputs, outputs = (
                ", ".join("absent" if i < 0 else self._tensor(i) for i in ids)
                for ids in (operator.inputs, operator.outputs)
            )
            options = "" if operator.options is None else f"  {operator.options[1]}"
            lines.append(f"  {operator.op_type}({inputs}) -> {outputs}{options}")
        lines.append(f"  outputs {', '.join(f't{o}' for o in self.outputs)}")
        return "\n".join(lines)

    def _tensor(self, index: int) -> str:
        tensor = self.model.tensors[index]
        text = f"t{index} {tensor.dtype}{list(tensor.shape)}"
        if tensor.scale:
            scales = ", ".join(f"{scale:.6g}" for scale in tensor.scale[:3])
            text += f" scale {scales}{', ...' if len(tensor.scale) > 3 else ''} zero {tensor.zero_point[0]}"
        if tensor.data is None or tensor.dtype == "int4":
            return text if tensor.data is None else f"{text} = constant"
        values = np.frombuffer(tensor.data, tensor.dtype)
        return f"{text} = {values.tolist() if values.size <= 8 else 'constant'}"


def _array(rng: np.random.Generator, tensor: Tensor, limits: tuple[float, float]) -> np.ndarray:
    low, high = limits
    if tensor.dtype.startswith("float"):
        # Halves, so that both precisions see the same numbers.
        return rng.uniform(low, high, tensor.shape).astype(np.float16).astype(tensor.dtype)
    return rng.integers(int(low), int(high), tensor.shape, endpoint=True).astype(tensor.dtype)


@dataclass(frozen=True)
class Packed:
    """Weights that a file holds as int4 numbers with a scale for each block.

    Attributes:
        tensor: The tensor, which holds the floats that they stand for.
        values: The int4 numbers.
        scales: A scale for each block of the last dimension.
        size: Elements of a block.
    """

    tensor: int
    values: np.ndarray
    scales: np.ndarray
    size: int


def _packed(values: np.ndarray) -> bytes:
    """Gives int4 numbers two to a byte, the first one in the low half."""
    flat = values.astype(np.uint8).reshape(-1) & 15
    pairs = np.append(flat, np.zeros(flat.size % 2, np.uint8)).reshape(-1, 2)
    return bytes(pairs[:, 0] | pairs[:, 1] << 4)


def merged(cases: Sequence[Case]) -> Case:
    """Puts models side by side into one, each with inputs and outputs of its own."""
    model = ModelBuilder()
    inputs: list[int] = []
    outputs: list[int] = []
    for number, case in enumerate(cases):
        base = len(model.tensors)

        def moved(ids: Sequence[int], base: int = base) -> list[int]:
            return [i if i < 0 else base + i for i in ids]

        for tensor in case.model.tensors:
            model.copy(tensor, name=f"case{number}_{tensor.name}")
        for operator in case.model.operators:
            options = operator.options
            if operator.op_type == "VAR_HANDLE":
                options = ("VarHandleOptions", {"SharedName": f"variable{number}"})
            model.operator(
                operator.op_type, moved(operator.inputs), moved(operator.outputs), options
            )
        inputs += moved(case.inputs)
        outputs += moved(case.outputs)
    limits = tuple(ends for case in cases for ends in case.limits)
    return Case("all", "model", "host", model, tuple(inputs), tuple(outputs), limits, 0)


class Maker:
    """Draws one model.

    Args:
        draw: Hypothesis' function that draws from a strategy.
        dtype: Element type of activations; float16 is float32 that the conversion turns into float16.
    """

    def __init__(self, draw: Callable[[Any], Any], dtype: str) -> None:
        self.draw = draw
        self.is_half = dtype == "float16"
        self.dtype = "float32" if self.is_half else dtype
        self.precision = "float16" if self.is_half else "model"
        self.model = ModelBuilder()
        self.inputs: list[int] = []
        self.limits: list[tuple[float, float]] = []
        self.platform = self.pick(PLATFORMS[2:] if self.is_half else PLATFORMS)
        self.seed = self.between(0, 999)
        self.rng = np.random.default_rng(self.seed)
        self.ranks: tuple[int, ...] = RANKS
        self.packed: Packed | None = None

    def case(self, name: str, outputs: Sequence[int]) -> Case:
        """Gives the model that was drawn."""
        return Case(
            name,
            self.precision,
            self.platform,
            self.model,
            tuple(self.inputs),
            tuple(outputs),
            tuple(self.limits),
            self.seed,
            **({} if self.packed is None else self._with_blocks(self.packed, outputs)),
        )

    def _with_blocks(self, packed: Packed, outputs: Sequence[int]) -> dict[str, Any]:
        """Gives the file with packed weights in the place of the floats that they stand for."""
        model = deepcopy(self.model)
        scales = model.constant(packed.scales)
        plain = model.tensors[packed.tensor]
        model.tensors[packed.tensor] = replace(
            plain,
            dtype="int4",
            data=_packed(packed.values),
            blocks=(scales, packed.size),
        )
        data = model.build(inputs=self.inputs, outputs=outputs)
        return {"file": data, "refused_by": ("TFLite Micro", "LiteRT")}

    @property
    def is_real(self) -> bool:
        """Whether activations are floats."""
        return self.dtype.startswith("float")

    @property
    def is_quantized(self) -> bool:
        """Whether activations have scales."""
        return self.dtype in ("int8", "int16")

    def pick(self, values: Sequence[Any]) -> Any:
        """Draws one of the values; failures shrink towards the first."""
        return self.draw(st.sampled_from(tuple(values)))

    def between(self, low: int, high: int) -> int:
        """Draws a whole number, both ends included."""
        return int(self.draw(st.integers(low, high)))

    def flag(self) -> bool:
        """Draws yes or no."""
        return bool(self.draw(st.booleans()))

    def permutation(self, count: int) -> list[int]:
        """Draws an order of axes."""
        return list(self.draw(st.permutations(range(count))))

    def image(self, low: int = 1) -> tuple[int, int, int, int]:
        """Draws batches, rows, columns and channels."""
        return self.between(1, 2), self.between(low, 8), self.between(low, 8), self.pick(CHANNELS)

    def shape(self, ranks: Sequence[int] | None = None) -> tuple[int, ...]:
        """Draws a shape of one of the ranks, by default of those that the references have."""
        rank = self.pick(ranks or self.ranks)
        if rank <= 4:
            return self.image()[4 - rank :]
        # Small, so that a few more dimensions are not many more elements.
        return tuple(self.between(1, 3) for _ in range(rank))

    def quantization(self, spread: float = 1.0, *, coarse: bool = True) -> dict[str, Any]:
        """Draws a quantization for the type of activations, now and then one that is far too coarse or fine."""
        if not self.is_quantized:
            return {"dtype": self.dtype}
        scale = self.between(10, 100) / 1000 * spread * (self.pick(COARSENESS) if coarse else 1)
        if self.dtype == "int16":
            return {"dtype": "int16", "scale": scale / 256, "zero_point": 0}
        return {"dtype": "int8", "scale": scale, "zero_point": self.between(-128, 127)}

    def like(self, tensor: int) -> dict[str, Any]:
        """Gives the quantization of a tensor."""
        other = self.model.tensors[tensor]
        if not other.scale:
            return {"dtype": other.dtype}
        return {"dtype": other.dtype, "scale": other.scale[0], "zero_point": other.zero_point[0]}

    def shape_of(self, tensor: int) -> tuple[int, ...]:
        """Gives the shape of a tensor."""
        return self.model.tensors[tensor].shape

    def given(
        self,
        shape: Sequence[int],
        limits: tuple[float, float] | None = None,
        **quantization: Any,
    ) -> int:
        """Adds an input of the model; its limits are stored values, by default all of its type."""
        x = self.model.tensor(shape, **(quantization or self.quantization()))
        self.inputs.append(x)
        self.limits.append(limits or _range(self.model.tensors[x].dtype))
        return x

    def op(
        self,
        op_type: str,
        inputs: Sequence[int],
        shape: Sequence[int],
        quantization: dict[str, Any],
        options: tuple[str, dict[str, Any]] | None = None,
    ) -> int:
        """Adds an operator with one output."""
        y = self.model.tensor(shape, **quantization)
        self.model.operator(op_type, inputs, [y], options)
        return y

    def numbers(self, values: Any) -> int:
        """Adds int32 constants."""
        return self.model.constant(np.array(values, np.int32))

    def values(
        self, shape: Sequence[int], limits: tuple[float, float] | None = None, **q: Any
    ) -> int:
        """Adds a constant of activations."""
        wanted = Tensor(tuple(shape), q["dtype"], "", (), (), 0, None)
        data = _array(self.rng, wanted, limits or _range(q["dtype"]))
        fields = {k: v for k, v in q.items() if k != "dtype"}
        return self.model.constant(data, **fields)

    def weights(
        self, shape: Sequence[int], channels: int, axis: int, *, narrow: bool = False
    ) -> int:
        """Adds weights, integer ones quantized per tensor (axis -1) or per channel; narrow ones may be int4."""
        if self.is_real:
            return self.model.constant(self.rng.uniform(-1, 1, shape).astype(np.float32))
        if narrow and self.dtype == "int8" and self.pick((False, False, True)):
            data = self.rng.integers(-8, 8, shape).astype(np.int8)
            scale = 0.05 if axis < 0 else self.rng.uniform(0.01, 0.1, channels)
            tensor = self.model.constant(data, scale=scale, axis=max(axis, 0))
            plain = self.model.tensors[tensor]
            self.model.tensors[tensor] = replace(plain, dtype="int4", data=_packed(data))
            return tensor
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        scale: Any = 0.004 if axis < 0 else self.rng.uniform(0.001, 0.01, channels)
        return self.model.constant(data, scale=scale, axis=max(axis, 0))

    def bias(self, x: int, filters: int, channels: int, *, narrow: bool = False) -> list[int]:
        """Adds a bias or none; int16 layers may have one of int32."""
        if not self.flag():
            return []
        if self.is_real:
            return [self.model.constant(self.rng.uniform(-1, 1, channels).astype(np.float32))]
        dtype = np.int64 if self.dtype == "int16" and not narrow else np.int32
        data = self.rng.integers(-4000, 4000, channels).astype(dtype)
        source, weights = self.model.tensors[x], self.model.tensors[filters]
        return [self.model.constant(data, scale=source.scale[0] * np.array(weights.scale))]


def _range(dtype: str) -> tuple[float, float]:
    """Gives lowest and highest value of a type."""
    if dtype.startswith("float"):
        return REAL
    if dtype == "bool":
        return 0, 1
    if dtype in ("int32", "int64"):
        return -3000, 3000  # products stay in the type
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def _fused(table: str, activation: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return table, {"FusedActivationFunction": ACTIVATIONS[activation], **fields}


def _window(
    m: Maker, size: Sequence[int], *, dilated: bool
) -> tuple[tuple[int, ...], list[int], dict[str, Any]]:
    """Draws kernel, output size and options of a window that fits."""
    padding = m.pick(("valid", "same"))
    kernel = tuple(m.between(1, min(5, s) if padding == "valid" else 5) for s in size)
    stride = [m.between(1, 3) for _ in size]
    dilation = [1, 1]
    if dilated and m.flag():
        room = [padding == "same" or (k - 1) * 2 < s for k, s in zip(kernel, size, strict=True)]
        dilation = [m.between(1, 2) if fits else 1 for fits in room]
    extents = zip(size, kernel, stride, dilation, strict=True)
    out = [output_extent(*extent, padding) for extent in extents]
    fields = {"Padding": PADDINGS[padding], "StrideH": stride[0], "StrideW": stride[1]}
    if dilated:
        fields |= {"DilationHFactor": dilation[0], "DilationWFactor": dilation[1]}
    return kernel, out, fields


def convolution(m: Maker, op_type: str, x: int | None = None) -> int:
    groups = m.pick((1, 1, 2)) if x is None and m.dtype != "int16" else 1
    if x is None:
        n, h, w, c = m.image()
        x = m.given((n, h, w, c * groups))
    n, h, w, c = m.shape_of(x)
    kernel, out, fields = _window(m, (h, w), dilated=True)
    channels = m.between(1, 20) * groups
    filters = m.weights((channels, *kernel, c // groups), channels, m.pick((0, -1)), narrow=True)
    narrow = m.dtype == "int16" and m.flag()
    if m.dtype == "int16":
        fields["QuantizedBiasType"] = DTYPES["int32" if narrow else "int64"]
    options = _fused("Conv2DOptions", m.pick(CLAMPS), **fields)
    inputs = [x, filters, *m.bias(x, filters, channels, narrow=narrow)]
    return m.op(op_type, inputs, (n, *out, channels), m.quantization(4), options)


def depthwise(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.image()) if x is None else x
    n, h, w, c = m.shape_of(x)
    kernel, out, fields = _window(m, (h, w), dilated=m.dtype != "int16")
    channels = c * m.between(1, 3)
    filters = m.weights((1, *kernel, channels), channels, 3, narrow=True)
    fields = {"DilationHFactor": 1, "DilationWFactor": 1, **fields}
    options = _fused(
        "DepthwiseConv2DOptions", m.pick(CLAMPS), DepthMultiplier=channels // c, **fields
    )
    inputs = [x, filters, *m.bias(x, filters, channels)]
    return m.op(op_type, inputs, (n, *out, channels), m.quantization(2), options)


def fully_connected(m: Maker, op_type: str, x: int | None = None) -> int:
    if x is None and m.is_real and m.flag():
        return _fully_connected_blocks(m, op_type)
    if x is None:
        x = m.given((*m.shape((1, 2, 3)), m.between(1, 40)))
    shape = m.shape_of(x)
    channels = m.between(1, 20)
    if m.dtype != "int16" and m.pick((False, False, True)):
        return _fully_connected_computed(m, op_type, x, channels)
    per_channel = m.is_quantized and m.flag()
    axis = 0 if per_channel else -1  # TFLite Micro's int4 weights have one scale here
    filters = m.weights((channels, shape[-1]), channels, axis, narrow=not per_channel)
    keeps = len(shape) > 2 and m.flag()
    narrow = m.dtype == "int16" and m.flag()
    kind = (
        {"QuantizedBiasType": DTYPES["int32" if narrow else "int64"]} if m.dtype == "int16" else {}
    )
    options = _fused("FullyConnectedOptions", m.pick(CLAMPS), KeepNumDims=keeps, **kind)
    inputs = [x, filters, *m.bias(x, filters, channels, narrow=narrow)]
    rows = shape[:-1] if keeps else (int(np.prod(shape[:-1])),)
    return m.op(op_type, inputs, (*rows, channels), m.quantization(5), options)


def _fully_connected_blocks(m: Maker, op_type: str) -> int:
    """Of int4 weights with a scale for each block."""
    size, blocks, channels = m.pick((8, 16, 24, 32)), m.between(1, 3), m.between(1, 12)
    x = m.given((m.between(1, 5), size * blocks))
    values = m.rng.integers(-8, 8, (channels, size * blocks)).astype(np.int8)
    kind = np.float16 if m.flag() else np.float32
    scales = m.rng.uniform(0.001, 0.1, (channels, blocks)).astype(kind)
    floats = values * np.repeat(scales.astype(np.float32), size, axis=1)
    filters = m.model.constant(floats.astype(np.float32))
    m.packed = Packed(filters, values, scales, size)
    options = _fused("FullyConnectedOptions", m.pick(CLAMPS), KeepNumDims=False)
    inputs = [x, filters, *m.bias(x, filters, channels)]
    shape = (m.shape_of(x)[0], channels)
    return m.op(op_type, inputs, shape, m.quantization(5), options)


def _fully_connected_computed(m: Maker, op_type: str, x: int, channels: int) -> int:
    """Of computed weights, perhaps with a zero point, and a constant bias or none."""
    *rows, depth = m.shape_of(x)
    own = m.quantization(0.1, coarse=False)
    filters = m.given((channels, depth), None if m.is_quantized else (-1, 1), **own)
    options = _fused("FullyConnectedOptions", m.pick(CLAMPS), KeepNumDims=False)
    inputs = [x, filters, *m.bias(x, filters, channels)]
    shape = (int(np.prod(rows)), channels)
    return m.op(op_type, inputs, shape, m.quantization(5), options)


def transpose_convolution(m: Maker, op_type: str) -> int:
    n, h, w, c = m.image()
    kernel, stride, channels = m.between(1, 4), m.between(1, 3), m.between(1, 9)
    padding = m.pick(("valid", "same"))
    if padding == "valid":
        kernel = max(kernel, stride)
    grow = [s * stride if padding == "same" else (s - 1) * stride + kernel for s in (h, w)]
    filters = m.weights((channels, kernel, kernel, c), channels, 0)
    shape = (n, *grow, channels)
    window = {"Padding": PADDINGS[padding], "StrideH": stride, "StrideW": stride}
    x = m.given((n, h, w, c))
    inputs = [m.numbers(shape), filters, x, *m.bias(x, filters, channels)]
    return m.op(op_type, inputs, shape, m.quantization(3), ("TransposeConvOptions", window))


def pool(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.image()) if x is None else x
    n, h, w, c = m.shape_of(x)
    kernel, out, fields = _window(m, (h, w), dilated=False)
    fields |= {"FilterHeight": kernel[0], "FilterWidth": kernel[1]}
    options = _fused("Pool2DOptions", m.pick(CLAMPS), **fields)
    return m.op(op_type, [x], (n, *out, c), m.like(x), options)


def _other(
    m: Maker, shape: Sequence[int], limits: tuple[float, float] | None = None, **q: Any
) -> int:
    """Adds a second operand: of the same shape or broadcast along some dimensions; computed or constant."""
    form = m.pick(("same", "last", "one", "some"))
    own = list(shape)
    if form == "last":
        own = own[-1:]
    elif form == "one":
        own = [1]
    elif form == "some":
        own = [size if m.flag() else 1 for size in own]
    return m.values(own, limits, **q) if m.flag() else m.given(own, limits, **q)


def _pair(m: Maker, x: int, other: int) -> list[int]:
    return [other, x] if m.flag() else [x, other]


TABLES: Final = {
    "ADD": "AddOptions",
    "SUB": "SubOptions",
    "MUL": "MulOptions",
    "DIV": "DivOptions",
}


def arithmetic(m: Maker, op_type: str, x: int | None = None, other: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    shape = m.shape_of(x)
    other = _other(m, shape, **m.quantization()) if other is None else other
    # TFLite Micro leaves the activation of an int32 ADD out.
    activation = "none" if m.dtype == "int32" and op_type == "ADD" else m.pick(CLAMPS)
    options = _fused(TABLES[op_type], activation)
    return m.op(op_type, _pair(m, x, other), shape, m.quantization(2), options)


def quotient(m: Maker, op_type: str) -> int:
    """Divides by numbers on one side of 0; those of floats are powers of 2, so that no rounding crosses an integer."""
    shape = m.shape()
    if m.is_real:
        x, low, high, own = m.given(shape), 0.5, 2.0, m.quantization()
        other = m.model.constant(
            np.exp2(m.rng.integers(-1, 2, shape)).astype(np.float32) * m.pick((1, -1))
        )
    elif m.dtype == "int8":
        # Quotients below one step: TFLite Micro shifts by more than 31 bits there, which C does not define.
        own = {"dtype": "int8", "scale": 0.02, "zero_point": m.between(-50, 50)}
        x = m.given(shape, (100, 127), **own)
        low, high = own["zero_point"] + 1, 127
        if m.flag():
            low, high = -128, own["zero_point"] - 1
        other = _other(m, shape, (low, high), **own)
    else:
        own = m.quantization()
        x = m.given(shape, **own)
        other = _other(m, shape, m.pick(((1, 90), (-90, -1))), **own)
    options = _fused("DivOptions", m.pick(CLAMPS)) if op_type == "DIV" else None
    return m.op(op_type, [x, other], shape, m.quantization(2, coarse=False), options)


def squared_difference(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    other = _other(m, m.shape_of(x), **m.quantization())
    return m.op(op_type, _pair(m, x, other), m.shape_of(x), m.quantization(4))


def extremum(m: Maker, op_type: str, x: int | None = None, other: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    other = _other(m, m.shape_of(x), **m.like(x)) if other is None else other
    options = ("MaximumMinimumOptions", {})
    return m.op(op_type, _pair(m, x, other), m.shape_of(x), m.like(x), options)


def comparison(m: Maker, op_type: str) -> int:
    """Compares numbers that are often equal; scales from 1 on are refused."""
    limits: tuple[float, float] | None = None
    if m.dtype in ("int8", "int32", "int64"):
        limits = (-2, 2)
    x = m.given(m.shape(), limits, **m.quantization(coarse=False))
    own = m.like(x) if m.flag() else m.quantization(coarse=False)
    other = _other(m, m.shape_of(x), limits, **own)
    return m.op(op_type, _pair(m, x, other), m.shape_of(x), {"dtype": "bool"})


def logic(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    inputs = [x] if op_type == "LOGICAL_NOT" else [x, _other(m, m.shape_of(x), dtype="bool")]
    return m.op(op_type, inputs, m.shape_of(x), {"dtype": "bool"})


def selection(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    shape = m.shape_of(x)
    if op_type == "SELECT":
        condition, other = m.given(shape, dtype="bool"), m.given(shape, **m.like(x))
    else:
        condition, other = _other(m, shape, dtype="bool"), _other(m, shape, **m.like(x))
    return m.op(op_type, [condition, *_pair(m, x, other)], shape, m.like(x))


def clamp(m: Maker, op_type: str, x: int | None = None) -> int:
    alike = x is not None or m.flag()  # TFLite Micro runs no network in which a clamp rescales
    x = m.given(m.shape()) if x is None else x
    return m.op(op_type, [x], m.shape_of(x), m.like(x) if alike else m.quantization())


FIXED: Final[dict[tuple[str, str], tuple[float, int]]] = {
    ("LOGISTIC", "int8"): (1 / 256, -128),
    ("LOGISTIC", "int16"): (1 / 32768, 0),
    ("TANH", "int8"): (1 / 128, 0),
    ("TANH", "int16"): (1 / 32768, 0),
    ("SOFTMAX", "int8"): (1 / 256, -128),
    ("SOFTMAX", "int16"): (1 / 32768, 0),
    ("LOG_SOFTMAX", "int8"): (1 / 16, 127),
    ("L2_NORMALIZATION", "int8"): (1 / 128, 0),
}
"""Scales and zero points of outputs that TFLite fixes."""


def _fixed(m: Maker, op_type: str) -> dict[str, Any]:
    if m.is_real:
        return {"dtype": m.dtype}
    scale, zero_point = FIXED[op_type, m.dtype]
    return {"dtype": m.dtype, "scale": scale, "zero_point": zero_point}


def curve(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    return m.op(op_type, [x], m.shape_of(x), _fixed(m, op_type))


def leaky_relu(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    options = ("LeakyReluOptions", {"Alpha": m.pick((0.1, 0.3, 1.2, -0.5, 0.0))})
    return m.op(op_type, [x], m.shape_of(x), m.quantization(), options)


def softmax(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    beta = m.pick((1.0, 0.5, 2.0))
    options = ("SoftmaxOptions", {"Beta": beta}) if op_type == "SOFTMAX" else None
    return m.op(op_type, [x], m.shape_of(x), _fixed(m, op_type), options)


POSITIVE: Final = frozenset({"LOG", "SQRT", "RSQRT"})


def function(m: Maker, op_type: str) -> int:
    """Functions of one number, each over the numbers for which the reference defines it."""
    own = m.quantization()
    limits: tuple[float, float] | None = None
    if op_type in POSITIVE:
        limits = (0.25, 4.0)
        if m.is_quantized:
            own["zero_point"] = min(own["zero_point"], 100)
            limits = (own["zero_point"] + 1, np.iinfo(m.dtype).max)
    elif op_type == "NEG" and m.is_quantized:
        # LiteRT negates the stored numbers, which is right for the zero point 0 alone.
        own["zero_point"], limits = 0, (-127, 127)
    elif m.is_half and op_type == "EXP":
        limits = (-4.0, 2.0)
    x = m.given(m.shape(), limits, **own)
    alike = op_type == "NEG" and m.is_quantized
    options = ("GeluOptions", {"Approximate": m.flag()}) if op_type == "GELU" else None
    return m.op(op_type, [x], m.shape_of(x), own if alike else m.quantization(), options)


def requantize(m: Maker, op_type: str, x: int | None = None) -> int:
    """QUANTIZE: to int8 or int16, from floats or from a type that is quantized too."""
    if x is not None:
        return m.op(op_type, [x], m.shape_of(x), m.quantization(), ("QuantizeOptions", {}))
    own, types = m.quantization(), ("int8", "int16")
    if m.dtype in ("uint8", "int32"):
        own = {"dtype": m.dtype, "scale": 0.02, "zero_point": STEPS[m.dtype]}
        types = ("int8",)
    x = m.given(m.shape(), **own)
    m.dtype = m.pick(types)
    return m.op(op_type, [x], m.shape_of(x), m.quantization(), ("QuantizeOptions", {}))


def dequantize(m: Maker, op_type: str) -> int:
    own = m.quantization()
    if m.dtype == "uint8":
        own = {"dtype": "uint8", "scale": 0.02, "zero_point": 128}
    elif m.is_half:
        own, m.precision = {"dtype": "float16"}, "model"
    x = m.given(m.shape(), **own)
    return m.op(op_type, [x], m.shape_of(x), {"dtype": "float32"}, ("DequantizeOptions", {}))


def cast(m: Maker, op_type: str) -> int:
    """CAST from the type to another one that can hold the numbers."""
    x = m.given(m.shape(), (0, 100) if m.dtype not in ("bool",) else None, dtype=m.dtype)
    to = m.pick([t for t in ("float32", "int32", "int8", "int16") if t != m.dtype])
    return m.op(op_type, [x], m.shape_of(x), {"dtype": to}, ("CastOptions", {}))


def pad(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    source = m.shape_of(x)
    amounts = [(m.between(0, 2), m.between(0, 2)) for _ in source]
    shape = [s + sum(a) for s, a in zip(source, amounts, strict=True)]
    inputs = [x, m.numbers(amounts)]
    if op_type == "PAD":
        return m.op(op_type, inputs, shape, m.like(x), ("PadOptions", {}))
    # A fill of eight bytes is refused unless it is one byte repeated.
    value = m.values((1,), (-1, 0) if m.dtype == "int64" else None, **m.like(x))
    return m.op(op_type, [*inputs, value], shape, m.like(x), ("PadV2Options", {}))


def mirror_pad(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    source, symmetric = m.shape_of(x), m.between(0, 1)
    most = [min(2, size if symmetric else size - 1) for size in source]
    amounts = [(m.between(0, size), m.between(0, size)) for size in most]
    shape = [size + sum(ends) for size, ends in zip(source, amounts, strict=True)]
    options = ("MirrorPadOptions", {"Mode": symmetric})
    return m.op(op_type, [x, m.numbers(amounts)], shape, m.like(x), options)


def transpose(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    source = m.shape_of(x)
    order = m.permutation(len(source))
    shape = [source[i] for i in order]
    return m.op(op_type, [x, m.numbers(order)], shape, m.like(x), ("TransposeOptions", {}))


def concatenation(m: Maker, op_type: str, x: int | None = None, other: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    source = m.shape_of(x)
    axis = m.between(0, len(source) - 1)
    parts = [x]
    if other is None:
        for _ in range(m.between(0, 2)):
            own = list(source)
            own[axis] = m.between(1, 5)
            parts.append(m.given(own, **m.like(x)) if m.flag() else m.values(own, **m.like(x)))
    else:
        parts.append(other)
    shape = list(source)
    shape[axis] = sum(m.shape_of(part)[axis] for part in parts)
    place = m.pick((axis, axis - len(source)))
    return m.op(op_type, parts, shape, m.like(x), ("ConcatenationOptions", {"Axis": place}))


def split(m: Maker, op_type: str) -> list[int]:
    """SPLIT into equal parts, SPLIT_V into drawn ones."""
    shape = list(m.shape())
    axis = m.between(0, len(shape) - 1)
    place = m.numbers(m.pick((axis, axis - len(shape))))
    sizes = [shape[axis]] * m.between(1, 3)
    if op_type == "SPLIT_V":
        sizes = [m.between(1, 4) for _ in sizes]
    x = m.given([*shape[:axis], sum(sizes), *shape[axis + 1 :]])
    parts = [
        m.model.tensor([*shape[:axis], size, *shape[axis + 1 :]], **m.like(x)) for size in sizes
    ]
    if op_type == "SPLIT":
        m.model.operator(op_type, [place, x], parts, ("SplitOptions", {"NumSplits": len(sizes)}))
    else:
        inputs = [x, m.numbers(sizes), place]
        m.model.operator(op_type, inputs, parts, ("SplitVOptions", {"NumSplits": len(sizes)}))
    return parts


def slices(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    source = m.shape_of(x)
    begin = [m.between(0, size - 1) for size in source]
    end = [m.between(first + 1, size) for first, size in zip(begin, source, strict=True)]
    if op_type == "SLICE":
        sizes = [last - first for first, last in zip(begin, end, strict=True)]
        asked = [
            -1 if b + s == full and m.flag() else s
            for b, s, full in zip(begin, sizes, source, strict=True)
        ]
        first = m.numbers(begin)
        if m.flag():
            # Any begin in which the drawn sizes fit: the smallest room of all dimensions.
            room = min(full - s for s, full in zip(sizes, source, strict=True))
            first = m.given((len(source),), (0, room), dtype="int32")
            asked = sizes
        inputs = [x, first, m.numbers(asked)]
        return m.op(op_type, inputs, sizes, m.like(x), ("SliceOptions", {}))
    steps = [m.pick((1, 2, 3, -1, -2)) for _ in source]
    shape = [-(-(e - b) // abs(s)) for b, e, s in zip(begin, end, steps, strict=True)]
    masks = {"BeginMask": 0, "EndMask": 0, "ShrinkAxisMask": 0}
    shrunk = m.between(0, len(source) - 1) if m.flag() and len(source) > 1 else None
    for axis, size in enumerate(source):
        first, last = begin[axis], end[axis]
        if axis == shrunk:
            masks["ShrinkAxisMask"] = 1 << axis
            steps[axis] = 1
        elif (
            steps[axis] < 0
        ):  # from the last to the first; an end before the first element is beyond any number
            begin[axis], end[axis] = last - 1, first - 1 if first else -size - 1
        if m.flag() and axis != shrunk:
            if begin[axis] == (0 if steps[axis] > 0 else size - 1):
                masks["BeginMask"] |= 1 << axis
            if end[axis] == (size if steps[axis] > 0 else -size - 1):
                masks["EndMask"] |= 1 << axis
        elif first > 0 and steps[axis] > 0 and m.flag():
            begin[axis] -= size
    if shrunk is not None:
        del shape[shrunk]
    bounds = [m.numbers(v) for v in (begin, end, steps)]
    return m.op(op_type, [x, *bounds], shape, m.like(x), ("StridedSliceOptions", masks))


def gather(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    source = m.shape_of(x)
    axis = m.between(0, len(source) - 1)
    if m.flag():
        rows = (m.between(1, 5),)
        indices = m.given(rows, (0, source[axis] - 1), dtype="int32")
    else:
        rows = m.pick(((1,), (3,), (2, 2)))
        indices = m.numbers(m.rng.integers(0, source[axis], rows))
    shape = (*source[:axis], *rows, *source[axis + 1 :])
    return m.op(op_type, [x, indices], shape, m.like(x), ("GatherOptions", {"Axis": axis}))


def pack(m: Maker, op_type: str) -> int:
    x = m.given(m.shape((3, 2, 1)))
    shape = m.shape_of(x)
    axis, count = m.between(0, len(shape)), m.between(1, 3)
    parts = [x, *(m.given(shape, **m.like(x)) for _ in range(count - 1))]
    packed = (*shape[:axis], count, *shape[axis:])
    return m.op(
        op_type, parts, packed, m.like(x), ("PackOptions", {"ValuesCount": count, "Axis": axis})
    )


def unpack(m: Maker, op_type: str) -> list[int]:
    x = m.given(m.shape((4, 3, 2)))
    source = m.shape_of(x)
    axis = m.between(0, len(source) - 1)
    shape = (*source[:axis], *source[axis + 1 :])
    parts = [m.model.tensor(shape, **m.like(x)) for _ in range(source[axis])]
    m.model.operator(op_type, [x], parts, ("UnpackOptions", {"Num": len(parts), "Axis": axis}))
    return parts


def reshaped(m: Maker, op_type: str, x: int | None = None) -> int:
    """RESHAPE to rows, EXPAND_DIMS and SQUEEZE."""
    if op_type == "SQUEEZE":
        shape = list(m.shape())
        shape.insert(m.between(0, len(shape)), 1)
        x = m.given(shape) if x is None else x
        kept = [size for size in m.shape_of(x) if size != 1]
        return m.op(op_type, [x], kept, m.like(x), ("SqueezeOptions", {}))
    x = m.given(m.shape()) if x is None else x
    source = m.shape_of(x)
    if op_type == "EXPAND_DIMS":
        axis = m.between(0, len(source))
        shape = [*source[:axis], 1, *source[axis:]]
        place = m.numbers(m.pick((axis, axis - len(source) - 1)))
        return m.op(op_type, [x, place], shape, m.like(x), ("ExpandDimsOptions", {}))
    columns = source[-1] if m.flag() else 1
    shape = [int(np.prod(source)) // columns, columns]
    asked = [-1, columns] if m.flag() else shape
    return m.op(op_type, [x, m.numbers(asked)], shape, m.like(x), ("ReshapeOptions", {}))


def resize(m: Maker, op_type: str) -> int:
    x = m.given(m.image())
    n, _, _, c = m.shape_of(x)
    size = (m.between(1, 12), m.between(1, 12))
    corners, half = m.pick(((False, False), (True, False), (False, True)))
    kind = "Bilinear" if op_type == "RESIZE_BILINEAR" else "NearestNeighbor"
    fields = {"AlignCorners": corners, "HalfPixelCenters": half}
    inputs = [x, m.numbers(size)]
    return m.op(op_type, inputs, (n, *size, c), m.like(x), (f"Resize{kind}Options", fields))


def reduction(m: Maker, op_type: str, x: int | None = None) -> int:
    x = m.given(m.image()) if x is None else x
    source = m.shape_of(x)
    axes = sorted(m.permutation(len(source))[: m.between(1, len(source))])
    keep = m.flag()
    shape = [1 if i in axes else s for i, s in enumerate(source) if keep or i not in axes]
    own = (
        m.like(x) if op_type.startswith("REDUCE") else m.quantization(8 if op_type == "SUM" else 1)
    )
    return m.op(op_type, [x, m.numbers(axes)], shape, own, ("ReducerOptions", {"KeepDims": keep}))


def arg_extremum(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    source = m.shape_of(x)
    axis = m.between(0, len(source) - 1)
    shape = [s for i, s in enumerate(source) if i != axis]
    table = "ArgMaxOptions" if op_type == "ARG_MAX" else "ArgMinOptions"
    options = (table, {"OutputType": DTYPES["int32"]})
    return m.op(op_type, [x, m.numbers([axis])], shape, {"dtype": "int32"}, options)


def blocks(m: Maker, op_type: str) -> int:
    n, h, w, c = m.image()
    block = m.between(1, 3)
    large, deep = (n, h * block, w * block, c), (n, h, w, c * block**2)
    options = {"BlockSize": block}
    if op_type == "SPACE_TO_DEPTH":
        x = m.given(large)
        return m.op(op_type, [x], deep, m.like(x), ("SpaceToDepthOptions", options))
    x = m.given(deep)
    return m.op(op_type, [x], large, m.like(x), ("DepthToSpaceOptions", options))


def space_batch(m: Maker, op_type: str) -> int:
    n, *places, c = m.image() if m.flag() else m.image()[1:]
    block = [m.between(1, 3) for _ in places]
    whole = [size * b for size, b in zip(places, block, strict=True)]
    margins = []
    for size in whole:
        before = m.between(0, min(2, size - 1))
        margins.append((before, m.between(0, min(2, size - 1 - before))))
    inner = [size - sum(ends) for size, ends in zip(whole, margins, strict=True)]
    large, small = (n, *inner, c), (n * int(np.prod(block)), *places, c)
    constants = [m.numbers(block), m.numbers(margins)]
    if op_type == "BATCH_TO_SPACE_ND":
        x = m.given(small)
        return m.op(op_type, [x, *constants], large, m.like(x), ("BatchToSpaceNDOptions", {}))
    x = m.given(large)
    return m.op(op_type, [x, *constants], small, m.like(x), ("SpaceToBatchNDOptions", {}))


def reverse(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    rank = len(m.shape_of(x))
    first = m.between(0, rank - 1)
    axes = range(first, m.between(first, rank - 1) + 1)  # TFLite takes neighbours alone
    inputs = [x, m.numbers(list(axes))]
    fields = m.like(x) if m.is_real or m.flag() else m.quantization()
    return m.op(op_type, inputs, m.shape_of(x), fields, ("ReverseV2Options", {}))


def l2_normalization(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    return m.op(op_type, [x], m.shape_of(x), _fixed(m, op_type), ("L2NormOptions", {}))


def tile(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    counts = [m.between(1, 3) for _ in m.shape_of(x)]
    shape = [size * count for size, count in zip(m.shape_of(x), counts, strict=True)]
    return m.op(op_type, [x, m.numbers(counts)], shape, m.like(x), ("TileOptions", {}))


def broadcast_to(m: Maker, op_type: str) -> int:
    shape = m.shape()
    x = m.given([size if m.flag() else 1 for size in shape][m.between(0, len(shape) - 1) :])
    options = ("BroadcastToOptions", {})
    return m.op(op_type, [x, m.numbers(shape)], shape, m.like(x), options)


def sum_of_several(m: Maker, op_type: str) -> int:
    """ADD_N of up to 15 inputs: sums of more int8 numbers can wrap, which C does not define in TFLite Micro."""
    x = m.given(m.shape())
    parts = [x, *(m.given(m.shape_of(x), **m.like(x)) for _ in range(m.between(1, 14)))]
    if m.flag():
        parts[-1] = m.values(m.shape_of(x), **m.like(x))
        parts.append(x)
        parts = parts[-15:]
    return m.op(op_type, parts, m.shape_of(x), m.quantization(3), ("AddNOptions", {}))


def cumulative_sum(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    rank = len(m.shape_of(x))
    # Along 15 numbers at most, as above.
    axis = m.pick([i for i, size in enumerate(m.shape_of(x)) if size <= 15] or [0])
    if m.shape_of(x)[axis] > 15:
        return cumulative_sum(m, op_type)
    options = ("CumsumOptions", {"Exclusive": m.flag(), "Reverse": m.flag()})
    place = m.numbers(m.pick((axis, axis - rank)))
    return m.op(op_type, [x, place], m.shape_of(x), m.quantization(3), options)


def gather_nd(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    source = m.shape_of(x)
    depth = m.between(1, len(source))
    rows = m.pick(((1,), (3,), (2, 2)))
    if m.flag():
        smallest = min(source[:depth])
        indices = m.given((*rows, depth), (0, smallest - 1), dtype="int32")
    else:
        drawn = m.rng.integers(0, source[:depth], (*rows, depth))
        indices = m.numbers(drawn)
    shape = (*rows, *source[depth:])
    return m.op(op_type, [x, indices], shape, m.like(x), ("GatherNdOptions", {}))


def embedding(m: Maker, op_type: str) -> int:
    """Looks rows up; those of int8 also as floats."""
    own = m.quantization()
    real = m.dtype == "int8" and m.flag()
    if real:
        own["zero_point"] = 0
    table = m.values(m.shape((2, 3, 4)), **own)
    rows, *rest = m.shape_of(table)
    count = m.between(1, 5)
    indices = m.given((count,), (0, rows - 1), dtype="int32")
    out = {"dtype": "float32"} if real else m.like(table)
    return m.op(op_type, [indices, table], (count, *rest), out)


def update_slice(m: Maker, op_type: str) -> int:
    """Writes over a part; the starts go beyond both ends."""
    x = m.given(m.shape())
    source = m.shape_of(x)
    update = m.given([m.between(1, size) for size in source], **m.like(x))
    kind = m.pick(("int32", "int64"))
    if m.flag():
        starts = m.given((len(source),), (-2, 9), dtype=kind)
    else:
        starts = m.model.constant(m.rng.integers(-2, 9, len(source)).astype(kind))
    options = ("DynamicUpdateSliceOptions", {})
    return m.op(op_type, [x, update, starts], source, m.like(x), options)


def fill(m: Maker, op_type: str) -> int:
    value = m.given(())
    shape = m.shape()
    return m.op(op_type, [m.numbers(shape), value], shape, m.like(value), ("FillOptions", {}))


def zeros(m: Maker, op_type: str) -> int:
    x = m.given(m.shape())
    return m.op(op_type, [x], m.shape_of(x), m.like(x), ("ZerosLikeOptions", {}))


def known(m: Maker, op_type: str) -> int:
    """SHAPE and RANK."""
    x = m.given(m.shape())
    if op_type == "RANK":
        return m.op(op_type, [x], (), {"dtype": "int32"})
    options = ("ShapeOptions", {"OutType": DTYPES["int32"]})
    return m.op(op_type, [x], (len(m.shape_of(x)),), {"dtype": "int32"}, options)


def broadcast_args(m: Maker, op_type: str) -> int:
    """Broadcasts a computed list to a constant one: ones, or the number that both share."""
    count, shared = m.between(1, 5), m.between(1, 9)
    x = m.given((m.between(1, count),), (1, shared) if shared < 3 else (1, 1), dtype=m.dtype)
    other = [shared if shared < 3 else m.between(1, shared) for _ in range(count)]
    y = m.model.constant(np.array(other, m.dtype))
    return m.op(op_type, _pair(m, x, y), (count,), {"dtype": m.dtype})


def prelu(m: Maker, op_type: str) -> int:
    x = m.given(m.image())
    shape = m.shape_of(x)
    slopes = m.quantization()
    if m.is_quantized:
        slopes = {"dtype": "int8", "scale": 0.01, "zero_point": m.between(-128, 127)}
    slope = m.values(m.pick(((1, 1, shape[3]), shape[1:])), **slopes)
    return m.op(op_type, [x, slope], shape, m.quantization())


def hard_swish(m: Maker, op_type: str) -> int:
    """Of scales near each other: TFLite Micro shifts 16 bits by more than 15 for an output far coarser than the input."""
    x = m.given(m.shape(), **m.quantization(coarse=False))
    own = m.quantization(coarse=False)
    return m.op(op_type, [x], m.shape_of(x), own, ("HardSwishOptions", {}))


def batch_matmul(m: Maker, op_type: str) -> int:
    rows, depth, columns = m.between(1, 6), m.between(1, 20), m.between(1, 6)
    batches = [m.between(1, 3) for _ in range(m.pick((1, 2, 0, 3)))]
    shared = m.between(0, len(batches))  # the right side repeats along the first dimensions
    adj_x, adj_y = m.flag(), m.flag()
    left = [*batches, depth, rows] if adj_x else [*batches, rows, depth]
    own = [1] * shared + batches[shared:] if m.flag() else batches
    right = [*own, columns, depth] if adj_y else [*own, depth, columns]
    x = m.given(left)
    other = m.quantization()
    if m.flag():
        if m.is_quantized:
            other["zero_point"] = 0
        y = m.values(right, **other)
    else:
        y = m.given(right, **other)
    options = ("BatchMatMulOptions", {"AdjX": adj_x, "AdjY": adj_y})
    return m.op(op_type, [x, y], [*batches, rows, columns], m.quantization(20), options)


def svdf(m: Maker, op_type: str) -> int:
    batches, inputs, units = m.between(1, 2), m.between(1, 20), m.between(1, 8)
    rank, memory = m.between(1, 3), m.between(1, 6)
    filters = units * rank
    options = {"Rank": rank, "FusedActivationFunction": ACTIVATIONS[m.pick(("relu", "none"))]}
    x = m.given((batches, inputs))
    state_shape = (batches, filters * memory)
    if m.is_real:
        constants = [m.weights((filters, n), filters, -1) for n in (inputs, memory)]
        constants.append(m.weights((units,), units, -1))
        state = m.model.tensor(state_shape, dtype="float32", is_variable=True)
    else:
        wide = m.flag()
        scale, kind = (0.0004, "int16") if wide else (0.05, "int8")
        feature = m.rng.integers(-127, 128, (filters, inputs)).astype(np.int8)
        time = m.rng.integers(-127, 128, (filters, memory)).astype(kind)
        bias = m.rng.integers(-400, 400, units).astype(np.int32)
        constants = [
            m.model.constant(feature, scale=0.01),
            m.model.constant(time, scale=0.02),
            m.model.constant(bias, scale=0.02 * scale),
        ]
        state = m.model.tensor(
            state_shape, dtype=kind, scale=scale, zero_point=0 if wide else 4, is_variable=True
        )
    own = m.quantization(2)
    return m.op(op_type, [x, *constants, state], (batches, units), own, ("SVDFOptions", options))


def lstm(m: Maker, op_type: str) -> int:
    batches, steps, inputs, units = (m.between(1, high) for high in (2, 4, 9, 9))
    time_major = m.flag()
    rows = (steps, batches) if time_major else (batches, steps)
    own = {
        "int8": {"dtype": "int8", "scale": 1 / 100, "zero_point": 7},
        "int16": {"dtype": "int16", "scale": 1 / 20000, "zero_point": 0},
    }.get(m.dtype, {"dtype": "float32"})
    out = {
        "int8": {"dtype": "int8", "scale": 1 / 130, "zero_point": 5},
        "int16": {"dtype": "int16", "scale": 1 / 32768, "zero_point": 0},
    }.get(m.dtype, own)
    x = m.given((*rows, inputs), **own)

    def matrix(columns: int) -> int:
        if m.is_real:
            return m.weights((units, columns), units, -1)
        data = m.rng.integers(-127, 128, (units, columns)).astype(np.int8)
        return m.model.constant(data, scale=float(m.rng.uniform(0.004, 0.02)))

    seen, kept = [matrix(inputs) for _ in range(4)], [matrix(units) for _ in range(4)]
    biases = []
    for weights in seen:
        if m.is_real:
            biases.append(m.weights((units,), units, -1))
            continue
        scale = m.model.tensors[weights].scale[0] * own["scale"]
        data = np.round(m.rng.uniform(-1, 1, units) / scale)
        kind = "int64" if m.dtype == "int16" else "int32"
        biases.append(m.model.constant(data.astype(kind), scale=scale))
    hidden = m.model.tensor((batches, units), is_variable=True, **out)
    cell_type = {"dtype": "float32"} if m.is_real else {"dtype": "int16", "scale": 2.0**-11}
    cell = m.model.tensor((batches, units), is_variable=True, **cell_type)
    ids = [x, *seen, *kept, -1, -1, -1, *biases, -1, -1, hidden, cell, -1, -1, -1, -1]
    fields = {
        "FusedActivationFunction": 4,  # TANH
        "CellClip": m.pick((0.0, 2.5)),
        "TimeMajor": time_major,
    }
    options = ("UnidirectionalSequenceLSTMOptions", fields)
    return m.op(op_type, ids, (*rows, units), out, options)


def variable(m: Maker, op_type: str) -> int:
    """Keeps the input in a variable and reads it back."""
    x = m.given(m.shape())
    handle = m.model.tensor((), dtype="resource")
    m.model.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", {"SharedName": "kept"}))
    m.model.operator("ASSIGN_VARIABLE", [handle, x], [], ("AssignVariableOptions", {}))
    del op_type  # one model has both operators
    options = ("ReadVariableOptions", {})
    return m.op("READ_VARIABLE", [handle], m.shape_of(x), m.like(x), options)


MAKERS: Final[dict[str, Callable[..., int | list[int]]]] = {
    "ABS": function,
    "ADD": arithmetic,
    "ADD_N": sum_of_several,
    "ARG_MAX": arg_extremum,
    "ARG_MIN": arg_extremum,
    "ASSIGN_VARIABLE": variable,
    "AVERAGE_POOL_2D": pool,
    "BATCH_MATMUL": batch_matmul,
    "BATCH_TO_SPACE_ND": space_batch,
    "BROADCAST_ARGS": broadcast_args,
    "BROADCAST_TO": broadcast_to,
    "CAST": cast,
    "CEIL": function,
    "CONCATENATION": concatenation,
    "CONV_2D": convolution,
    "COS": function,
    "CUMSUM": cumulative_sum,
    "DEPTHWISE_CONV_2D": depthwise,
    "DEPTH_TO_SPACE": blocks,
    "DEQUANTIZE": dequantize,
    "DIV": quotient,
    "DYNAMIC_UPDATE_SLICE": update_slice,
    "ELU": function,
    "EMBEDDING_LOOKUP": embedding,
    "EQUAL": comparison,
    "EXP": function,
    "EXPAND_DIMS": reshaped,
    "FILL": fill,
    "FLOOR": function,
    "FLOOR_DIV": quotient,
    "FLOOR_MOD": quotient,
    "FULLY_CONNECTED": fully_connected,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "GELU": function,
    "GREATER": comparison,
    "GREATER_EQUAL": comparison,
    "HARD_SWISH": hard_swish,
    "L2_NORMALIZATION": l2_normalization,
    "L2_POOL_2D": pool,
    "LEAKY_RELU": leaky_relu,
    "LESS": comparison,
    "LESS_EQUAL": comparison,
    "LOG": function,
    "LOGICAL_AND": logic,
    "LOGICAL_NOT": logic,
    "LOGICAL_OR": logic,
    "LOGISTIC": curve,
    "LOG_SOFTMAX": softmax,
    "MAXIMUM": extremum,
    "MAX_POOL_2D": pool,
    "MEAN": reduction,
    "MINIMUM": extremum,
    "MIRROR_PAD": mirror_pad,
    "MUL": arithmetic,
    "NEG": function,
    "NOT_EQUAL": comparison,
    "PACK": pack,
    "PAD": pad,
    "PADV2": pad,
    "PRELU": prelu,
    "QUANTIZE": requantize,
    "RANK": known,
    "READ_VARIABLE": variable,
    "REDUCE_ALL": reduction,
    "REDUCE_ANY": reduction,
    "REDUCE_MAX": reduction,
    "REDUCE_MIN": reduction,
    "RELU": clamp,
    "RELU6": clamp,
    "RELU_N1_TO_1": clamp,
    "RESHAPE": reshaped,
    "RESIZE_BILINEAR": resize,
    "RESIZE_NEAREST_NEIGHBOR": resize,
    "REVERSE_V2": reverse,
    "ROUND": function,
    "RSQRT": function,
    "SELECT": selection,
    "SELECT_V2": selection,
    "SHAPE": known,
    "SIN": function,
    "SLICE": slices,
    "SOFTMAX": softmax,
    "SPACE_TO_BATCH_ND": space_batch,
    "SPACE_TO_DEPTH": blocks,
    "SPLIT": split,
    "SPLIT_V": split,
    "SQRT": function,
    "SQUARE": function,
    "SQUARED_DIFFERENCE": squared_difference,
    "SQUEEZE": reshaped,
    "STRIDED_SLICE": slices,
    "SUB": arithmetic,
    "SUM": reduction,
    "SVDF": svdf,
    "TANH": curve,
    "TILE": tile,
    "TRANSPOSE": transpose,
    "TRANSPOSE_CONV": transpose_convolution,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm,
    "UNPACK": unpack,
    "ZEROS_LIKE": zeros,
}
"""What draws a model of each operator."""


def supported() -> list[tuple[str, str]]:
    """Gives every operator with every type that its family takes, "any" written out as :data:`ANY`."""
    pairs = {
        (op_type, dtype): None
        for op_type, family in FAMILIES.items()
        for support in family.support
        for name in support.types
        for dtype in (ANY if name == "any" else (name,))
    }
    return list(pairs)


@st.composite
def operators(draw: Callable[[Any], Any], op_type: str, dtype: str) -> Case:
    """Draws a model of one operator.

    Args:
        draw: From Hypothesis.
        op_type: The operator.
        dtype: Element type of its activations.
    """
    m = Maker(draw, dtype)
    m.ranks = RANKS[:-1] if op_type in FLAT else RANKS
    made = MAKERS[op_type](m, op_type)
    return m.case(f"{op_type} {dtype}", made if isinstance(made, list) else [made])


def padded(m: Maker, _: str, x: int) -> int:
    """Pads rows and columns, and then adds a layer that could pad itself."""
    n, h, w, c = m.shape_of(x)
    (top, bottom), (left, right) = ((m.between(0, 2), m.between(0, 2)) for _ in "hw")
    amounts = m.numbers([[0, 0], [top, bottom], [left, right], [0, 0]])
    shape = (n, h + top + bottom, w + left + right, c)
    y = m.op("PAD", [x, amounts], shape, m.like(x), ("PadOptions", {}))
    layer = m.pick(IMAGES)
    return int(MAKERS[layer](m, layer, y))  # type: ignore[arg-type]


def same(m: Maker, _: str, x: int) -> int:
    """Reshapes to the same shape."""
    shape = m.shape_of(x)
    return m.op("RESHAPE", [x, m.numbers(shape)], shape, m.like(x), ("ReshapeOptions", {}))


def island(m: Maker, _: str, x: int) -> int:
    """Clamps as floats and goes back."""
    shape, real = m.shape_of(x), {"dtype": "float32"}
    y = m.op("DEQUANTIZE", [x], shape, real, ("DequantizeOptions", {}))
    y = m.op("RELU6", [y], shape, real)
    return m.op("QUANTIZE", [y], shape, m.quantization(), ("QuantizeOptions", {}))


IMAGES: Final = ("CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D")
PAIRS: Final = ("ADD", "MUL", "SUB", "MAXIMUM", "CONCATENATION")
STEPS_OF_GRAPHS: Final[dict[str, Callable[..., int | list[int]]]] = {
    **{op_type: MAKERS[op_type] for op_type in ("RELU", "RELU6", "PAD", "STRIDED_SLICE")},
    **{op_type: MAKERS[op_type] for op_type in ("TRANSPOSE", "RESHAPE", "LEAKY_RELU")},
    "same": same,
}
"""What can follow anything."""


@st.composite
def graphs(draw: Callable[[Any], Any], dtype: str) -> Case:
    """Draws a network of two to six steps that read any tensor made before, so that it branches and joins.

    Args:
        draw: From Hypothesis.
        dtype: Element type of activations.
    """
    m = Maker(draw, dtype)
    made = [m.given(m.image())]
    for _ in range(m.between(2, 6)):
        made.append(_step(m, made))
    read = {i for operator in m.model.operators for i in operator.inputs}
    outputs = [tensor for tensor in made if tensor not in read]
    if m.flag() and made[1] not in outputs:
        outputs.append(made[1])  # read inside, and an output too
    return m.case(f"graph {dtype}", outputs)


def _step(m: Maker, made: Sequence[int]) -> int:
    """Adds a step that reads one or two of the tensors."""
    x = m.pick(made[::-1])
    kinds = dict(STEPS_OF_GRAPHS)
    if len(m.shape_of(x)) == 4:
        kinds |= {op_type: MAKERS[op_type] for op_type in IMAGES} | {"padded": padded}
    if len(m.shape_of(x)) == 2:
        kinds |= {"FULLY_CONNECTED": fully_connected, "MEAN": reduction}
    if m.is_quantized:
        kinds |= {"QUANTIZE": requantize, "island": island}
        if len(m.shape_of(x)) == 2:  # large sums of floats differ by more than SOFTMAX lets pass
            kinds["SOFTMAX"] = softmax
    kind = m.pick([*kinds, *PAIRS])
    if kind not in PAIRS:
        return kinds[kind](m, kind, x)  # type: ignore[return-value]
    others = [t for t in made if m.shape_of(t) == m.shape_of(x)]
    if kind in ("MAXIMUM", "CONCATENATION"):
        others = [t for t in others if m.like(t) == m.like(x)]
    return MAKERS[kind](m, kind, x, m.pick(others[::-1]))  # type: ignore[return-value]
