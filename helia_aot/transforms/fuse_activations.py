# SPDX-License-Identifier: Apache-2.0
"""Clamping activations as part of the layer before them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from helia_aot.ir.graph import Graph, Operator
from helia_aot.transforms.uses import is_same_kind, readers

_CLAMPS: Final = ("RELU", "RELU6", "RELU_N1_TO_1")
_LAYERS: Final = (
    "ADD",
    "AVERAGE_POOL_2D",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "FULLY_CONNECTED",
    "MAX_POOL_2D",
    "MUL",
    "SUB",
)


def fuse_activations(graph: Graph) -> Graph:
    """Gives the graph in which a clamp that alone reads a layer's output is the layer's fused activation.

    The layer writes the activation's output and takes its name, so that plans know it by the name that stays. Both
    outputs must be quantized alike: then the activation does nothing but clamp, and every output keeps its bits.
    """
    uses = readers(graph)
    clamps = {
        operator.inputs[0]: operator
        for operator in graph.operators
        if operator.op_type in _CLAMPS and len(operator.inputs) == len(operator.outputs) == 1
    }
    fused: set[str] = set()
    operators = []
    for operator in graph.operators:
        if operator.node_id in fused:
            continue
        clamp = clamps.get(operator.outputs[0]) if len(operator.outputs) == 1 else None
        if (
            clamp is None
            or len(uses[operator.outputs[0]]) != 1
            or not _fits(graph, operator, clamp)
        ):
            operators.append(operator)
            continue
        attributes = replace(operator.attributes, activation=clamp.op_type)
        operators.append(replace(operator, outputs=clamp.outputs, attributes=attributes))
        fused.add(clamp.node_id)
    return graph.replace(operators=tuple(operators))


def _fits(graph: Graph, layer: Operator, clamp: Operator) -> bool:
    if layer.op_type not in _LAYERS:
        return False
    between, output = graph.tensor(layer.outputs[0]), graph.tensor(clamp.outputs[0])
    return (
        layer.attributes.activation == "NONE"
        and between.id not in graph.outputs
        and between.shape == output.shape
        and is_same_kind(between, output)
    )
