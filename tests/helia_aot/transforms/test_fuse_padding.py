# SPDX-License-Identifier: Apache-2.0
"""PAD before convolutions and pools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_models import ACTIVATIONS, PADDINGS, ModelBuilder
from transform_checks import (
    assert_same,
    check_outputs,
    converted,
    graph_of,
    ids,
    op_types,
    random_inputs,
    reference,
)

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.ir.attributes import ExplicitPadding
from helia_aot.transforms.fuse_padding import fuse_padding
from runners.base import MeasureSettings
from runners.measurement import Stimulus
from runners.registry import create_runner

POINT = {"int8": -11, "int16": 0, "float32": 0}


class Padded:
    """A model with one input that is padded for several layers.

    Args:
        dtype: Element type of all activations.
        channels: Channels of the input.
    """

    def __init__(self, dtype: str = "int8", channels: int = 3) -> None:
        self.rng = np.random.default_rng(7)
        self.model, self.dtype = ModelBuilder(), dtype
        self.x = self.tensor((1, 7, 6, channels), name="x")
        self.outputs: list[int] = []

    def tensor(self, shape: tuple[int, ...], name: str | None = None) -> int:
        scale = {"int8": 0.05, "int16": 0.0003, "float32": None}[self.dtype]
        zero = POINT[self.dtype] if scale else 0
        return self.model.tensor(shape, dtype=self.dtype, scale=scale, zero_point=zero, name=name)

    def pad(
        self, x: int, rows: tuple[int, int], columns: tuple[int, int], value: int | None = None
    ) -> int:
        amounts = np.array([(0, 0), rows, columns, (0, 0)], np.int32)
        source = self.model.tensors[x].shape
        y = self.tensor(tuple(s + a.sum() for s, a in zip(source, amounts, strict=True)))
        inputs = [x, self.model.constant(amounts)]
        if value is None:
            self.model.operator("PAD", inputs, [y], ("PadOptions", {}))
        else:
            like = self.model.tensors[x]
            fill = self.model.constant(
                np.array(value, self.dtype),
                scale=like.scale[0] if like.scale else None,
                zero_point=POINT[self.dtype],
            )
            self.model.operator("PADV2", [*inputs, fill], [y], ("PadV2Options", {}))
        return y

    def layer(self, x: int, op_type: str, outputs: int, kernel, **window) -> int:
        n, h, w, c = self.model.tensors[x].shape
        stride, dilation = window.get("stride", (1, 1)), window.get("dilation", (1, 1))
        extents = [
            (s - (k - 1) * d - 1) // t + 1
            for s, k, t, d in zip((h, w), kernel, stride, dilation, strict=True)
        ]
        fields = {
            "Padding": PADDINGS["valid"],
            "StrideH": stride[0],
            "StrideW": stride[1],
            "FusedActivationFunction": ACTIVATIONS["none"],
        }
        if op_type == "MAX_POOL_2D":
            fields |= {"FilterHeight": kernel[0], "FilterWidth": kernel[1]}
            y, inputs, table = self.tensor((n, *extents, c)), [x], "Pool2DOptions"
        else:
            fields |= {"DilationHFactor": dilation[0], "DilationWFactor": dilation[1]}
            depthwise = op_type == "DEPTHWISE_CONV_2D"
            shape = (1, *kernel, outputs) if depthwise else (outputs, *kernel, c)
            if depthwise:
                fields["DepthMultiplier"] = outputs // c
            y, inputs = (
                self.tensor((n, *extents, outputs)),
                [x, self.weights(shape, outputs, depthwise)],
            )
            inputs.append(self.bias(outputs))
            table = "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions"
        self.model.operator(op_type, inputs, [y], (table, fields))
        self.outputs.append(y)
        return y

    def weights(self, shape: tuple[int, ...], outputs: int, depthwise: bool) -> int:
        if self.dtype == "float32":
            return self.model.constant(self.rng.standard_normal(shape).astype(np.float32))
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        scales = self.rng.uniform(0.002, 0.01, outputs)
        return self.model.constant(data, scale=scales, axis=3 if depthwise else 0)

    def bias(self, outputs: int) -> int:
        if self.dtype == "float32":
            return self.model.constant(self.rng.standard_normal(outputs).astype(np.float32))
        wide = np.int64 if self.dtype == "int16" else np.int32
        data = self.rng.integers(-900, 900, outputs).astype(wide)
        return self.model.constant(data, scale=np.full(outputs, 1e-4))

    def build(self) -> bytes:
        return self.model.build(inputs=[self.x], outputs=self.outputs)


def layers(dtype: str, channels: int) -> Padded:
    """Makes a model with paddings of every side before layers of many shapes."""
    m = Padded(dtype, channels)
    for rows, columns, kernel, stride in (
        ((1, 1), (1, 1), (3, 3), (1, 1)),
        ((0, 1), (0, 1), (3, 3), (2, 2)),
        ((2, 1), (1, 2), (3, 3), (1, 2)),
        ((2, 2), (2, 2), (3, 3), (3, 3)),
        ((0, 2), (3, 0), (4, 5), (1, 1)),
        ((1, 0), (0, 0), (2, 1), (2, 1)),
    ):
        m.layer(m.pad(m.x, rows, columns), "CONV_2D", 8, kernel, stride=stride)
        m.layer(
            m.pad(m.x, rows, columns, POINT[dtype]),
            "DEPTHWISE_CONV_2D",
            channels,
            kernel,
            stride=stride,
        )
    if dtype != "int16":
        wide = m.pad(m.x, (2, 1), (1, 2))
        m.layer(wide, "CONV_2D", 5, (3, 2), dilation=(2, 3))
        m.layer(wide, "DEPTHWISE_CONV_2D", 2 * channels, (3, 2), dilation=(2, 3))
    return m


@pytest.mark.parametrize(
    ("dtype", "channels"), [("int8", 3), ("int8", 16), ("int16", 4), ("float32", 3)]
)
def test_layers_pad_by_themselves(dtype: str, channels: int, tmp_path: Path) -> None:
    m = layers(dtype, channels)
    data = m.build()
    fused, apart = converted(data, tmp_path), converted(data, tmp_path, ["fuse_padding"])
    assert {"PAD", "PADV2"}.isdisjoint(op_types(fused))
    assert len(op_types(fused)) == len(m.outputs)
    assert [i for i in ids(apart) if i in ids(fused)] == ids(fused)
    check_outputs(data, fused, random_inputs(m.model, [m.x]), tmp_path)


@pytest.mark.parametrize("channels", [3, 16, 64])
@pytest.mark.parametrize("platform", ["apollo510_evb", "apollo4p_evb"])
def test_the_cores_kernels_take_every_padding(platform: str, channels: int, tmp_path: Path) -> None:
    m = layers("int8", channels)
    data = m.build()
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    conversion = convert(
        ConvertConfig.model_validate({"model": {"path": path}, "platform": {"name": platform}})
    )
    inputs = random_inputs(m.model, [m.x])
    runner = create_runner("simulator", conversion.platform)
    result = runner.measure(conversion, Stimulus(tuple(inputs)), MeasureSettings())
    assert result.measurement.status == "ok", result.measurement.reason
    assert_same(result.outputs, reference(data, inputs, len(m.outputs)))


def test_same_padding_and_a_pad_add_up(tmp_path: Path) -> None:
    model = ModelBuilder()
    m = Padded()
    padded = m.pad(m.x, (0, 1), (1, 0))
    model = m.model
    filters = m.rng.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    y = model.conv_2d(
        padded, filters, None, filter_scale=0.004, scale=0.1, zero_point=4, padding="same",
        stride=(2, 2),
    )  # fmt: skip
    data = model.build(inputs=[m.x], outputs=[y])
    (layer,) = fuse_padding(graph_of(data, tmp_path)).operators
    # 8 rows by steps of 2 need one more row, below; 7 columns need one on each side.
    assert layer.attributes.padding == ExplicitPadding(0, 2, 2, 1)
    check_outputs(data, converted(data, tmp_path), random_inputs(model, [m.x]), tmp_path)


def test_a_pool_of_clamped_numbers_pads_by_itself(tmp_path: Path) -> None:
    m = Padded()
    clamped = m.tensor((1, 7, 6, 3))
    m.model.operator("RELU", [m.x], [clamped])
    m.layer(m.pad(clamped, (1, 1), (0, 1)), "MAX_POOL_2D", 3, (3, 2), stride=(2, 2))
    data = m.build()
    conversion = converted(data, tmp_path)
    assert op_types(conversion) == ["RELU", "MAX_POOL_2D"]
    check_outputs(data, conversion, random_inputs(m.model, [m.x]), tmp_path)


def _pool(m: Padded) -> None:
    m.layer(m.pad(m.x, (1, 1), (1, 1)), "MAX_POOL_2D", 3, (3, 3))


def _other_value(m: Padded) -> None:
    m.layer(m.pad(m.x, (1, 1), (1, 1), value=5), "CONV_2D", 4, (3, 3))


def _wider_than_the_filter(m: Padded) -> None:
    m.layer(m.pad(m.x, (1, 3), (1, 1)), "CONV_2D", 4, (3, 3))


def _is_an_output(m: Padded) -> None:
    padded = m.pad(m.x, (1, 1), (1, 1))
    m.layer(padded, "CONV_2D", 4, (3, 3))
    m.outputs.append(padded)


def _another_reader(m: Padded) -> None:
    padded = m.pad(m.x, (1, 1), (1, 1))
    m.layer(padded, "CONV_2D", 4, (3, 3))
    m.layer(padded, "MAX_POOL_2D", 3, (3, 3))


@pytest.mark.parametrize(
    "build", [_pool, _other_value, _wider_than_the_filter, _is_an_output, _another_reader]
)
def test_other_pads_stay(build, tmp_path: Path) -> None:
    m = Padded()
    build(m)
    graph = graph_of(m.build(), tmp_path)
    assert fuse_padding(graph) is graph
