# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, MINIMUM, MAXIMUM and PRELU of quantized numbers: constraints and lowering, with broadcasting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import (
    ADD_LEFT_SHIFT_S8,
    ADD_LEFT_SHIFT_S16,
    activation_range,
    addition_parameters,
    division_parameters,
    multiplication_parameters,
    rescale_parameters,
    squared_difference_parameters,
)
from helia_aot.operators import checks
from helia_aot.operators.broadcasting import BROADCAST, check_broadcast, operand_dims
from helia_aot.operators.spec import (
    Argument,
    LoweredOperator,
    Plain,
    Support,
    Target,
    buffer,
    constants_of,
    lowered,
    read_pointer,
    written_pointer,
)

_SUFFIX: Final = {DType.INT8: "s8", DType.INT16: "s16"}
_LEFT_SHIFT: Final = {DType.INT8: ADD_LEFT_SHIFT_S8, DType.INT16: ADD_LEFT_SHIFT_S16}
_SQUARE_LEFT_SHIFT: Final = {DType.INT8: 7, DType.INT16: 0}
"""Headroom that TFLite Micro gives both inputs of SQUARED_DIFFERENCE."""


_ENTRIES: Final = {
    ("add", DType.INT8): "arm_add_s8",
    ("add", DType.INT16): "arm_add_s16",
    ("div", DType.INT8): "helia_nn_div_s8",
    ("mul", DType.INT8): "arm_mul_s8",
    ("mul", DType.INT16): "arm_mul_s16",
    ("squared_difference", DType.INT8): "arm_squared_difference_s8",
    ("squared_difference", DType.INT16): "arm_squared_difference_s16",
    ("sub", DType.INT8): "arm_sub_s8",
    ("sub", DType.INT16): "arm_sub_s16",
}


class Arithmetic(Plain):
    """The ADD, SUB, MUL, DIV and SQUARED_DIFFERENCE families of quantized numbers, same shapes or broadcast.

    Args:
        kind: ``add``, ``sub``, ``mul``, ``div`` or ``squared_difference``.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._dtypes = tuple(dtype for of, dtype in _ENTRIES if of == kind)

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        zero = "; division by 0 gives the end of the range" if self._kind == "div" else ""
        return (Support(tuple(dtype.value for dtype in self._dtypes), BROADCAST + zero),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        reasons = _check_pair(graph, operator, zero_scale=self._kind == "mul")
        return reasons + checks.check_activation(checks.fused_activation(operator))

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call; int8 additions of equal shapes have an entry of their own."""
        del choices, target
        first, second, output = _operands(graph, operator)
        before, after = self._scaling(operator, first, second, output)
        constants = constants_of(first, second)
        entry = _ENTRIES[self._kind, output.dtype]
        if entry == "arm_add_s8" and first.shape == second.shape:
            arguments = [
                Argument("input_1_vect", read_pointer(first)),
                Argument("input_2_vect", read_pointer(second)),
                *before,
                Argument("output", written_pointer(output)),
                *after,
                Argument("block_size", output.elements),
            ]
            return lowered(operator, "arm_elementwise_add_s8", arguments, constants=constants)
        extents = operand_dims(first, second, output)
        arguments = [
            Argument("input1_data", read_pointer(first)),
            Argument("input1_dims", extents[0]),
            Argument("input2_data", read_pointer(second)),
            Argument("input2_dims", extents[1]),
            *before,
            Argument("output_data", written_pointer(output)),
            Argument("output_dims", extents[2]),
            *after,
        ]
        return lowered(operator, entry, arguments, constants=constants)

    def _scaling(
        self, operator: Operator, first: Tensor, second: Tensor, output: Tensor
    ) -> tuple[list[Argument], list[Argument]]:
        """Gives the scalars before the output argument and those after it."""
        one, two, out = first.quantization, second.quantization, output.quantization
        assert one is not None
        assert two is not None
        assert out is not None
        low, high = activation_range(checks.fused_activation(operator), output.dtype, out)
        if self._kind in ("mul", "div"):
            before = [
                Argument("input1_offset", -one.zero_point),
                Argument("input2_offset", -two.zero_point),
            ]
            scale = division_parameters if self._kind == "div" else multiplication_parameters
            factor = scale(one, two, out)
        else:
            if self._kind == "squared_difference":
                shift = _SQUARE_LEFT_SHIFT[output.dtype]
                factor1, factor2, factor = squared_difference_parameters(one, two, out, shift)
            else:
                shift = _LEFT_SHIFT[output.dtype]
                factor1, factor2, factor = addition_parameters(one, two, out, shift)
            before = [
                Argument("input_1_offset", -one.zero_point),
                Argument("input_1_mult", factor1[0]),
                Argument("input_1_shift", factor1[1]),
                Argument("input_2_offset", -two.zero_point),
                Argument("input_2_mult", factor2[0]),
                Argument("input_2_shift", factor2[1]),
                Argument("left_shift", shift),
            ]
        after = [
            Argument("out_offset", out.zero_point),
            Argument("out_mult", factor[0]),
            Argument("out_shift", factor[1]),
            Argument("out_activation_min", low),
            Argument("out_activation_max", high),
        ]
        return before, after


