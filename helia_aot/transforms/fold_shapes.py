# SPDX-License-Identifier: Apache-2.0
"""SHAPE of a static tensor, known at conversion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator

_INTEGERS = (DType.INT32, DType.INT64)


def fold_shapes(graph: Graph) -> Graph:
    """Gives the graph in which the output of each SHAPE is a constant; outputs of the model stay."""
    folded = [operator for operator in graph.operators if _is_foldable(graph, operator)]
    if not folded:
        return graph
    tensors = dict(graph.tensors)
    for operator in folded:
        output = graph.tensor(operator.outputs[0])
        shape = np.array(graph.tensor(operator.inputs[0]).shape, output.dtype.numpy)
        tensors[output.id] = replace(output, data=shape)
    kept = tuple(operator for operator in graph.operators if operator not in folded)
    return graph.replace(tensors=tensors, operators=kept)


def _is_foldable(graph: Graph, operator: Operator) -> bool:
    if operator.op_type != "SHAPE" or len(operator.inputs) != 1 or len(operator.outputs) != 1:
        return False
    if operator.inputs[0] is None or operator.outputs[0] in graph.outputs:
        return False
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    is_static = all(size >= 1 for size in source.shape)
    return is_static and output.dtype in _INTEGERS and output.shape == (len(source.shape),)
