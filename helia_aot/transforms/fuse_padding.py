# SPDX-License-Identifier: Apache-2.0
"""PAD as the padding of the layers that read it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from helia_aot.ir.attributes import ConvolutionAttributes, ExplicitPadding, PoolAttributes
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators.geometry import Window, window
from helia_aot.transforms.uses import is_same_kind, readers, writers

_CONVOLUTIONS: Final = ("CONV_2D", "DEPTHWISE_CONV_2D")
_NOT_NEGATIVE: Final = ("RELU", "RELU6")


def fuse_padding(graph: Graph) -> Graph:
    """Gives the graph in which layers pad by themselves what a PAD would have padded for them.

    All readers of the padded tensor must be CONV_2D or DEPTHWISE_CONV_2D, whose kernels count padding as zero, or
    MAX_POOL_2D over the output of RELU or RELU6, where padding by zero changes no maximum. The PAD must add zeros (the
    zero point) to rows and columns alone, fewer than the filter spans, so that no window lies outside the input.
    """
    uses, sources = readers(graph), writers(graph)
    for pad in graph.operators:
        margins = _margins(graph, pad)
        if margins is None or pad.outputs[0] in graph.outputs:
            continue
        source = graph.tensor(pad.inputs[0])
        layers = uses[pad.outputs[0]]
        attributes = [
            _padded(
                graph,
                layer,
                pad.outputs[0],
                margins,
                is_clamped=_is_clamped(sources.get(source.id)),
            )
            for layer in layers
        ]
        if not layers or any(found is None for found in attributes):
            continue
        fused = {
            layer.node_id: replace(layer, inputs=(source.id, *layer.inputs[1:]), attributes=found)
            for layer, found in zip(layers, attributes, strict=True)
        }
        graph = graph.replace(
            operators=tuple(
                fused.get(operator.node_id, operator)
                for operator in graph.operators
                if operator.node_id != pad.node_id
            )
        )
    return graph


def _margins(graph: Graph, pad: Operator) -> ExplicitPadding | None:
    """Gives what a PAD adds to rows and columns; None where it does anything else or is no PAD."""
    if pad.op_type not in ("PAD", "PADV2") or len(pad.outputs) != 1 or None in pad.inputs:
        return None
    if len(pad.inputs) not in (2, 3) or (pad.op_type == "PADV2") != (len(pad.inputs) == 3):
        return None
    source, amounts = graph.tensor(pad.inputs[0]), graph.tensor(pad.inputs[1]).data
    output = graph.tensor(pad.outputs[0])
    if source.is_constant or not is_same_kind(source, output) or len(source.shape) != 4:
        return None
    if amounts is None or amounts.shape != (4, 2) or np.any(amounts < 0):
        return None
    if np.any(amounts[[0, 3]]) or not _pads_zero(graph, pad, source):
        return None
    grown = tuple(int(s + a.sum()) for s, a in zip(source.shape, amounts, strict=True))
    (top, bottom), (left, right) = amounts[1:3].tolist()
    return ExplicitPadding(top, bottom, left, right) if grown == output.shape else None


def _pads_zero(graph: Graph, pad: Operator, source: Tensor) -> bool:
    if pad.op_type == "PAD":
        return True
    value = graph.tensor(pad.inputs[2])
    zero = source.quantization.zero_point if source.quantization else 0
    return value.data is not None and value.data.size == 1 and value.data.item() == zero


def _is_clamped(operator: Operator | None) -> bool:
    """Says whether an operator gives no negative numbers."""
    if operator is None:
        return False
    activation = getattr(operator.attributes, "activation", "NONE")
    return operator.op_type in _NOT_NEGATIVE or activation in _NOT_NEGATIVE


def _padded(
    graph: Graph, layer: Operator, padded: str, margins: ExplicitPadding, *, is_clamped: bool
) -> Any | None:
    """Gives a layer's attributes with margins added to its own padding; None where it cannot take them."""
    if layer.inputs.index(padded) != 0 or layer.inputs.count(padded) != 1:
        return None
    options, source = layer.attributes, graph.tensor(padded)
    if layer.op_type in _CONVOLUTIONS and isinstance(options, ConvolutionAttributes):
        filters = graph.tensor(layer.inputs[1])
        if len(filters.shape) != 4:
            return None
        filter_h, filter_w = filters.shape[1:3]
    elif layer.op_type == "MAX_POOL_2D" and isinstance(options, PoolAttributes) and is_clamped:
        filter_h, filter_w = options.filter_h, options.filter_w
    else:
        return None
    own = window(options, source.shape, filter_h, filter_w)
    padding = ExplicitPadding(
        margins.top + own.pad_h,
        margins.bottom + _below(own),
        margins.left + own.pad_w,
        margins.right + _right(own),
    )
    reach_h, reach_w = (filter_h - 1) * own.dilation_h, (filter_w - 1) * own.dilation_w
    if max(padding.top, padding.bottom) > reach_h or max(padding.left, padding.right) > reach_w:
        return None
    return replace(options, padding=padding)


def _below(own: Window) -> int:
    rows = (own.out_h - 1) * own.stride_h + (own.filter_h - 1) * own.dilation_h + 1
    return max(0, rows - own.in_h - own.pad_h)


def _right(own: Window) -> int:
    columns = (own.out_w - 1) * own.stride_w + (own.filter_w - 1) * own.dilation_w + 1
    return max(0, columns - own.in_w - own.pad_w)
