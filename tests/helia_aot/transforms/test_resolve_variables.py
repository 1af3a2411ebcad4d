# SPDX-License-Identifier: Apache-2.0
"""Resource variables as tensors that keep their values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helia_aot.ir.attributes import CallAttributes, VariableAttributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Quantization, Tensor
from helia_aot.operators.registry import FAMILIES
from helia_aot.operators.spec import Target
from helia_aot.transforms.resolve_variables import resolve_variables

QUANT = Quantization((0.1,), (3,))
ANY = Target(mve=False, dsp=False)


def tensor(tensor_id: str, dtype: DType = DType.INT8, data: np.ndarray | None = None) -> Tensor:
    if dtype is DType.RESOURCE:
        return Tensor(tensor_id, tensor_id, (), dtype)
    return Tensor(tensor_id, tensor_id, (1, 4), dtype, QUANT, data)


def graph_with(first: np.ndarray | None, inner_type: str = "ASSIGN_VARIABLE") -> Graph:
    """Reads a variable, adds the input and assigns the sum; the first value comes from CALL_ONCE."""
    inner_tensors = {"h": tensor("h", DType.RESOURCE), "v": tensor("v", data=first)}
    inner = Graph(
        1,
        inner_tensors,
        (
            Operator("0", "VAR_HANDLE", (), ("h",), VariableAttributes("/count")),
            Operator("1", inner_type, ("h", "v"), ()),
        ),
        (),
        (),
    )
    tensors = {i: tensor(i) for i in ("x", "old", "new")} | {"h": tensor("h", DType.RESOURCE)}
    operators = (
        Operator("0", "CALL_ONCE", (), (), CallAttributes(1)),
        Operator("1", "VAR_HANDLE", (), ("h",), VariableAttributes("/count")),
        Operator("2", "READ_VARIABLE", ("h",), ("old",)),
        Operator("3", "ADD", ("old", "x"), ("new",)),
        Operator("4", "ASSIGN_VARIABLE", ("h", "new"), ()),
    )
    subgraphs = {1: inner} if first is not None else {}
    used = operators if first is not None else operators[1:]
    return Graph(0, tensors, used, ("x",), ("new",), subgraphs=subgraphs)


def test_handles_become_one_variable_with_its_first_value() -> None:
    resolved = resolve_variables(graph_with(np.array([[1, 2, 3, 4]], np.int8)))
    assert [o.op_type for o in resolved.operators] == ["READ_VARIABLE", "ADD", "ASSIGN_VARIABLE"]
    read, _, assign = resolved.operators
    variable = resolved.tensor(read.inputs[0])
    assert variable.is_variable
    assert (variable.shape, variable.dtype, variable.quantization) == ((1, 4), DType.INT8, QUANT)
    assert assign.inputs == (variable.id, "new")
    first = resolved.tensor(read.inputs[1])
    assert first.data is not None
    assert first.data.tolist() == [[1, 2, 3, 4]]


def test_the_first_value_is_written_once() -> None:
    for value, entry in ((np.full((1, 4), 7, np.int8), "helia_nn_fill_pattern"), (np.arange(4, dtype=np.int8).reshape(1, 4), "helia_nn_copy_strided")):  # fmt: skip
        graph = resolve_variables(graph_with(value))
        read, _, assign = graph.operators
        family = FAMILIES["READ_VARIABLE"]
        assert not family.problems(graph, read)
        assert [call.entry for call in family.lower(graph, read, {}, ANY).init] == [entry]
        assert not FAMILIES["ASSIGN_VARIABLE"].lower(graph, assign, {}, ANY).init


def test_a_variable_without_a_first_value_starts_from_zero() -> None:
    graph = resolve_variables(graph_with(None))
    first = graph.tensor(graph.operators[0].inputs[1])
    assert first.data is not None
    assert not first.data.any()


def test_anything_else_in_the_first_call_is_left_for_the_checks() -> None:
    graph = graph_with(np.zeros((1, 4), np.int8), inner_type="ADD")
    assert resolve_variables(graph) is graph


def test_a_first_value_of_another_shape_is_refused() -> None:
    graph = graph_with(np.zeros((1, 4), np.int8))
    inner = graph.subgraphs[1]
    wrong = replace(inner.tensor("v"), shape=(1, 5), data=np.zeros((1, 5), np.int8))
    changed = inner.replace(tensors={**inner.tensors, "v": wrong})
    resolved = resolve_variables(graph.replace(subgraphs={1: changed}))
    (reason,) = FAMILIES["READ_VARIABLE"].problems(resolved, resolved.operators[0])
    assert "first value" in reason
