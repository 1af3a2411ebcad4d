# SPDX-License-Identifier: Apache-2.0
"""What ``kernels.py`` measures: the layers of the MLPerf Tiny models and a grid of shapes, by entry and data type."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests"), str(REPOSITORY / "tests" / "kernels")]

import reference_flt  # noqa: E402
import reference_integer  # noqa: E402
from conv_cases import ConvShape, conv_case, conv_params, quantization, same, valid  # noqa: E402
from flt_cases import DTYPE, Conv, bits, limits_of, values  # noqa: E402
from flt_cases import conv_case as float_conv_case  # noqa: E402
from flt_cases import depthwise_case as float_depthwise_case  # noqa: E402
from flt_cases import linear_case as float_linear_case  # noqa: E402
from harness import Case  # noqa: E402
from test_add_s8 import PLAIN, elementwise_case  # noqa: E402
from test_batch_matmul import integer_case as product_case  # noqa: E402
from test_depthwise_conv_s8 import depthwise_case, output_of, takes  # noqa: E402
from test_fully_connected_s8 import Linear, linear_case  # noqa: E402
from test_integer_operators import svdf_case  # noqa: E402
from test_lstm import integer_case as lstm_case  # noqa: E402
from test_pool_s8 import PoolShape, pool_case  # noqa: E402
from test_softmax_s8 import softmax_case  # noqa: E402

from helia_aot.ir.tables import softmax_samples_s16  # noqa: E402
from helia_aot.kernels.manifest import scratch_bytes  # noqa: E402

S16 = (-32768, 32767)
TOLERANCE = {"f32": 1e-5, "f16": 1e-3}


@dataclass(frozen=True)
class Row:
    """One measurement: a layer by one entry.

    Attributes:
        layer: Name of the layer; rows of the same name and data type are alternatives.
        case: The call.
        expected: The right output, in any wider type.
        macs: Multiply-accumulates; 0 where the operator has none.
        dtype: Element type of the output.
        tolerance: Largest error accepted, of the largest magnitude.
        note: Said beside the entry.
    """

    layer: str
    case: Case
    expected: np.ndarray
    macs: int
    dtype: type = np.int8
    tolerance: float = 0.0
    note: str = ""

    @property
    def data_type(self) -> str:
        """``s8``, ``s16``, ``f16`` or ``f32``: the entry's input type."""
        found = re.search(r"_(s8|s16|f16|f32)(_|$)", self.case.entry)
        return found[1] if found else "any"

    @property
    def moved_bytes(self) -> int:
        """Bytes that must move at least: every tensor of the call once."""
        return sum(t.nbytes for t in self.case.tensors if t is not None) + self.case.output_bytes

    def accepts(self, output: np.ndarray) -> bool:
        """Whether an output is the expected one, within the tolerance."""
        wide = self.expected.reshape(-1).astype(np.float64)
        error = np.abs(output.astype(np.float64) - wide).max()
        return bool(error <= self.tolerance * np.abs(wide).max())


