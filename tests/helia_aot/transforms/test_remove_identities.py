# SPDX-License-Identifier: Apache-2.0
"""Operators that change nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tflite_models import ModelBuilder
from transform_checks import (
    check_outputs,
    converted,
    graph_of,
    ids,
    op_types,
    random_inputs,
)

from helia_aot.transforms.remove_identities import remove_identities

SHAPE = (1, 4, 3, 2)


def numbers(model: ModelBuilder, *values: int | list[list[int]]) -> int:
    return model.constant(np.array(values, np.int32))


def constants(model: ModelBuilder, op_type: str) -> list[int]:
    """Gives the constant inputs with which an operator changes nothing."""
    match op_type:
        case "RESHAPE":
            return [numbers(model, *SHAPE)]
        case "TRANSPOSE":
            return [numbers(model, 0, 1, 2, 3)]
        case "PAD":
            return [model.constant(np.zeros((4, 2), np.int32))]
        case "SLICE":
            return [numbers(model, 0, 0, 0, 0), numbers(model, *SHAPE)]
        case "STRIDED_SLICE":
            return [numbers(model, *v) for v in ((0, 0, 0, 0), SHAPE, (1, 1, 1, 1))]
        case "TILE":
            return [numbers(model, 1, 1, 1, 1)]
    return []


OPTIONS = {
    "CONCATENATION": ("ConcatenationOptions", {"Axis": 3}),
    "PAD": ("PadOptions", {}),
    "QUANTIZE": ("QuantizeOptions", {}),
    "RESHAPE": ("ReshapeOptions", {}),
    "SLICE": ("SliceOptions", {}),
    "STRIDED_SLICE": ("StridedSliceOptions", {}),
    "TILE": ("TileOptions", {}),
    "TRANSPOSE": ("TransposeOptions", {}),
}


def identity(model: ModelBuilder, op_type: str, x: int, name: str | None = None) -> int:
    source = model.tensors[x]
    y = model.tensor(SHAPE, scale=source.scale[0], zero_point=source.zero_point[0], name=name)
    model.operator(op_type, [x, *constants(model, op_type)], [y], OPTIONS[op_type])
    return y


@pytest.fixture
def model() -> ModelBuilder:
    return ModelBuilder()


def image(model: ModelBuilder) -> int:
    return model.tensor(SHAPE, scale=0.1, zero_point=3, name="x")


def test_every_identity_is_left_out(model: ModelBuilder, tmp_path: Path) -> None:
    x = image(model)
    y = model.add(x, x, scale=0.2, zero_point=1, name="sum")
    for op_type in (op_type for op_type in OPTIONS if op_type != "TILE"):
        y = identity(model, op_type, y)
    z = model.add(y, x, scale=0.3, zero_point=2, name="last")
    data = model.build(inputs=[x], outputs=[z])
    conversion = converted(data, tmp_path)
    assert ids(conversion) == ["0:sum", "0:last"]
    assert len(op_types(converted(data, tmp_path, ["remove_identities"]))) == len(OPTIONS) + 1
    check_outputs(data, conversion, random_inputs(model, [x]), tmp_path)


def test_tiling_once_is_left_out(model: ModelBuilder, tmp_path: Path) -> None:
    x = image(model)
    y = model.add(identity(model, "TILE", x), x, scale=0.2, zero_point=1)
    graph = remove_identities(graph_of(model.build(inputs=[x], outputs=[y]), tmp_path))
    assert [(o.op_type, o.inputs) for o in graph.operators] == [("ADD", (str(x), str(x)))]


def test_an_output_of_the_model_keeps_its_tensor(model: ModelBuilder, tmp_path: Path) -> None:
    x = image(model)
    y = model.add(x, x, scale=0.2, zero_point=1, name="sum")
    z = identity(model, "RESHAPE", identity(model, "TRANSPOSE", y), name="result")
    other = model.add(y, x, scale=0.3, zero_point=2, name="other")
    data = model.build(inputs=[x], outputs=[z, other])
    conversion = converted(data, tmp_path)
    assert ids(conversion) == ["0:result", "0:other"]
    assert [tensor.name for tensor in conversion.module.outputs] == ["result", "other"]
    check_outputs(data, conversion, random_inputs(model, [x]), tmp_path)


def _of_the_input(model: ModelBuilder) -> tuple[int, list[int]]:
    x = image(model)
    return x, [identity(model, "RESHAPE", x)]


def _between_outputs(model: ModelBuilder) -> tuple[int, list[int]]:
    x = image(model)
    y = model.add(x, x, scale=0.2, zero_point=1)
    return x, [y, identity(model, "RESHAPE", y)]


def _another_quantization(model: ModelBuilder) -> tuple[int, list[int]]:
    x = image(model)
    y = model.tensor(SHAPE, scale=0.11, zero_point=3)
    model.operator("QUANTIZE", [x], [y], ("QuantizeOptions", {}))
    return x, [model.add(y, x, scale=0.2, zero_point=1)]


def _reversal(model: ModelBuilder) -> tuple[int, list[int]]:
    x = image(model)
    y = model.tensor(SHAPE, scale=0.1, zero_point=3)
    bounds = [numbers(model, *v) for v in ((0, 3, 0, 0), (1, -5, 3, 2), (1, -1, 1, 1))]
    model.operator("STRIDED_SLICE", [x, *bounds], [y], OPTIONS["STRIDED_SLICE"])
    return x, [model.add(y, x, scale=0.2, zero_point=1)]


def _exchange(model: ModelBuilder) -> tuple[int, list[int]]:
    x = model.tensor((1, 3, 3, 2), scale=0.1, zero_point=3)
    y = model.tensor((1, 3, 3, 2), scale=0.1, zero_point=3)
    model.operator("TRANSPOSE", [x, numbers(model, 0, 2, 1, 3)], [y], OPTIONS["TRANSPOSE"])
    return x, [model.add(y, x, scale=0.2, zero_point=1)]


@pytest.mark.parametrize(
    "build", [_of_the_input, _between_outputs, _another_quantization, _reversal, _exchange]
)
def test_what_changes_something_stays(
    build: Callable[[ModelBuilder], tuple[int, list[int]]], model: ModelBuilder, tmp_path: Path
) -> None:
    x, outputs = build(model)
    data = model.build(inputs=[x], outputs=outputs)
    graph = graph_of(data, tmp_path)
    assert remove_identities(graph).operators == graph.operators
    check_outputs(data, converted(data, tmp_path), random_inputs(model, [x]), tmp_path)
