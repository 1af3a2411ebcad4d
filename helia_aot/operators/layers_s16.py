# SPDX-License-Identifier: Apache-2.0
"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED over int16 with int8 weights and 64-bit accumulators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import activation_range, fully_connected_multiplier
from helia_aot.operators import checks
from helia_aot.operators.convolution import (
    channel_constants,
    check_groups,
    check_output,
    convolution_params,
    per_channel,
)
from helia_aot.operators.geometry import window
from helia_aot.operators.spec import (
    Argument,
    Constant,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Struct,
    Support,
    Target,
    TensorPointer,
    buffer,
    clamp,
    constants_of,
    dims,
    lowered,
    operator_name,
    read_pointer,
    written_pointer,
)

_S16: Final = (DType.INT16,)
_WEIGHTS: Final = "constant int8 weights with zero point 0, int64 bias"


class _Layer:
    """What layers with weights share; they have no knob."""

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob: int16 layers have one kernel."""
        del graph, operator, target
        return {}


class ConvolutionS16(_Layer):
    """The CONV_2D family over int16, grouped or not."""

    support = (Support(("int16",), f"{_WEIGHTS} (or int32)"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the convolution cannot be compiled."""
        reasons = _common_problems(graph, operator, rank=4)
        if reasons:
            return reasons
        source, weights, bias, output = _tensors(graph, operator)
        channels = weights.shape[0]
        reasons += checks.check_filter(weights, axis=0, channels=channels)
        reasons += checks.check_bias(bias, channels, (DType.INT64, DType.INT32))
        reasons += check_groups(source, weights)
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        return reasons + check_output(output, geometry, channels)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each tap, padding included."""
        weights = graph.tensor(operator.inputs[1])
        outputs = graph.tensor(operator.outputs[0]).elements
        return outputs * int(np.prod(weights.shape[1:]))

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the convolution call."""
        del choices, target
        source, weights, bias, output = _tensors(graph, operator)
        name = operator_name(operator)
        assert source.quantization is not None
        assert weights.quantization is not None
        assert output.quantization is not None
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        multiplier, shift = channel_constants(
            name, source.quantization, weights.quantization, output.quantization, weights.shape[0]
        )
        bias_data = Struct(
            "cmsis_nn_bias_data",
            (
                ("data", TensorPointer(bias.id if bias else None, "const void *")),
                ("is_int32_bias", int(_is_narrow(operator, bias))),
            ),
        )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument(
                "conv_params",
                convolution_params(
                    "cmsis_nn_conv_params", operator.attributes, geometry, source, output
                ),
            ),
            Argument("quant_params", per_channel(multiplier, shift)),
            Argument("input_dims", dims(*source.shape)),
            Argument("input_data", read_pointer(source)),
            Argument("filter_dims", dims(*weights.shape)),
            Argument("filter_data", read_pointer(weights)),
            Argument("bias_dims", dims(1, 1, 1, weights.shape[0])),
            Argument("bias_data", bias_data),
            Argument("output_dims", dims(*output.shape)),
            Argument("output_data", written_pointer(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall("arm_convolve_s16", arguments),
            constants=(*constants_of(weights, bias), multiplier, shift),
        )


class DepthwiseS16(_Layer):
    """The DEPTHWISE_CONV_2D family over int16."""

    support = (Support(("int16",), _WEIGHTS),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the depthwise convolution cannot be compiled."""
        reasons = _common_problems(graph, operator, rank=4)
        if reasons:
            return reasons
        source, weights, bias, output = _tensors(graph, operator)
        channels = weights.shape[3]
        reasons += checks.check_filter(weights, axis=3, channels=channels)
        reasons += checks.check_bias(bias, channels, (DType.INT64,))
        if weights.shape[0] != 1 or channels % source.shape[3]:
            reasons.append(
                f"filter shape {list(weights.shape)} does not fit {source.shape[3]} input channels"
            )
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        return reasons + check_output(output, geometry, channels)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each tap, padding included."""
        weights = graph.tensor(operator.inputs[1])
        return graph.tensor(operator.outputs[0]).elements * weights.shape[1] * weights.shape[2]

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the depthwise call."""
        del choices, target
        source, weights, bias, output = _tensors(graph, operator)
        name = operator_name(operator)
        assert source.quantization is not None
        assert weights.quantization is not None
        assert output.quantization is not None
        channels = weights.shape[3]
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        multiplier, shift = channel_constants(
            name, source.quantization, weights.quantization, output.quantization, channels
        )
        params = convolution_params(
            "cmsis_nn_dw_conv_params", operator.attributes, geometry, source, output
        )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument("dw_conv_params", params),
            Argument("quant_params", per_channel(multiplier, shift)),
            Argument("input_dims", dims(*source.shape)),
            Argument("input_data", read_pointer(source)),
            Argument("filter_dims", dims(*weights.shape)),
            Argument("filter_data", read_pointer(weights)),
            Argument("bias_dims", dims(1, 1, 1, channels)),
            Argument("bias_data", TensorPointer(bias.id if bias else None, "const int64_t *")),
            Argument("output_dims", dims(*output.shape)),
            Argument("output_data", written_pointer(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall("arm_depthwise_conv_s16", arguments),
            constants=(*constants_of(weights, bias), multiplier, shift),
        )


class FullyConnectedS16(_Layer):
    """The FULLY_CONNECTED family over int16."""

    support = (Support(("int16",), f"{_WEIGHTS} (or int32)"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = _common_problems(graph, operator, rank=2)
        if operator.attributes.shuffled_weights:
            reasons.append("the weights are shuffled; supported: the default weight format")
        if reasons:
            return reasons
        source, weights, bias, output = _tensors(graph, operator)
        channels = weights.shape[0]
        reasons += checks.check_filter(weights, axis=0, channels=channels)
        reasons += checks.check_bias(bias, channels, (DType.INT64, DType.INT32))
        return reasons + checks.check_product(source, weights, output)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each weight and row of input."""
        depth = graph.tensor(operator.inputs[1]).shape[1]
        return graph.tensor(operator.outputs[0]).elements * depth

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the fully connected call."""
        del choices, target
        source, weights, bias, output = _tensors(graph, operator)
        name = operator_name(operator)
        assert source.quantization is not None
        assert weights.quantization is not None
        assert output.quantization is not None
        channels, depth = weights.shape
        rows = source.elements // depth
        if _is_narrow(operator, bias):
            return _narrow_call(graph, operator)
        low, high = activation_range(
            operator.attributes.activation, output.dtype, output.quantization
        )
        params = Struct(
            "cmsis_nn_fc_params",
            (
                ("input_offset", 0),
                ("filter_offset", 0),
                ("output_offset", 0),
                ("activation", clamp(low, high)),
            ),
        )
        constants = constants_of(weights, bias)
        if weights.quantization.is_per_channel:
            multiplier, shift = channel_constants(
                name, source.quantization, weights.quantization, output.quantization, channels
            )
            quant, entry = per_channel(multiplier, shift), "arm_fully_connected_per_channel_s16"
            constants = (*constants, multiplier, shift)
        else:
            factor, exponent = fully_connected_multiplier(
                source.quantization, weights.quantization, output.quantization
            )
            quant, entry = (
                Struct(
                    "cmsis_nn_per_tensor_quant_params",
                    (("multiplier", factor), ("shift", exponent)),
                ),
                "arm_fully_connected_s16",
            )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument("fc_params", params),
            Argument("quant_params", quant),
            Argument("input_dims", dims(rows, 1, 1, depth)),
            Argument("input_data", read_pointer(source)),
            Argument("filter_dims", dims(depth, 1, 1, channels)),
            Argument("filter_data", read_pointer(weights)),
            Argument("bias_dims", dims(1, 1, 1, channels)),
            Argument("bias_data", TensorPointer(bias.id if bias else None, "const int64_t *")),
            Argument("output_dims", dims(rows, 1, 1, channels)),
            Argument("output_data", written_pointer(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(entry, arguments),
            constants=constants,
        )


def _is_narrow(operator: Operator, bias: Tensor | None) -> bool:
    """Says whether TFLite Micro adds with 32 bits and rounds as for int8 layers."""
    if bias is None:
        return bool(operator.attributes.narrow_bias)
    return bias.dtype is DType.INT32


def _narrow_call(graph: Graph, operator: Operator) -> LoweredOperator:
    """Makes the fully connected call with 32-bit accumulators."""
    source, weights, bias, output = _tensors(graph, operator)
    name = operator_name(operator)
    assert source.quantization is not None
    assert weights.quantization is not None
    assert output.quantization is not None
    channels, depth = weights.shape
    low, high = activation_range(operator.attributes.activation, output.dtype, output.quantization)
    if weights.quantization.is_per_channel:
        multiplier, shift = channel_constants(
            name, source.quantization, weights.quantization, output.quantization, channels
        )
    else:
        pair = fully_connected_multiplier(
            source.quantization, weights.quantization, output.quantization
        )
        multiplier, shift = (
            Constant(f"{name}_{part}", np.full(channels, number, np.int32))
            for part, number in zip(("multiplier", "shift"), pair, strict=True)
        )
    params = Struct(
        "cmsis_nn_fc_params",
        (
            ("input_offset", 0),
            ("filter_offset", 0),
            ("output_offset", 0),
            ("activation", clamp(low, high)),
        ),
    )
    arguments = (
        Argument("fc_params", params),
        Argument("quant_params", per_channel(multiplier, shift)),
        Argument("input_dims", dims(source.elements // depth, 1, 1, depth)),
        Argument("input", read_pointer(source)),
        Argument("filter_dims", dims(depth, 1, 1, channels)),
        Argument("filter", read_pointer(weights)),
        Argument("bias", TensorPointer(bias.id if bias else None, "const int32_t *")),
        Argument("output", written_pointer(output)),
    )
    constants = (*constants_of(weights, bias), multiplier, shift)
    return lowered(operator, "helia_nn_fully_connected_s16_s32", arguments, constants=constants)


def _tensors(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    bias = operator.inputs[2] if len(operator.inputs) > 2 else None
    return (
        graph.tensor(operator.inputs[0]),
        graph.tensor(operator.inputs[1]),
        graph.tensor(bias) if bias is not None else None,
        graph.tensor(operator.outputs[0]),
    )


def _common_problems(graph: Graph, operator: Operator, rank: int) -> list[str]:
    reasons = checks.check_count(operator, inputs=(2, 3))
    if reasons:
        return reasons
    source, weights, _, output = _tensors(graph, operator)
    reasons += checks.check_quantized("input", source, _S16)
    reasons += checks.check_quantized("output", output, _S16)
    reasons += checks.check_rank("filter", weights, (rank,))
    if rank == 4:
        reasons += checks.check_rank("input", source, (rank,))
    return reasons + checks.check_activation(operator.attributes.activation)