@dataclass(frozen=True)
class Layer:
    """A convolution with SAME or VALID padding; pairs are (height, width)."""

    name: str
    size: tuple[int, int]
    cin: int
    cout: int
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    depthwise: bool = False
    padded: bool = True

    @property
    def shape(self) -> ConvShape:
        """The same for the cases of the integer kernels."""
        make = same if self.padded else valid
        return make(
            size=self.size, cin=self.cin, cout=self.cout, kernel=self.kernel,
            stride=self.stride, dilation=self.dilation,
        )  # fmt: skip

    @property
    def float_shape(self) -> Conv:
        """The same for the float kernels, whose cases are padded alike on both sides: the output has the same size."""
        shape = self.shape
        output = output_of(shape)
        padding = tuple(
            -(-max(0, (o - 1) * s + (k - 1) * d + 1 - i) // 2)
            for o, s, k, d, i in zip(
                output, self.stride, self.kernel, self.dilation, self.size, strict=True
            )
        )
        made = Conv(
            size=self.size, cin=self.cin, cout=self.cout, kernel=self.kernel,
            stride=self.stride, padding=padding, dilation=self.dilation,
        )  # fmt: skip
        assert made.output == output, f"{self.name}: {made.output} instead of {output}"
        return made

    @property
    def macs(self) -> int:
        height, width = output_of(self.shape)
        taps = self.kernel[0] * self.kernel[1]
        return height * width * self.cout * taps * (1 if self.depthwise else self.cin)


# ---- convolutions ----


def s8_entries(layer: Layer) -> list[str]:
    """The entries that take a convolution, the general one first."""
    plain_window = layer.dilation == (1, 1)
    entries = ["s8"]
    if layer.kernel == (1, 1) and plain_window:
        entries.append("1x1_s8_fast" if layer.stride == (1, 1) else "1x1_s8")
    row = layer.kernel[1] * layer.cin
    small = layer.cin <= 3 and row <= 16 and row * layer.kernel[0] <= 48
    if small and plain_window and layer.cout % 4 == 0:
        entries.append("s8_small_cin")
    if layer.kernel == (3, 3) and layer.cin == 16 and layer.stride == (1, 1) and plain_window:
        entries.append("s8_3x3_c16_s1")
    return [f"arm_convolve_{name}" for name in entries]


def s8_rows(layer: Layer) -> Iterator[Row]:
    shape = layer.shape
    if layer.depthwise:
        base = "arm_depthwise_conv_s8"
        direct = [f"{base}_opt{s}" for s in ("", "_3x3", "_3x3_c64_s1", "_planar", "_channelwise")]
        for entry in (*direct, base, "arm_depthwise_conv_3x3_s8"):
            if takes(entry, shape):
                yield Row(layer.name, *depthwise_case(entry, shape), layer.macs)
        return
    for entry in s8_entries(layer):
        scratch = scratch_bytes(
            entry,
            kernel_height=shape.kernel[0],
            kernel_width=shape.kernel[1],
            input_channels=shape.cin,
        )
        yield Row(layer.name, *conv_case(entry, shape, scratch), layer.macs)


def s16_rows(layer: Layer) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    shape = layer.shape
    depth = shape.kernel[0] * shape.kernel[1] * (1 if layer.depthwise else shape.cin)
    x = rng.integers(*S16, (1, *shape.size, shape.cin)).astype(np.int16)
    multiplier, shift = quantization(rng, shape.cout, depth, extreme=False)
    shift -= 8
    bias = rng.integers(-(2**20), 2**20, shape.cout)
    filters = rng.integers(
        -127, 128, (shape.cout, *shape.kernel, 1 if layer.depthwise else shape.cin)
    ).astype(np.int8)
    geometry = {"stride": shape.stride, "padding": shape.padding, "dilation": shape.dilation}
    expected = reference_integer.convolve_s16(
        x, filters, bias, **geometry, output=output_of(shape), multiplier=multiplier, shift=shift, activation=S16
    )  # fmt: skip
    params = conv_params(shape)
    params[12:14], params[20:22] = [0, 0], S16
    if layer.depthwise:
        entry, last = "arm_depthwise_conv_s16", shape.cout // shape.cin
        filters = np.ascontiguousarray(filters[..., 0].transpose(1, 2, 0))
        params[4], params[7] = 1, shape.cout
    else:
        entry, last = "arm_convolve_s16", 0
    case = Case(
        entry, [*params, last], [x, filters, bias, None, multiplier, shift], expected.nbytes
    )
    yield Row(layer.name, case, expected, layer.macs, np.int16)


def float_rows(layer: Layer, suffix: str) -> Iterator[Row]:
    """A layer in a float type; matrix products with the standard and the packed weight layout."""
    shape = layer.float_shape
    entry = "arm_convolve_1x1_nhwc" if shape.kernel == (1, 1) else "arm_convolve_nhwc"
    tolerance = TOLERANCE["f32"] if suffix == "f32" else 0.0
    for packed in (False,) if layer.depthwise else (False, True):
        case, expected = (
            float_depthwise_case(suffix, shape)
            if layer.depthwise
            else float_conv_case(entry, suffix, shape, packed=packed)
        )
        note = "packed" if packed else ""
        yield Row(layer.name, case, expected, layer.macs, DTYPE[suffix], tolerance, note)


# ---- fully connected ----


def linear_s8(name: str, inputs: int, outputs: int) -> Iterator[Row]:
    for per_channel in (False, True):
        case, expected = linear_case(Linear(1, inputs, outputs), per_channel=per_channel)
        yield Row(name, case, expected, inputs * outputs)


def linear_s16(name: str, inputs: int, outputs: int) -> Iterator[Row]:
    rng = np.random.default_rng(2)
    x = rng.integers(*S16, (1, inputs)).astype(np.int16)
    weights = rng.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    bias = rng.integers(-(2**20), 2**20, outputs)
    total = x.astype(np.int64) @ weights.astype(np.int64).T + bias
    multiplier, shift = reference_integer.factor(2.0**-9 * inputs**-0.5)
    expected = np.clip(reference_integer.scaled_s64(total, multiplier, shift), *S16)
    extents = [1, 1, 1, inputs, inputs, 1, 1, outputs, 1, 1, 1, outputs]
    params = [*extents, 0, 0, 0, *S16, multiplier, shift]
    case = Case("arm_fully_connected_s16", params, [x, weights, bias], 2 * outputs)
    yield Row(name, case, expected, inputs * outputs, np.int16)


def linear_float(name: str, inputs: int, outputs: int, suffix: str) -> Iterator[Row]:
    tolerance = TOLERANCE["f32"] if suffix == "f32" else 0.0
    for packed in (False, True):
        case, expected = float_linear_case(suffix, 1, inputs, outputs, packed=packed)
        note = "packed" if packed else ""
        yield Row(name, case, expected, inputs * outputs, DTYPE[suffix], tolerance, note)


# ---- operators without weights ----


def pools(name: str, size: int | tuple[int, int], channels: int, kernel: tuple[int, int], suffix: str) -> Iterator[Row]:  # fmt: skip
    """Average and largest of windows that do not overlap."""
    size = (size, size) if isinstance(size, int) else size
    output = tuple(s // k for s, k in zip(size, kernel, strict=True))
    for kind in ("average", "max"):
        layer = f"{name}, {kind}"
        if suffix == "s8":
            shape = PoolShape(size, channels, kernel, stride=kernel, output=output)
            yield Row(layer, *pool_case(kind, shape), 0)
            continue
        extents = [1, *size, channels, 1, *kernel, 1, 1, *output, channels, *kernel[::-1], 0, 0]
        rng = np.random.default_rng(3)
        if suffix == "s16":
            x = rng.integers(*S16, (1, *size, channels)).astype(np.int16)
            expected = reference_integer.pool_s16(x, kernel, kernel, (0, 0), output, kind)
            entry = "arm_avgpool_s16" if kind == "average" else "arm_max_pool_s16"
            case = Case(entry, [*extents, *S16], [x], expected.nbytes)
            yield Row(layer, case, expected, 0, np.int16)
            continue
        x = values(rng, (1, *size, channels), suffix)
        limits = limits_of(suffix, "none")
        expected = reference_flt.pool(
            x, average=kind == "average", kernel=kernel, stride=kernel, padding=(0, 0), output=output, limits=limits
        )  # fmt: skip
        entry = f"arm_{'avg' if kind == 'average' else 'max'}_pool_{suffix}"
        case = Case(entry, [*extents, *bits(*limits)], [x], expected.size * x.itemsize)
        yield Row(layer, case, expected, 0, DTYPE[suffix], TOLERANCE[suffix])


def combinations(name: str, count: int, suffix: str) -> Iterator[Row]:
    """Sum and product of two tensors of the same shape."""
    rng = np.random.default_rng(4)
    if suffix in DTYPE:
        a, b = values(rng, count, suffix), values(rng, count, suffix)
        for operation, function in (("add", np.add), ("mul", np.multiply)):
            params = [*bits(*limits_of(suffix, "none")), count]
            case = Case(f"arm_elementwise_{operation}_{suffix}", params, [a, b], a.nbytes)
            yield Row(f"{operation}, {name}", case, function(a, b), 0, DTYPE[suffix])
        return
    dtype = np.int8 if suffix == "s8" else np.int16
    low, high = reference_integer.limits(dtype)
    a, b = (rng.integers(low, high + 1, count).astype(dtype) for _ in range(2))
    extents = [1, 1, 1, count] * 3
    if suffix == "s8":
        yield Row(f"add, {name}", *elementwise_case(count, PLAIN), 0)
    else:
        factors = [*reference_integer.factor(0.5), 0, *reference_integer.factor(0.3)]
        last = reference_integer.factor(1.7 / 2**15)
        params = [0, *factors, 15, 0, *last, low, high]
        expected = reference_integer.combine(a, b, 1, params, 15)
        case = Case("arm_add_s16", [*extents, *params], [a, b], a.nbytes)
        yield Row(f"add, {name}", case, expected, 0, dtype)
    scale = 0.01 if suffix == "s8" else 0.01 * 2**-8
    zero = (3, -7, 11) if suffix == "s8" else (0, 0, 0)
    params = [*zero, *reference_integer.factor(scale), low, high]
    case = Case(f"arm_mul_{suffix}", [*extents, *params], [a, b], a.nbytes)
    yield Row(f"mul, {name}", case, reference_integer.multiply(a, b, params), 0, dtype)


def softmaxes(name: str, rows: int, size: int, suffix: str) -> Iterator[Row]:
    rng = np.random.default_rng(5)
    if suffix == "s8":
        x = rng.integers(-128, 128, (rows, size)).astype(np.int8)
        yield Row(name, *softmax_case(x, 0.1), 0)
        return
    if suffix == "s16":
        x = rng.integers(-9000, 9000, (rows, size)).astype(np.int16)
        factor = reference_integer.factor(0.0005 / (10 / 65535))
        tables = softmax_samples_s16()
        expected = reference_integer.softmax_s16(x, *factor, *tables)
        case = Case("arm_softmax_s16", [rows, size, *factor], [x, *tables], x.nbytes)
        yield Row(name, case, expected, 0, np.int16)
        return
    x = values(rng, (rows, size), suffix, 3.0)
    case = Case(f"arm_softmax_{suffix}", [rows, size], [x], x.nbytes)
    yield Row(name, case, reference_flt.softmax(x), 0, DTYPE[suffix], TOLERANCE[suffix])


def sigmoids(name: str, count: int, suffix: str) -> Iterator[Row]:
    rng = np.random.default_rng(6)
    if suffix == "s8":
        x, table = (rng.integers(-128, 128, n).astype(np.int8) for n in (count, 256))
        case = Case("helia_nn_lookup_s8", [count], [x, table], count)
        yield Row(name, case, table[x.view(np.uint8)], 0)
        return
    for kind in ("logistic", "tanh"):
        if suffix == "s16":
            x = rng.integers(*S16, count).astype(np.int16)
            case = Case(f"arm_{kind}_s16", [count, 0, 0], [x], x.nbytes)
            expected = reference_integer.sigmoid(x, 0, 0, kind)
            yield Row(f"{name}, {kind}", case, expected, 0, np.int16)
            continue
        x = values(rng, count, suffix, 3.0)
        wide = x.astype(np.float64)
        expected = np.tanh(wide) if kind == "tanh" else 1 / (1 + np.exp(-wide))
        case = Case(f"helia_nn_{kind}_{suffix}", [count], [x], x.nbytes)
        yield Row(f"{name}, {kind}", case, expected, 0, DTYPE[suffix], TOLERANCE[suffix])


def products(name: str, extents: tuple[int, int, int], suffix: str) -> Iterator[Row]:
    """Products of two tensors, the right one with its columns in rows; rows, depth and columns."""
    dtype = np.int8 if suffix == "s8" else np.int16
    case, expected = product_case(np.random.default_rng(8), dtype, ((1, 1), (1, 1), extents), 0, 1)
    yield Row(name, case, expected, int(np.prod(extents)), dtype)


def lstms(name: str, steps: int, inputs: int, units: int, suffix: str) -> Iterator[Row]:
    """A sequence of one batch; outputs and both states are compared as bytes."""
    dtype = np.int8 if suffix == "s8" else np.int16
    shape = (1, steps, inputs, units, 0)
    case, expected = lstm_case(np.random.default_rng(9), shape, dtype, clip=0, tanh=(0, 0))
    yield Row(name, case, expected, steps * 4 * units * (inputs + units), np.uint8)


def svdfs(extents: tuple[int, int, int, int], suffix: str) -> Iterator[Row]:
    """One step of inputs, units, rank and memory; the suffix is the type of the state. Output and state are compared as bytes."""
    inputs, units, rank, memory = extents
    dtype = np.int8 if suffix == "s8" else np.int16
    case, expected = svdf_case(np.random.default_rng(10), (1, *extents), dtype)
    name = f"SVDF, {inputs}->{units}, rank {rank}, memory {memory}"
    yield Row(name, case, expected, units * rank * (inputs + memory), np.uint8)


def movements() -> Iterator[Row]:
    """Transposition and bilinear resizing of bytes."""
    rng = np.random.default_rng(7)
    for size in (1, 2, 4):
        x = rng.integers(-128, 128, (32, 64, size)).astype(np.int8)
        axes = np.array([64, 32], np.int32), np.array([size, 64 * size], np.int32)
        case = Case("helia_nn_copy_strided", [0, size, 2], [x, *axes], x.size)
        expected = np.ascontiguousarray(x.transpose(1, 0, 2))
        yield Row(f"transpose 32x64 of {size} bytes", case, expected, 0)
    x = rng.integers(-128, 128, (1, 16, 16, 8)).astype(np.int8)
    steps = [(i // 2, min(i // 2 + 1, 15), 512 * (i % 2)) for i in range(32)]
    table = np.array(steps, np.int32).reshape(-1)
    expected = reference_integer.bilinear(x, table, table)
    params = [*x.shape, 1, 32, 32, 8]
    case = Case("helia_nn_resize_bilinear_s8", params, [x, table, table], expected.size)
    yield Row("resize 16x16x8 to 32x32", case, expected, 0)


# ---- the table ----


def _vww() -> Iterator[Layer]:
    square = {"kernel": (3, 3)}
    half = {"kernel": (3, 3), "stride": (2, 2)}
    yield Layer("VWW 3x3, 3->8, s2, 96x96", (96, 96), 3, 8, **half)
    for size, cin, stride, cout in [
        (48, 8, 1, 16), (48, 16, 2, 32), (24, 32, 1, 32), (24, 32, 2, 64), (12, 64, 1, 64), (12, 64, 2, 128),
        (6, 128, 1, 128), (6, 128, 2, 256), (3, 256, 1, 256),
    ]:  # fmt: skip
        fields = half if stride == 2 else square
        tail = ", s2" if stride == 2 else ""
        name = f"VWW dw 3x3, {cin}{tail}, {size}x{size}"
        yield Layer(name, (size, size), cin, cin, depthwise=True, **fields)
        after = size // stride
        yield Layer(f"VWW 1x1, {cin}->{cout}, {after}x{after}", (after, after), cin, cout)


def model_layers() -> Iterator[Layer]:
    """The different convolutions of the four MLPerf Tiny models."""
    square = {"kernel": (3, 3)}
    half = {"kernel": (3, 3), "stride": (2, 2)}
    yield Layer(
        "KWS 10x4, 1->64, s2, 49x10", (49, 10), 1, 64, kernel=(10, 4), stride=(2, 2)
    )  # fmt: skip
    yield Layer("KWS dw 3x3, 64, 25x5", (25, 5), 64, 64, depthwise=True, **square)
    yield Layer("KWS 1x1, 64->64, 25x5", (25, 5), 64, 64)
    yield from _vww()
    yield Layer("IC 3x3, 3->16, 32x32", (32, 32), 3, 16, **square)
    yield Layer("IC 3x3, 16->16, 32x32", (32, 32), 16, 16, **square)
    for cin, size in ((16, 32), (32, 16)):
        cout, after = 2 * cin, size // 2
        yield Layer(f"IC 3x3, {cin}->{cout}, s2, {size}x{size}", (size, size), cin, cout, **half)
        name = f"IC 1x1, {cin}->{cout}, s2, {size}x{size}"
        yield Layer(name, (size, size), cin, cout, stride=(2, 2))
        yield Layer(
            f"IC 3x3, {cout}->{cout}, {after}x{after}", (after, after), cout, cout, **square
        )


MODEL_LINEARS = [
    ("KWS fc, 64->12", 64, 12), ("VWW fc, 256->2", 256, 2), ("IC fc, 64->10", 64, 10), ("AD fc, 640->128", 640, 128),
    ("AD fc, 128->128", 128, 128), ("AD fc, 128->8", 128, 8), ("AD fc, 8->128", 8, 128), ("AD fc, 128->640", 128, 640),
]  # fmt: skip


def grid_layers() -> Iterator[Layer]:
    """Convolutions of all kinds on small images."""
    for cin, cout in [(8, 8), (16, 64), (64, 16), (24, 40)]:
        yield Layer(f"1x1, {cin}->{cout}, 8x8", (8, 8), cin, cout)
    for cin, cout in [(1, 8), (2, 16), (4, 16), (8, 8), (24, 40)]:
        yield Layer(f"3x3, {cin}->{cout}, 16x16", (16, 16), cin, cout, kernel=(3, 3))
    yield Layer("5x5, 3->8, s2, 24x24", (24, 24), 3, 8, kernel=(5, 5), stride=(2, 2))
    yield Layer("1x5, 16->16, 1x64", (1, 64), 16, 16, kernel=(1, 5), padded=False)
    yield Layer("3x3, 16->16, d2, 12x12", (12, 12), 16, 16, kernel=(3, 3), dilation=(2, 2))
    for channels, kernel in [(4, 3), (20, 3), (32, 5)]:
        for stride in (1, 2):
            tail = f", s{stride}" if stride > 1 else ""
            yield Layer(
                f"dw {kernel}x{kernel}, {channels}{tail}, 16x16", (16, 16), channels, channels,
                kernel=(kernel, kernel), stride=(stride, stride), depthwise=True,
            )  # fmt: skip
    for name, size, cin, cout, kernel, stride in [
        ("dw 10x8, 1->8, s2, 49x40", (49, 40), 1, 8, (10, 8), (2, 2)),
        ("dw 3x3, 16->32, 16x16", (16, 16), 16, 32, (3, 3), (1, 1)),
    ]:
        yield Layer(name, size, cin, cout, kernel, stride, depthwise=True)
    for rows, channels, taps in [(30, 40, 3), (28, 128, 5), (15, 128, 15)]:
        name = f"dw {taps}x1, {channels}, {rows}x1"
        size, kernel = (rows, 1), (taps, 1)
        yield Layer(name, size, channels, channels, kernel, depthwise=True, padded=False)


def layer_rows(layer: Layer, suffix: str) -> Iterator[Row]:
    if suffix == "s8":
        yield from s8_rows(layer)
    elif suffix == "s16":
        yield from s16_rows(layer)
    else:
        yield from float_rows(layer, suffix)


def linear_rows(name: str, inputs: int, outputs: int, suffix: str) -> Iterator[Row]:
    if suffix == "s8":
        yield from linear_s8(name, inputs, outputs)
    elif suffix == "s16":
        yield from linear_s16(name, inputs, outputs)
    else:
        yield from linear_float(name, inputs, outputs, suffix)


def rows_of_type(suffix: str) -> Iterator[Row]:
    """Every row of one data type, in the order of the table."""
    for layer in model_layers():
        yield from layer_rows(layer, suffix)
    for linear in MODEL_LINEARS:
        yield from linear_rows(*linear, suffix)
    yield from pools("KWS pool 25x5, 64", (25, 5), 64, (25, 5), suffix)
    yield from pools("IC pool 8x8, 64", 8, 64, (8, 8), suffix)
    yield from combinations("IC 32x32x16", 16384, suffix)
    yield from softmaxes("KWS softmax, 12", 1, 12, suffix)
    for layer in grid_layers():
        yield from layer_rows(layer, suffix)
    for linear in (
        ("fc, 256->64", 256, 64),
        ("fc, 32->32", 32, 32),
        ("fc, 32->3", 32, 3),
        ("fc, 50->10", 50, 10),
    ):
        yield from linear_rows(*linear, suffix)
    yield from pools("pool 2x2, 16, 16x16", 16, 16, (2, 2), suffix)
    yield from combinations("1000", 1000, suffix)
    yield from softmaxes("softmax, 16x64", 16, 64, suffix)
    yield from sigmoids("1000", 1000, suffix)
    if suffix in ("s8", "s16"):
        yield from products("batch_matmul, 16x64x32", (16, 64, 32), suffix)
        yield from lstms("LSTM, 28 steps, 28->20", 28, 28, 20, suffix)
        yield from svdfs((40, 64, 2, 10), suffix)
        yield from svdfs((16, 32, 1, 32), suffix)
    if suffix == "s8":
        yield from movements()
