# SPDX-License-Identifier: Apache-2.0
"""Shapes of static tensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_models import ModelBuilder
from transform_checks import graph_of

from helia_aot.ir.graph import Graph
from helia_aot.transforms.fold_shapes import fold_shapes


def shape_of(
    folder: Path, dtype: str, shape: tuple[int, ...] = (2, 3, 4), *, is_output: bool = False
) -> tuple[Graph, str]:
    """Gives a graph with a SHAPE, and the id of its output."""
    model = ModelBuilder()
    x = model.tensor(shape, scale=0.1)
    found = model.tensor((len(shape),), dtype=dtype)
    model.operator("SHAPE", [x], [found], ("ShapeOptions", {}))
    y = model.tensor(shape, scale=0.1)
    model.operator("RESHAPE", [x, found], [y], ("ReshapeOptions", {}))
    outputs = [y, found] if is_output else [y]
    return graph_of(model.build(inputs=[x], outputs=outputs), folder), str(found)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_static_shape_is_a_constant(dtype: str, tmp_path: Path) -> None:
    graph, found = shape_of(tmp_path, dtype)
    folded = fold_shapes(graph)
    assert [operator.op_type for operator in folded.operators] == ["RESHAPE"]
    data = folded.tensor(found).data
    assert data is not None
    assert data.dtype == np.dtype(dtype)
    assert data.tolist() == [2, 3, 4]
    assert graph.tensor(found).data is None, "the graph that was given has changed"


def test_a_shape_that_is_not_static_stays(tmp_path: Path) -> None:
    graph, _ = shape_of(tmp_path, "int32", (2, -1, 4))
    assert fold_shapes(graph) is graph


def test_an_output_of_the_model_stays(tmp_path: Path) -> None:
    graph, _ = shape_of(tmp_path, "int32", is_output=True)
    assert fold_shapes(graph) is graph
