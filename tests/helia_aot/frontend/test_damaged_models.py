# SPDX-License-Identifier: Apache-2.0
"""Files that no converter would write: each is a clear error, never a traceback, a hang or a huge allocation.

``pytest tests/helia_aot/frontend/test_damaged_models.py --generated-cases 10000`` tries more random damage.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import damaged_models
import numpy as np
import pytest
import tflite
from conftest import REPOSITORY
from tflite_models import ModelBuilder

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import BudgetError, HeliaError, ModelError, UnsupportedModelError

CASES = 1500


def test_random_damage_is_an_error_or_converts(generated_cases: int | None, tmp_path: Path) -> None:
    count = generated_cases or CASES
    command = [sys.executable, damaged_models.__file__, "0", str(count), str(tmp_path)]
    paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")])
    ended = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    *failures, counts = map(json.loads, ended.stdout.splitlines())
    assert not failures, "\n".join(f"case {f['case']}: {f['traceback']}" for f in failures[:3])
    assert counts["converted"] + counts["refused"] == count
    assert min(counts["converted"], counts["refused"]) > count / 50, "the damage is too uniform"


def built(change: Callable[[ModelBuilder], None]) -> bytes:
    """Gives a small network with one change."""
    model, inputs, outputs = damaged_models.layers()
    change(model)
    return model.build(inputs=inputs, outputs=outputs)


def tensor(position: int, **fields: Any) -> Callable[[ModelBuilder], None]:
    """Changes fields of a tensor: 0 is the input, 1 the filters, 2 the bias, 3 the first output."""

    def change(model: ModelBuilder) -> None:
        model.tensors[position] = replace(model.tensors[position], **fields)

    return change


def operator(position: int, **fields: Any) -> Callable[[ModelBuilder], None]:
    """Changes fields of an operator: 0 is CONV_2D, 1 DEPTHWISE_CONV_2D, 2 ADD."""

    def change(model: ModelBuilder) -> None:
        model.operators[position] = replace(model.operators[position], **fields)

    return change


BUILT: dict[str, tuple[Callable[[ModelBuilder], None], type[HeliaError], str]] = {
    "a cycle of one": (operator(2, inputs=(6, 6)), UnsupportedModelError, "read before it is computed"),
    "a cycle of two": (operator(1, inputs=(6, 4)), UnsupportedModelError, "read before it is computed"),
    "computed twice": (operator(1, outputs=(3,)), UnsupportedModelError, "more than one operator: 0, 1"),
    "a constant computed": (operator(1, outputs=(4,)), UnsupportedModelError, "is a constant"),
    "a missing buffer": (tensor(1, data=None), UnsupportedModelError, "is computed by no operator"),
    "a short buffer": (tensor(1, data=b"123"), ModelError, "its buffer has 3 bytes"),
    "a scale of zero": (tensor(3, scale=(0.0,)), UnsupportedModelError, "not positive and finite"),
    "a scale that is no number": (tensor(1, scale=(np.nan,) * 4), UnsupportedModelError, "not positive and finite"),
    "more zero points than scales": (tensor(3, zero_point=(1, 2)), ModelError, "1 scales, but 2 zero points"),
    "no quantization": (tensor(0, scale=(), zero_point=()), UnsupportedModelError, "has no quantization"),
    "another type": (tensor(0, dtype="int64"), UnsupportedModelError, "input has type int64"),
    "a shape of other size": (tensor(3, shape=(1, 3, 5, 9)), UnsupportedModelError, "output has shape"),
    "an absurd shape": (tensor(0, shape=(1, 2**31 - 1, 2**31 - 1, 1)), BudgetError, "no memory holds"),
    "a dynamic shape": (tensor(0, shape=(1, -1, 5, 1)), UnsupportedModelError, "not static"),
    "a constant of absurd shape": (tensor(1, shape=(4, 2**30, 2**30, 2**30)), ModelError, "its buffer has"),
}  # fmt: skip


@pytest.mark.parametrize("name", BUILT)
def test_a_wrong_model_is_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    change, kind, reason = BUILT[name]
    path = tmp_path / "model.tflite"
    path.write_bytes(built(change))
    with pytest.raises(kind, match=reason):
        convert(ConvertConfig.model_validate({"model": {"path": path}}))


@pytest.mark.parametrize(
    ("op_type", "options"),
    [("PAD", "PadOptions"), ("TILE", "TileOptions"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")],
)  # fmt: skip
def test_absurd_shapes_that_fit_together_take_no_memory(
    op_type: str, options: str, tmp_path: Path
) -> None:
    model = ModelBuilder()
    x = model.tensor((1, 1, 4, 1), scale=0.1, zero_point=3)
    rows = 2**31 - 1
    numbers = {
        "PAD": [[0, 0], [0, rows - 1], [0, 0], [0, 0]],
        "TILE": [1, rows, 1, 1],
        "RESIZE_NEAREST_NEIGHBOR": [rows, 4],
    }[op_type]
    y = model.tensor((1, rows, 4, 1), scale=0.1, zero_point=3)
    model.operator(op_type, [x, model.constant(np.array(numbers, np.int32))], [y], (options, {}))
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build(inputs=[x], outputs=[y]))
    with pytest.raises(BudgetError, match="takes 8589934588 bytes"):
        convert(ConvertConfig.model_validate({"model": {"path": path}}))


@pytest.mark.parametrize(
    ("op_type", "table", "field"),
    [("LEAKY_RELU", "LeakyReluOptions", "Alpha"), ("SOFTMAX", "SoftmaxOptions", "Beta")],
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_option_that_is_no_number_is_refused(
    op_type: str, table: str, field: str, value: float, tmp_path: Path
) -> None:
    model = ModelBuilder()
    x, y = (model.tensor((1, 4), scale=1 / 256, zero_point=-128) for _ in range(2))
    model.operator(op_type, [x], [y], (table, {field: value}))
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build(inputs=[x], outputs=[y]))
    with pytest.raises(ModelError, match=f"{field.lower()} is {value}"):
        convert(ConvertConfig.model_validate({"model": {"path": path}}))


@pytest.mark.parametrize(
    ("shape", "dtype"), [((4,), "resource"), ((2**30, 2**30), "int32"), ((-1, 4), "int32")]
)
def test_a_variable_without_zeros_is_refused(
    shape: tuple[int, ...], dtype: str, tmp_path: Path
) -> None:
    model = ModelBuilder()
    x = model.tensor(shape, dtype=dtype)
    handle, y = model.tensor((), dtype="resource"), model.tensor(shape, dtype=dtype)
    model.operator("VAR_HANDLE", [], [handle], ("VarHandleOptions", {"SharedName": "kept"}))
    model.operator("ASSIGN_VARIABLE", [handle, x], [])
    model.operator("READ_VARIABLE", [handle], [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build(inputs=[x], outputs=[y]))
    with pytest.raises((UnsupportedModelError, BudgetError)):
        convert(ConvertConfig.model_validate({"model": {"path": path}}))


@pytest.mark.parametrize("op_type", ["SPLIT", "TRANSPOSE", "SUM"])
def test_axes_that_are_no_whole_numbers_are_refused(op_type: str, tmp_path: Path) -> None:
    model = ModelBuilder()
    x, y = (model.tensor((1, 4), scale=0.1) for _ in range(2))
    axes = model.constant(np.full(2 if op_type == "TRANSPOSE" else 1, np.nan, np.float32))
    inputs = [axes, x] if op_type == "SPLIT" else [x, axes]
    options = {"SPLIT": ("SplitOptions", {"NumSplits": 1}), "SUM": ("ReducerOptions", {})}
    model.operator(op_type, inputs, [y], options.get(op_type))
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build(inputs=[x], outputs=[y]))
    with pytest.raises(UnsupportedModelError, match="has type float32; supported: integers"):
        convert(ConvertConfig.model_validate({"model": {"path": path}}))


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    data, path = damaged_models.written(0), tmp_path / "model.tflite"
    for size in range(0, len(data), 41):
        path.write_bytes(data[:size])
        with pytest.raises(ModelError):
            convert(ConvertConfig.model_validate({"model": {"path": path}}))


def test_an_input_without_numbers_is_refused(tmp_path: Path) -> None:
    model = ModelBuilder()
    x, y = model.tensor((2, 3), dtype="resource"), model.tensor((2,), dtype="int32")
    model.operator("SHAPE", [x], [y], ("ShapeOptions", {"OutType": tflite.TensorType.INT32}))
    path = tmp_path / "model.tflite"
    path.write_bytes(model.build(inputs=[x], outputs=[y]))
    with pytest.raises(UnsupportedModelError, match="input 0 of the model: it has type resource"):
        convert(ConvertConfig.model_validate({"model": {"path": path}}))
