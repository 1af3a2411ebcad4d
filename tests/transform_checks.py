# SPDX-License-Identifier: Apache-2.0
"""Converts models with transforms on or off and compares what they compute with TFLite Micro."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from host_module import build_module, run_program
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.frontend.tflite.reader import read_model
from helia_aot.ir.graph import Graph


def graph_of(data: bytes, folder: Path) -> Graph:
    """Gives the graph of a model as it is read, before any transform."""
    path = folder / "model.tflite"
    path.write_bytes(data)
    return read_model(path).graph


def converted(data: bytes, folder: Path, off: Sequence[str] = (), **sections: Any) -> Conversion:
    """Converts a model with some transforms switched off."""
    path = folder / "model.tflite"
    path.write_bytes(data)
    config = {
        "model": {"path": path},
        "platform": {"name": "host"},
        "transforms": [{"name": name, "enabled": False} for name in off],
        **sections,
    }
    return convert(ConvertConfig.model_validate(config))


def op_types(conversion: Conversion) -> list[str]:
    """Gives the operator types of a module in execution order."""
    return [operator.op_type for operator in conversion.module.operators]


def ids(conversion: Conversion) -> list[str]:
    """Gives the operator ids of a plan in execution order."""
    return [operator.id for operator in conversion.plan.operators]


def random_inputs(model: ModelBuilder, inputs: Sequence[int], seed: int = 0) -> list[np.ndarray]:
    """Gives an array for each input of a model: integers over the whole range, floats around zero."""
    rng = np.random.default_rng(seed)
    arrays = []
    for tensor in (model.tensors[i] for i in inputs):
        if np.dtype(tensor.dtype).kind == "f":
            arrays.append(rng.standard_normal(tensor.shape).astype(tensor.dtype))
        else:
            ends = np.iinfo(tensor.dtype)
            arrays.append(rng.integers(ends.min, ends.max + 1, tensor.shape).astype(tensor.dtype))
    return arrays


def reference(data: bytes, inputs: Sequence[np.ndarray], outputs: int) -> list[np.ndarray]:
    """Gives a model's outputs from TFLite Micro."""
    interpreter = tflite_micro_runtime().Interpreter.from_bytes(data)
    for position, array in enumerate(inputs):
        interpreter.set_input(array, position)
    interpreter.invoke()
    return [np.array(interpreter.get_output(i)) for i in range(outputs)]


def check_outputs(
    data: bytes, conversion: Conversion, inputs: Sequence[np.ndarray], folder: Path
) -> None:
    """Checks that a module on the host gives what TFLite Micro gives: integers bit by bit, floats within rounding."""
    program = build_module(conversion, folder)
    got = run_program(program, conversion, inputs)
    assert_same(got, reference(data, inputs, len(got)))


def assert_same(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    """Checks outputs: integers bit by bit, floats within rounding."""
    for ours, theirs in zip(got, wanted, strict=True):
        if ours.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(ours, theirs)
