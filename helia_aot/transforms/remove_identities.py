# SPDX-License-Identifier: Apache-2.0
"""Operators whose output is their input, left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.transforms.uses import is_same_kind, writers


def remove_identities(graph: Graph) -> Graph:
    """Gives the graph without operators that change nothing.

    These are RESHAPE, SQUEEZE, EXPAND_DIMS, CAST and QUANTIZE to the same shape, type and quantization, SLICE and
    STRIDED_SLICE of everything, TRANSPOSE in the given order, PAD by nothing, TILE by one, BROADCAST_TO the same shape,
    CONCATENATION of one and SPLIT into one. Readers of the output read the input instead. An output of the model keeps
    its tensor: the operator before writes it directly, and takes its name. Where there is no operator before, as in a
    model that gives its input back, the identity stays.
    """
    position = 0
    while position < len(graph.operators):
        ends = _identity(graph, graph.operators[position])
        shorter = None if ends is None else _without(graph, position, *ends)
        if shorter is None:
            position += 1
        else:
            graph = shorter
    return graph


def _without(graph: Graph, position: int, source: str, output: str) -> Graph | None:
    """Gives the graph without an identity; None where it has to stay."""
    before, after = graph.operators[:position], graph.operators[position + 1 :]
    rest = graph.replace(operators=before + after)
    if output not in graph.outputs:
        return _renamed(rest, output, source)
    if source not in (*graph.outputs, *graph.inputs) and source in writers(rest):
        return _renamed(rest, source, output)
    return None


def _renamed(graph: Graph, old: str, new: str) -> Graph:
    """Gives the graph in which operators read and write ``new`` in place of ``old``."""
    return graph.replace(
        operators=tuple(
            replace(
                operator,
                inputs=tuple(new if i == old else i for i in operator.inputs),
                outputs=tuple(new if o == old else o for o in operator.outputs),
            )
            if old in (*operator.inputs, *operator.outputs)
            else operator
            for operator in graph.operators
        )
    )


def _identity(graph: Graph, operator: Operator) -> tuple[str, str] | None:
    """Gives the ids of input and output of an operator that changes nothing, else None."""
    rule = _RULES.get(operator.op_type)
    if rule is None or len(operator.outputs) != 1:
        return None
    position = 1 if operator.op_type == "SPLIT" else 0
    if len(operator.inputs) <= position or operator.inputs[position] is None:
        return None
    source, output = graph.tensor(operator.inputs[position]), graph.tensor(operator.outputs[0])
    if source.is_constant or source.is_variable or output.is_variable or source.id == output.id:
        return None
    if source.shape != output.shape or not is_same_kind(source, output):
        return None
    return (source.id, output.id) if rule(graph, operator, source) else None


def _always(graph: Graph, operator: Operator, source: Tensor) -> bool:
    """The shapes say all."""
    del graph, operator, source
    return True


def _is_single(graph: Graph, operator: Operator, source: Tensor) -> bool:
    del graph, source
    return len(operator.inputs) == 1 and operator.attributes.activation == "NONE"


def _keeps_order(graph: Graph, operator: Operator, source: Tensor) -> bool:
    order = _numbers(graph, operator, 1)
    return order is not None and order.tolist() == list(range(len(source.shape)))


def _steps_by_one(graph: Graph, operator: Operator, source: Tensor) -> bool:
    """With steps of 1 and equal shapes every dimension is taken whole."""
    del source
    steps, options = _numbers(graph, operator, 3), operator.attributes
    if steps is None or options.new_axis_mask or options.shrink_axis_mask:
        return False
    return bool(np.all(steps == 1))


def _numbers(graph: Graph, operator: Operator, position: int) -> NDArray[Any] | None:
    tensor_id = operator.inputs[position] if len(operator.inputs) > position else None
    return None if tensor_id is None else graph.tensor(tensor_id).data


_RULES: Final[Mapping[str, Callable[[Graph, Operator, Tensor], bool]]] = {
    "BROADCAST_TO": _always,
    "CAST": _always,
    "CONCATENATION": _is_single,
    "EXPAND_DIMS": _always,
    "PAD": _always,
    "PADV2": _always,
    "QUANTIZE": _always,
    "RESHAPE": _always,
    "SLICE": _always,
    "SPLIT": _always,
    "SPLIT_V": _always,
    "SQUEEZE": _always,
    "STRIDED_SLICE": _steps_by_one,
    "TILE": _always,
    "TRANSPOSE": _keeps_order,
}
