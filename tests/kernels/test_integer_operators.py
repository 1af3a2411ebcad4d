# SPDX-License-Identifier: Apache-2.0
"""Integer operators besides the int8 layers against their oracle, all in one start of each target."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import reference
import reference_integer as oracle
from harness import TARGETS, Case, check_cases, check_rejected
from reference_softmax import softmax_params
from test_batch_matmul import integer_cases as product_cases
from test_element_wise import cases as element_wise_cases
from test_float_element_wise import exact_cases
from test_lstm import integer_cases as lstm_cases

from helia_aot.ir.tables import softmax_samples_s16
from helia_aot.operators.transpose_convolution import by_phase

each_target = pytest.mark.parametrize("target", list(TARGETS))
SHAPES = [
    ((1, 1, 1, 37), (1, 1, 1, 37)),
    ((1, 3, 4, 5), (1, 1, 1, 5)),
    ((1, 1, 1, 1), (1, 2, 3, 9)),
    ((2, 3, 1, 4), (1, 1, 5, 4)),
    ((1, 4, 1, 1), (1, 1, 1, 17)),
]
ENDS = {np.int8: "s8", np.int16: "s16"}


def numbers(rng, shape, dtype) -> np.ndarray:
    low, high = oracle.limits(dtype)
    values = rng.integers(low, high + 1, shape)
    extreme = rng.choice([low, high, 0], shape)
    return np.where(rng.random(shape) < 0.2, extreme, values).astype(dtype)


def factors(rng, count: int) -> list[tuple[int, int]]:
    return [oracle.factor(float(2 ** rng.uniform(-12, 1))) for _ in range(count)]


def elementwise():
    rng = np.random.default_rng(1)
    for dtype, end in ENDS.items():
        low, high = oracle.limits(dtype)
        left = 20 if end == "s8" else 15
        for shape1, shape2 in SHAPES:
            a, b = numbers(rng, shape1, dtype), numbers(rng, shape2, dtype)
            size = np.broadcast_shapes(shape1, shape2)
            extents = [*shape1, *shape2, *size]
            wide = int(np.prod(size)) * a.itemsize
            for output_scale in (0.9, 0.002):
                zero = (3, -7, 11) if end == "s8" else (0, 0, 0)
                one, two = (oracle.factor(v) for v in (0.5, 0.5 * 0.37))
                out = oracle.factor(2 * 0.05 / (2**left * output_scale * 0.05))
                params = [zero[0], *one, zero[1], *two, left, zero[2], *out, low, high - 5]
                for name, sign in (("add", 1), ("sub", -1)):
                    if (name, end) != ("add", "s8"):
                        expected = oracle.combine(a, b, sign, params, left)
                        yield Case(f"arm_{name}_{end}", [*extents, *params], [a, b], wide), expected
                scale = output_scale * (1 if end == "s8" else 2**-14)
                params = [zero[0], zero[1], zero[2], *oracle.factor(scale * 0.01), low + 3, high]
                yield (
                    Case(f"arm_mul_{end}", [*extents, *params], [a, b], wide),
                    oracle.multiply(a, b, params),
                )
            for name, function in (("maximum", np.maximum), ("minimum", np.minimum)):
                yield Case(f"arm_{name}_{end}", extents, [a, b], wide), function(a, b)
            slopes = numbers(rng, shape2, np.int8)
            params = [-3, 5, 9, *oracle.factor(0.7), *oracle.factor(0.011)]
            entry = "arm_prelu_s8" if end == "s8" else "helia_nn_prelu_s16"
            yield (
                Case(entry, [*extents, *params], [a, slopes], wide),
                oracle.prelu(a, slopes, params),
            )


def activations():
    rng = np.random.default_rng(2)
    for count in (1, 15, 16, 33, 256):
        x, table = numbers(rng, count, np.int8), numbers(rng, 256, np.int8)
        yield Case("helia_nn_lookup_s8", [count], [x, table], count), table[x.view(np.uint8)]
    for count in (1, 3, 4, 8, 9, 200):
        x = numbers(rng, count, np.int16)
        params = [0, 0, *oracle.factor(1.3), -5, 30000]
        relu = np.clip(oracle.scaled(x, *params[2:4]), -5, 30000).astype(np.int16)
        yield Case("arm_relu_generic_s16", [*params, count], [x], 2 * count), relu
        for slope in (0.3, -0.2, 1.7):
            alpha, shift = oracle.factor(abs(slope))
            params = [0, 0, alpha if slope > 0 else -alpha, shift, *oracle.factor(0.9)]
            expected = oracle.leaky_relu(x, params)
            yield Case("arm_leaky_relu_s16", [*params, count], [x], 2 * count), expected
        for rescale in (0, 1):
            multiplier, shift = oracle.factor(0.6)
            magnitude = np.abs(x.astype(np.int64))
            expected = oracle.scaled(magnitude, multiplier, shift) if rescale else magnitude
            params = [0, 0, multiplier, shift, rescale, -32768, 32767, count]
            yield (
                Case("arm_abs_s16", params, [x], 2 * count),
                np.clip(expected, -32768, 32767).astype(np.int16),
            )
        for multiplier, shift in ((0, 0), (0, 1), (24576, 10), (32000, 14), (20000, 0)):
            for kind in ("logistic", "tanh"):
                case = Case(f"arm_{kind}_s16", [count, multiplier, shift], [x], 2 * count)
                yield case, oracle.sigmoid(x, multiplier, shift, kind)


def softmaxes():
    rng = np.random.default_rng(3)
    exponentials, reciprocals = softmax_samples_s16()
    for rows, size in ((1, 1), (3, 2), (2, 17), (1, 200)):
        for scale in (0.0001, 0.0005, 0.01):
            x = numbers(rng, (rows, size), np.int16)
            multiplier, shift = oracle.factor(scale / (10 / 65535))
            expected = oracle.softmax_s16(x, multiplier, shift, exponentials, reciprocals)
            tensors = [x, exponentials, reciprocals]
            yield (
                Case("arm_softmax_s16", [rows, size, multiplier, shift], tensors, 2 * x.size),
                expected,
            )
    for scale in (0.02, 0.3):
        x = numbers(rng, (3, 11), np.int8)
        params = softmax_params(scale, 1.0)
        yield Case("arm_softmax_s8_s16", [3, 11, *params], [x], 2 * x.size), wide_softmax(x, params)


def wide_softmax(x, params) -> np.ndarray:
    """The int16 output of the int8 softmax: 16 bits of the same numbers."""
    import reference_softmax as base

    rows = []
    for row in x.tolist():
        multiplier, shift, diff_min = params

        def exponential(value, row=row, multiplier=multiplier, shift=shift):
            scaled = reference.saturating_rounding_doubling_high_mul(
                np.int64((value - max(row)) << shift), np.int64(multiplier)
            )
            return base.exp_on_negative_values(base.Fixed(int(scaled), 5))

        exps = [exponential(v) if v - max(row) >= diff_min else None for v in row]
        total = sum(e.rescale(12).raw for e in exps if e is not None)
        headroom = 32 - total.bit_length()
        scale = base.one_over_one_plus(base.Fixed((total << headroom) - 2**31, 0))
        outputs = [
            -32768
            if e is None
            else min(32767, base.divide_by_pot((scale * e).raw, 12 - headroom + 15) - 32768)
            for e in exps
        ]
        rows.append(outputs)
    return np.array(rows, np.int16)


def conversions():
    rng = np.random.default_rng(4)
    special = np.array(
        [
            0.5,
            -0.5,
            0.49999997,
            -0.49999997,
            1.5,
            2.5,
            -2.5,
            1e9,
            -1e9,
            3e38,
            np.inf,
            -np.inf,
            np.nan,
        ],
        np.float32,
    )
    for dtype, end in ENDS.items():
        for scale, zero in ((1.0, 0), (0.0123, -5 if end == "s8" else 0)):
            x = np.concatenate([special, (rng.normal(size=100) * 60 * scale).astype(np.float32)])
            params = [x.size, zero, oracle.float_bits(scale)]
            expected = oracle.quantize(x, scale, zero, dtype)
            yield Case(f"arm_quantize_f32_{end}", params, [x], x.size * expected.itemsize), expected
            q = numbers(rng, 45, dtype)
            real = np.float32(scale) * (q.astype(np.int64) - zero).astype(np.float32)
            yield (
                Case(f"arm_dequantize_{end}_f32", [q.size, zero, params[2]], [q], 4 * q.size),
                real.view(np.int32),
            )
        for scale in (0.3, 1.0, 2.9):
            q = numbers(rng, 41, dtype)
            params = [q.size, *oracle.factor(scale), 4, -9]
            expected = np.clip(
                oracle.scaled(q.astype(np.int64) - 4, *params[1:3]) - 9, *oracle.limits(dtype)
            )
            yield Case(f"arm_requantize_{end}_{end}", params, [q], q.nbytes), expected.astype(dtype)
    q = rng.integers(0, 256, 19).astype(np.uint8)
    real = np.float32(0.02) * (q.astype(np.int64) - 128).astype(np.float32)
    yield (
        Case("helia_nn_dequantize_u8_f32", [19, 128, oracle.float_bits(0.02)], [q], 76),
        real.view(np.int32),
    )
    codes = {-8: np.uint8, 8: np.int8, 16: np.int16, 32: np.int32}
    for from_bits, source in codes.items():
        for to_bits, output in codes.items():
            x = numbers(rng, 23, source)
            if source is np.int32:
                x = rng.integers(-(2**27), 2**27, 23).astype(np.int32)
            multiplier, shift = oracle.factor(0.0031 if from_bits == 32 else 0.4)
            value = oracle.scaled(x.astype(np.int64) - 3, multiplier, shift) + 7
            expected = value if output is np.int32 else np.clip(value, *oracle.limits(output))
            params = [from_bits, to_bits, 23, multiplier, shift, 3, 7]
            yield (
                Case("helia_nn_requantize_mixed", params, [x], 23 * np.dtype(output).itemsize),
                expected.astype(output),
            )


CAST_TYPES = [
    np.bool_, np.uint8, np.int8, np.int16, np.int32, np.uint32, np.int64, np.float32, np.float16,
]  # fmt: skip
REAL = (np.float32, np.float16)


def casts():
    rng = np.random.default_rng(5)
    for i, source in enumerate(CAST_TYPES):
        for k, output in enumerate(CAST_TYPES):
            if source is np.bool_:
                x = rng.integers(0, 2, 12).astype(np.bool_)
            elif source in REAL:
                x = rng.uniform(-100, 100, 12).astype(source)
            else:
                x = rng.integers(np.iinfo(source).min // 2, np.iinfo(source).max, 12).astype(source)
            middle = (
                np.trunc(x).astype(np.int64) if source in REAL and output is not np.bool_ else x
            )
            with np.errstate(over="ignore"):
                expected = (x if output in REAL else middle).astype(output)
            raw = np.ascontiguousarray(expected).view(np.uint8)
            yield Case("helia_nn_cast", [i, k, 12], [x], raw.size), raw
    halves = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)[:: 1 << 4]
    wide = halves.astype(np.float32)
    wide, halves = wide[np.isfinite(wide)], halves[np.isfinite(halves)]
    yield Case("helia_nn_cast", [8, 7, wide.size], [halves], wide.nbytes), wide.view(np.int32)
    between = np.concatenate(
        [np.nextafter(wide, np.float32(s)) for s in (-1e9, 1e9)] + [wide * np.float32(1.0009765625)]
    )
    with np.errstate(over="ignore"):
        narrow = between.astype(np.float16).view(np.int16)
    yield Case("helia_nn_cast", [7, 8, between.size], [between], narrow.nbytes), narrow


def movements():
    rng = np.random.default_rng(6)
    for size in (1, 2, 3, 4, 8, 12):
        x = rng.integers(0, 256, (4, 5, 6, size)).astype(np.uint8)
        row, pixel = x.shape[2] * size, size
        plane = x.shape[1] * row
        moves = [
            (x.transpose(2, 0, 1, 3), 0, [(6, pixel), (4, plane), (5, row)]),
            (
                x[::-1, 1:5:2, ::-3],
                3 * plane + row + 5 * pixel,
                [(4, -plane), (2, 2 * row), (2, -3 * pixel)],
            ),
            (
                np.broadcast_to(x[1:2, :, None, 2], (3, 5, 2, size)),
                plane + 2 * pixel,
                [(3, 0), (5, row), (2, 0)],
            ),
        ]
        for expected, start, axes in moves:
            extents, strides = (np.array([a[i] for a in axes], np.int32) for i in (0, 1))
            expected = np.ascontiguousarray(expected)
            params = [start, size, len(axes)]
            yield (
                Case("helia_nn_copy_strided", params, [x, extents, strides], expected.size),
                expected,
            )
        parts = [rng.integers(0, 256, (3, width)).astype(np.uint8) for width in (size, 2 * size, 1)]
        whole = np.concatenate(parts, axis=1)
        widths = [part.shape[1] for part in parts]
        yield Case("helia_nn_concatenate", [3, 3, *widths], parts, whole.size), whole
        split = np.concatenate([part.reshape(-1) for part in parts])
        yield Case("helia_nn_split", [3, 3, *widths], [whole], whole.size), split
        indices = np.array([[3, 0, 1], [2, 2, 0]], np.int32)
        data = x.reshape(2, 2, 5, 6 * size)
        expected = np.stack([data[b][:, indices[b]] for b in range(2)])
        params = [2, 2, 5, 3, 6 * size]
        yield Case("helia_nn_gather", params, [data, indices], expected.size), expected
    for dtype, fill in ((np.int8, -7), (np.int16, 1234), (np.int32, -100000)):
        x = numbers(rng, (2, 3, 4), dtype)
        padded = np.pad(x, ((1, 0), (0, 2), (2, 1)), constant_values=fill)
        low, size = -(1 << 31), x.itemsize
        table = [
            low,
            0,
            12 * size,
            0,
            4 * size,
            8 * size,
            low,
            low,
            low,
            2 * size,
            0,
            4 * size,
            low,
            size,
        ]
        tensors = [x, np.array(table, np.int32), np.array([3, 5, 3], np.int32)]
        yield (
            Case("helia_nn_copy_mapped", [3, 7 * size, fill, size], tensors, padded.nbytes),
            padded,
        )
        repeated = np.full(13, fill, dtype)
        yield Case("helia_nn_fill_pattern", [13 * size, fill, size], [], 13 * size), repeated


def space_batches():
    rng = np.random.default_rng(16)
    for n, block, above, below in (
        (1, (2, 2), (0, 0), (0, 0)),
        (2, (3, 1), (1, 0), (2, 0)),
        (1, (1, 3), (0, 4), (0, 1)),
        (3, (2, 4), (3, 1), (1, 3)),
    ):
        for size in (1, 2, 5):
            places = (4, 3)
            whole = [p * b for p, b in zip(places, block, strict=True)]
            inner = [w - a - b for w, a, b in zip(whole, above, below, strict=True)]
            x = rng.integers(0, 256, (n, *inner, size)).astype(np.uint8)
            padded = np.pad(
                x, ((0, 0), *zip(above, below, strict=True), (0, 0)), constant_values=249
            )
            cut = padded.reshape(n, places[0], block[0], places[1], block[1], size)
            cut = np.ascontiguousarray(cut.transpose(2, 4, 0, 1, 3, 5).reshape(-1, *places, size))
            ends = [*x.shape[:3], 1, *cut.shape[:3], 1]
            params = [*ends, *block, *above, size, 249 - 256]
            yield Case("helia_nn_space_to_batch", params, [x], cut.size), cut
            params = [*ends[4:], *ends[:4], *block, *above, size]
            yield Case("helia_nn_batch_to_space", params, [cut], x.size), x


def reductions():
    rng = np.random.default_rng(7)
    for dtype, end in ENDS.items():
        x = numbers(rng, (2, 5, 7, 9), dtype)
        kinds = {
            (1, 2): ([1, 2, 9], [0, 315, 1], [1, 1, 35], [0, 0, 9]),
            (3,): ([1, 1, 70], [0, 0, 9], [1, 1, 9], [0, 0, 1]),
            (0, 2): ([1, 5, 9], [0, 63, 1], [1, 2, 7], [0, 315, 9]),
            (1, 3): ([1, 2, 7], [0, 315, 9], [1, 5, 9], [0, 63, 1]),
            (0, 1, 2, 3): ([1, 1, 1], [0, 0, 0], [1, 1, 630], [0, 0, 1]),
        }
        for axes, walk in kinds.items():
            total = x.astype(np.int64).sum(axis=axes) - 17
            multiplier, shift = oracle.factor(0.031)
            expected = np.clip(
                oracle.scaled(total, multiplier, shift) + 5, *oracle.limits(dtype)
            ).astype(dtype)
            flat = [number for part in walk for number in part]
            params = [*flat, -17, multiplier, shift, 5]
            yield (
                Case(f"helia_nn_reduce_sum_{end}", params, [x], expected.nbytes),
                np.atleast_1d(expected),
            )
            for largest in (0, 1):
                expected = np.atleast_1d(x.max(axis=axes) if largest else x.min(axis=axes))
                yield (
                    Case(f"helia_nn_reduce_extremum_{end}", [*flat, largest], [x], expected.nbytes),
                    expected,
                )
        few = rng.integers(-3, 3, (2, 3, 4, 5)).astype(dtype)
        for axis in range(4):
            for word, function in (("max", np.argmax), ("min", np.argmin)):
                expected = function(few, axis=axis).astype(np.int32)
                yield (
                    Case(f"arm_arg{word}_{end}", [2, 3, 4, 5, axis], [few], expected.nbytes),
                    expected,
                )
    x = numbers(rng, (2, 3, 4, 5), np.int8)
    rows = np.array([0, 0, -200, 0, 1, 300, 1, 2, 1000, 2, 2, 512], np.int32)
    columns = np.array([0, 1, 512, 3, 3, 100, 2, 3, 0], np.int32)
    expected = oracle.bilinear(x, rows, columns)
    params = [2, 3, 4, 5, 2, 4, 3, 5]
    yield Case("helia_nn_resize_bilinear_s8", params, [x, rows, columns], expected.size), expected


def layers_s16():
    rng = np.random.default_rng(8)
    plans = [
        # input, filter (OHWI), stride, padding, dilation, output size
        ((2, 6, 7, 5), (6, 3, 3, 5), (1, 1), (1, 1), (1, 1), (6, 7)),
        ((1, 9, 8, 3), (4, 2, 3, 3), (2, 2), (0, 1), (1, 1), (4, 4)),
        ((1, 7, 9, 8), (4, 3, 2, 4), (1, 2), (2, 1), (2, 3), (7, 4)),
        ((1, 5, 4, 17), (9, 1, 1, 17), (1, 1), (0, 0), (1, 1), (5, 4)),
        ((1, 1, 20, 40), (3, 1, 4, 40), (1, 1), (0, 0), (1, 1), (1, 17)),
    ]
    for index, (size, shape, stride, padding, dilation, output) in enumerate(plans):
        x, filters = numbers(rng, size, np.int16), rng.integers(-127, 128, shape).astype(np.int8)
        scale = factors(rng, shape[0])
        multiplier, shift = (np.array([f[i] for f in scale], np.int32) for i in (0, 1))
        shift -= 8
        extents = [*size, *shape, size[0], *output, shape[0]]
        rest = [0, 0, *stride[::-1], *padding[::-1], *dilation[::-1], -30000, 32767]
        bytes_ = 2 * size[0] * output[0] * output[1] * shape[0]
        geometry = {"stride": stride, "padding": padding, "dilation": dilation, "output": output}
        geometry |= {"multiplier": multiplier, "shift": shift, "activation": (-30000, 32767)}
        for bias in (
            None,
            rng.integers(-(2**35), 2**35, shape[0]),
            rng.integers(-9999, 9999, shape[0]).astype(np.int32),
        ):
            params = [*extents, *rest, int(bias is not None and bias.dtype == np.int32)]
            expected = oracle.convolve_s16(x, filters, bias, **geometry)
            yield (
                Case(
                    "arm_convolve_s16", params, [x, filters, bias, None, multiplier, shift], bytes_
                ),
                expected,
            )
        channels = size[3] * (1 + index % 2)
        depthwise = rng.integers(-127, 128, (1, *shape[1:3], channels)).astype(np.int8)
        scale = factors(rng, channels)
        multiplier, shift = (np.array([f[i] for f in scale], np.int32) for i in (0, 1))
        shift -= 6
        bias = rng.integers(-(2**33), 2**33, channels)
        acc_filters = np.zeros((channels, *shape[1:3], 1), np.int8)
        acc_filters[..., 0] = depthwise[0].transpose(2, 0, 1)
        geometry |= {"multiplier": multiplier, "shift": shift}
        expected = oracle.convolve_s16(x, acc_filters, bias, **geometry)
        params = [*size, *depthwise.shape, size[0], *output, channels, *rest, channels // size[3]]
        tensors = [x, depthwise, bias, None, multiplier, shift]
        yield Case("arm_depthwise_conv_s16", params, tensors, expected.nbytes), expected
    for rows, depth, channels in ((1, 1, 1), (3, 37, 5), (2, 600, 11)):
        x, weights = (
            numbers(rng, (rows, depth), np.int16),
            rng.integers(-127, 128, (channels, depth)).astype(np.int8),
        )
        bias = rng.integers(-(2**34), 2**34, channels)
        acc = x.astype(np.int64) @ weights.astype(np.int64).T + bias
        extents = [rows, 1, 1, depth, depth, 1, 1, channels, rows, 1, 1, channels]
        scale = factors(rng, channels)
        multiplier, shift = (np.array([f[i] for f in scale], np.int32) for i in (0, 1))
        shift -= 9
        expected = np.clip(oracle.scaled_s64(acc, multiplier[0], shift[0]), -32768, 32767).astype(
            np.int16
        )
        params = [*extents, 0, 0, 0, -32768, 32767, multiplier[0], shift[0]]
        yield Case("arm_fully_connected_s16", params, [x, weights, bias], expected.nbytes), expected
        expected = np.clip(oracle.scaled_s64(acc, multiplier, shift), -32768, 32767).astype(
            np.int16
        )
        tensors = [x, weights, bias, None, multiplier, shift]
        yield (
            Case("arm_fully_connected_per_channel_s16", params[:-2], tensors, expected.nbytes),
            expected,
        )
    for kernel, stride, padding, output in (
        ((2, 3), (2, 1), (0, 1), (3, 7)),
        ((3, 3), (1, 2), (1, 1), (6, 4)),
    ):
        x = numbers(rng, (2, 6, 7, 5), np.int16)
        for entry, kind in (("arm_avgpool_s16", "average"), ("arm_max_pool_s16", "max")):
            expected = oracle.pool_s16(x, kernel, stride, padding, output, kind)
            params = [
                2,
                6,
                7,
                5,
                1,
                *kernel,
                1,
                2,
                *output,
                5,
                *stride[::-1],
                *padding[::-1],
                -32768,
                32767,
            ]
            yield Case(entry, params, [x], expected.nbytes), expected


def phase_sums(filters, stride, offset: int, bias) -> np.ndarray:
    """Bias and offset times the weights of each phase, whose taps are those of the phase's outputs alone."""
    wide = filters.astype(np.int64)
    rows = [
        bias + offset * wide[:, y :: stride[0], x :: stride[1]].sum(axis=(1, 2, 3))
        for y in range(stride[0])
        for x in range(stride[1])
    ]
    return np.array(rows, np.int32)


