# SPDX-License-Identifier: Apache-2.0
"""QUANTIZE and DEQUANTIZE: between real and quantized numbers, and between scales and integer types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import rescale_parameters
from helia_aot.operators import checks
from helia_aot.operators.cast import cast_call
from helia_aot.operators.spec import (
    Argument,
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

_FROM_FLOAT: Final = {
    (DType.FLOAT32, DType.INT8): "arm_quantize_f32_s8",
    (DType.FLOAT32, DType.INT16): "arm_quantize_f32_s16",
    (DType.FLOAT16, DType.INT8): "helia_nn_quantize_f16_s8",
    (DType.FLOAT16, DType.INT16): "helia_nn_quantize_f16_s16",
}
_TO_FLOAT: Final = {
    (DType.INT8, DType.FLOAT32): "arm_dequantize_s8_f32",
    (DType.INT16, DType.FLOAT32): "arm_dequantize_s16_f32",
    (DType.UINT8, DType.FLOAT32): "helia_nn_dequantize_u8_f32",
    (DType.INT8, DType.FLOAT16): "helia_nn_dequantize_s8_f16",
    (DType.INT16, DType.FLOAT16): "helia_nn_dequantize_s16_f16",
}
_FLOATS: Final = (DType.FLOAT32, DType.FLOAT16)
_SAME: Final = {DType.INT8: "arm_requantize_s8_s8", DType.INT16: "arm_requantize_s16_s16"}
_BITS: Final = {DType.INT8: 8, DType.UINT8: -8, DType.INT16: 16, DType.INT32: 32}
_INTEGERS: Final = tuple(_BITS)


class Quantize(Plain):
    """The QUANTIZE family: from floats, and from one integer type and scale to another."""

    support = (
        Support(
            ("int8", "int16", "int32", "uint8", "float32", "float16"),
            "floats to int8 and int16; integers to each other; one scale for each tensor",
        ),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the change of scale cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = _ends(graph, operator)
        if source.dtype in _FLOATS:
            reasons += _check_integer("output", output, (DType.INT8, DType.INT16))
        else:
            reasons += _check_integer("input", source, _INTEGERS)
            reasons += _check_integer("output", output, _INTEGERS)
        return reasons + _check_elements(source, output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the quantization call."""
        del choices, target
        source, output = _ends(graph, operator)
        assert output.quantization is not None
        constants = constants_of(source)
        if source.dtype in _FLOATS:
            arguments = _real_arguments(source, output, output)
            entry = _FROM_FLOAT[source.dtype, output.dtype]
            return lowered(operator, entry, arguments, constants=constants)
        assert source.quantization is not None
        multiplier, shift = rescale_parameters(source.quantization, output.quantization)
        zero_points = (source.quantization.zero_point, output.quantization.zero_point)
        if source.dtype is output.dtype and source.dtype in _SAME:
            arguments = [
                Argument("input", read_pointer(source)),
                Argument("output", written_pointer(output)),
                Argument("size", output.elements),
                Argument("effective_scale_multiplier", multiplier),
                Argument("effective_scale_shift", shift),
                Argument("input_zeropoint", zero_points[0]),
                Argument("output_zeropoint", zero_points[1]),
            ]
            return lowered(operator, _SAME[source.dtype], arguments, constants=constants)
        arguments = [
            Argument("input", TensorPointer(source.id, "const void *")),
            Argument("input_bits", _BITS[source.dtype]),
            Argument("output", TensorPointer(output.id, "void *")),
            Argument("output_bits", _BITS[output.dtype]),
            Argument("size", output.elements),
            Argument("multiplier", multiplier),
            Argument("shift", shift),
            Argument("input_zero_point", zero_points[0]),
            Argument("output_zero_point", zero_points[1]),
        ]
        return lowered(operator, "helia_nn_requantize_mixed", arguments, constants=constants)


class Dequantize(Plain):
    """The DEQUANTIZE family: integers to floats, and float16 to float32."""

    support = (
        Support(("int8", "int16"), "to float32 or float16; one scale for each tensor"),
        Support(("uint8", "float16"), "to float32; one scale for each tensor"),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the numbers cannot be made real."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = _ends(graph, operator)
        if source.dtype is DType.FLOAT16:
            kinds: tuple[DType, ...] = (DType.FLOAT32,)
        else:
            reasons += _check_integer("input", source, (DType.INT8, DType.INT16, DType.UINT8))
            kinds = tuple(to for of, to in _TO_FLOAT if of is source.dtype) or _FLOATS
        if output.dtype not in kinds:
            reasons.append(f"output has type {output.dtype}; supported: {', '.join(kinds)}")
        return reasons + _check_elements(source, output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the dequantization call."""
        del choices, target
        source, output = _ends(graph, operator)
        if source.dtype is DType.FLOAT16:
            return cast_call(graph, operator)
        arguments = _real_arguments(source, output, source)
        entry = _TO_FLOAT[source.dtype, output.dtype]
        return lowered(operator, entry, arguments, constants=constants_of(source))


def _ends(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor]:
    return graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])


def _check_integer(role: str, tensor: Tensor, dtypes: tuple[DType, ...]) -> list[str]:
    return checks.check_quantized(role, tensor, dtypes, symmetric_int16=False)


def _check_elements(source: Tensor, output: Tensor) -> list[str]:
    if source.shape != output.shape:
        return [f"input {list(source.shape)} and output {list(output.shape)} differ in shape"]
    return []


def _real_arguments(source: Tensor, output: Tensor, quantized: Tensor) -> list[Argument]:
    assert quantized.quantization is not None
    return [
        Argument("input", read_pointer(source)),
        Argument("output", written_pointer(output)),
        Argument("size", output.elements),
        Argument("zero_point", quantized.quantization.zero_point),
        Argument("scale", float(quantized.quantization.scale)),
    ]