class Extremum(Plain):
    """The MAXIMUM and MINIMUM families: int8 and int16 with one quantization.

    Args:
        kind: ``maximum`` or ``minimum``.
    """

    support = (Support(("int8", "int16"), f"inputs and output quantized alike; {BROADCAST}"),)

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operation cannot be compiled."""
        reasons = _check_pair(graph, operator)
        if reasons:
            return reasons
        first, second, output = _operands(graph, operator)
        return checks.check_same_quantization(first, output) or checks.check_same_quantization(
            second, output
        )

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        first, second, output = _operands(graph, operator)
        extents = operand_dims(first, second, output)
        arguments = [
            Argument("ctx", buffer(None, 0)),
            Argument("input_1_data", read_pointer(first)),
            Argument("input_1_dims", extents[0]),
            Argument("input_2_data", read_pointer(second)),
            Argument("input_2_dims", extents[1]),
            Argument("output_data", written_pointer(output)),
            Argument("output_dims", extents[2]),
        ]
        entry = f"arm_{self._kind}_{_SUFFIX[output.dtype]}"
        return lowered(operator, entry, arguments, constants=constants_of(first, second))


class Prelu(Plain):
    """The PRELU family: int8 and int16 with int8 slopes."""

    support = (Support(("int8", "int16"), f"the slopes are int8; {BROADCAST}"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the activation cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        source, slopes, output = _operands(graph, operator)
        reasons += checks.check_quantized("input", source)
        reasons += checks.check_quantized("slopes", slopes, (DType.INT8,))
        reasons += checks.check_quantized("output", output)
        reasons += checks.check_same_type(source, output)
        return reasons or check_broadcast((source, slopes), output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the PReLU call."""
        del choices, target
        source, slopes, output = _operands(graph, operator)
        assert source.quantization is not None
        assert slopes.quantization is not None
        assert output.quantization is not None
        identity = rescale_parameters(source.quantization, output.quantization)
        bent = multiplication_parameters(
            source.quantization, slopes.quantization, output.quantization
        )
        extents = operand_dims(source, slopes, output)
        arguments = [
            Argument("input_dims", extents[0]),
            Argument("input", read_pointer(source)),
            Argument("alpha_dims", extents[1]),
            Argument("alpha", read_pointer(slopes)),
            Argument("input_offset", -source.quantization.zero_point),
            Argument("alpha_offset", -slopes.quantization.zero_point),
            Argument("output_offset", output.quantization.zero_point),
            Argument("output_multiplier_identity", identity[0]),
            Argument("output_shift_identity", identity[1]),
            Argument("output_multiplier_alpha", bent[0]),
            Argument("output_shift_alpha", bent[1]),
            Argument("output_dims", extents[2]),
            Argument("output", written_pointer(output)),
        ]
        entry = "arm_prelu_s8" if output.dtype is DType.INT8 else "helia_nn_prelu_s16"
        return lowered(operator, entry, arguments, constants=constants_of(source, slopes))


def _operands(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor, Tensor]:
    first, second = (graph.tensor(i) for i in operator.inputs)
    return first, second, graph.tensor(operator.outputs[0])


def _check_pair(graph: Graph, operator: Operator, *, zero_scale: bool = False) -> list[str]:
    reasons = checks.check_count(operator, inputs=(2,))
    if reasons:
        return reasons
    tensors: Sequence[Tensor] = _operands(graph, operator)
    for role, tensor in zip(("input 0", "input 1", "output"), tensors, strict=True):
        # A factor that is zero throughout may have the scale 0.
        reasons += checks.check_quantized(role, tensor, zero_scale=zero_scale and role != "output")
    reasons += checks.check_same_type(*tensors)
    return reasons or check_broadcast(tensors[:2], tensors[2])
