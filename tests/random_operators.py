# SPDX-License-Identifier: Apache-2.0
"""Random operators and small random networks that TFLite Micro takes.

A case is a function of its number alone: kinds and element types take turns, shapes, quantizations and options are
random. Cases are added to one model side by side, each with inputs and outputs of its own, because building a program
costs far more than running one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from tflite_models import ACTIVATIONS, PADDINGS, ModelBuilder, output_extent

SEED: Final = 20261130
CLAMPS: Final = ("none", "relu", "relu6")


class Maker:
    """Adds one case to a model.

    Args:
        model: The model that gets the case.
        number: The case.
    """

    def __init__(self, model: ModelBuilder, number: int) -> None:
        self.rng = np.random.default_rng((SEED, number))
        self.model, self.number = model, number
        self.inputs: list[int] = []
        self.kind = tuple(KINDS)[number % len(KINDS)]
        make, dtypes = KINDS[self.kind]
        self.dtype = dtypes[number // len(KINDS) % len(dtypes)]
        self.outputs = [make(self)]

    def pick(self, values: Sequence[Any]) -> Any:
        """Picks one value."""
        return values[int(self.rng.integers(len(values)))]

    def between(self, low: int, high: int) -> int:
        """Picks a whole number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def shape(self, channels: int | None = None, low: int = 1) -> tuple[int, int, int, int]:
        """Picks an image; one row, column or channel is as likely as others."""
        depth = self.pick((1, 2, 3, 4, 5, 8, 15, 16, 17, 20)) if channels is None else channels
        batches = self.pick((1, 1, 1, 2))
        return batches, self.between(low, 8), self.between(low, 8), depth

    def quantization(self, spread: float = 1.0) -> dict[str, Any]:
        """Picks a quantization for the case's type."""
        if self.dtype == "float32":
            return {"dtype": "float32"}
        scale = float(self.rng.uniform(0.01, 0.1)) * spread
        if self.dtype == "int16":
            return {"dtype": "int16", "scale": scale / 256, "zero_point": 0}
        return {"dtype": "int8", "scale": scale, "zero_point": self.between(-128, 127)}

    def like(self, tensor: int) -> dict[str, Any]:
        """Gives the quantization of a tensor."""
        other = self.model.tensors[tensor]
        if not other.scale:
            return {"dtype": other.dtype}
        return {"dtype": other.dtype, "scale": other.scale[0], "zero_point": other.zero_point[0]}

    def given(self, shape: Sequence[int], **quantization: Any) -> int:
        """Adds an input of the model."""
        x = self.model.tensor(shape, **(quantization or self.quantization()))
        self.inputs.append(x)
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
        y = self.model.tensor(
            shape, name=f"case{self.number}_{len(self.model.operators)}", **quantization
        )
        self.model.operator(op_type, inputs, [y], options)
        return y

    def numbers(self, values: Any) -> int:
        """Adds int32 constants."""
        return self.model.constant(np.array(values, np.int32))

    def values(self, shape: Sequence[int], quantization: dict[str, Any]) -> int:
        """Adds a constant of activations."""
        if quantization["dtype"] == "float32":
            return self.model.constant(self.rng.standard_normal(shape).astype(np.float32))
        low, high = (-128, 128) if quantization["dtype"] == "int8" else (-32768, 32768)
        data = self.rng.integers(low, high, shape).astype(quantization["dtype"])
        return self.model.constant(
            data, scale=quantization["scale"], zero_point=quantization["zero_point"]
        )

    def weights(self, shape: Sequence[int], channels: int, axis: int) -> int:
        """Adds weights, integer ones quantized per tensor or per channel."""
        if self.dtype == "float32":
            return self.model.constant(self.rng.standard_normal(shape).astype(np.float32))
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        scale: Any = 0.004 if axis < 0 else self.rng.uniform(0.001, 0.01, channels)
        return self.model.constant(data, scale=scale, axis=max(axis, 0))

    def bias(self, x: int, filters: int, channels: int) -> list[int]:
        """Adds a bias or none."""
        if not self.between(0, 3):
            return []
        if self.dtype == "float32":
            return [self.model.constant(self.rng.standard_normal(channels).astype(np.float32))]
        dtype = np.int64 if self.dtype == "int16" else np.int32
        data = self.rng.integers(-4000, 4000, channels).astype(dtype)
        source, weights = self.model.tensors[x], self.model.tensors[filters]
        return [self.model.constant(data, scale=source.scale[0] * np.array(weights.scale))]