def narrow_layers_s16():
    """Accumulators at and around the limits of 32 bits, with every tail of a vector and of a block of channels."""
    rng = np.random.default_rng(10)
    for index, depth in enumerate((1, 7, 8, 9, 40, 255, 256, 511, 512, 1030)):
        channels = 1 + index % 9
        x = rng.choice([-32768, 32767], (2, depth)).astype(np.int16)
        weights = rng.choice([-127, 127], (channels, depth)).astype(np.int8)
        weights[0] = np.where(x[0] < 0, -127, 127)
        multiplier = rng.choice([1 << 30, 0x7FFEFFFF, 0x7FFF8000, 2**31 - 1], channels).astype(
            np.int32
        )
        shift = rng.integers(-20, -1, channels).astype(np.int32)
        for limit in (1000, 1 << 30, (1 << 30) + 1):
            bias = rng.choice([-limit, limit], channels)
            acc = x.astype(np.int64) @ weights.astype(np.int64).T + bias
            expected = np.clip(oracle.scaled_s64(acc, multiplier, shift), -32768, 32767)
            expected = expected.astype(np.int16)
            extents = [2, 1, 1, depth, depth, 1, 1, channels, 2, 1, 1, channels]
            tensors = [x, weights, bias, None, multiplier, shift]
            params = [*extents, 0, 0, 0, -32768, 32767]
            entry = "arm_fully_connected_per_channel_s16"
            yield Case(entry, params, tensors, expected.nbytes), expected
            extents = [1, 1, 2, depth, channels, 1, 1, depth, 1, 1, 2, channels]
            params = [*extents, 0, 0, 1, 1, 0, 0, 1, 1, -32768, 32767, 0]
            yield Case("arm_convolve_s16", params, tensors, expected.nbytes), expected
    for channels in (1, 4, 5, 8, 13, 16):
        x = rng.choice([-32768, 32767], (1, 5, 4, channels)).astype(np.int16)
        filters = rng.choice([-127, 127], (1, 3, 3, channels)).astype(np.int8)
        multiplier = rng.choice([1 << 30, 2**31 - 1], channels).astype(np.int32)
        shift = rng.integers(-16, -1, channels).astype(np.int32)
        bias = rng.choice([-(1 << 30), 1 << 30, 77], channels)
        expected = oracle.convolve_s16(
            x, filters[0].transpose(2, 0, 1)[..., None], bias, stride=(1, 1), padding=(1, 1), dilation=(1, 1),
            output=(5, 4), multiplier=multiplier, shift=shift, activation=(-32768, 30000),
        )  # fmt: skip
        params = [*x.shape, *filters.shape, *x.shape, 0, 0, 1, 1, 1, 1, 1, 1, -32768, 30000, 1]
        tensors = [x, filters, bias, None, multiplier, shift]
        yield Case("arm_depthwise_conv_s16", params, tensors, expected.nbytes), expected


