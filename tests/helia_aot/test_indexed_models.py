# SPDX-License-Identifier: Apache-2.0
"""What operators that read indices or extents refuse at conversion, and what stops a run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_module import build_module, run_program
from tflite_models import DTYPES, ModelBuilder
from transform_checks import converted

from helia_aot.errors import UnsupportedModelError

BYTES = {"dtype": "int8", "scale": 0.1, "zero_point": 3}
WORDS = {"dtype": "int32"}
OPTIONS = {
    "ADD_N": ("AddNOptions", {}),
    "BROADCAST_ARGS": None,
    "CUMSUM": ("CumsumOptions", {}),
    "DYNAMIC_UPDATE_SLICE": ("DynamicUpdateSliceOptions", {}),
    "EMBEDDING_LOOKUP": None,
    "FILL": ("FillOptions", {}),
    "GATHER_ND": ("GatherNdOptions", {}),
    "REDUCE_ALL": ("ReducerOptions", {"KeepDims": False}),
    "SHAPE": ("ShapeOptions", {"OutType": DTYPES["int64"]}),
    "SLICE": ("SliceOptions", {}),
}
Given = tuple[tuple[int, ...], dict[str, Any]]


def model_of(op_type: str, inputs: list[Given | list[Any]], output: Given) -> bytes:
    """Gives a model of one operator; a list among the inputs is an int32 constant."""
    model = ModelBuilder()
    ids = [
        model.constant(np.array(x, np.int32)) if isinstance(x, list) else model.tensor(x[0], **x[1])
        for x in inputs
    ]
    y = model.tensor(output[0], **output[1])
    model.operator(op_type, ids, [y], OPTIONS[op_type])
    given = [i for i, x in zip(ids, inputs, strict=True) if not isinstance(x, list)]
    return model.build(inputs=given, outputs=[y])


X: Given = ((4, 5), BYTES)
REFUSED: dict[str, tuple[str, list[Any], Given, str]] = {
    "scales of a sum": ("ADD_N", [X, ((4, 5), {**BYTES, "scale": 0.2})], X, "quantized differently"),
    "shapes of a sum": ("ADD_N", [X, ((4, 1), BYTES)], X, "input 1 has shape [4, 1]"),
    "axis of a running sum": ("CUMSUM", [X, [2]], X, "axis [2] does not fit 2 dimensions"),
    "constant index": ("GATHER_ND", [X, [[3, 5]]], ((1,), BYTES), "an index is outside of [4, 5]"),
    "depth of positions": ("GATHER_ND", [X, [[0, 0, 0]]], ((1,), BYTES), "do not fit 2 dimensions"),
    "shape of what is gathered": ("GATHER_ND", [X, [[0]]], ((1, 4), BYTES), "the operator gives [1, 5]"),
    "row of a table": ("EMBEDDING_LOOKUP", [[4], X], ((1, 5), BYTES), "an index is outside of [4]"),
    "table of one dimension": ("EMBEDDING_LOOKUP", [[0], ((4,), BYTES)], ((1,), BYTES), "at least 2 dimensions"),
    "zero point of a table": (
        "EMBEDDING_LOOKUP", [[0], X], ((1, 5), {"dtype": "float32"}), "table has a zero point other than 0",
    ),
    "large update": ("DYNAMIC_UPDATE_SLICE", [X, ((5, 5), BYTES), [0, 0]], X, "does not fit into [4, 5]"),
    "starts of an update": ("DYNAMIC_UPDATE_SLICE", [X, X, [0]], X, "starts has shape [1]"),
    "value of a fill": ("FILL", [[4, 5], ((2,), BYTES)], X, "supported: a scalar"),
    "sizes of a slice": ("SLICE", [X, ((2,), WORDS), [5, 5]], ((5, 5), BYTES), "takes [5, 5] of [4, 5]"),
    "extents of a broadcast": ("BROADCAST_ARGS", [[2], ((3,), WORDS)], ((2,), WORDS), "the operator gives [3]"),
    "shape of a shape": ("SHAPE", [X], ((3,), {"dtype": "int64"}), "the operator gives [2]"),
    "axes of flags": ("REDUCE_ALL", [((4, 5), {"dtype": "bool"}), [2]], ((4,), {"dtype": "bool"}), "axes [2] do not fit"),
}  # fmt: skip
"""Operator, inputs, output, and a part of the reason."""


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused_with_the_reason(case: str, tmp_path: Path) -> None:
    op_type, inputs, output, reason = REFUSED[case]
    with pytest.raises(UnsupportedModelError) as caught:
        converted(model_of(op_type, inputs, output), tmp_path)
    assert reason in str(caught.value)


AT_RUN_TIME: dict[str, tuple[str, list[Any], Given, list[int], list[int]]] = {
    "position": ("GATHER_ND", [X, ((1, 2), WORDS)], ((1,), BYTES), [3, 4], [0, 5]),
    "row": ("EMBEDDING_LOOKUP", [((1,), WORDS), X], ((1, 5), BYTES), [3], [-1]),
    "begin": ("SLICE", [X, ((2,), WORDS), [2, 2]], ((2, 2), BYTES), [2, 3], [3, 0]),
    "extents": ("BROADCAST_ARGS", [[2, 1], ((2,), WORDS)], ((2,), WORDS), [1, 7], [3, 1]),
}
"""Operator, inputs, output, numbers that fit, and numbers that do not."""


@pytest.mark.parametrize("case", AT_RUN_TIME)
def test_numbers_that_do_not_fit_stop_the_run(case: str, tmp_path: Path) -> None:
    op_type, inputs, output, right, wrong = AT_RUN_TIME[case]
    conversion = converted(model_of(op_type, inputs, output), tmp_path)
    program = build_module(conversion, tmp_path)

    def run(numbers: list[int]) -> list[np.ndarray]:
        arrays = [
            np.array(numbers, t.dtype).reshape(t.shape)
            if t.dtype == "int32"
            else np.arange(np.prod(t.shape), dtype=t.dtype).reshape(t.shape)
            for t in conversion.module.inputs
        ]
        return run_program(program, conversion, arrays)

    assert len(run(right)) == 1
    with pytest.raises(subprocess.CalledProcessError):
        run(wrong)


def test_shapes_of_either_type_are_outputs(tmp_path: Path) -> None:
    data = model_of("SHAPE", [((2, 3, 5), BYTES)], ((3,), {"dtype": "int64"}))
    conversion = converted(data, tmp_path)
    (got,) = run_program(
        build_module(conversion, tmp_path), conversion, [np.zeros((2, 3, 5), np.int8)]
    )
    np.testing.assert_array_equal(got, np.array([2, 3, 5], np.int64))
