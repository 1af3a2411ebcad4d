# SPDX-License-Identifier: Apache-2.0
"""The numpy oracle and the kernels against the TensorFlow Lite Micro interpreter on one-operator models."""

from __future__ import annotations

import numpy as np
import reference
from harness import Case, check_everywhere
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

from helia_aot.kernels.manifest import scratch_bytes

runtime = tflite_micro_runtime()


def interpret(model: bytes, x: np.ndarray) -> np.ndarray:
    interpreter = runtime.Interpreter.from_bytes(model)
    interpreter.set_input(x, 0)
    interpreter.invoke()
    return interpreter.get_output(0)


def requantization(scale_in: float, filter_scale: np.ndarray, scale_out: float):
    """Multipliers and shifts as TFLite's Prepare computes them, from float32 scales in double precision."""
    factors = (
        np.float64(np.float32(scale_in))
        * filter_scale.astype(np.float64)
        / np.float64(np.float32(scale_out))
    )
    pairs = [reference.quantize_multiplier(float(f)) for f in factors]
    return (np.array([p[i] for p in pairs], np.int32) for i in (0, 1))


CONVOLUTIONS = {
    "pointwise": ("arm_convolve_1x1_s8_fast", (1, 5, 7, 20), (9, 1, 1, 20), {}),
    "same, stride 2": ("arm_convolve_s8", (1, 9, 8, 5), (6, 3, 3, 5), {"stride": (2, 2)}),
    "valid, dilation": (
        "arm_convolve_s8",
        (1, 9, 9, 4),
        (5, 3, 2, 4),
        {"dilation": (2, 3), "padding": "valid"},
    ),
    "first layer": ("arm_convolve_s8_small_cin", (1, 10, 10, 3), (8, 3, 3, 3), {"stride": (2, 2)}),
    "16 channels": ("arm_convolve_s8_3x3_c16_s1", (1, 6, 6, 16), (16, 3, 3, 16), {}),
}


def test_convolutions():
    cases, expected = [], []
    for seed, (entry, size, filter_shape, options) in enumerate(CONVOLUTIONS.values()):
        rng = np.random.default_rng(seed)
        x = rng.integers(-128, 128, size).astype(np.int8)
        filters = rng.integers(-127, 128, filter_shape).astype(np.int8)
        bias = rng.integers(-4000, 4000, filter_shape[0]).astype(np.int32)
        filter_scale = rng.uniform(0.001, 0.02, filter_shape[0]).astype(np.float32)
        scale_in, zero_in, scale_out, zero_out = 0.0375, -11, 0.31, 7
        builder = ModelBuilder()
        source = builder.tensor(size, scale=scale_in, zero_point=zero_in)
        y = builder.conv_2d(
            source,
            filters,
            bias,
            filter_scale=filter_scale,
            scale=scale_out,
            zero_point=zero_out,
            **options,
        )
        want = interpret(builder.build(inputs=[source], outputs=[y]), x)

        multiplier, shift = requantization(scale_in, filter_scale, scale_out)
        stride, dilation = options.get("stride", (1, 1)), options.get("dilation", (1, 1))
        output = want.shape[1:3]
        padding = [
            max(0, ((o - 1) * s + (k - 1) * d + 1 - i) // 2)
            for o, s, k, d, i in zip(
                output, stride, filter_shape[1:3], dilation, size[1:3], strict=True
            )
        ]
        oracle = reference.conv_s8(
            x, filters, bias, input_offset=-zero_in, output_offset=zero_out, stride=stride, padding=padding,
            dilation=dilation, output=output, multiplier=multiplier, shift=shift, activation=(-128, 127),
        )  # fmt: skip
        np.testing.assert_array_equal(oracle, want, err_msg=f"oracle differs: {entry} {options}")
        params = [
            *size, *filter_shape, *want.shape, -zero_in, zero_out, *stride[::-1], *padding[::-1],
            *dilation[::-1], -128, 127,
        ]  # fmt: skip
        sums = reference.conv_weight_sums(filters, bias, -zero_in)
        height, width, channels = filter_shape[1:]
        scratch = scratch_bytes(
            entry, kernel_height=height, kernel_width=width, input_channels=channels
        )
        tensors = [x, filters, None, sums, multiplier, shift]
        cases.append(Case(entry, params, tensors, want.size, scratch))
        expected.append(want)
    check_everywhere(cases, expected)


def test_fully_connected():
    rng = np.random.default_rng(3)
    x = rng.integers(-128, 128, (3, 37)).astype(np.int8)
    weights = rng.integers(-127, 128, (10, 37)).astype(np.int8)
    bias = rng.integers(-4000, 4000, 10).astype(np.int32)
    builder = ModelBuilder()
    source = builder.tensor(x.shape, scale=0.05, zero_point=-3)
    y = builder.fully_connected(
        source, weights, bias, filter_scale=0.01, scale=0.4, zero_point=12, activation="relu"
    )
    want = interpret(builder.build(inputs=[source], outputs=[y]), x)
    (multiplier, shift) = (int(v[0]) for v in requantization(0.05, np.float32([0.01]), 0.4))
    params = [3, 1, 1, 37, 37, 1, 1, 10, 3, 1, 1, 10, 3, 0, 12, 12, 127, multiplier, shift]
    sums = reference.conv_weight_sums(weights, bias, 3)
    tensors = [x, weights, None, sums]
    check_everywhere([Case("arm_fully_connected_s8", params, tensors, want.size)], [want])
