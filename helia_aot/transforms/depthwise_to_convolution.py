# SPDX-License-Identifier: Apache-2.0
"""A depthwise convolution over one channel as the ordinary convolution that it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helia_aot.ir.attributes import ConvolutionAttributes
from helia_aot.ir.graph import Graph, Operator, Tensor


def depthwise_to_convolution(graph: Graph) -> Graph:
    """Gives the graph in which each DEPTHWISE_CONV_2D of one channel and several filters is a CONV_2D.

    Every output is the sum of the same products. The convolution's kernels read a patch once for all filters, where the
    depthwise ones read it for each (``tests/benchmarks/transforms.py`` shows the cycles). The filters become a new
    constant, ``<tensor id>_filter``, in the layout ``[C_OUT, HK, WK, 1]``.
    """
    tensors = dict(graph.tensors)
    operators = []
    for operator in graph.operators:
        filters = _filters(graph, operator)
        if filters is None:
            operators.append(operator)
            continue
        tensors[filters.id] = filters
        inputs = (operator.inputs[0], filters.id, *operator.inputs[2:])
        attributes = replace(operator.attributes, depth_multiplier=1)
        operators.append(replace(operator, op_type="CONV_2D", inputs=inputs, attributes=attributes))
    return graph.replace(tensors=tensors, operators=tuple(operators))


def _filters(graph: Graph, operator: Operator) -> Tensor | None:
    """Gives the filters as a CONV_2D reads them; None for an operator that stays."""
    if operator.op_type != "DEPTHWISE_CONV_2D" or len(operator.inputs) < 2:
        return None
    if None in operator.inputs[:2] or not isinstance(operator.attributes, ConvolutionAttributes):
        return None
    source, filters = (graph.tensor(tensor_id) for tensor_id in operator.inputs[:2])
    if filters.data is None or len(filters.shape) != 4 or len(source.shape) != 4:
        return None
    if filters.shape[0] != 1 or source.shape[3] != 1 or filters.shape[3] == 1:
        return None
    quantization = filters.quantization
    if quantization is not None and quantization.is_per_channel:
        if quantization.axis != 3 or len(quantization.scales) != filters.shape[3]:
            return None
        quantization = replace(quantization, axis=0)
    data = np.ascontiguousarray(np.transpose(filters.data, (3, 1, 2, 0)))
    return replace(
        filters,
        id=f"{filters.id}_filter",
        shape=data.shape,
        data=data,
        quantization=quantization,
    )
