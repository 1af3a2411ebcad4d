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
        ("ADD", [[5, 6], 2], ("AddOptions", {}), [7, 8]),
        ("SUB", [[5, 6], [6, 5]], ("SubOptions", {}), [-1, 1]),
        ("MUL", [[5, 6], [3]], ("MulOptions", {}), [15, 18]),
        ("FLOOR_DIV", [[7, -7], [2]], ("FloorDivOptions", {}), [3, -4]),
        ("MAXIMUM", [[5, 6], [6, 5]], ("MaximumMinimumOptions", {}), [6, 6]),
        ("MINIMUM", [[5, 6], [6, 5]], ("MaximumMinimumOptions", {}), [5, 5]),
        ("REDUCE_PROD", [[[2, 3], [4, 5]], [1]], ("ReducerOptions", {}), [6, 20]),
        ("FILL", [[3], 9], ("FillOptions", {}), [9, 9, 9]),
        ("RANGE", [2, 9, 3], ("RangeOptions", {}), [2, 5, 8]),
        ("BROADCAST_ARGS", [[4, 1], [1, 5]], None, [4, 5]),
    ],
)
def test_constants_are_computed(
    op_type: str, values: list, options: tuple | None, expected: list, tmp_path: Path
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


@pytest.mark.parametrize(
    ("op_type", "values", "options"),
    [
        ("FLOOR_DIV", [[7, 8], [2, 0]], ("FloorDivOptions", {})),
        ("RANGE", [2, 9, 0], ("RangeOptions", {})),
        ("FILL", [[1 << 20], 9], ("FillOptions", {})),
        ("ADD", [[5, 6], [1, 2]], ("AddOptions", {"FusedActivationFunction": 1})),
        ("BROADCAST_ARGS", [[4, 2], [1, 5]], None),
    ],
)
def test_what_does_not_compute_is_left(
    op_type: str, values: list, options: tuple | None, tmp_path: Path
) -> None:
    model = ModelBuilder()
    x = model.tensor((2,), scale=0.1)
    inputs = [model.constant(np.array(value, np.int32)) for value in values]
    shape = model.tensor((2,), dtype="int32")
    model.operator(op_type, inputs, [shape], options)
    y = model.tensor((2, 1), scale=0.1)
    model.operator("RESHAPE", [x, shape], [y], ("ReshapeOptions", {}))
    graph = graph_of(model.build(inputs=[x], outputs=[y]), tmp_path)
    assert fold_constants(graph) is graph


def test_rank_and_zeros_of_static_tensors(tmp_path: Path) -> None:
    model = ModelBuilder()
    x = model.tensor((2, 3), dtype="float32")
    rank = model.tensor((), dtype="int32")
    model.operator("RANK", [x], [rank], ("RankOptions", {}))
    zeros = model.tensor((2, 3), dtype="float32")
    model.operator("ZEROS_LIKE", [x], [zeros], ("ZerosLikeOptions", {}))
    y = model.tensor((2, 3), dtype="float32")
    model.operator("ADD", [x, zeros], [y], ("AddOptions", {}))
    axes = model.tensor((1,), dtype="int32")
    model.operator(
        "EXPAND_DIMS",
        [rank, model.constant(np.array(0, np.int32))],
        [axes],
        ("ExpandDimsOptions", {}),
    )
    total = model.tensor((3,), dtype="float32")
    one = model.constant(np.array([2], np.int32))
    model.operator(
        "SUB", [axes, one], [axis := model.tensor((1,), dtype="int32")], ("SubOptions", {})
    )
    model.operator("SUM", [y, axis], [total], ("ReducerOptions", {}))
    data = model.build(inputs=[x], outputs=[total])
    folded = fold_constants(fold_shapes(graph_of(data, tmp_path)))
    assert [operator.op_type for operator in folded.operators] == ["ADD", "SUM"]
    config = ConvertConfig.model_validate({"model": {"path": tmp_path / "model.tflite"}})
    conversion = convert(config)
    source = np.arange(6, dtype=np.float32).reshape(2, 3)
    (output,) = run_program(build_module(conversion, tmp_path), conversion, [source])
    np.testing.assert_array_equal(output, source.sum(axis=0))


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
