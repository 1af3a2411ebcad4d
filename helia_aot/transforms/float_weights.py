# SPDX-License-Identifier: Apache-2.0
"""Integer weights under float activations, as dynamic-range models have them, become float32 constants.

The TFLite interpreter instead quantizes the activations of such layers at run time, which costs accuracy; the outputs
differ from its by that error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator
from helia_aot.transforms.dequantize import QUANTIZED, can_dequantize, dequantized

_LAYERS: Final = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
_WEIGHTS: Final = 1


def float_weights(graph: Graph) -> Graph:
    """Gives the graph in which float layers have float weights.

    Weights that an integer layer reads as well keep their tensor; the float layers read a new one,
    ``<tensor id>_float``.
    """
    tensors = dict(graph.tensors)
    operators = []
    for operator in graph.operators:
        weights = _integer_weights(graph, operator)
        if weights is None:
            operators.append(operator)
            continue
        tensor = graph.tensor(weights)
        shared = weights in graph.outputs or not all(
            _integer_weights(graph, other) == weights
            for other in graph.operators
            if weights in other.inputs
        )
        name = f"{weights}_float" if shared else weights
        tensors[name] = replace(
            tensor,
            id=name,
            dtype=DType.FLOAT32,
            data=dequantized(tensor),
            quantization=None,
            blocks=None,
        )
        inputs = tuple(name if i == _WEIGHTS else x for i, x in enumerate(operator.inputs))
        operators.append(replace(operator, inputs=inputs))
    return graph.replace(tensors=tensors, operators=tuple(operators))


def _integer_weights(graph: Graph, operator: Operator) -> str | None:
    """Gives the id of the weights to replace; None where there are none."""
    if operator.op_type not in _LAYERS or len(operator.inputs) <= _WEIGHTS:
        return None
    source, weights = operator.inputs[0], operator.inputs[_WEIGHTS]
    if source is None or weights is None or graph.tensor(source).dtype is not DType.FLOAT32:
        return None
    tensor = graph.tensor(weights)
    return weights if tensor.dtype in QUANTIZED and can_dequantize(tensor) else None