def _fused(table: str, activation: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return table, {"FusedActivationFunction": ACTIVATIONS[activation], **fields}


def _window(
    m: Maker, size: Sequence[int], *, dilated: bool
) -> tuple[tuple[int, int], list[int], dict[str, Any]]:
    """Picks kernel, output size and options of a window that fits."""
    while True:
        kernel = (m.between(1, 5), m.between(1, 5))
        stride = (m.between(1, 3), m.between(1, 3))
        dilation = (m.between(1, 2), m.between(1, 2)) if dilated and not m.between(0, 2) else (1, 1)
        padding = m.pick(("same", "valid"))
        extents = zip(size, kernel, stride, dilation, strict=True)
        out = [output_extent(*extent, padding) for extent in extents]
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
        if min(out) >= 1 and (
            padding == "same" or all(r <= s for r, s in zip(reach, size, strict=True))
        ):
            break
    fields = {"Padding": PADDINGS[padding], "StrideH": stride[0], "StrideW": stride[1]}
    if dilated:
        fields |= {"DilationHFactor": dilation[0], "DilationWFactor": dilation[1]}
    return kernel, out, fields


def convolution(m: Maker, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    n, h, w, c = m.model.tensors[x].shape
    kernel, out, fields = _window(m, (h, w), dilated=True)
    channels = m.between(1, 20)
    filters = m.weights((channels, *kernel, c), channels, m.pick((-1, 0)))
    options = _fused("Conv2DOptions", m.pick(CLAMPS), **fields)
    return m.op(
        "CONV_2D",
        [x, filters, *m.bias(x, filters, channels)],
        (n, *out, channels),
        m.quantization(4),
        options,
    )


def depthwise(m: Maker, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    n, h, w, c = m.model.tensors[x].shape
    kernel, out, fields = _window(m, (h, w), dilated=m.dtype != "int16")
    channels = c * m.between(1, 3)
    filters = m.weights((1, *kernel, channels), channels, 3)
    fields.setdefault("DilationHFactor", 1)
    fields.setdefault("DilationWFactor", 1)
    options = _fused(
        "DepthwiseConv2DOptions", m.pick(CLAMPS), DepthMultiplier=channels // c, **fields
    )
    return m.op(
        "DEPTHWISE_CONV_2D",
        [x, filters, *m.bias(x, filters, channels)],
        (n, *out, channels),
        m.quantization(2),
        options,
    )


def fully_connected(m: Maker, x: int | None = None) -> int:
    x = m.given((m.between(1, 3), m.between(1, 40))) if x is None else x
    rows, depth = m.model.tensors[x].shape
    channels = m.between(1, 20)
    per_channel = m.dtype == "int8" and m.between(0, 1)
    filters = m.weights((channels, depth), channels, 0 if per_channel else -1)
    options = _fused("FullyConnectedOptions", m.pick(CLAMPS))
    return m.op(
        "FULLY_CONNECTED",
        [x, filters, *m.bias(x, filters, channels)],
        (rows, channels),
        m.quantization(5),
        options,
    )


def transpose_convolution(m: Maker) -> int:
    n, h, w, c = m.shape()
    kernel, stride, channels = m.between(1, 4), m.between(1, 3), m.between(1, 9)
    padding = m.pick(("same", "valid"))
    grow = [
        s * stride if padding == "same" else (s - 1) * stride + max(kernel, stride) for s in (h, w)
    ]
    if padding == "valid":
        kernel = max(kernel, stride)
    filters = m.weights((channels, kernel, kernel, c), channels, 0)
    shape = (n, *grow, channels)
    window = {"Padding": PADDINGS[padding], "StrideH": stride, "StrideW": stride}
    x = m.given((n, h, w, c))
    inputs = [m.numbers(shape), filters, x, *m.bias(x, filters, channels)]
    return m.op(
        "TRANSPOSE_CONV", inputs, shape, m.quantization(3), ("TransposeConvOptions", window)
    )


def pool(m: Maker, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    n, h, w, c = m.model.tensors[x].shape
    kernel, out, fields = _window(m, (h, w), dilated=False)
    fields |= {"FilterHeight": kernel[0], "FilterWidth": kernel[1]}
    op_type = m.pick(("AVERAGE_POOL_2D", "MAX_POOL_2D"))
    return m.op(
        op_type, [x], (n, *out, c), m.like(x), _fused("Pool2DOptions", m.pick(CLAMPS), **fields)
    )


def _other(m: Maker, shape: Sequence[int], quantization: dict[str, Any]) -> int:
    """Adds a second operand: of the same shape, or broadcast along some dimensions; computed or constant."""
    form = m.between(0, 3)
    own = list(shape)
    if form == 1:
        own = own[-1:]
    elif form == 2:
        own = [1]
    elif form == 3:
        own = [size if m.between(0, 1) else 1 for size in own]
    return m.values(own, quantization) if m.between(0, 1) else m.given(own, **quantization)


def arithmetic(m: Maker, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    shape = m.model.tensors[x].shape
    op_type = m.pick(("ADD", "SUB", "MUL"))
    other = _other(m, shape, m.quantization())
    pair = [x, other] if m.between(0, 2) else [other, x]
    table = f"{op_type.capitalize()}Options"
    return m.op(op_type, pair, shape, m.quantization(2), _fused(table, m.pick(CLAMPS)))


def extremum(m: Maker) -> int:
    x = m.given(m.shape())
    shape = m.model.tensors[x].shape
    inputs = [x, _other(m, shape, m.like(x))]
    return m.op(
        m.pick(("MAXIMUM", "MINIMUM")), inputs, shape, m.like(x), ("MaximumMinimumOptions", {})
    )


def clamp(m: Maker, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    op_type = m.pick(("RELU", "RELU6"))
    alike = op_type == "RELU6" or m.between(0, 1)
    return m.op(op_type, [x], m.model.tensors[x].shape, m.like(x) if alike else m.quantization())


def curve(m: Maker) -> int:
    x = m.given(m.shape())
    shape = m.model.tensors[x].shape
    op_type = m.pick(("LOGISTIC", "TANH", "LEAKY_RELU"))
    if op_type == "LEAKY_RELU":
        if m.dtype == "float32":
            return m.op("RELU", [x], shape, m.quantization())
        return m.op(
            op_type,
            [x],
            shape,
            m.quantization(),
            ("LeakyReluOptions", {"Alpha": m.pick((0.1, 0.3, 1.2))}),
        )
    ends = {
        ("LOGISTIC", "int8"): {"dtype": "int8", "scale": 1 / 256, "zero_point": -128},
        ("LOGISTIC", "int16"): {"dtype": "int16", "scale": 1 / 32768, "zero_point": 0},
        ("TANH", "int8"): {"dtype": "int8", "scale": 1 / 128, "zero_point": 0},
        ("TANH", "int16"): {"dtype": "int16", "scale": 1 / 32768, "zero_point": 0},
    }.get((op_type, m.dtype), {"dtype": "float32"})
    return m.op(op_type, [x], shape, ends)


def softmax(m: Maker, x: int | None = None) -> int:
    x = m.given((m.between(1, 3), m.between(1, 40))) if x is None else x
    ends = {
        "int8": {"dtype": "int8", "scale": 1 / 256, "zero_point": -128},
        "int16": {"dtype": "int16", "scale": 1 / 32768, "zero_point": 0},
        "float32": {"dtype": "float32"},
    }[m.dtype]
    beta = 1.0 if m.dtype == "float32" else m.pick((1.0, 0.5, 2.0))
    return m.op("SOFTMAX", [x], m.model.tensors[x].shape, ends, ("SoftmaxOptions", {"Beta": beta}))


def requantize(m: Maker) -> int:
    x = m.given(m.shape())
    return m.op(
        "QUANTIZE", [x], m.model.tensors[x].shape, m.quantization(), ("QuantizeOptions", {})
    )


def dequantize(m: Maker) -> int:
    x = m.given(m.shape())
    shape = m.model.tensors[x].shape
    real = m.op("DEQUANTIZE", [x], shape, {"dtype": "float32"}, ("DequantizeOptions", {}))
    return m.op("QUANTIZE", [real], shape, m.quantization(), ("QuantizeOptions", {}))


def pad(m: Maker, x: int | None = None) -> int:
    x = m.given(m.shape()) if x is None else x
    source = m.model.tensors[x].shape
    amounts = [(m.between(0, 2), m.between(0, 2)) for _ in source]
    shape = [s + sum(a) for s, a in zip(source, amounts, strict=True)]
    inputs = [x, m.numbers(amounts)]
    if m.between(0, 2):
        return m.op("PAD", inputs, shape, m.like(x), ("PadOptions", {}))
    value = m.values((1,), m.like(x))
    return m.op("PADV2", [*inputs, value], shape, m.like(x), ("PadV2Options", {}))


def transpose(m: Maker) -> int:
    x = m.given(m.shape())
    order = m.rng.permutation(4).tolist()
    shape = [m.model.tensors[x].shape[i] for i in order]
    return m.op("TRANSPOSE", [x, m.numbers(order)], shape, m.like(x), ("TransposeOptions", {}))


def concatenation(m: Maker) -> int:
    x = m.given(m.shape())
    axis, count = m.between(1, 3), m.between(1, 3)
    parts = [x]
    for _ in range(count - 1):
        own = list(m.model.tensors[x].shape)
        own[axis] = m.between(1, 5)
        parts.append(m.given(own, **m.like(x)))
    shape = list(m.model.tensors[x].shape)
    shape[axis] = sum(m.model.tensors[part].shape[axis] for part in parts)
    return m.op(
        "CONCATENATION",
        parts,
        shape,
        m.like(x),
        ("ConcatenationOptions", {"Axis": m.pick((axis, axis - 4))}),
    )


def split(m: Maker) -> int:
    axis, count = m.between(1, 3), m.between(1, 3)
    shape = list(m.shape())
    shape[axis] *= count
    x = m.given(shape)
    shape[axis] //= count
    parts = [m.model.tensor(shape, **m.like(x)) for _ in range(count)]
    m.model.operator("SPLIT", [m.numbers(axis), x], parts, ("SplitOptions", {"NumSplits": count}))
    return m.op(
        "CONCATENATION",
        parts[::-1],
        m.model.tensors[x].shape,
        m.like(x),
        ("ConcatenationOptions", {"Axis": axis}),
    )


def slices(m: Maker) -> int:
    x = m.given(m.shape())
    source = m.model.tensors[x].shape
    begin = [m.between(0, size - 1) for size in source]
    end = [m.between(first + 1, size) for first, size in zip(begin, source, strict=True)]
    if m.between(0, 1):
        sizes = [last - first for first, last in zip(begin, end, strict=True)]
        return m.op(
            "SLICE", [x, m.numbers(begin), m.numbers(sizes)], sizes, m.like(x), ("SliceOptions", {})
        )
    steps = [m.between(1, 3) for _ in source]
    shape = [-(-(e - b) // s) for b, e, s in zip(begin, end, steps, strict=True)]
    bounds = [m.numbers(v) for v in (begin, end, steps)]
    return m.op("STRIDED_SLICE", [x, *bounds], shape, m.like(x), ("StridedSliceOptions", {}))


def gather(m: Maker) -> int:
    x = m.given(m.shape())
    source, axis = m.model.tensors[x].shape, m.between(0, 3)
    indices = m.rng.integers(0, source[axis], m.between(1, 5)).tolist()
    shape = (*source[:axis], len(indices), *source[axis + 1 :])
    return m.op(
        "GATHER", [x, m.numbers(indices)], shape, m.like(x), ("GatherOptions", {"Axis": axis})
    )


def pack(m: Maker) -> int:
    x = m.given(m.shape()[1:])
    shape = m.model.tensors[x].shape
    axis = m.between(0, 3)
    parts = [x, m.given(shape, **m.like(x))]
    packed = (*shape[:axis], 2, *shape[axis:])
    return m.op("PACK", parts, packed, m.like(x), ("PackOptions", {"ValuesCount": 2, "Axis": axis}))


def resize(m: Maker) -> int:
    x = m.given(m.shape())
    n, _, _, c = m.model.tensors[x].shape
    size = (m.between(1, 12), m.between(1, 12))
    corners, half = m.pick(((False, False), (True, False), (False, True)))
    kind = m.pick(("NearestNeighbor", "Bilinear"))
    op_type = {"NearestNeighbor": "RESIZE_NEAREST_NEIGHBOR", "Bilinear": "RESIZE_BILINEAR"}[kind]
    fields = {"AlignCorners": corners, "HalfPixelCenters": half}
    return m.op(
        op_type, [x, m.numbers(size)], (n, *size, c), m.like(x), (f"Resize{kind}Options", fields)
    )


def reduction(m: Maker) -> int:
    x = m.given(m.shape())
    source = m.model.tensors[x].shape
    axes = sorted(m.rng.permutation(4)[: m.between(1, 3)].tolist())
    keep = bool(m.between(0, 1))
    shape = [1 if i in axes else s for i, s in enumerate(source) if keep or i not in axes]
    op_type = m.pick(("MEAN", "SUM"))
    own = m.quantization(8 if op_type == "SUM" else 1)
    return m.op(op_type, [x, m.numbers(axes)], shape, own, ("ReducerOptions", {"KeepDims": keep}))


def largest(m: Maker) -> int:
    x = m.given(m.shape())
    source, axis = m.model.tensors[x].shape, m.between(0, 3)
    shape = [s for i, s in enumerate(source) if i != axis]
    if m.between(0, 1):
        return m.op(
            "ARG_MAX", [x, m.numbers([axis])], shape, {"dtype": "int32"}, ("ArgMaxOptions", {})
        )
    return m.op("REDUCE_MAX", [x, m.numbers([axis])], shape, m.like(x), ("ReducerOptions", {}))


def blocks(m: Maker) -> int:
    n, h, w, c = m.shape()
    block = m.between(1, 3)
    if m.between(0, 1):
        x = m.given((n, h * block, w * block, c))
        return m.op(
            "SPACE_TO_DEPTH",
            [x],
            (n, h, w, c * block**2),
            m.like(x),
            ("SpaceToDepthOptions", {"BlockSize": block}),
        )
    x = m.given((n, h, w, c * block**2))
    return m.op(
        "DEPTH_TO_SPACE",
        [x],
        (n, h * block, w * block, c),
        m.like(x),
        ("DepthToSpaceOptions", {"BlockSize": block}),
    )


def mirror_pad(m: Maker) -> int:
    x = m.given(m.shape(low=3))
    source, symmetric = m.model.tensors[x].shape, m.between(0, 1)
    most = [min(2, size if symmetric else size - 1) for size in source]
    amounts = [(m.between(0, size), m.between(0, size)) for size in most]
    shape = [size + sum(ends) for size, ends in zip(source, amounts, strict=True)]
    options = ("MirrorPadOptions", {"Mode": symmetric})
    return m.op("MIRROR_PAD", [x, m.numbers(amounts)], shape, m.like(x), options)


def unpack(m: Maker) -> int:
    x = m.given(m.shape())
    source, axis = m.model.tensors[x].shape, m.between(0, 3)
    shape = (*source[:axis], *source[axis + 1 :])
    parts = [m.model.tensor(shape, **m.like(x)) for _ in range(source[axis])]
    m.model.operator("UNPACK", [x], parts, ("UnpackOptions", {"Num": len(parts), "Axis": axis}))
    options = ("PackOptions", {"ValuesCount": len(parts), "Axis": 0})
    return m.op("PACK", parts[::-1], (len(parts), *shape), m.like(x), options)


def prelu(m: Maker) -> int:
    x = m.given(m.shape())
    shape = m.model.tensors[x].shape
    slopes = m.values((1, 1, shape[3]), m.quantization())
    return m.op("PRELU", [x, slopes], shape, m.quantization())


def hard_swish(m: Maker) -> int:
    x = m.given(m.shape())
    return m.op(
        "HARD_SWISH", [x], m.model.tensors[x].shape, m.quantization(), ("HardSwishOptions", {})
    )


def table(m: Maker) -> int:
    x = m.given(m.shape())
    op_type, options = m.pick((("ELU", None), ("ABS", ("AbsOptions", {}))))
    return m.op(op_type, [x], m.model.tensors[x].shape, m.quantization(), options)


def network(m: Maker) -> int:
    """A chain of layers, with what transforms look for: PAD before layers, clamps after them, reshapes to the same."""
    x = m.given(m.shape(low=4))
    for _ in range(m.between(2, 5)):
        step = m.pick((convolution, depthwise, pool, arithmetic, clamp, pad, _same))
        if step is pad:
            x = _spatial_pad(m, x)
            step = m.pick((convolution, depthwise, pool))
        x = step(m, x)
    if m.between(0, 1):
        shape = m.model.tensors[x].shape
        flat = (1, int(np.prod(shape)))
        x = m.op("RESHAPE", [x, m.numbers(flat)], flat, m.like(x), ("ReshapeOptions", {}))
        x = fully_connected(m, x)
        if m.dtype != "float32":  # large sums of floats differ by more than SOFTMAX lets pass
            x = softmax(m, x)
    return x


def _spatial_pad(m: Maker, x: int) -> int:
    n, h, w, c = m.model.tensors[x].shape
    (top, bottom), (left, right) = ((m.between(0, 2), m.between(0, 2)) for _ in "hw")
    amounts = m.numbers([[0, 0], [top, bottom], [left, right], [0, 0]])
    shape = (n, h + top + bottom, w + left + right, c)
    return m.op("PAD", [x, amounts], shape, m.like(x), ("PadOptions", {}))


def _same(m: Maker, x: int) -> int:
    shape = m.model.tensors[x].shape
    return m.op("RESHAPE", [x, m.numbers(shape)], shape, m.like(x), ("ReshapeOptions", {}))


ALL: Final = ("int8", "int8", "int16", "float32")
INTEGERS: Final = ("int8", "int16")
KINDS: Final[dict[str, tuple[Callable[[Maker], int], Sequence[str]]]] = {
    "convolution": (convolution, ALL),
    "depthwise": (depthwise, ALL),
    "fully connected": (fully_connected, ALL),
    "transpose convolution": (transpose_convolution, INTEGERS),
    "pool": (pool, ALL),
    "arithmetic": (arithmetic, ALL),
    "extremum": (extremum, ALL),
    "clamp": (clamp, ALL),
    "curve": (curve, ALL),
    "softmax": (softmax, ALL),
    "requantize": (requantize, INTEGERS),
    "dequantize": (dequantize, INTEGERS),
    "pad": (pad, ALL),
    "transpose": (transpose, ALL),
    "concatenation": (concatenation, ALL),
    "split": (split, ALL),
    "slices": (slices, ALL),
    "gather": (gather, ("int8", "float32")),
    "pack": (pack, ALL),
    "resize": (resize, ("int8",)),
    "reduction": (reduction, INTEGERS),
    "largest": (largest, ("int8",)),
    "blocks": (blocks, ("int8", "float32")),
    "mirror pad": (mirror_pad, ("int8", "float32")),
    "unpack": (unpack, ALL),
    "prelu": (prelu, ("int8", "float32")),
    "hard swish": (hard_swish, ("int8", "float32")),
    "table": (table, ("int8",)),
    "network": (network, ("int8", "int8", "float32")),
    "another network": (network, ("int8", "int16")),
}
"""Kinds of cases, each with what makes one and the element types that TFLite Micro and this compiler both take."""
