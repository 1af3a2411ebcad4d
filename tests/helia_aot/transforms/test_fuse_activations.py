# SPDX-License-Identifier: Apache-2.0
"""Clamps after the layers that can do them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_models import ACTIVATIONS, ModelBuilder
from transform_checks import (
    check_outputs,
    converted,
    graph_of,
    ids,
    op_types,
    random_inputs,
)

from helia_aot.api import convert
from helia_aot.transforms.fuse_activations import fuse_activations

CLAMPS = ("RELU", "RELU6", "RELU_N1_TO_1")


def clamped(model: ModelBuilder, x: int, clamp: str, scale: float | None = None) -> int:
    """Adds a clamp, quantized as its input unless a scale is given."""
    source = model.tensors[x]
    own = source.scale[0] if source.scale else None
    y = model.tensor(
        source.shape,
        dtype=source.dtype,
        scale=scale or own,
        zero_point=source.zero_point[0] if source.scale else 0,
        name=f"{clamp}_of_{x}",
    )
    model.operator(clamp, [x], [y])
    return y


def layers(dtype: str) -> tuple[ModelBuilder, list[int], list[int]]:
    """Makes a model in which clamps follow arithmetic, and for int8 every layer that can clamp."""
    rng = np.random.default_rng(3)
    model = ModelBuilder()
    scale = {"int8": 0.06, "int16": 0.0004, "float32": None}[dtype]
    zero = -20 if dtype == "int8" else 0
    x, y = (
        model.tensor((1, 5, 4, 8), dtype=dtype, scale=scale, zero_point=zero, name=name)
        for name in "xy"
    )
    found = []
    for op_type, clamp in (("ADD", "RELU"), ("SUB", "RELU6"), ("MUL", "RELU6")):
        z = model.tensor((1, 5, 4, 8), dtype=dtype, scale=scale, zero_point=zero)
        table = f"{op_type.capitalize()}Options"
        model.operator(
            op_type, [x, y], [z], (table, {"FusedActivationFunction": ACTIVATIONS["none"]})
        )
        found.append(clamped(model, z, clamp))
    if dtype == "int8":
        filters = rng.integers(-127, 128, (6, 3, 3, 8)).astype(np.int8)
        args = {"filter_scale": 0.004, "scale": 0.08, "zero_point": -30}
        found.append(clamped(model, model.conv_2d(x, filters, None, **args), "RELU"))
        filters = rng.integers(-127, 128, (1, 3, 3, 8)).astype(np.int8)
        found.append(clamped(model, model.depthwise_conv_2d(x, filters, None, **args), "RELU6"))
        weights = rng.integers(-127, 128, (9, 160)).astype(np.int8)
        flat = model.reshape(x, (1, 160))
        found.append(clamped(model, model.fully_connected(flat, weights, None, **args), "RELU"))
        found.append(clamped(model, model.max_pool_2d(x, kernel=(2, 2)), "RELU6"))
        found.append(clamped(model, model.average_pool_2d(x, kernel=(2, 2)), "RELU"))
    return model, [x, y], found


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32"])
def test_a_clamp_becomes_part_of_its_layer(dtype: str, tmp_path: Path) -> None:
    model, inputs, outputs = layers(dtype)
    data = model.build(inputs=inputs, outputs=outputs)
    fused, apart = converted(data, tmp_path), converted(data, tmp_path, ["fuse_activations"])
    assert set(op_types(fused)).isdisjoint(CLAMPS)
    assert len(op_types(apart)) == len(op_types(fused)) + len(outputs)
    names = [f"0:{model.tensors[o].name}" for o in outputs]
    assert [i for i in ids(fused) if i in names] == names, "a layer is known by its final output"
    check_outputs(data, fused, random_inputs(model, inputs), tmp_path)


def test_the_clamp_that_tflite_micro_has_only_fused(tmp_path: Path) -> None:
    def model(activation: str) -> tuple[ModelBuilder, int, int]:
        model = ModelBuilder()
        x = model.tensor((1, 64), scale=0.05, zero_point=3)
        return model, x, model.add(x, x, scale=0.02, zero_point=1, activation=activation)

    builder, x, y = model("none")
    y = clamped(builder, y, "RELU_N1_TO_1")
    conversion = converted(builder.build(inputs=[x], outputs=[y]), tmp_path)
    assert op_types(conversion) == ["ADD"]
    wanted, _, z = model("relu_n1_to_1")
    data = wanted.build(inputs=[x], outputs=[z])
    check_outputs(data, conversion, random_inputs(builder, [x]), tmp_path)


def test_the_plan_of_a_fused_model_is_reproduced(tmp_path: Path) -> None:
    model, inputs, outputs = layers("int8")
    first = converted(model.build(inputs=inputs, outputs=outputs), tmp_path)
    again = convert(first.config, plan=first.plan)
    sources = [
        [file for file in module.files if file.path.endswith((".c", ".h"))]
        for module in (first.module, again.module)
    ]
    assert sources[0] == sources[1]
    assert ids(again) == ids(first)
    assert again.receipt is not None


def _other_scale(model: ModelBuilder, z: int) -> list[int]:
    return [clamped(model, z, "RELU", scale=0.031)]


def _is_an_output(model: ModelBuilder, z: int) -> list[int]:
    return [clamped(model, z, "RELU"), z]


def _second_reader(model: ModelBuilder, z: int) -> list[int]:
    return [clamped(model, z, "RELU"), clamped(model, z, "RELU6")]


@pytest.mark.parametrize("build", [_other_scale, _is_an_output, _second_reader])
def test_other_clamps_stay(build, tmp_path: Path) -> None:
    model = ModelBuilder()
    x = model.tensor((1, 8), scale=0.1, zero_point=3)
    outputs = build(model, model.add(x, x, scale=0.2, zero_point=1))
    graph = graph_of(model.build(inputs=[x], outputs=outputs), tmp_path)
    assert fuse_activations(graph).operators == graph.operators


def test_a_layer_clamps_once(tmp_path: Path) -> None:
    model = ModelBuilder()
    x = model.tensor((1, 8), scale=0.1, zero_point=3)
    y = clamped(model, model.add(x, x, scale=0.2, zero_point=1, activation="relu6"), "RELU_N1_TO_1")
    graph = graph_of(model.build(inputs=[x], outputs=[y]), tmp_path)
    assert fuse_activations(graph).operators == graph.operators
