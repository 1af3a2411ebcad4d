# SPDX-License-Identifier: Apache-2.0
"""DEQUANTIZE of a constant, computed at conversion: the usual form of models with float16 or integer weights only."""

from __future__ import annotations

from dataclasses import replace

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator
from helia_aot.transforms.dequantize import can_dequantize, dequantized


def fold_dequantize(graph: Graph) -> Graph:
    """Gives the graph in which each DEQUANTIZE of a constant is a float32 constant; outputs of the model stay."""
    tensors = dict(graph.tensors)
    operators = []
    for operator in graph.operators:
        if not _is_foldable(graph, operator):
            operators.append(operator)
            continue
        output = graph.tensor(operator.outputs[0])
        values = dequantized(graph.tensor(operator.inputs[0]))
        tensors[output.id] = replace(output, data=values, quantization=None)
    return graph.replace(tensors=tensors, operators=tuple(operators))


def _is_foldable(graph: Graph, operator: Operator) -> bool:
    if operator.op_type != "DEQUANTIZE" or len(operator.inputs) != 1 or len(operator.outputs) != 1:
        return False
    if operator.inputs[0] is None or operator.outputs[0] in graph.outputs:
        return False
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    return can_dequantize(source) and output.dtype is DType.FLOAT32 and source.shape == output.shape
