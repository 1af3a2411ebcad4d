# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators that broadcast along more dimensions than their kernels walk read repeated inputs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators.broadcasting import DIMENSIONS, merged_shapes

_ELEMENT_WISE: Final = frozenset(
    {
        "ADD",
        "DIV",
        "EQUAL",
        "FLOOR_DIV",
        "FLOOR_MOD",
        "GREATER",
        "GREATER_EQUAL",
        "LESS",
        "LESS_EQUAL",
        "LOGICAL_AND",
        "LOGICAL_OR",
        "MAXIMUM",
        "MINIMUM",
        "MUL",
        "NOT_EQUAL",
        "PRELU",
        "SELECT_V2",
        "SQUARED_DIFFERENCE",
        "SUB",
    }
)


def expand_broadcasts(graph: Graph) -> Graph:
    """Gives the graph in which inputs are repeated by BROADCAST_TO where an operator could not repeat them itself.

    The first inputs are repeated, as many as are needed; the operators in front have the node ids that follow the
    largest one, and outputs that are named after the operator's output and the input. Operators whose shapes do not
    fit are left for the checks to report.
    """
    tensors = dict(graph.tensors)
    operators: list[Operator] = []
    made = itertools.count(max((int(o.node_id) for o in graph.operators), default=0) + 1)
    for operator in graph.operators:
        position = 0
        while _has_too_many_runs(operator, tensors) and position < len(operator.inputs):
            front = _repeated(operator, position, tensors, made)
            inputs = list(operator.inputs)
            if front is not None:
                operators.append(front)
                inputs[position] = front.outputs[0]
            operator = replace(operator, inputs=tuple(inputs))
            position += 1
        operators.append(operator)
    if len(operators) == len(graph.operators):
        return graph
    return graph.replace(tensors=tensors, operators=tuple(operators))


def _has_too_many_runs(operator: Operator, tensors: dict[str, Tensor]) -> bool:
    if operator.op_type not in _ELEMENT_WISE or len(operator.outputs) != 1:
        return False
    output = tensors[operator.outputs[0]].shape
    shapes = [tensors[i].shape for i in operator.inputs if i is not None]
    if min(output, default=1) < 1 or len(shapes) != len(operator.inputs):
        return False
    try:
        fits = np.broadcast_shapes(*shapes) == output
    except ValueError:
        return False
    return fits and len(merged_shapes(shapes, output)[-1]) > DIMENSIONS


def _repeated(
    operator: Operator, position: int, tensors: dict[str, Tensor], made: Iterator[int]
) -> Operator | None:
    """Adds an input's repetition and its shape; None where the input has the output's shape already."""
    source = tensors[operator.inputs[position] or ""]
    output = tensors[operator.outputs[0]]
    shape = output.shape
    if source.shape == shape:
        return None
    node_id = str(next(made))
    name = f"{output.name}_input{position}"
    wide = replace(source, id=f"{node_id}_repeated", name=name, shape=shape, data=None)
    wanted = np.array(shape, np.int32)
    extents = Tensor(f"{node_id}_shape", "", wanted.shape, DType.INT32, data=wanted)
    tensors |= {wide.id: wide, extents.id: extents}
    return Operator(node_id, "BROADCAST_TO", (source.id, extents.id), (wide.id,))
