# SPDX-License-Identifier: Apache-2.0
"""Computes at conversion what depends on constants alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators.movement import slice_ranges

_LARGEST: Final = 4096
"""Elements of a result that is still folded: shapes are small, and large constants are kept as the model has them."""


def fold_constants(graph: Graph) -> Graph:
    """Gives a graph in which static shape expressions are constants.

    RESHAPE, SQUEEZE, EXPAND_DIMS, PACK, CONCATENATION, STRIDED_SLICE, SLICE, GATHER and
    CAST of small constants without quantization are computed; their operators are gone. Whatever does not compute is
    left for the checks to report.

    Args:
        graph: The graph, which is not changed.
    """
    tensors = dict(graph.tensors)
    operators = []
    for operator in graph.operators:
        folded = _fold(operator, tensors, graph)
        if folded is None:
            operators.append(operator)
        else:
            tensors[folded.id] = folded
    if len(operators) == len(graph.operators):
        return graph
    return graph.replace(tensors=tensors, operators=tuple(operators))


def _fold(operator: Operator, tensors: Mapping[str, Tensor], graph: Graph) -> Tensor | None:
    rule = _RULES.get(operator.op_type)
    if rule is None or len(operator.outputs) != 1 or operator.outputs[0] in graph.outputs:
        return None
    output = tensors[operator.outputs[0]]
    inputs = [tensors[i] for i in operator.inputs if i is not None]
    if (
        not all(tensor.is_constant for tensor in inputs)
        or output.quantization is not None
        or not output.dtype.is_numeric
    ):
        return None
    if any(size < 1 for size in (*output.shape, *(inputs[0].shape if inputs else ()))):
        return None
    if output.elements > _LARGEST:
        return None
    try:
        value = np.asarray(rule(operator, inputs)).astype(output.dtype.numpy)
        return replace(output, data=value.reshape(output.shape))
    except (ValueError, IndexError):
        return None


def _data(tensor: Tensor) -> NDArray[Any]:
    assert tensor.data is not None
    return tensor.data


def _joined(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    return np.concatenate([_data(tensor) for tensor in inputs], axis=operator.attributes.axis)


def _packed(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    return np.stack([_data(tensor) for tensor in inputs], axis=operator.attributes.axis)


def _strided(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    source, *bounds = (_data(tensor) for tensor in inputs)
    begin, end, steps = ([int(v) for v in bound] for bound in bounds)
    ranges = slice_ranges(source.shape, begin, end, steps, operator.attributes)
    return source[np.ix_(*ranges)]


def _sliced(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    del operator
    source, begin, size = (_data(tensor) for tensor in inputs)
    ends = [None if s == -1 else int(b) + int(s) for b, s in zip(begin, size, strict=True)]
    return source[tuple(slice(int(b), e) for b, e in zip(begin, ends, strict=True))]


def _gathered(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    if operator.attributes.batch_dims:
        raise ValueError("batched")
    return np.take(_data(inputs[0]), _data(inputs[1]), axis=operator.attributes.axis)


def _same(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    del operator
    return _data(inputs[0])


_RULES: Final[Mapping[str, Callable[[Operator, list[Tensor]], Any]]] = {
    "CAST": _same,
    "CONCATENATION": _joined,
    "EXPAND_DIMS": _same,
    "GATHER": _gathered,
    "PACK": _packed,
    "RESHAPE": _same,
    "SLICE": _sliced,
    "SQUEEZE": _same,
    "STRIDED_SLICE": _strided,
}
