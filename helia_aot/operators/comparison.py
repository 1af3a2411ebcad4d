# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logical operators and SELECT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import COMPARISON_LEFT_SHIFT, comparison_parameters
from helia_aot.operators import checks
from helia_aot.operators.broadcasting import BROADCAST, check_broadcast, operand_dims
from helia_aot.operators.spec import (
    Argument,
    Constant,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    buffer,
    constants_of,
    lowered,
    operator_name,
    read_pointer,
    written_pointer,
)

_LESS, _EQUAL, _GREATER, _NONE = 1, 2, 4, 8
_ORDERS: Final = {
    "EQUAL": _EQUAL,
    "NOT_EQUAL": _LESS | _GREATER | _NONE,
    "LESS": _LESS,
    "LESS_EQUAL": _LESS | _EQUAL,
    "GREATER": _GREATER,
    "GREATER_EQUAL": _GREATER | _EQUAL,
}
"""The orders, as sums of ``helia_nn_order``, in which a comparison holds."""
_PLAIN: Final = {DType.INT32: "s32", DType.INT64: "s64", DType.FLOAT32: "f32", DType.FLOAT16: "f16"}
_IDENTITY: Final = (1 << 30, 1)
"""Multiplier and shift of a factor of one."""


class Comparison(Plain):
    """The comparisons of two tensors, which give bool.

    Args:
        kind: The TFLite operator name.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        equality = (DType.BOOL,) if kind in ("EQUAL", "NOT_EQUAL") else ()
        self._dtypes = (DType.INT8, *_PLAIN, *equality)

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        types = tuple(dtype.value for dtype in self._dtypes)
        return (Support(types, f"int8: scales below 1; {BROADCAST}"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the comparison cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        reasons += checks.check_same_type(first, second) + _check_bool("output", output)
        for role, tensor in (("input 0", first), ("input 1", second)):
            if tensor.dtype not in self._dtypes:
                reasons.append(
                    f"{role} has type {tensor.dtype}; supported: {', '.join(self._dtypes)}"
                )
            elif tensor.dtype is DType.INT8:
                reasons += checks.check_quantized(role, tensor)
                if tensor.quantization is not None and tensor.quantization.scale >= 1:
                    scale = tensor.quantization.scale
                    reasons.append(f"{role} has the scale {scale:.9g}; supported: below 1")
        return reasons or check_broadcast((first, second), output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the comparison call."""
        del choices, target
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        suffix = _PLAIN.get(first.dtype, "s8")
        extents = operand_dims(first, second, output)
        pointers = [_number_pointer(tensor) for tensor in (first, second)]
        arguments = [
            Argument("input1_data", pointers[0]),
            Argument("input1_dims", extents[0]),
            Argument("input2_data", pointers[1]),
            Argument("input2_dims", extents[1]),
            *(_scaling(first, second) if suffix == "s8" else ()),
            Argument("orders", _ORDERS[self._kind]),
            Argument("output_data", written_pointer(output)),
            Argument("output_dims", extents[2]),
        ]
        entry = f"helia_nn_compare_{suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(first, second))


