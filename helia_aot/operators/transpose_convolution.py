# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE_CONV over int8 and int16 with int8 weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import activation_range
from helia_aot.operators import checks
from helia_aot.operators.convolution import channel_constants, per_channel
from helia_aot.operators.geometry import stride_padding
from helia_aot.operators.spec import (
    Argument,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Struct,
    Support,
    Target,
    TensorPointer,
    clamp,
    constants_of,
    dims,
    operator_name,
    read_pointer,
    tile,
    written_pointer,
)

_BIAS: Final = {DType.INT8: DType.INT32, DType.INT16: DType.INT64}
_SUFFIX: Final = {DType.INT8: "s8", DType.INT16: "s16"}


class TransposeConvolution:
    """The TRANSPOSE_CONV family; the output's size comes from the output tensor."""

    support = (
        Support(("int8", "int16"), "constant int8 weights with zero point 0, bias int32 or int64"),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the convolution cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(3, 4))
        if reasons:
            return reasons
        weights, source, bias, output = _tensors(graph, operator)
        reasons += checks.check_quantized("input", source)
        reasons += checks.check_quantized("output", output)
        reasons += checks.check_same_type(source, output)
        for role, tensor in (("input", source), ("filter", weights), ("output", output)):
            reasons += checks.check_rank(role, tensor, (4,))
        reasons += checks.check_activation(operator.attributes.activation)
        if reasons:
            return reasons
        channels = weights.shape[0]
        reasons += checks.check_filter(weights, axis=0, channels=channels)
        reasons += checks.check_bias(bias, channels, (_BIAS[output.dtype],))
        if source.shape[3] != weights.shape[3] or output.shape[3] != channels:
            reasons.append(
                f"filter {list(weights.shape)} does not fit input {list(source.shape)} and output "
                f"{list(output.shape)}"
            )
        if source.shape[0] != output.shape[0]:
            reasons.append("input and output differ in batches")
        if min(operator.attributes.stride_h, operator.attributes.stride_w) < 1:
            reasons.append("has a stride below 1")
        return reasons

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each input and weight that it meets."""
        weights = graph.tensor(operator.inputs[1])
        pixels = int(np.prod(graph.tensor(operator.inputs[2]).shape[:3], dtype=np.int64))
        return pixels * weights.elements

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        weights, source, bias, output = _tensors(graph, operator)
        assert source.quantization is not None
        assert weights.quantization is not None
        assert output.quantization is not None
        name = operator_name(operator)
        options = operator.attributes
        channels, filter_h, filter_w, _ = weights.shape
        multiplier, shift = channel_constants(
            name, source.quantization, weights.quantization, output.quantization, channels
        )
        low, high = activation_range(options.activation, output.dtype, output.quantization)
        # The padding is that of the convolution which would turn the output into the input.
        pad_h = stride_padding(options.padding, output.shape[1], filter_h, options.stride_h)
        pad_w = stride_padding(options.padding, output.shape[2], filter_w, options.stride_w)
        params = Struct(
            "cmsis_nn_conv_params",
            (
                ("input_offset", -source.quantization.zero_point),
                ("output_offset", output.quantization.zero_point),
                ("stride", tile(options.stride_w, options.stride_h)),
                ("padding", tile(pad_w, pad_h)),
                ("dilation", tile(1, 1)),
                ("activation", clamp(low, high)),
            ),
        )
        bias_type = f"const {_BIAS[output.dtype].value}_t *"
        arguments = (
            Argument("conv_params", params),
            Argument("quant_params", per_channel(multiplier, shift)),
            Argument("input_dims", dims(*source.shape)),
            Argument("input_data", read_pointer(source)),
            Argument("filter_dims", dims(*weights.shape)),
            Argument("filter_data", read_pointer(weights)),
            Argument("bias_data", TensorPointer(bias.id if bias else None, bias_type)),
            Argument("output_dims", dims(*output.shape)),
            Argument("output_data", written_pointer(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(f"helia_nn_transpose_conv_{_SUFFIX[output.dtype]}", arguments),
            constants=(*constants_of(source, weights, bias), multiplier, shift),
        )


def _tensors(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    bias = operator.inputs[3] if len(operator.inputs) > 3 else None
    return (
        graph.tensor(operator.inputs[1]),
        graph.tensor(operator.inputs[2]),
        graph.tensor(bias) if bias is not None else None,
        graph.tensor(operator.outputs[0]),
    )
