# SPDX-License-Identifier: Apache-2.0
"""The digits example: the model holds what its README promises, and its recorded data are true."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import tflite

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits"
MODEL = EXAMPLE / "digits_int8.tflite"

OPERATOR_NAMES = {
    value: name for name, value in vars(tflite.BuiltinOperator).items() if isinstance(value, int)
}


@pytest.fixture(scope="module")
def graph() -> tflite.SubGraph:
    model = tflite.Model.GetRootAs(MODEL.read_bytes(), 0)
    assert model.SubgraphsLength() == 1
    return model.Subgraphs(0)


@pytest.fixture(scope="module")
def operator_types(graph: tflite.SubGraph) -> list[str]:
    model = tflite.Model.GetRootAs(MODEL.read_bytes(), 0)
    codes = [
        model.OperatorCodes(graph.Operators(i).OpcodeIndex())
        for i in range(graph.OperatorsLength())
    ]
    return [OPERATOR_NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())] for code in codes]


@pytest.fixture(scope="module")
def evaluation() -> dict[str, np.ndarray]:
    with np.load(EXAMPLE / "digits_eval.npz") as archive:
        return dict(archive)


def filter_shapes(
    graph: tflite.SubGraph, operator_types: list[str], wanted: str
) -> set[tuple[int, ...]]:
    filters = [
        graph.Tensors(graph.Operators(i).Inputs(1))
        for i, operator_type in enumerate(operator_types)
        if operator_type == wanted
    ]
    return {tuple(tensor.ShapeAsNumpy().tolist()) for tensor in filters}


def test_operators_are_the_promised_ones(operator_types: list[str]) -> None:
    assert Counter(operator_types) == {
        "CONV_2D": 6,
        "DEPTHWISE_CONV_2D": 4,
        "ADD": 1,
        "MAX_POOL_2D": 1,
        "AVERAGE_POOL_2D": 1,
        "FULLY_CONNECTED": 1,
        "SOFTMAX": 1,
    }


def test_layers_give_every_direct_kernel_a_place(
    graph: tflite.SubGraph, operator_types: list[str]
) -> None:
    convolutions = filter_shapes(graph, operator_types, "CONV_2D")
    assert {(8, 3, 3, 1), (16, 3, 3, 16), (16, 1, 1, 8)} <= convolutions
    depthwise = filter_shapes(graph, operator_types, "DEPTHWISE_CONV_2D")
    assert depthwise == {(1, 3, 3, 8), (1, 3, 3, 16), (1, 3, 3, 64), (1, 5, 5, 32)}


def test_every_tensor_is_quantised(graph: tflite.SubGraph) -> None:
    types = {graph.Tensors(i).Type() for i in range(graph.TensorsLength())}
    assert types == {tflite.TensorType.INT8, tflite.TensorType.INT32}
    ends = [graph.Tensors(graph.Inputs(0)), graph.Tensors(graph.Outputs(0))]
    assert [tensor.Type() for tensor in ends] == [tflite.TensorType.INT8] * 2
    assert [tensor.ShapeAsNumpy().tolist() for tensor in ends] == [[1, 16, 16, 1], [1, 10]]


def test_layer_names_are_short_and_unique(graph: tflite.SubGraph) -> None:
    names = [graph.Tensors(i).Name().decode() for i in range(graph.TensorsLength())]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) < 24


def test_evaluation_data_have_the_stated_form(evaluation: dict[str, np.ndarray]) -> None:
    forms = {key: (value.shape, value.dtype.name) for key, value in evaluation.items()}
    assert forms == {
        "inputs": ((200, 16, 16, 1), "int8"),
        "labels": ((200,), "int64"),
        "input_0": ((1, 16, 16, 1), "int8"),
        "output_0": ((1, 10), "int8"),
    }
    assert set(evaluation["labels"].tolist()) == set(range(10))


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="tflite-micro has wheels for Linux on x86-64 only",
)
def test_tflite_micro_gives_the_recorded_output_and_accuracy(
    evaluation: dict[str, np.ndarray],
) -> None:
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(str(MODEL))

    def run(sample: np.ndarray) -> np.ndarray:
        interpreter.set_input(sample, 0)
        interpreter.invoke()
        return np.array(interpreter.get_output(0))

    np.testing.assert_array_equal(run(evaluation["input_0"]), evaluation["output_0"])
    found = [int(run(sample[np.newaxis]).argmax()) for sample in evaluation["inputs"]]
    assert np.mean(found == evaluation["labels"]) >= 0.95
