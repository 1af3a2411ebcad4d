# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of plain int32 numbers, and extrema of int64 numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators import checks
from helia_aot.operators.broadcasting import BROADCAST, check_broadcast, operand_dims
from helia_aot.operators.spec import (
    Argument,
    LoweredOperator,
    Plain,
    Support,
    Target,
    constants_of,
    lowered,
    read_pointer,
    written_pointer,
)

OPERATIONS: Final = {
    "ADD": 0,
    "SUB": 1,
    "MUL": 2,
    "DIV": 3,
    "FLOOR_DIV": 4,
    "FLOOR_MOD": 5,
    "MAXIMUM": 6,
    "MINIMUM": 7,
    "SQUARED_DIFFERENCE": 8,
}
"""The codes of ``helia_nn_operation``."""
_DIVISIONS: Final = ("DIV", "FLOOR_DIV", "FLOOR_MOD")
_RANGE: Final = (int(np.iinfo(np.int32).min), int(np.iinfo(np.int32).max))
_LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "NONE": _RANGE,
    "RELU": (0, _RANGE[1]),
    "RELU6": (0, 6),
    "RELU_N1_TO_1": (-1, 1),
}


class Arithmetic32(Plain):
    """Element-wise arithmetic of int32 numbers, with wrapping results.

    Args:
        kind: The TFLite operator name, of :data:`OPERATIONS`.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        zero = "; division by 0 stops the run with an error" if self._kind in _DIVISIONS else ""
        return (Support(("int32",), BROADCAST + zero),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        for role, tensor in (("input 0", first), ("input 1", second), ("output", output)):
            if tensor.dtype is not DType.INT32:
                reasons.append(f"{role} has type {tensor.dtype}; supported: int32")
        reasons += checks.check_activation(checks.fused_activation(operator))
        return reasons or check_broadcast((first, second), output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        extents = operand_dims(first, second, output)
        low, high = _LIMITS[checks.fused_activation(operator)]
        arguments = [
            Argument("input1_data", read_pointer(first)),
            Argument("input1_dims", extents[0]),
            Argument("input2_data", read_pointer(second)),
            Argument("input2_dims", extents[1]),
            Argument("operation", OPERATIONS[self._kind]),
            Argument("low", low),
            Argument("high", high),
            Argument("output_data", written_pointer(output)),
            Argument("output_dims", extents[2]),
        ]
        constants = constants_of(first, second)
        return lowered(operator, "helia_nn_arithmetic_s32", arguments, constants=constants)


class Extremum64(Plain):
    """The MAXIMUM and MINIMUM families of int64 numbers.

    Args:
        kind: ``maximum`` or ``minimum``.
    """

    support = (Support(("int64",), BROADCAST),)

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        reasons += checks.check_same_type(first, second, output)
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
            Argument("input1_data", read_pointer(first)),
            Argument("input1_dims", extents[0]),
            Argument("input2_data", read_pointer(second)),
            Argument("input2_dims", extents[1]),
            Argument("largest", int(self._kind == "maximum")),
            Argument("output_data", written_pointer(output)),
            Argument("output_dims", extents[2]),
        ]
        constants = constants_of(first, second)
        return lowered(operator, "helia_nn_extremum_s64", arguments, constants=constants)
