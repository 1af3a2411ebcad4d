# SPDX-License-Identifier: Apache-2.0
"""Every integer and movement operator, in models of one layer, against the real TFLite Micro interpreter.

One model holds many operators side by side, each with its own output, so that few programs are built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elementwise_models import element_wise_operators
from host_module import build_module, run_program, run_sequence
from required import tflite_micro_runtime
from tflite_models import ACTIVATIONS, DTYPES, PADDINGS, ModelBuilder, output_extent

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.operators.integer_families import INTEGER, UNTYPED

TYPES = ("int8", "int16")


class Layers:
    """Collects operators that read the inputs of one model."""

    def __init__(self, dtype: str, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype
        self.model = ModelBuilder()
        self.outputs: list[int] = []
        self.names: list[str] = []
        self.is_wide = dtype == "int16"
        n, h, w, c = 1, *(int(v) for v in self.rng.integers(4, 8, 2)), 4
        self.shape = (n, h, w, c)
        self.x = self.tensor(self.shape, scale=0.021, name="x")
        self.y = self.tensor(self.shape, scale=0.034, name="y")
        self.row = self.tensor((c,), scale=0.05, name="row")
        self.inputs = [self.x, self.y, self.row]

    def tensor(
        self, shape: Sequence[int], scale: float, zero_point: int | None = None, **fields: Any
    ) -> int:
        """Adds a tensor; int16 has smaller steps and the zero point 0."""
        if self.is_wide and fields.get("dtype", "int16") == "int16":
            fields["dtype"] = "int16"
            return self.model.tensor(shape, scale=scale / 200, zero_point=0, **fields)
        point = int(self.rng.integers(-40, 40)) if zero_point is None else zero_point
        return self.model.tensor(shape, scale=scale, zero_point=point, **fields)

    def exact(self, shape: Sequence[int], dtype: str, scale: float, zero_point: int) -> int:
        """Adds a tensor of a quantization that the operator fixes."""
        return self.model.tensor(shape, dtype=dtype, scale=scale, zero_point=zero_point)

    def plain(self, shape: Sequence[int], dtype: str) -> int:
        """Adds a tensor without quantization."""
        return self.model.tensor(shape, dtype=dtype)

    def like(self, source: int, shape: Sequence[int]) -> int:
        """Adds a tensor quantized as another one."""
        other = self.model.tensors[source]
        scale = other.scale[0] if other.scale else None
        zero = other.zero_point[0] if other.scale else 0
        return self.model.tensor(shape, dtype=other.dtype, scale=scale, zero_point=zero)

    def op(
        self, op_type: str, inputs: Sequence[int], outputs: int | list[int], options: Any = None
    ) -> int:
        """Adds an operator whose outputs are outputs of the model."""
        outputs = outputs if isinstance(outputs, list) else [outputs]
        self.model.operator(op_type, inputs, outputs, options)
        self.outputs += outputs
        self.names += [op_type] * len(outputs)
        return outputs[0]

    def numbers(self, values: Any) -> int:
        """Adds int32 constants."""
        return self.model.constant(np.array(values, np.int32))

    def weights(self, shape: Sequence[int], channels: int | None = None, axis: int = 0) -> int:
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        scale = self.rng.uniform(0.002, 0.01, channels) if channels else 0.004
        return self.model.constant(data, scale=scale, axis=axis)

    def bias(self, count: int) -> int:
        data = self.rng.integers(-2000, 2000, count).astype(np.int64 if self.is_wide else np.int32)
        return self.model.constant(data, scale=1e-7 if self.is_wide else 1e-4)


def fused(options: str, activation: str = "none", **fields: Any) -> tuple[str, dict[str, Any]]:
    return options, {"FusedActivationFunction": ACTIVATIONS[activation], **fields}


def arithmetic(m: Layers) -> None:
    for op_type, table in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions")):
        for other, activation in ((m.y, "none"), (m.row, "relu"), (m.row, "relu6")):
            scale = 0.004 if op_type == "MUL" and m.is_wide else 0.06
            m.op(op_type, [m.x, other], m.tensor(m.shape, scale), fused(table, activation))
        m.op(op_type, [m.row, m.y], m.tensor(m.shape, 0.07), fused(table))
        constant = m.model.constant(
            m.rng.integers(-100, 100, m.shape[2:]).astype(m.dtype),
            scale=0.03 / (200 if m.is_wide else 1),
            zero_point=0 if m.is_wide else 7,
        )
        m.op(op_type, [m.y, constant], m.tensor(m.shape, 0.05), fused(table, "relu_n1_to_1"))
    same = m.like(m.x, m.shape)
    m.op("MUL", [m.x, m.x], same, fused("MulOptions"))
    limit = m.model.constant(
        m.rng.integers(-30, 90, m.shape[3:]).astype(m.dtype),
        scale=m.model.tensors[m.x].scale[0],
        zero_point=m.model.tensors[m.x].zero_point[0],
    )
    for op_type in ("MAXIMUM", "MINIMUM"):
        m.op(op_type, [m.x, limit], m.like(m.x, m.shape), ("MaximumMinimumOptions", {}))
        m.op(op_type, [same, m.x], m.like(m.x, m.shape), ("MaximumMinimumOptions", {}))
    for shape in ((1, 1, m.shape[3]), m.shape[1:]):
        slopes = m.model.constant(
            m.rng.integers(-128, 128, shape).astype(np.int8), scale=0.01, zero_point=-5
        )
        m.op("PRELU", [m.x, slopes], m.tensor(m.shape, 0.03))


def activations(m: Layers) -> None:
    m.op("RELU", [m.x], m.tensor(m.shape, 0.013))
    m.op("RELU", [m.y], m.tensor(m.shape, 0.06))
    m.op("RELU6", [m.x], m.like(m.x, m.shape))
    for alpha in (0.1, 0.37, 1.5):
        m.op("LEAKY_RELU", [m.x], m.tensor(m.shape, 0.02), ("LeakyReluOptions", {"Alpha": alpha}))
    m.op("ABS", [m.x], m.tensor(m.shape, 0.03), ("AbsOptions", {}))
    m.op("ABS", [m.y], m.like(m.y, m.shape), ("AbsOptions", {}))
    logistic = (1 / 32768, 0) if m.is_wide else (1 / 256, -128)
    tanh = (1 / 32768, 0) if m.is_wide else (1 / 128, 0)
    scales = (1 / 4096, 1 / 2048, 0.0003, 0.00007) if m.is_wide else (0.02, 0.2, 1.0)
    for scale in scales:
        for op_type, ends in (("LOGISTIC", logistic), ("TANH", tanh)):
            moved = m.model.tensor(
                m.shape, dtype=m.dtype, scale=scale, zero_point=0 if m.is_wide else 9
            )
            m.op("QUANTIZE", [m.x], moved, ("QuantizeOptions", {}))
            m.op(op_type, [moved], m.exact(m.shape, m.dtype, *ends))
    softmax = (1 / 32768, 0) if m.is_wide else (1 / 256, -128)
    for beta in (1.0, 2.5):
        m.op(
            "SOFTMAX",
            [m.x],
            m.exact(m.shape, m.dtype, *softmax),
            ("SoftmaxOptions", {"Beta": beta}),
        )
    if not m.is_wide:
        m.op(
            "SOFTMAX",
            [m.x],
            m.exact(m.shape, "int16", 1 / 65536, -32768),
            ("SoftmaxOptions", {"Beta": 1.0}),
        )
        for scale in (0.01, 0.021, 0.2):
            m.op("ELU", [m.x], m.tensor(m.shape, scale))
            source = m.tensor(m.shape, scale)
            m.op("QUANTIZE", [m.x], source, ("QuantizeOptions", {}))
            m.op("HARD_SWISH", [source], m.tensor(m.shape, scale * 1.1), ("HardSwishOptions", {}))


def conversions(m: Layers) -> None:
    others = {"int8": 0.03, "int16": 0.0002, "int32": 1e-5}
    if m.is_wide:
        del others["int16"]
    quantize = ("QuantizeOptions", {})
    for dtype, scale in others.items():
        zero = {"int8": 11, "int16": 0, "int32": 0}[dtype]
        wide = m.exact(m.shape, dtype, scale, zero)
        m.op("QUANTIZE", [m.x], wide, quantize)
        if dtype != "int32" or m.is_wide:
            m.op("QUANTIZE", [wide], m.tensor(m.shape, 0.022), quantize)
    m.op("QUANTIZE", [m.y], m.tensor(m.shape, 0.011), quantize)
    if not m.is_wide:
        unsigned = m.exact(m.shape, "uint8", 0.03, 128)
        m.op("QUANTIZE", [m.x], unsigned, quantize)
        m.op(
            "DEQUANTIZE",
            [unsigned],
            m.model.tensor(m.shape, dtype="float32"),
            ("DequantizeOptions", {}),
        )
    real = m.model.tensor(m.shape, dtype="float32")
    m.op("DEQUANTIZE", [m.x], real, ("DequantizeOptions", {}))
    m.op("QUANTIZE", [real], m.tensor(m.shape, 0.0173), quantize)
    for dtype in ("int32", "float32"):
        m.op("CAST", [m.x], m.model.tensor(m.shape, dtype=dtype), ("CastOptions", {}))


def movement(m: Layers) -> None:
    n, h, w, c = m.shape
    source = m.model.tensors[m.x]
    for padding in ([[0, 0], [1, 2], [0, 1], [0, 0]], [[0, 1], [0, 0], [2, 0], [1, 3]]):
        shape = [size + sum(amount) for size, amount in zip(m.shape, padding, strict=True)]
        m.op("PAD", [m.x, m.numbers(padding)], m.like(m.x, shape), ("PadOptions", {}))
        value = m.model.constant(
            np.array([37], m.dtype), scale=source.scale[0], zero_point=source.zero_point[0]
        )
        m.op("PADV2", [m.x, m.numbers(padding), value], m.like(m.x, shape), ("PadV2Options", {}))
    mirrored = (
        ()
        if m.is_wide
        else (
            (0, [[0, 0], [2, 1], [1, 3], [0, 2]]),
            (1, [[0, 0], [2, 4], [0, 0], [1, 1]]),
        )
    )
    for mode, amounts in mirrored:
        shape = [size + sum(amount) for size, amount in zip(m.shape, amounts, strict=True)]
        m.op(
            "MIRROR_PAD",
            [m.x, m.numbers(amounts)],
            m.like(m.x, shape),
            ("MirrorPadOptions", {"Mode": mode}),
        )
    for order in ((0, 2, 1, 3), (0, 3, 1, 2), (3, 2, 1, 0), (0, 1, 2, 3)):
        shape = [m.shape[axis] for axis in order]
        m.op("TRANSPOSE", [m.x, m.numbers(order)], m.like(m.x, shape), ("TransposeOptions", {}))
    for axis in (1, 3, -2):
        shape = list(m.shape)
        shape[axis] *= 3
        m.op(
            "CONCATENATION",
            [m.x, m.x, m.x],
            m.like(m.x, shape),
            ("ConcatenationOptions", {"Axis": axis}),
        )
    halves = [m.like(m.x, (n, h, w, c // 2)) for _ in range(2)]
    m.op("SPLIT", [m.numbers(3), m.x], halves, ("SplitOptions", {"NumSplits": 2}))
    parts = [m.like(m.x, (n, size, w, c)) for size in (1, h - 2, 1)]
    sizes = m.numbers([1, h - 2, 1])
    m.op("SPLIT_V", [m.x, sizes, m.numbers(1)], parts, ("SplitVOptions", {"NumSplits": 3}))
    m.op(
        "SLICE",
        [m.x, m.numbers([0, 1, 2, 0]), m.numbers([1, 2, -1, 3])],
        m.like(m.x, (1, 2, w - 2, 3)),
        ("SliceOptions", {}),
    )
    slices: list[tuple[list[int], list[int], list[int], dict[str, int], tuple[int, ...]]] = [
        ([0, 1, 0, 0], [1, h, w, c], [1, 2, 1, 1], {}, (n, h // 2, w, c)),
        ([0, -1, 0, 1], [1, -h - 1, w, 3], [1, -1, 2, 1], {}, (n, h, (w + 1) // 2, 2)),
        (
            [0, 2, 0, 0],
            [0, 3, 1, 0],
            [1, 1, 1, 1],
            {"BeginMask": 9, "EndMask": 9, "ShrinkAxisMask": 2},
            (n, 1, c),
        ),
    ]
    for begin, end, steps, masks, shape in slices:
        bounds = [m.numbers(values) for values in (begin, end, steps)]
        m.op("STRIDED_SLICE", [m.x, *bounds], m.like(m.x, shape), ("StridedSliceOptions", masks))
    gathered = () if m.is_wide else ((1, [2, 0, 2], 0), (3, [[3, 1], [0, 0]], 0), (-3, [0], 0))
    for axis, indices, batch in gathered:
        place = axis % 4
        shape = (*m.shape[:place], *np.shape(indices), *m.shape[place + 1 :])
        options = ("GatherOptions", {"Axis": axis, "BatchDims": batch})
        m.op("GATHER", [m.x, m.numbers(indices)], m.like(m.x, shape), options)
    for axis in (0, 2, 4):
        shape = (*m.shape[:axis], 2, *m.shape[axis:])
        m.op(
            "PACK",
            [m.x, m.x],
            m.like(m.x, shape),
            ("PackOptions", {"ValuesCount": 2, "Axis": axis}),
        )
    rows = [m.like(m.x, (n, w, c)) for _ in range(h)]
    m.op("UNPACK", [m.x], rows, ("UnpackOptions", {"Num": h, "Axis": 1}))
    m.op("EXPAND_DIMS", [m.x, m.numbers(0)], m.like(m.x, (1, *m.shape)), ("ExpandDimsOptions", {}))
    m.op("SQUEEZE", [m.x], m.like(m.x, m.shape[1:]), ("SqueezeOptions", {}))
    m.op("RESHAPE", [m.x, m.numbers([-1, c])], m.like(m.x, (h * w, c)), ("ReshapeOptions", {}))
    even = m.like(m.x, (n, 4, 4, c))
    m.op("SLICE", [m.x, m.numbers([0] * 4), m.numbers([1, 4, 4, c])], even, ("SliceOptions", {}))
    if not m.is_wide:
        deep = m.op(
            "SPACE_TO_DEPTH",
            [even],
            m.like(m.x, (n, 2, 2, 4 * c)),
            ("SpaceToDepthOptions", {"BlockSize": 2}),
        )
        m.op(
            "DEPTH_TO_SPACE",
            [deep],
            m.like(m.x, (n, 4, 4, c)),
            ("DepthToSpaceOptions", {"BlockSize": 2}),
        )
        m.op(
            "BROADCAST_TO",
            [m.row, m.numbers([2, 3, c])],
            m.like(m.row, (2, 3, c)),
            ("BroadcastToOptions", {}),
        )
    for axes in ([1], [1, 2], [-1]):
        if not m.is_wide:
            m.op(
                "REVERSE_V2", [m.x, m.numbers(axes)], m.like(m.x, m.shape), ("ReverseV2Options", {})
            )
    if not m.is_wide:
        space_batches(m)
    for size in ((h * 2, w * 2), (5, 3), (h, 9)):
        for corners, half in ((False, False), (True, False), (False, True)):
            options = {"AlignCorners": corners, "HalfPixelCenters": half}
            inputs, shape = [m.x, m.numbers(size)], (n, *size, c)
            m.op(
                "RESIZE_NEAREST_NEIGHBOR",
                inputs,
                m.like(m.x, shape),
                ("ResizeNearestNeighborOptions", options),
            )
            if not m.is_wide:
                m.op(
                    "RESIZE_BILINEAR",
                    inputs,
                    m.like(m.x, shape),
                    ("ResizeBilinearOptions", options),
                )


def space_batches(m: Layers) -> None:
    """Without padding, for which TFLite Micro takes whatever the memory held."""
    _, h, w, c = m.shape
    row = m.like(m.x, (1, h * w, c))
    m.op("RESHAPE", [m.x, m.numbers([1, h * w, c])], row, ("ReshapeOptions", {}))
    for source, block, crops in (
        (m.x, (h, 1), [[1, 0], [0, 2]]),
        (m.x, (1, w), [[0, 0], [2, 1]]),
        (row, (w,), [[3, 2]]),
    ):
        n, *extents, c = m.model.tensors[source].shape
        places = [size // b for size, b in zip(extents, block, strict=True)]
        cut = m.like(m.x, (n * int(np.prod(block)), *places, c))
        none = m.numbers([[0, 0]] * len(block))
        inputs = [source, m.numbers(block), none]
        m.op("SPACE_TO_BATCH_ND", inputs, cut, ("SpaceToBatchNDOptions", {}))
        left = [size - sum(ends) for size, ends in zip(extents, crops, strict=True)]
        inputs = [cut, m.numbers(block), m.numbers(crops)]
        m.op("BATCH_TO_SPACE_ND", inputs, m.like(m.x, (n, *left, c)), ("BatchToSpaceNDOptions", {}))


def indexed(m: Layers) -> None:
    """Sums, running sums, and what numbers say at run time or conversion."""
    if m.is_wide:
        return
    n, h, w, c = m.shape
    source = m.model.tensors[m.x]
    table = m.model.constant(
        np.arange(24, dtype=np.int8).reshape(4, 6),
        scale=source.scale[0],
        zero_point=source.zero_point[0],
    )
    m.op("ADD_N", [m.x, m.x, m.x], m.tensor(m.shape, 0.05), ("AddNOptions", {}))
    for axis, exclusive, reverse in ((1, False, False), (-1, True, False), (2, True, True)):
        options = ("CumsumOptions", {"Exclusive": exclusive, "Reverse": reverse})
        m.op("CUMSUM", [m.x, m.numbers(axis)], m.tensor(m.shape, 0.08), options)
    places = m.numbers([[0, h - 1], [0, 0], [0, 1]])
    m.op("GATHER_ND", [m.x, places], m.like(m.x, (3, w, c)), ("GatherNdOptions", {}))
    m.op("EMBEDDING_LOOKUP", [m.numbers([3, 0, 3]), table], m.like(table, (3, 6)))
    part = m.like(m.x, (n, 2, w, 1))
    size = m.numbers([n, 2, w, 1])
    m.op("SLICE", [m.x, m.numbers([0, 1, 0, 2]), size], part, ("SliceOptions", {}))
    inputs = [m.x, part, m.numbers([0, h, -3, 1])]
    options = ("DynamicUpdateSliceOptions", {})
    m.op("DYNAMIC_UPDATE_SLICE", inputs, m.like(m.x, m.shape), options)
    m.op("ZEROS_LIKE", [m.x], m.like(m.x, m.shape), ("ZerosLikeOptions", {}))
    value = m.model.constant(np.array(-7, np.int8))
    m.op("FILL", [m.numbers([3, 5]), value], m.plain((3, 5), "int8"), ("FillOptions", {}))
    m.op("SHAPE", [m.x], m.plain((4,), "int32"), ("ShapeOptions", {"OutType": DTYPES["int32"]}))
    m.op("BROADCAST_ARGS", [m.numbers([5, 1]), m.numbers([2, 1, 3])], m.plain((3,), "int32"))
    flags = m.plain(m.shape, "bool")
    m.op("LESS", [m.x, m.y], flags)
    options = ("ReducerOptions", {"KeepDims": False})
    m.op("REDUCE_ALL", [flags, m.numbers([1, 3])], m.plain((n, w), "bool"), options)


def reductions(m: Layers) -> None:
    n, h, w, c = m.shape
    kinds: list[tuple[list[int], bool, tuple[int, ...]]] = [
        ([1, 2], True, (n, 1, 1, c)),
        ([1, 2], False, (n, c)),
        ([3], False, (n, h, w)),
        ([1, 3], True, (n, 1, w, 1)),
        ([-1, 0, 1, 2], False, ()),
        ([2], False, (n, h, c)),
    ]
    for axes, keep, shape in kinds:
        for op_type in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
            if op_type.startswith("REDUCE") and m.is_wide:
                continue
            exact = op_type.startswith("REDUCE")
            scale = 0.02 if op_type == "MEAN" else 0.3
            output = m.like(m.x, shape) if exact else m.tensor(shape, scale)
            m.op(op_type, [m.x, m.numbers(axes)], output, ("ReducerOptions", {"KeepDims": keep}))
    if not m.is_wide:
        for axis in (1, -1, 2):
            shape = tuple(size for i, size in enumerate(m.shape) if i != axis % 4)
            for op_type, table in (("ARG_MAX", "ArgMaxOptions"), ("ARG_MIN", "ArgMinOptions")):
                m.op(
                    op_type,
                    [m.x, m.numbers([axis])],
                    m.model.tensor(shape, dtype="int32"),
                    (table, {}),
                )


def layers(m: Layers) -> None:
    n, h, w, c = m.shape
    plans = [
        ("same", (1, 1), (1, 1), (3, 3)),
        ("valid", (2, 1), (1, 1), (2, 3)),
        ("same", (1, 1), (2, 1), (2, 2)),
    ]
    for padding, stride, dilation, kernel in plans:
        extents = zip((h, w), kernel, stride, dilation, strict=True)
        size = [output_extent(*extent, padding) for extent in extents]
        window = {
            "Padding": PADDINGS[padding], "StrideH": stride[0], "StrideW": stride[1],
            "DilationHFactor": dilation[0], "DilationWFactor": dilation[1],
        }  # fmt: skip
        filters = m.weights((6, *kernel, c), 6)
        output = m.tensor((n, *size, 6), 0.2)
        m.op("CONV_2D", [m.x, filters, m.bias(6)], output, fused("Conv2DOptions", "relu", **window))
        groups = m.weights((6, *kernel, c // 2), 6)
        output = m.tensor((n, *size, 6), 0.2)
        m.op("CONV_2D", [m.x, groups], output, fused("Conv2DOptions", **window))
        filters = m.weights((1, *kernel, 2 * c), 2 * c, axis=3)
        output = m.tensor((n, *size, 2 * c), 0.1)
        options = fused("DepthwiseConv2DOptions", DepthMultiplier=2, **window)
        m.op("DEPTHWISE_CONV_2D", [m.x, filters, m.bias(2 * c)], output, options)
        pool = {"FilterHeight": kernel[0], "FilterWidth": kernel[1], **window}
        del pool["DilationHFactor"], pool["DilationWFactor"]
        if dilation == (1, 1):
            for op_type in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
                m.op(
                    op_type,
                    [m.x],
                    m.like(m.x, (n, *size, c)),
                    fused("Pool2DOptions", "relu6", **pool),
                )
    for channels in (None, 7):
        filters = m.weights((7, h * w * c), channels)
        m.op(
            "FULLY_CONNECTED",
            [m.x, filters, m.bias(7)],
            m.tensor((1, 7), 0.5),
            fused("FullyConnectedOptions"),
        )
    for padding, stride, kernel in (
        ("same", 2, 3),
        ("valid", 2, 3),
        ("valid", 1, 2),
        ("same", 3, 2),
    ):
        grow = [
            size * stride if padding == "same" else (size - 1) * stride + kernel for size in (h, w)
        ]
        filters = m.weights((5, kernel, kernel, c), 5)
        window = {"Padding": PADDINGS[padding], "StrideH": stride, "StrideW": stride}
        shape = (n, *grow, 5)
        inputs = [m.numbers(shape), filters, m.x, m.bias(5)]
        m.op("TRANSPOSE_CONV", inputs, m.tensor(shape, 0.1), ("TransposeConvOptions", window))


PARTS: tuple[Callable[[Layers], None], ...] = (
    arithmetic, activations, conversions, movement, indexed, reductions, layers,
)  # fmt: skip
UNTESTED = {
    "CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "SVDF", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BATCH_MATMUL",
    "TILE", "RELU_N1_TO_1", "RANK", "REDUCE_ANY",
}  # fmt: skip
"""Operators with tests of their own: state, or none in TFLite Micro."""


def build(dtype: str, seed: int, parts: Sequence[Callable[[Layers], None]] = PARTS) -> Layers:
    made = Layers(dtype, seed)
    for part in parts:
        part(made)
    return made


def micro(model: bytes, arrays: Sequence[np.ndarray], outputs: int) -> list[np.ndarray]:
    runtime = tflite_micro_runtime()

    interpreter = runtime.Interpreter.from_bytes(model, arena_size=1 << 21)
    for position, array in enumerate(arrays):
        interpreter.set_input(array, position)
    interpreter.invoke()
    return [interpreter.get_output(i) for i in range(outputs)]


@pytest.mark.parametrize(("dtype", "seed", "platform"), [("int8", 1, "apollo510_evb"), ("int16", 2, "apollo510_evb")])  # fmt: skip
def test_operators_equal_tflite_micro(dtype: str, seed: int, platform: str, tmp_path: Path) -> None:
    made = build(dtype, seed)
    model = made.model.build(inputs=made.inputs, outputs=made.outputs)
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    config = ConvertConfig.model_validate(
        {"model": {"path": path}, "platform": {"name": platform}, "module": {"prefix": "ops"}}
    )
    conversion = convert(config)
    program = build_module(conversion, tmp_path)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    rng = np.random.default_rng(seed)
    for lowest, highest in ((low, high), (low // 8, high // 8), (low, low), (high, high)):
        arrays = [
            rng.integers(lowest, highest + 1, made.model.tensors[i].shape).astype(dtype)
            for i in made.inputs
        ]
        got = run_program(program, conversion, arrays)
        wanted = micro(model, arrays, len(made.outputs))
        different = [
            f"{i} {name} {ours.shape}: {int((ours != theirs).sum())} differ by up to "
            f"{np.abs(ours.astype(float) - theirs.astype(float)).max()}"
            for i, (name, ours, theirs) in enumerate(zip(made.names, got, wanted, strict=True))
            if not np.array_equal(ours, theirs.reshape(ours.shape))
        ]
        assert not different, "\n".join(different)


@pytest.mark.parametrize("state_dtype", ["int8", "int16"])
def test_svdf_remembers_as_tflite_micro_does(state_dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    units, rank, memory, inputs = 6, 2, 4, 10
    model = ModelBuilder()
    x = model.tensor((1, inputs), scale=0.03, zero_point=-9)
    feature = model.constant(
        rng.integers(-127, 128, (units * rank, inputs)).astype(np.int8), scale=0.01
    )
    time = rng.integers(-127, 128, (units * rank, memory)).astype(state_dtype)
    weights = model.constant(time, scale=0.02)
    wide = state_dtype == "int16"
    scale = 0.0004 if wide else 0.05
    bias = model.constant(rng.integers(-400, 400, units).astype(np.int32), scale=0.02 * scale)
    state = model.tensor(
        (1, units * rank * memory), dtype=state_dtype, scale=scale,
        zero_point=0 if wide else 4, is_variable=True,
    )  # fmt: skip
    y = model.tensor((1, units), scale=0.06, zero_point=3)
    model.operator("SVDF", [x, feature, weights, bias, state], [y], ("SVDFOptions", {"Rank": rank, "FusedActivationFunction": 1}))  # fmt: skip
    data = model.build(inputs=[x], outputs=[y])
    (tmp_path / "model.tflite").write_bytes(data)
    config = {"model": {"path": tmp_path / "model.tflite"}, "platform": {"name": "apollo510_evb"}}
    conversion = convert(ConvertConfig.model_validate(config))
    program = build_module(conversion, tmp_path)
    steps = [[rng.integers(-128, 128, (1, inputs)).astype(np.int8)] for _ in range(7)]
    runtime = tflite_micro_runtime()

    interpreter = runtime.Interpreter.from_bytes(data)
    for (step,), (got,) in zip(steps, run_sequence(program, conversion, steps), strict=True):
        interpreter.set_input(step, 0)
        interpreter.invoke()
        np.testing.assert_array_equal(got, interpreter.get_output(0))


def rewritten(
    op_type: str, source: np.ndarray, shape: Sequence[int], extra: Any, tmp_path: Path
) -> np.ndarray:
    """Runs one operator that TFLite Micro does not have; scales are 0.05, zero points 2."""
    model = ModelBuilder()
    x = model.tensor(source.shape, scale=0.05, zero_point=2)
    y = model.tensor(shape, scale=0.05, zero_point=2)
    inputs = [x] if extra is None else [x, model.constant(np.array(extra, np.int32))]
    model.operator(op_type, inputs, [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build(inputs=[x], outputs=[y]))
    conversion = convert(ConvertConfig.model_validate({"model": {"path": path}}))
    (output,) = run_program(build_module(conversion, tmp_path), conversion, [source])
    return output


def test_tile_repeats(tmp_path: Path) -> None:
    source = np.arange(24, dtype=np.int8).reshape(1, 2, 3, 4)
    got = rewritten("TILE", source, (2, 2, 9, 8), [2, 1, 3, 2], tmp_path)
    np.testing.assert_array_equal(got, np.tile(source, (2, 1, 3, 2)))


def test_relu_from_minus_one_to_one_limits(tmp_path: Path) -> None:
    source = np.arange(-128, 128, dtype=np.int8)
    got = rewritten("RELU_N1_TO_1", source, (256,), None, tmp_path)
    np.testing.assert_array_equal(got, np.clip(source, 2 - 20, 2 + 20))


def test_every_family_is_in_a_model() -> None:
    used = {op_type for dtype in TYPES for op_type in build(dtype, 1).names}
    assert set(INTEGER) | set(UNTYPED) <= used | element_wise_operators() | UNTESTED
