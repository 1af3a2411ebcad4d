# SPDX-License-Identifier: Apache-2.0
"""Broadcasts along more than four runs of dimensions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from differential import Programs
from random_operators import Case
from tflite_models import ModelBuilder
from transform_checks import converted, graph_of

from helia_aot.errors import UnsupportedModelError
from helia_aot.transforms.expand_broadcasts import expand_broadcasts

OPTIONS = {
    "ADD": ("AddOptions", {}),
    "MUL": ("MulOptions", {}),
    "MAXIMUM": ("MaximumMinimumOptions", {}),
}


def model_of(op_type: str, first: tuple[int, ...], second: tuple[int, ...], dtype: str) -> Case:
    """Gives a model of one operator of two inputs."""
    model = ModelBuilder()
    own = {"dtype": "int8", "scale": 0.1, "zero_point": 3} if dtype == "int8" else {"dtype": dtype}
    x, y = model.tensor(first, **own), model.tensor(second, **own)
    z = model.tensor(np.broadcast_shapes(first, second), **own)
    model.operator(op_type, [x, y], [z], OPTIONS[op_type])
    ends = (-100.0, 100.0) if dtype == "int8" else (-4.0, 4.0)
    return Case(f"{op_type} {dtype}", "model", "host", model, (x, y), (z,), (ends, ends), 3)


SHAPES = [
    ((2, 1, 2, 1, 3), (1, 2, 1, 2, 1)),
    ((2, 1, 2, 3, 2), (1, 2, 1, 3, 1)),
    ((2, 1, 2, 1, 3, 1), (1, 2, 1, 2, 1, 2)),
    ((1, 2, 1, 2, 1), (2, 1, 2, 1, 3)),
]


def test_outputs_equal_the_references(tmp_path: Path) -> None:
    cases = [
        model_of(op_type, *shapes, dtype)
        for op_type in OPTIONS
        for shapes in SHAPES
        for dtype in ("int8", "float32")
    ]
    assert Programs(tmp_path).failures(cases) == {}


def test_the_operators_in_front_are_named_after_the_inputs(tmp_path: Path) -> None:
    case = model_of("ADD", *SHAPES[0], "float32")
    conversion = converted(case.data, tmp_path)
    operators = conversion.module.operators
    assert [(o.id, o.node_id, o.op_type) for o in operators] == [
        ("0:tensor_2_input0", "1", "BROADCAST_TO"),
        ("0:tensor_2_input1", "2", "BROADCAST_TO"),
        ("0:tensor_2", "0", "ADD"),
    ]
    with pytest.raises(UnsupportedModelError, match="broadcasts 5 runs of dimensions"):
        converted(case.data, tmp_path, ["expand_broadcasts"])


def test_what_kernels_walk_stays_as_it_is(tmp_path: Path) -> None:
    for first, second in (((2, 1, 3, 1), (1, 2, 1, 4)), ((1, 1, 2, 3, 4), (5, 6, 2, 3, 4))):
        graph = graph_of(model_of("MUL", first, second, "float32").data, tmp_path)
        assert expand_broadcasts(graph) is graph