def windows_s16():
    """Windows beside and outside the input, dilation, strides, blocks of channels with a rest, several outputs of an input."""
    rng = np.random.default_rng(11)
    plans = [
        # size, channels, multiplier, kernel, stride, padding, dilation, output
        ((2, 5, 6), 7, 1, (3, 3), (1, 1), (1, 1), (1, 1), (5, 6)),
        ((1, 7, 6), 66, 1, (3, 2), (2, 3), (1, 0), (1, 1), (4, 2)),
        ((1, 2, 3), 4, 1, (2, 2), (1, 1), (4, 4), (2, 1), (9, 10)),
        ((2, 6, 1), 3, 1, (4, 1), (1, 1), (0, 0), (1, 1), (3, 1)),
        ((1, 9, 8), 1, 8, (5, 4), (2, 2), (2, 1), (1, 1), (5, 4)),
        ((1, 4, 5), 3, 4, (3, 3), (1, 1), (2, 2), (1, 2), (6, 5)),
        ((1, 4, 4), 2, 3, (2, 3), (1, 1), (0, 1), (1, 1), (3, 4)),
        ((1, 17, 17), 5, 1, (17, 16), (1, 1), (0, 0), (1, 1), (1, 2)),
    ]
    for number, (size, cin, multiple, kernel, stride, padding, dilation, output) in enumerate(
        plans
    ):
        x = numbers(rng, (*size, cin), np.int16)
        channels = cin * multiple
        multiplier = rng.integers(1 << 30, 2**31 - 1, channels).astype(np.int32)
        shift = rng.integers(-22, -6 if number % 2 else 1, channels).astype(np.int32)
        for limit in (2**20, 2**34):
            bias = rng.integers(-limit, limit, channels)
            made = {"multiplier": multiplier, "shift": shift, "activation": (-30000, 32767)}
            window = {"stride": stride, "padding": padding, "dilation": dilation, "output": output}
            filters = rng.integers(-128, 128, (1, *kernel, channels)).astype(np.int8)
            extents = [*x.shape, *filters.shape, size[0], *output, channels]
            params = [*extents, 0, 0, *stride[::-1], *padding[::-1], *dilation[::-1], -30000, 32767]
            tensors = [x, filters, bias, None, multiplier, shift]
            expected = oracle.convolve_s16(
                x, filters[0].transpose(2, 0, 1)[..., None], bias, **window, **made
            )
            case = Case("arm_depthwise_conv_s16", [*params, multiple], tensors, expected.nbytes)
            yield case, expected
            filters = rng.integers(-128, 128, (channels, *kernel, cin)).astype(np.int8)
            extents = [*x.shape, *filters.shape, size[0], *output, channels]
            tensors = [x, filters, bias, None, multiplier, shift]
            expected = oracle.convolve_s16(x, filters, bias, **window, **made)
            yield (
                Case("arm_convolve_s16", [*extents, *params[12:], 0], tensors, expected.nbytes),
                expected,
            )


