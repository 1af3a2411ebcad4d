# SPDX-License-Identifier: Apache-2.0
"""Integer weights under float activations, as dynamic-range models have them, become float32 constants.

Weights that a kernel reads packed stay (:mod:`helia_aot.operators.blockwise`).

The TFLite interpreter instead quantizes the activations of such layers at run time, which costs accuracy; the outputs
differ from its by that error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators.blockwise import stays_packed
from helia_aot.transforms.dequantize import QUANTIZED, can_dequantize, dequantized

_WEIGHTS: Final[Mapping[str, tuple[int, ...]]] = {
    "BATCH_MATMUL": (0, 1),
    "CONV_2D": (1,),
    "DEPTHWISE_CONV_2D": (1,),
    "FULLY_CONNECTED": (1,),
    "SVDF": (1, 2),
    "TRANSPOSE_CONV": (1,),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": tuple(range(1, 9)),
}
"""Layer -> its inputs that may be integer constants under float activations."""


def float_weights(graph: Graph) -> Graph:
    """Gives the graph in which float layers have float weights.

    Weights that an integer layer reads as well keep their tensor; the float layers read a new one,
    ``<tensor id>_float``.
    """
    tensors = dict(graph.tensors)
    operators = []
    for operator in graph.operators:
        names = {
            weights: f"{weights}_float" if _is_shared(graph, weights) else weights
            for weights in _integer_weights(graph, operator)
        }
        for weights, name in names.items():
            tensor = graph.tensor(weights)
            tensors[name] = replace(
                tensor,
                id=name,
                dtype=DType.FLOAT32,
                data=dequantized(tensor),
                quantization=None,
                blocks=None,
            )
        inputs = tuple(names.get(i, i) if i is not None else None for i in operator.inputs)
        operators.append(replace(operator, inputs=inputs))
    return graph.replace(tensors=tensors, operators=tuple(operators))


def _is_shared(graph: Graph, weights: str) -> bool:
    """Says whether anything besides float layers reads the weights."""
    return weights in graph.outputs or not all(
        weights in _integer_weights(graph, other)
        for other in graph.operators
        if weights in other.inputs
    )


def _integer_weights(graph: Graph, operator: Operator) -> tuple[str, ...]:
    """Gives the ids of an operator's weights to replace."""
    positions = _WEIGHTS.get(operator.op_type, ())
    if not operator.outputs or graph.tensor(operator.outputs[0]).dtype is not DType.FLOAT32:
        return ()
    found = (operator.inputs[i] for i in positions if i < len(operator.inputs))
    return tuple(
        i for i in found if i is not None and _is_replaced(operator.op_type, graph.tensor(i))
    )


def _is_replaced(op_type: str, tensor: Tensor) -> bool:
    if stays_packed(op_type, tensor):
        return False
    return tensor.dtype in QUANTIZED and can_dequantize(tensor)
