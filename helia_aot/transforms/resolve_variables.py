# SPDX-License-Identifier: Apache-2.0
"""Resource variables become tensors that keep their values from one run to the next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from helia_aot.ir.graph import Graph, Operator, Tensor

_READ, _ASSIGN = "READ_VARIABLE", "ASSIGN_VARIABLE"
_MOST_BYTES: Final = 2**26
"""No memory of a Cortex-M holds a larger variable."""


def resolve_variables(graph: Graph) -> Graph:
    """Gives a graph without VAR_HANDLE and CALL_ONCE, whose variable operators name variable tensors.

    The operator that touches a variable first gets the first value as another input: what the subgraph of CALL_ONCE
    assigns, or zeros. Where that subgraph does anything else, or a variable's type stays unknown or has no zero, the
    graph is left as it is for the checks to report.
    """
    if not any(operator.op_type == "VAR_HANDLE" for operator in graph.operators):
        return graph
    handles = _handles(graph)
    first_values = _first_values(graph)
    if first_values is None:
        return graph
    variables = _variables(graph, handles)
    if variables is None:
        return graph
    tensors = {**graph.tensors, **{variable.id: variable for variable in variables.values()}}
    pending = dict(variables)
    operators = []
    for operator in graph.operators:
        if operator.op_type in ("VAR_HANDLE", "CALL_ONCE"):
            continue
        name = handles.get(operator.inputs[0] or "") if operator.inputs else None
        if operator.op_type not in (_READ, _ASSIGN) or name is None:
            operators.append(operator)
            continue
        variable = variables[name]
        inputs = (variable.id, *operator.inputs[1:])
        if pending.pop(name, None) is not None:
            value = replace(first_values.get(name) or _zeros(variable), id=f"{variable.id}_first")
            tensors[value.id] = value
            inputs = (*inputs, value.id)
        operators.append(replace(operator, inputs=inputs))
    return graph.replace(tensors=tensors, operators=tuple(operators))


def _zeros(variable: Tensor) -> Tensor:
    data = np.zeros(variable.shape, dtype=variable.dtype.numpy)
    return replace(variable, data=data, is_variable=False)


def _handles(graph: Graph) -> dict[str, str]:
    """Gives the variable's name for each tensor that a VAR_HANDLE writes."""
    return {
        output: operator.attributes.name
        for operator in graph.operators
        if operator.op_type == "VAR_HANDLE"
        for output in operator.outputs
    }


def _first_values(graph: Graph) -> dict[str, Tensor] | None:
    """Gives the constants that CALL_ONCE assigns; None where it does more than that."""
    values: dict[str, Tensor] = {}
    for call in graph.operators:
        if call.op_type != "CALL_ONCE":
            continue
        inner = graph.subgraphs.get(call.attributes.subgraph)
        if inner is None:
            return None
        handles = _handles(inner)
        for operator in inner.operators:
            if operator.op_type == "VAR_HANDLE":
                continue
            name = handles.get(operator.inputs[0] or "") if operator.inputs else None
            if operator.op_type != _ASSIGN or name is None or len(operator.inputs) != 2:
                return None
            value = inner.tensor(operator.inputs[1])
            if not value.is_constant:
                return None
            values[name] = value
    return values


def _variables(graph: Graph, handles: Mapping[str, str]) -> dict[str, Tensor] | None:
    """Gives one variable tensor for each name, of the type of the first value that is read or assigned."""
    names = list(dict.fromkeys(handles.values()))
    variables: dict[str, Tensor] = {}
    for operator in graph.operators:
        name = handles.get(operator.inputs[0] or "") if operator.inputs else None
        if name is None or name in variables or not _is_whole(operator):
            continue
        ends = operator.outputs if operator.op_type == _READ else operator.inputs
        value = None if ends[-1] is None else graph.tensor(ends[-1])
        if value is None or not _has_zeros(value):
            return None
        variables[name] = Tensor(
            id=f"variable_{names.index(name)}",
            name=name,
            shape=value.shape,
            dtype=value.dtype,
            quantization=value.quantization,
            is_variable=True,
        )
    used = {handles[i] for o in graph.operators for i in o.inputs if i is not None and i in handles}
    return variables if used <= set(variables) else None


def _has_zeros(value: Tensor) -> bool:
    """Whether a variable like a tensor can start from zeros: numbers in a shape that some memory holds."""
    return (
        value.dtype.is_numeric
        and min(value.shape, default=1) > 0
        and math.prod(value.shape) * value.dtype.size_bytes <= _MOST_BYTES
    )


def _is_whole(operator: Operator) -> bool:
    if operator.op_type == _READ:
        return len(operator.inputs) == 1 and len(operator.outputs) == 1
    return operator.op_type == _ASSIGN and len(operator.inputs) == 2
