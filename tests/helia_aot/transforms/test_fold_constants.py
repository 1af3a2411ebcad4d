# SPDX-License-Identifier: Apache-2.0
"""Static shape expressions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from host_module import build_module, run_program
from tflite_models import ModelBuilder

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.frontend.tflite.reader import read_model
from helia_aot.ir.graph import Graph
from helia_aot.transforms.fold_constants import fold_constants
from helia_aot.transforms.fold_shapes import fold_shapes


def flattening_model() -> bytes:
    """Reshapes to [SHAPE(x)[0], 12], with a shape that is computed as frameworks write it."""
    model = ModelBuilder()
    x = model.tensor((2, 3, 4), scale=0.1, zero_point=3)
    shape = model.tensor((3,), dtype="int32")
    model.operator("SHAPE", [x], [shape], ("ShapeOptions", {}))
    bounds = [model.constant(np.array([v], np.int32)) for v in (0, 1, 1)]
    batch = model.tensor((), dtype="int32")
    model.operator(
        "STRIDED_SLICE", [shape, *bounds], [batch], ("StridedSliceOptions", {"ShrinkAxisMask": 1})
    )
    width = model.constant(np.array(12, np.int32))
    target = model.tensor((2,), dtype="int32")
    model.operator("PACK", [batch, width], [target], ("PackOptions", {"ValuesCount": 2, "Axis": 0}))
    y = model.tensor((2, 12), scale=0.1, zero_point=3)
    model.operator("RESHAPE", [x, target], [y], ("ReshapeOptions", {}))
    return model.build(inputs=[x], outputs=[y])


def graph_of(data: bytes, folder: Path) -> Graph:
    path = folder / "model.tflite"
    path.write_bytes(data)
    return read_model(path).graph


def test_a_computed_shape_becomes_a_constant(tmp_path: Path) -> None:
    graph = graph_of(flattening_model(), tmp_path)
    folded = fold_constants(fold_shapes(graph))
    assert [operator.op_type for operator in folded.operators] == ["RESHAPE"]
    shape = folded.tensor(folded.operators[0].inputs[1])
    assert shape.data is not None
    assert shape.data.tolist() == [2, 12]
    assert shape.data.dtype == np.int32
    assert len(graph.operators) == 4, "the graph that was given has changed"


def test_the_output_stays(tmp_path: Path) -> None:
    graph_of(flattening_model(), tmp_path)
    config = ConvertConfig.model_validate({"model": {"path": tmp_path / "model.tflite"}})
    conversion = convert(config)
    source = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    (output,) = run_program(build_module(conversion, tmp_path), conversion, [source])
    np.testing.assert_array_equal(output, source.reshape(2, 12))


@pytest.mark.parametrize(
    ("op_type", "values", "options", "expected"),
    [
        ("CONCATENATION", [[1, 2], [3]], ("ConcatenationOptions", {"Axis": 0}), [1, 2, 3]),
        ("SLICE", [[5, 6, 7, 8], [1], [2]], ("SliceOptions", {}), [6, 7]),
        ("SLICE", [[5, 6, 7, 8], [1], [-1]], ("SliceOptions", {}), [6, 7, 8]),
        ("GATHER", [[5, 6, 7], [2, 0]], ("GatherOptions", {"Axis": 0}), [7, 5]),
        ("STRIDED_SLICE", [[5, 6, 7, 8], [3], [-5], [-2]], ("StridedSliceOptions", {}), [8, 6]),
        ("CAST", [[5, 6]], ("CastOptions", {}), [5, 6]),
        ("SQUEEZE", [[5, 6]], ("SqueezeOptions", {}), [5, 6]),
    ],
)
def test_constants_are_computed(
    op_type: str, values: list, options: tuple, expected: list, tmp_path: Path
) -> None:
    model = ModelBuilder()
    x = model.tensor((len(expected),), scale=0.1)
    inputs = [model.constant(np.array(value, np.int32)) for value in values]
    shape = model.tensor((len(expected),), dtype="int32")
    model.operator(op_type, inputs, [shape], options)
    y = model.tensor((len(expected), 1), scale=0.1)
    model.operator("RESHAPE", [x, shape], [y], ("ReshapeOptions", {}))
    folded = fold_constants(graph_of(model.build(inputs=[x], outputs=[y]), tmp_path))
    assert len(folded.operators) == 1
    data = folded.tensor(folded.operators[0].inputs[1]).data
    assert data is not None
    assert data.tolist() == expected


def test_what_does_not_fit_or_is_an_output_is_left(tmp_path: Path) -> None:
    model = ModelBuilder()
    x = model.tensor((2, 3), scale=0.1)
    shape = model.tensor((2,), dtype="int32")
    model.operator("SHAPE", [x], [shape], ("ShapeOptions", {}))
    wrong = model.tensor((5,), dtype="int32")
    inputs = [model.constant(np.array([1], np.int32)) for _ in range(2)]
    model.operator("CONCATENATION", inputs, [wrong], ("ConcatenationOptions", {"Axis": 0}))
    graph = graph_of(model.build(inputs=[x], outputs=[shape]), tmp_path)
    assert fold_constants(graph) is graph
