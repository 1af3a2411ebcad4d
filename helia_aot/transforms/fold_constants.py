# SPDX-License-Identifier: Apache-2.0
"""Computes at conversion what depends on constants alone."""

from __future__ import annotations

import math
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

    What :data:`_RULES` lists is computed for small constants without quantization; its operators are gone. Whatever
    does not compute is left for the checks to report.

    Args:
        graph: The graph, which is not changed.
    """
    tensors = dict(graph.tensors)
    operators = []
    for operator in graph.operators:
        folded = constant_of(operator, tensors)
        if folded is None or folded.id in graph.outputs:
            operators.append(operator)
        else:
            tensors[folded.id] = folded
    if len(operators) == len(graph.operators):
        return graph
    return graph.replace(tensors=tensors, operators=tuple(operators))


def constant_of(operator: Operator, tensors: Mapping[str, Tensor]) -> Tensor | None:
    """Gives the output of an operator as a constant; None where no rule computes it from constants.

    Args:
        operator: The operator.
        tensors: Its tensors by id.
    """
    rule = _RULES.get(operator.op_type)
    if rule is None or len(operator.outputs) != 1:
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
    except (ValueError, IndexError, TypeError):
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
    ranges, _ = slice_ranges(source.shape, begin, end, steps, operator.attributes)
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


def _integers(
    compute: Callable[[NDArray[Any], NDArray[Any]], Any],
) -> Callable[[Operator, list[Tensor]], NDArray[Any]]:
    """Gives the rule of integer arithmetic as NumPy does it; a fused activation or a float is left."""

    def rule(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
        a, b = (_data(tensor) for tensor in inputs)
        if getattr(operator.attributes, "activation", "NONE") != "NONE" or a.dtype.kind not in "iu":
            raise ValueError("not plain integer arithmetic")
        return np.asarray(compute(a, b))

    return rule


def _compared(
    compute: Callable[[NDArray[Any], NDArray[Any]], Any],
) -> Callable[[Operator, list[Tensor]], NDArray[Any]]:
    """Gives the rule of a comparison of plain numbers; of quantized ones the stored values do not tell it."""

    def rule(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
        del operator
        if any(tensor.quantization is not None for tensor in inputs):
            raise ValueError("quantized")
        return np.asarray(compute(*(_data(tensor) for tensor in inputs)))

    return rule


def _divided(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    if not np.all(b):
        raise ValueError("divides by zero")
    return np.asarray(np.floor_divide(a, b))


def _product(a: NDArray[Any], axes: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.prod(a, axis=tuple(int(axis) for axis in axes.reshape(-1))))


def _filled(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    del operator
    extents, value = (_data(tensor) for tensor in inputs)
    if math.prod(int(e) for e in extents) > _LARGEST:
        raise ValueError("too large")
    return np.full([int(e) for e in extents], value)


def _counted(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    del operator
    start, limit, step = (int(_data(tensor)) for tensor in inputs)
    if step == 0 or len(range(start, limit, step)) > _LARGEST:
        raise ValueError("no steps, or too many")
    return np.arange(start, limit, step)


def _broadcast(operator: Operator, inputs: list[Tensor]) -> NDArray[Any]:
    del operator
    shapes = [tuple(int(e) for e in _data(tensor)) for tensor in inputs]
    return np.array(np.broadcast_shapes(*shapes))


_RULES: Final[Mapping[str, Callable[[Operator, list[Tensor]], Any]]] = {
    "ADD": _integers(np.add),
    "BROADCAST_ARGS": _broadcast,
    "CAST": _same,
    "CONCATENATION": _joined,
    "EQUAL": _compared(np.equal),
    "EXPAND_DIMS": _same,
    "FILL": _filled,
    "FLOOR_DIV": _integers(_divided),
    "GATHER": _gathered,
    "GREATER": _compared(np.greater),
    "GREATER_EQUAL": _compared(np.greater_equal),
    "LESS": _compared(np.less),
    "LESS_EQUAL": _compared(np.less_equal),
    "LOGICAL_AND": _compared(np.logical_and),
    "LOGICAL_NOT": _compared(np.logical_not),
    "LOGICAL_OR": _compared(np.logical_or),
    "MAXIMUM": _integers(np.maximum),
    "MINIMUM": _integers(np.minimum),
    "MUL": _integers(np.multiply),
    "NOT_EQUAL": _compared(np.not_equal),
    "PACK": _packed,
    "RANGE": _counted,
    "REDUCE_PROD": _integers(_product),
    "RESHAPE": _same,
    "SLICE": _sliced,
    "SQUEEZE": _same,
    "STRIDED_SLICE": _strided,
    "SUB": _integers(np.subtract),
}
