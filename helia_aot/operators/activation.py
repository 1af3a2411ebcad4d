# SPDX-License-Identifier: Apache-2.0
"""Activations of integers: tables for int8, computation for int16, and SOFTMAX and its logarithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from helia_aot.ir import tables
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Quantization, Tensor
from helia_aot.ir.quantization import (
    activation_range,
    rescale_parameters,
    sigmoid_parameters_s16,
    softmax_parameters,
    softmax_parameters_s16,
)
from helia_aot.operators import checks
from helia_aot.operators.spec import (
    Argument,
    Constant,
    LoweredOperator,
    Plain,
    Struct,
    Support,
    Target,
    TensorPointer,
    constants_of,
    lowered,
    operator_name,
    read_pointer,
    written_pointer,
)

_CLAMPS: Final = ("RELU", "RELU6", "RELU_N1_TO_1")
_WITH_S16: Final = (*_CLAMPS, "LEAKY_RELU", "LOGISTIC", "TANH", "ABS")
_LIMITS: Final = {
    "LOGISTIC": "output scale 1/256 and zero point -128 (int8) or 1/32768 and 0 (int16)",
    "TANH": "output scale 1/128 (int8) or 1/32768 (int16), zero point 0",
    "NEG": "input and output quantized alike",
    "RSQRT": "numbers below 0 count as 0",
    "SQRT": "numbers below 0 count as 0",
    "LOG": "numbers that have none give the lowest output",
}
_OUTPUT_SCALES: Final = {
    ("LOGISTIC", DType.INT8): (1 / 256, -128),
    ("LOGISTIC", DType.INT16): (1 / 32768, 0),
    ("TANH", DType.INT8): (1 / 128, 0),
    ("TANH", DType.INT16): (1 / 32768, 0),
}


_REAL: Final = {"EXP": tables.real_exp, "LOG": tables.real_log}
"""Functions that are computed with 32-bit floats."""


class Activation(Plain):
    """The activation families: int8 through a table that is computed at conversion, int16 by computation.

    Args:
        kind: The TFLite operator name.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._dtypes = (DType.INT8, DType.INT16) if kind in _WITH_S16 else (DType.INT8,)

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        types = tuple(dtype.value for dtype in self._dtypes)
        return (Support(types, _LIMITS.get(self._kind, "")),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the activation cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = _ends(graph, operator)
        reasons += checks.check_quantized("input", source, self._dtypes)
        reasons += checks.check_quantized("output", output, self._dtypes)
        reasons += checks.check_same_type(source, output)
        if source.shape != output.shape:
            reasons.append(
                f"input {list(source.shape)} and output {list(output.shape)} differ in shape"
            )
        if reasons:
            return reasons
        return self._quantization_problems(source, output)

    def _quantization_problems(self, source: Tensor, output: Tensor) -> list[str]:
        _, output_q = _quantizations(source, output)
        if self._kind == "NEG":
            return checks.check_same_quantization(source, output)
        expected = _OUTPUT_SCALES.get((self._kind, output.dtype))
        return check_output_scale(output_q, *expected) if expected else []

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the table look-up, or the call that computes the function."""
        del choices, target
        source, output = _ends(graph, operator)
        if output.dtype is DType.INT16:
            return self._lower_s16(operator, source, output)
        return table_look_up(operator, source, output, self._function(operator, source, output))

    def _function(self, operator: Operator, source: Tensor, output: Tensor) -> Callable[[int], int]:
        source_q, output_q = _quantizations(source, output)
        if self._kind in _CLAMPS:
            # TFLite Micro rescales for RELU only and keeps the numbers of the others, whatever the output's scale.
            low, high = _clamp_range(self._kind, output)
            rescale = tables.rescaled(source_q, output_q)
            return lambda value: max(low, min(high, rescale(value)))
        match self._kind:
            case "LEAKY_RELU":
                return tables.rescaled(source_q, output_q, operator.attributes.alpha)
            case "ABS":
                return tables.magnitude(source_q, output_q)
            case "ELU":
                return tables.elu(source_q, output_q)
            case "NEG":
                return tables.negated(source_q, output_q)
            case "RSQRT":
                return tables.rsqrt(source_q, output_q)
            case "SQRT":
                return tables.square_root(source_q, output_q)
            case "LOGISTIC" | "TANH":
                return tables.sigmoid(source_q, self._kind)
            case "GELU":
                gelu = operator.attributes.approximate
                real = tables.real_gelu_tanh if gelu else tables.real_gelu
                return tables.real_function(source_q, output_q, real)
            case _:
                return tables.real_function(source_q, output_q, _REAL[self._kind])

    def _lower_s16(self, operator: Operator, source: Tensor, output: Tensor) -> LoweredOperator:
        ends = [
            Argument("input", read_pointer(source)),
            Argument("output", written_pointer(output)),
        ]
        size = Argument("output_size", output.elements)
        source_q, output_q = _quantizations(source, output)
        offsets = [Argument("input_offset", 0), Argument("output_offset", 0)]
        identity = rescale_parameters(source_q, output_q)
        match self._kind:
            case "LOGISTIC" | "TANH":
                free = (0,) if self._kind == "LOGISTIC" else (0, 1)
                multiplier, shift = sigmoid_parameters_s16(source_q.scale, free)
                entry = f"arm_{self._kind.lower()}_s16"
                arguments = [
                    *ends,
                    Argument("input_size", output.elements),
                    Argument("input_multiplier", multiplier),
                    Argument("input_left_shift", shift),
                ]
            case "LEAKY_RELU":
                slope = source_q.scale * operator.attributes.alpha / output_q.scale
                alpha = tables.signed_multiplier(slope)
                entry = "arm_leaky_relu_s16"
                arguments = [
                    ends[0],
                    *offsets,
                    Argument("output_multiplier_alpha", alpha[0]),
                    Argument("output_shift_alpha", alpha[1]),
                    Argument("output_multiplier_identity", identity[0]),
                    Argument("output_shift_identity", identity[1]),
                    ends[1],
                    size,
                ]
            case "ABS":
                entry = "arm_abs_s16"
                arguments = [
                    ends[0],
                    Argument("input_offset", 0),
                    ends[1],
                    Argument("out_offset", 0),
                    Argument("out_mult", identity[0]),
                    Argument("out_shift", identity[1]),
                    Argument("needs_rescale", int(source_q.scale != output_q.scale)),
                    Argument("out_activation_min", -32768),
                    Argument("out_activation_max", 32767),
                    Argument("block_size", output.elements),
                ]
            case _:
                low, high = _clamp_range(self._kind, output)
                entry = "arm_relu_generic_s16"
                arguments = [
                    ends[0],
                    *offsets,
                    Argument("output_multiplier", identity[0]),
                    Argument("output_shift", identity[1]),
                    Argument("act_min", low),
                    Argument("act_max", high),
                    ends[1],
                    size,
                ]
        return lowered(operator, entry, arguments, constants=constants_of(source))


def table_look_up(
    operator: Operator, source: Tensor, output: Tensor, function: Callable[[int], int]
) -> LoweredOperator:
    """Makes the look-up of a function on int8 numbers in a table of its own."""
    table = Constant(f"{operator_name(operator)}_table", tables.by_entry(function))
    arguments = [
        Argument("input", read_pointer(source)),
        Argument("table", TensorPointer(table.id, "const int8_t *")),
        Argument("output", written_pointer(output)),
        Argument("count", output.elements),
    ]
    constants = (*constants_of(source), table)
    return lowered(operator, "helia_nn_lookup_s8", arguments, constants=constants)


class Softmax(Plain):
    """The SOFTMAX family: int8 to int8 or int16, and int16, over the last dimension."""

    support = (
        Support(
            ("int8", "int16"), "last dimension; output scale and zero point as TFLite fixes them"
        ),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the softmax cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = _ends(graph, operator)
        reasons += checks.check_quantized("input", source)
        reasons += _check_softmax_output(source, output)
        if source.shape != output.shape or not source.shape:
            reasons.append(
                f"input {list(source.shape)} and output {list(output.shape)} differ in shape"
            )
        if reasons or source.dtype is DType.INT16:
            return reasons
        try:
            softmax_parameters(operator.attributes.beta, _quantizations(source, output)[0].scale)
        except ValueError as error:
            reasons.append(str(error))
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the softmax call."""
        del choices, target
        source, output = _ends(graph, operator)
        scale = _quantizations(source, output)[0].scale
        beta = operator.attributes.beta
        row_size = source.shape[-1]
        arguments = [
            Argument("input", read_pointer(source)),
            Argument("num_rows", source.elements // row_size),
            Argument("row_size", row_size),
        ]
        if source.dtype is DType.INT16:
            multiplier, shift = softmax_parameters_s16(beta, scale)
            name = operator_name(operator)
            samples = tables.softmax_samples_s16()
            exponentials = Constant(f"{name}_exp", samples[0])
            reciprocals = Constant(f"{name}_reciprocal", samples[1])
            luts = Struct(
                "cmsis_nn_softmax_lut_s16",
                (
                    ("exp_lut", TensorPointer(exponentials.id, "const int16_t *")),
                    ("one_by_one_lut", TensorPointer(reciprocals.id, "const int16_t *")),
                ),
            )
            arguments += [
                Argument("mult", multiplier),
                Argument("shift", shift),
                Argument("softmax_params", luts),
                Argument("output", written_pointer(output)),
            ]
            constants = (*constants_of(source), exponentials, reciprocals)
            return lowered(operator, "arm_softmax_s16", arguments, constants=constants)
        multiplier, shift, diff_min = softmax_parameters(beta, scale)
        arguments += [
            Argument("mult", multiplier),
            Argument("shift", shift),
            Argument("diff_min", diff_min),
            Argument("output", written_pointer(output)),
        ]
        entry = "arm_softmax_s8" if output.dtype is DType.INT8 else "arm_softmax_s8_s16"
        return lowered(
            operator, entry, arguments, constants=constants_of(source), returns_status=False
        )


class LogSoftmax(Plain):
    """The LOG_SOFTMAX family: int8 over the last dimension."""

    support = (Support(("int8",), "last dimension; output scale 1/16 and zero point 127"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = _ends(graph, operator)
        reasons += checks.check_quantized("input", source, (DType.INT8,))
        reasons += checks.check_quantized("output", output, (DType.INT8,))
        if source.shape != output.shape or not source.shape:
            reasons.append(
                f"input {list(source.shape)} and output {list(output.shape)} differ in shape"
            )
        if reasons:
            return reasons
        source_q, output_q = _quantizations(source, output)
        reasons += check_output_scale(output_q, 1 / 16, 127)
        try:
            softmax_parameters(1.0, source_q.scale)
        except ValueError as error:
            reasons.append(str(error))
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        source, output = _ends(graph, operator)
        multiplier, shift, diff_min = softmax_parameters(
            1.0, _quantizations(source, output)[0].scale
        )
        row_size = source.shape[-1]
        arguments = [
            Argument("input", read_pointer(source)),
            Argument("num_rows", source.elements // row_size),
            Argument("row_size", row_size),
            Argument("mult", multiplier),
            Argument("shift", shift),
            Argument("diff_min", diff_min),
            Argument("output", written_pointer(output)),
        ]
        constants = constants_of(source)
        return lowered(operator, "helia_nn_log_softmax_s8", arguments, constants=constants)


def check_output_scale(output_q: Quantization, scale: float, zero_point: int) -> list[str]:
    """Checks an output whose quantization TFLite fixes."""
    fits = bool(np.isclose(output_q.scale, scale, rtol=1e-3, atol=0))
    if fits and output_q.zero_point == zero_point:
        return []
    return [
        f"output has scale {output_q.scale:.9g} and zero point {output_q.zero_point}; "
        f"supported: 1/{round(1 / scale)} and {zero_point}"
    ]


def _check_softmax_output(source: Tensor, output: Tensor) -> list[str]:
    # int8 to int16 is unsigned in spirit: its zero point is the lowest number.
    widens = source.dtype is DType.INT8 and output.dtype is DType.INT16
    if source.dtype is DType.INT16 and output.dtype is DType.INT8:
        return ["mixes the types int16, int8"]
    if widens and output.quantization is not None:
        return check_output_scale(output.quantization, 1 / 65536, -32768)
    reasons = checks.check_quantized("output", output)
    if reasons or output.quantization is None:
        return reasons
    if output.dtype is DType.INT16:
        return check_output_scale(output.quantization, 1 / 32768, 0)
    return check_output_scale(output.quantization, 1 / 256, -128)


def _ends(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor]:
    return graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])


def _quantizations(source: Tensor, output: Tensor) -> tuple[Quantization, Quantization]:
    assert source.quantization is not None
    assert output.quantization is not None
    return source.quantization, output.quantization


def _clamp_range(kind: str, output: Tensor) -> tuple[int, int]:
    assert output.quantization is not None
    match kind:
        case "RELU":
            return activation_range("RELU", output.dtype, output.quantization)
        case "RELU6":
            return activation_range("RELU6", output.dtype, output.quantization)
        case _:
            return activation_range("RELU_N1_TO_1", output.dtype, output.quantization)
