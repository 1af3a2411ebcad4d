# SPDX-License-Identifier: Apache-2.0
"""What static tensors alone tell: SHAPE, RANK and ZEROS_LIKE, known at conversion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators.static_shapes import rank_of, shape_of

_LARGEST: Final = 4096
"""Elements of zeros that become a constant."""


def fold_shapes(graph: Graph) -> Graph:
    """Gives the graph in which SHAPE, RANK and small ZEROS_LIKE are constants; outputs of the model stay."""
    tensors, kept = dict(graph.tensors), []
    for operator in graph.operators:
        folded = known_of(operator, tensors)
        if folded is None or folded.id in graph.outputs:
            kept.append(operator)
        else:
            tensors[folded.id] = folded
    if len(kept) == len(graph.operators):
        return graph
    return graph.replace(tensors=tensors, operators=tuple(kept))


def known_of(operator: Operator, tensors: Mapping[str, Tensor]) -> Tensor | None:
    """Gives the output of an operator as a constant; None where shapes alone do not tell it.

    Args:
        operator: The operator.
        tensors: Its tensors by id.
    """
    rule = _RULES.get(operator.op_type)
    if rule is None or len(operator.inputs) != 1 or len(operator.outputs) != 1:
        return None
    if operator.inputs[0] is None:
        return None
    source, output = tensors[operator.inputs[0]], tensors[operator.outputs[0]]
    value = rule(source, output) if all(size >= 1 for size in source.shape) else None
    if value is None or value.shape != output.shape or not output.dtype.is_numeric:
        return None
    return replace(output, data=value.astype(output.dtype.numpy))


def _zeros(source: Tensor, output: Tensor) -> NDArray[Any] | None:
    """Quantized zeros are left: what TFLite writes, 0, is not their zero point."""
    if output.quantization is not None or source.elements > _LARGEST:
        return None
    return np.zeros(source.shape)


_RULES: Final[Mapping[str, Callable[[Tensor, Tensor], NDArray[Any] | None]]] = {
    "RANK": rank_of,
    "SHAPE": shape_of,
    "ZEROS_LIKE": _zeros,
}