class Logical(Plain):
    """LOGICAL_AND and LOGICAL_OR: the smaller or larger of two numbers that are 0 or 1.

    Args:
        entry: The kernel entry, ``arm_minimum_s8`` or ``arm_maximum_s8``.
    """

    support = (Support(("bool",), BROADCAST),)

    def __init__(self, entry: str) -> None:
        self._entry = entry

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        for role, tensor in (("input 0", first), ("input 1", second), ("output", output)):
            reasons += _check_bool(role, tensor)
        return reasons or check_broadcast((first, second), output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        extents = operand_dims(first, second, output)
        arguments = [
            Argument("ctx", buffer(None, 0)),
            Argument("input_1_data", TensorPointer(first.id, "const int8_t *")),
            Argument("input_1_dims", extents[0]),
            Argument("input_2_data", TensorPointer(second.id, "const int8_t *")),
            Argument("input_2_dims", extents[1]),
            Argument("output_data", TensorPointer(output.id, "int8_t *")),
            Argument("output_dims", extents[2]),
        ]
        return lowered(operator, self._entry, arguments, constants=constants_of(first, second))


class LogicalNot(Plain):
    """LOGICAL_NOT by a table."""

    support = (Support(("bool",)),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += _check_bool("input", source) + _check_bool("output", output)
        return reasons + checks.check_shape("output", output, source.shape)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the table look-up."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        table = Constant(f"{operator_name(operator)}_table", (np.arange(256) == 0).astype(np.int8))
        arguments = [
            Argument("input", TensorPointer(source.id, "const int8_t *")),
            Argument("table", TensorPointer(table.id, "const int8_t *")),
            Argument("output", TensorPointer(output.id, "int8_t *")),
            Argument("count", output.elements),
        ]
        constants = (*constants_of(source), table)
        return lowered(operator, "helia_nn_lookup_s8", arguments, constants=constants)


class Select(Plain):
    """SELECT and SELECT_V2 of any type of whole bytes.

    Args:
        broadcasts: Whether the inputs are broadcast; SELECT takes a condition for each element, or for each of the
            first dimension.
    """

    def __init__(self, *, broadcasts: bool) -> None:
        self._broadcasts = broadcasts

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        shapes = BROADCAST if self._broadcasts else "equal shapes"
        return (Support(("any",), f"inputs and output quantized alike; {shapes}"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the elements cannot be selected."""
        reasons = checks.check_count(operator, inputs=(3,))
        if reasons:
            return reasons
        condition, first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        reasons += _check_bool("condition", condition)
        reasons += checks.check_same_type(first, second, output)
        if not output.dtype.is_numeric:
            reasons.append(f"output has type {output.dtype}; supported: types of whole bytes")
        reasons += checks.check_same_quantization(first, output)
        reasons += checks.check_same_quantization(second, output)
        if reasons:
            return reasons
        if not self._broadcasts:
            for role, tensor in (("condition", condition), ("x", first), ("y", second)):
                reasons += checks.check_shape(role, tensor, output.shape)
        return reasons or check_broadcast((condition, first, second), output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        condition, first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        extents = operand_dims(condition, first, second, output)
        arguments = [
            Argument("condition", read_pointer(condition)),
            Argument("condition_dims", extents[0]),
            Argument("input1_data", TensorPointer(first.id, "const void *")),
            Argument("input1_dims", extents[1]),
            Argument("input2_data", TensorPointer(second.id, "const void *")),
            Argument("input2_dims", extents[2]),
            Argument("element_bytes", output.dtype.size_bytes),
            Argument("output_data", TensorPointer(output.id, "void *")),
            Argument("output_dims", extents[3]),
        ]
        constants = constants_of(condition, first, second)
        return lowered(operator, "helia_nn_select", arguments, constants=constants)


def _check_bool(role: str, tensor: Tensor) -> list[str]:
    if tensor.dtype is not DType.BOOL:
        return [f"{role} has type {tensor.dtype}; supported: bool"]
    return []


def _number_pointer(tensor: Tensor) -> TensorPointer:
    """Gives the address of numbers; a bool is the int8 number 0 or 1."""
    if tensor.dtype is DType.BOOL:
        return TensorPointer(tensor.id, "const int8_t *")
    if tensor.dtype is DType.FLOAT32:
        return TensorPointer(tensor.id, "const float32_t *")
    return read_pointer(tensor)


def _scaling(first: Tensor, second: Tensor) -> list[Argument]:
    arguments = []
    for position, tensor in ((1, first), (2, second)):
        quantization = tensor.quantization if tensor.dtype is DType.INT8 else None
        zero_point = quantization.zero_point if quantization else 0
        multiplier, shift = comparison_parameters(quantization) if quantization else _IDENTITY
        arguments += [
            Argument(f"input{position}_offset", -zero_point),
            Argument(f"input{position}_mult", multiplier),
            Argument(f"input{position}_shift", shift),
        ]
    return [*arguments, Argument("left_shift", COMPARISON_LEFT_SHIFT)]