def transposed():
    rng = np.random.default_rng(9)
    plans = [
        ((1, 4, 5, 3), (4, 3, 3, 3), (2, 2), (0, 0), (9, 11)),
        ((2, 3, 3, 18), (2, 2, 4, 18), (1, 3), (0, 1), (4, 8)),
        ((1, 5, 4, 2), (3, 1, 2, 2), (3, 1), (0, 0), (15, 5)),
        ((1, 3, 3, 4), (2, 5, 5, 4), (2, 2), (2, 1), (6, 6)),
    ]
    for dtype, end in ENDS.items():
        for size, shape, stride, padding, output in plans:
            x, filters = numbers(rng, size, dtype), rng.integers(-127, 128, shape).astype(np.int8)
            multiplier, shift = (
                np.array([f[i] for f in factors(rng, shape[0])], np.int32) for i in (0, 1)
            )
            shift -= 5
            offset, zero = (9, -4) if end == "s8" else (0, 0)
            bias = rng.integers(-5000, 5000, shape[0]).astype(np.int32 if end == "s8" else np.int64)
            acc = oracle.transpose_conv(x, filters, bias, input_offset=offset, stride=stride, padding=padding, output=output)  # fmt: skip
            out = (
                reference.multiply_by_quantized_multiplier(acc, multiplier, shift)
                if end == "s8"
                else oracle.scaled_s64(acc, multiplier, shift)
            )
            expected = np.clip(out + zero, *oracle.limits(dtype)).astype(dtype)
            params = [
                *size,
                *shape,
                size[0],
                *output,
                shape[0],
                offset,
                zero,
                *stride[::-1],
                *padding[::-1],
                1,
                1,
            ]
            params += oracle.limits(dtype)
            sums = phase_sums(filters, stride, offset, bias) if end == "s8" else None
            tensors = [
                x,
                by_phase(filters, *stride),
                bias if end == "s16" else None,
                sums,
                multiplier,
                shift,
            ]
            taps = -(-shape[1] // stride[0]) * -(-shape[2] // stride[1])
            entry = f"helia_nn_transpose_conv_{end}"
            scratch = taps * size[3] * x.itemsize
            yield Case(entry, params, tensors, expected.nbytes, scratch), expected


def svdf_case(rng, extents, dtype, state_offset=0):
    """A step of (batches, inputs, units, rank, memory); the state after it follows the outputs."""
    batches, inputs, units, rank, memory = extents
    x = numbers(rng, (batches, inputs), np.int8)
    feature = numbers(rng, (units * rank, inputs), np.int8)
    time = rng.integers(-120, 121, (units * rank, memory)).astype(dtype)
    bias = rng.integers(-3000, 3000, units).astype(np.int32)
    state = numbers(rng, (batches, units * rank, memory), dtype)
    params = [*extents, 7, state_offset, -2, *oracle.factor(0.02),
              *oracle.factor(0.003 if dtype is np.int8 else 1e-5), -100, 127]  # fmt: skip
    output, after = oracle.svdf(x, feature, time, bias, state, params)
    padded = np.zeros((output.size + 3) // 4 * 4, np.int8)
    padded[: output.size] = output.reshape(-1)
    expected = np.concatenate([padded.view(np.uint8), after.reshape(-1).view(np.uint8)])
    tensors = [x, feature, time, bias, state]
    return Case(f"helia_nn_svdf_{ENDS[dtype]}", params, tensors, expected.size), expected


def svdfs():
    """Depths with all tails of words, more filters than one block of sums, deep inputs, and zero points of the state."""
    rng = np.random.default_rng(10)
    plain = [(1, 9, 4, 1, 5), (2, 3, 5, 2, 3), (1, 40, 8, 2, 10), (1, 1, 1, 1, 1), (3, 2, 1, 1, 2)]
    plain += [(1 + tail % 2, tail, 37, 1, 17 - tail) for tail in range(1, 16)]
    plain += [(1, 300, 35, 1, 4), (1, 16, 3, 5, 7)]
    for extents in plain:
        yield svdf_case(rng, extents, np.int8, 3)
        yield svdf_case(rng, extents, np.int16)
    for extents in plain[:8]:
        yield svdf_case(rng, extents, np.int8)
        yield svdf_case(rng, extents, np.int16, -300)


GROUPS = (
    elementwise,
    activations,
    softmaxes,
    conversions,
    casts,
    movements,
    space_batches,
    reductions,
    layers_s16,
    narrow_layers_s16,
    windows_s16,
    transposed,
    svdfs,
)


@cache
def cases() -> tuple[list[Case], list[np.ndarray]]:
    made = [pair for group in GROUPS for pair in group()]
    return [case for case, _ in made], [np.ascontiguousarray(want) for _, want in made]


@each_target
def test_every_entry_equals_its_oracle(target):
    check_cases(target, *cases())


@each_target
def test_arguments_outside_the_rules_are_refused(target):
    x = np.zeros(16, np.int8)
    one = np.ones(9, np.int32)
    check_rejected(
        target,
        [
            Case("arm_mul_s8", [1, 1, 1, 3, 1, 1, 1, 2, 1, 1, 1, 3, 0, 0, 0, 1 << 30, 0, 0, 0], [x, x], 3),
            Case("arm_maximum_s16", [1, 1, 2, 3, 1, 1, 2, 3, 1, 1, 1, 3], [x, x], 6),
            Case("helia_nn_copy_strided", [0, 1, 9], [x, one, one], 1),
            Case("helia_nn_copy_mapped", [1, 1, 0, 3], [x, one, one], 1),
            Case("helia_nn_gather", [1, 1, 4, 2, 1], [x, np.array([1, 4], np.int32)], 2),
            Case("helia_nn_gather", [1, 1, 4, 2, 1], [x, np.array([-1, 0], np.int32)], 2),
            Case("helia_nn_fill_pattern", [3, 0, 3], [], 3),
            Case("helia_nn_space_to_batch", [1, 2, 2, 1, 3, 1, 1, 1, 2, 2, 0, 0, 1, 0], [x], 3),
            Case("helia_nn_batch_to_space", [4, 1, 1, 1, 1, 2, 2, 1, 2, 2, 1, 0, 1], [x], 4),
            Case("helia_nn_batch_to_space", [3, 1, 1, 1, 1, 2, 2, 1, 2, 2, 0, 0, 1], [x], 4),
            Case("helia_nn_cast", [9, 0, 1], [x], 4),
            Case("helia_nn_requantize_mixed", [8, 24, 1, 1 << 30, 1, 0, 0], [x], 4),
            Case("arm_argmax_s8", [1, 1, 1, 4, 4], [x], 4),
            Case("arm_convolve_s16", [1, 2, 2, 3, 1, 1, 1, 2, 1, 2, 2, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0], [x, x, None, None, one, one], 8),
        ],
    )  # fmt: skip


def test_the_sigmoid_samples_are_near_the_real_function():
    table = np.array(oracle.samples())
    exact = 65536 / (1 + np.exp(-np.arange(256) / 24))
    assert np.abs(table - exact).max() < 1.2
    assert oracle.sigmoid_is_near("logistic") < 3
    assert oracle.sigmoid_is_near("tanh") < 5


def test_every_entry_has_a_case():
    from helia_aot.kernels.manifest import public_entries

    suffixes = (
        "_s16",
        "_mixed",
        "_strided",
        "_mapped",
        "concatenate",
        "split",
        "gather",
        "pattern",
        "cast",
        "_to_batch",
        "_to_space",
    )
    ours = {
        e for e in public_entries() if e.startswith(("arm_", "helia_nn_")) and e.endswith(suffixes)
    }
    tested = {case.entry for case in cases()[0]}
    tested |= {case.entry for case, _ in (*lstm_cases(), *product_cases())}
    tested |= {case.entry for case in element_wise_cases()[0]}
    tested |= {case.entry for case, _ in exact_cases("f16")}
    assert ours <= tested, sorted(ours - tested)
