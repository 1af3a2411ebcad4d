# SPDX-License-Identifier: Apache-2.0
"""ADD_N and CUMSUM: sums of several inputs, and running sums along a dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import sum_parameters
from helia_aot.operators import checks
from helia_aot.operators.floating import FloatType
from helia_aot.operators.movement import numbers
from helia_aot.operators.spec import (
    Argument,
    Array,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    lowered,
    read_pointer,
    written_pointer,
)

_WRAPS: Final = "sums wrap beyond 4096 steps, as in TFLite Micro"


class _Sum(Plain):
    """What both operators share.

    Args:
        kind: The float type; None for int8.
    """

    def __init__(self, kind: FloatType | None = None) -> None:
        self._kind = kind
        self._suffix = kind.suffix if kind else "s8"

    def _support(self, integer: str, real: str = "") -> tuple[Support, ...]:
        if self._kind:
            return self._kind.support(real)
        return (Support(("int8",), integer),)

    def _check(self, role: str, tensor: Tensor | None) -> list[str]:
        if self._kind:
            return self._kind.check(role, tensor)
        return checks.check_quantized(role, tensor, (DType.INT8,))

    def _scaling(self, source: Tensor, output: Tensor) -> list[Argument]:
        """Gives what the int8 kernels know of the scales; nothing for floats."""
        if self._kind:
            return []
        assert source.quantization is not None
        assert output.quantization is not None
        multiplier, shift = sum_parameters(source.quantization, output.quantization)
        return [
            Argument("input_offset", -source.quantization.zero_point),
            Argument("multiplier", multiplier),
            Argument("shift", shift),
            Argument("output_offset", output.quantization.zero_point),
        ]


class AddN(_Sum):
    """The ADD_N family: inputs and output of one shape."""

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._support(f"inputs quantized alike; {_WRAPS}")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the sum cannot be compiled."""
        if not operator.inputs or len(operator.outputs) != 1:
            return [f"has {len(operator.inputs)} inputs and {len(operator.outputs)} outputs"]
        output = graph.tensor(operator.outputs[0])
        reasons = self._check("output", output)
        for position, tensor in enumerate(checks.inputs_of(graph, operator)):
            role = f"input {position}"
            reasons += self._check(role, tensor)
            if tensor is not None:
                reasons += checks.check_shape(role, tensor, output.shape)
        if not reasons and len({graph.tensor(i).quantization for i in operator.inputs}) > 1:
            reasons.append("inputs are quantized differently; supported: the same quantization")
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        inputs = [graph.tensor(i) for i in operator.inputs]
        output = graph.tensor(operator.outputs[0])
        pointers = tuple(TensorPointer(tensor.id, "const void *") for tensor in inputs)
        arguments = [
            Argument("inputs", Array("const void *const", pointers)),
            Argument("count", len(inputs)),
            *self._scaling(inputs[0], output),
            Argument(
                "output", self._kind.output(output) if self._kind else written_pointer(output)
            ),
            Argument("size", output.elements),
        ]
        entry = f"helia_nn_add_n_{self._suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(*dict.fromkeys(inputs)))


class CumulativeSum(_Sum):
    """The CUMSUM family, along a constant axis."""

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._support(f"the axis is a constant; {_WRAPS}", "the axis is a constant")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the sums cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, axis = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        reasons += self._check("input", source) + self._check("output", output)
        reasons += checks.check_integers("axis", axis)
        reasons += checks.check_shape("output", output, source.shape)
        rank = len(source.shape)
        if not reasons and not (axis.elements == 1 and -rank <= numbers(axis)[0] < rank):
            reasons.append(f"axis {numbers(axis)} does not fit {rank} dimensions")
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        kind = self._kind
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        axis = numbers(graph.tensor(operator.inputs[1]))[0] % len(source.shape)
        arguments = [
            Argument("input", kind.input(source) if kind else read_pointer(source)),
            Argument("outer", math.prod(source.shape[:axis])),
            Argument("extent", source.shape[axis]),
            Argument("inner", math.prod(source.shape[axis + 1 :])),
            Argument("exclusive", int(operator.attributes.exclusive)),
            Argument("reverse", int(operator.attributes.reverse)),
            *self._scaling(source, output),
            Argument("output", kind.output(output) if kind else written_pointer(output)),
        ]
        entry = f"helia_nn_cumulative_sum_{self._suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(source))
