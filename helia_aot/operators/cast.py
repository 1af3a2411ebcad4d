# SPDX-License-Identifier: Apache-2.0
"""CAST between element types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators import checks
from helia_aot.operators.spec import (
    Argument,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    lowered,
)

_TYPES: Final = {
    DType.BOOL: 0,
    DType.UINT8: 1,
    DType.INT8: 2,
    DType.INT16: 3,
    DType.INT32: 4,
    DType.UINT32: 5,
    DType.INT64: 6,
    DType.FLOAT32: 7,
    DType.FLOAT16: 8,
}
"""The codes of ``helia_nn_type``."""


class Cast(Plain):
    """The CAST family."""

    support = (Support(tuple(dtype.value for dtype in _TYPES), "quantization is not looked at"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the elements cannot be converted."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        for role, tensor in (("input", source), ("output", output)):
            if tensor.dtype not in _TYPES:
                reasons.append(f"{role} has type {tensor.dtype}; supported: {', '.join(_TYPES)}")
        return reasons + checks.check_shape("output", output, source.shape)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        return cast_call(graph, operator)


def cast_call(graph: Graph, operator: Operator) -> LoweredOperator:
    """Makes the call that converts each element of the input to the type of the output."""
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    arguments = [
        Argument("input", TensorPointer(source.id, "const void *")),
        Argument("input_type", _TYPES[source.dtype]),
        Argument("output", TensorPointer(output.id, "void *")),
        Argument("output_type", _TYPES[output.dtype]),
        Argument("count", output.elements),
    ]
    return lowered(operator, "helia_nn_cast", arguments, constants=constants_of(source))
