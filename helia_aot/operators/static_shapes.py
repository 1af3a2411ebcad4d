# SPDX-License-Identifier: Apache-2.0
"""SHAPE and RANK, which static shapes alone tell, and BROADCAST_ARGS.

The transforms fold most of them; what is left is an output of the model, or its transform is switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.movement import ANY_TYPE
from helia_aot.operators.spec import (
    Argument,
    Constant,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    lowered,
    operator_name,
)
from helia_aot.operators.variables import copy_call

_INTEGERS: Final = (DType.INT32, DType.INT64)


def shape_of(source: Tensor, output: Tensor) -> NDArray[Any] | None:
    """Gives what SHAPE computes; None where the output's type is not one of its own."""
    return np.array(source.shape, np.int64) if output.dtype in _INTEGERS else None


def rank_of(source: Tensor, output: Tensor) -> NDArray[Any] | None:
    """Gives what RANK computes; None where the output's type is not one of its own."""
    return np.array(len(source.shape), np.int64) if output.dtype in _INTEGERS else None


class Known(Plain):
    """The SHAPE and RANK families: a constant that is copied to the output.

    Args:
        value: Gives the constant from input and output.
    """

    support = (Support(ANY_TYPE, "int32 or int64 output"),)

    def __init__(self, value: Callable[[Tensor, Tensor], NDArray[Any] | None]) -> None:
        self._value = value

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why there is no constant."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        value = self._value(source, output)
        if value is None:
            return [f"output has type {output.dtype}; supported: {', '.join(_INTEGERS)}"]
        return checks.check_shape("output", output, value.shape)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the copy of the constant; the input is not read."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        value = self._value(source, output)
        assert value is not None
        name = operator_name(operator)
        constant = Constant(f"{name}_value", value.reshape(-1).astype(output.dtype.numpy))
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=copy_call(constant.id, output.id, output.size_bytes),
            constants=(constant,),
        )


class BroadcastArgs(Plain):
    """The BROADCAST_ARGS family: the shape to which two shapes are broadcast."""

    support = (Support(("int32", "int64"), "shapes that do not fit stop the run with an error"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the shape cannot be computed."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        reasons += checks.check_same_type(first, second, output)
        if output.dtype not in _INTEGERS:
            reasons.append(f"output has type {output.dtype}; supported: {', '.join(_INTEGERS)}")
        for role, tensor in (("input 0", first), ("input 1", second)):
            reasons += checks.check_rank(role, tensor, (1,))
        longest = max(first.elements, second.elements)
        return reasons + checks.check_shape("output", output, (longest,))

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        arguments = [
            Argument("input1", TensorPointer(first.id, "const void *")),
            Argument("count1", first.elements),
            Argument("input2", TensorPointer(second.id, "const void *")),
            Argument("count2", second.elements),
            Argument("extent_bytes", output.dtype.size_bytes),
            Argument("output", TensorPointer(output.id, "void *")),
        ]
        constants = constants_of(first, second)
        return lowered(operator, "helia_nn_broadcast_extents", arguments, constants=constants)
