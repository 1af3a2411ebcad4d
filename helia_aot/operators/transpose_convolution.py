# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE_CONV over int8 and int16 with int8 weights, and over float32 and float16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.attributes import TransposeConvolutionAttributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import activation_range
from helia_aot.operators import checks
from helia_aot.operators.convolution import channel_constants, folded_sums, per_channel
from helia_aot.operators.floating import STANDARD_FORMAT, FloatType
from helia_aot.operators.geometry import stride_padding
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
    operator_name,
    read_pointer,
    tile,
    written_pointer,
)

_BIAS: Final = {DType.INT8: (DType.INT32,), DType.INT16: (DType.INT64, DType.INT16)}
_SUFFIX: Final = {DType.INT8: "s8", DType.INT16: "s16"}


class _TransposeConvolution:
    """What the integer and the float layers share; the output's size comes from the output tensor."""

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each input and weight that it meets."""
        weights = graph.tensor(operator.inputs[1])
        pixels = int(np.prod(graph.tensor(operator.inputs[2]).shape[:3], dtype=np.int64))
        return pixels * weights.elements

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}


class TransposeConvolution(_TransposeConvolution):
    """The TRANSPOSE_CONV family over int8 or int16."""

    support = (
        Support(("int8",), "constant int8 weights with zero point 0, int32 bias"),
        Support(("int16",), "constant int8 weights with zero point 0, int64 bias (or int16)"),
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
        reasons += checks.check_bias(bias, channels, _BIAS[output.dtype])
        return reasons + _shape_problems(operator, weights, source, output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call; the weights are ordered by the phases of the outputs."""
        del choices, target
        filters, source, bias, output = _tensors(graph, operator)
        assert source.quantization is not None
        assert filters.quantization is not None
        assert output.quantization is not None
        assert filters.data is not None
        name, options = operator_name(operator), operator.attributes
        channels = filters.shape[0]
        multiplier, shift = channel_constants(
            name, source.quantization, filters.quantization, output.quantization, channels
        )
        low, high = activation_range(options.activation, output.dtype, output.quantization)
        weights, scratch = _phases(name, operator, filters, source)
        params = Struct(
            "cmsis_nn_conv_params",
            (
                ("input_offset", -source.quantization.zero_point),
                ("output_offset", output.quantization.zero_point),
                *_window_fields(options, filters, output),
                ("activation", clamp(low, high)),
            ),
        )
        if output.dtype is DType.INT8:
            start = Constant(
                f"{name}_weight_sum",
                _phase_sums(filters.data, bias, options, source.quantization.zero_point),
            )
            start_argument = Argument("weight_sums", TensorPointer(start.id, "const int32_t *"))
            starts: tuple[Constant, ...] = (start,)
        else:
            starts = constants_of(bias)
            if bias is not None and bias.data is not None and bias.dtype is DType.INT16:
                starts = (Constant(f"{name}_bias", bias.data.astype(np.int64)),)
            bias_id = starts[0].id if starts else None
            start_argument = Argument("bias_data", TensorPointer(bias_id, "const int64_t *"))
        arguments = (
            Argument("ctx", buffer(f"{name}_scratch", scratch)),
            Argument("conv_params", params),
            Argument("quant_params", per_channel(multiplier, shift)),
            Argument("input_dims", dims(*source.shape)),
            Argument("input_data", read_pointer(source)),
            Argument("filter_dims", dims(*filters.shape)),
            Argument("filter_data", TensorPointer(weights.id, "const int8_t *")),
            start_argument,
            Argument("output_dims", dims(*output.shape)),
            Argument("output_data", written_pointer(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(f"helia_nn_transpose_conv_{_SUFFIX[output.dtype]}", arguments),
            constants=(*constants_of(source), weights, *starts, multiplier, shift),
            scratch_bytes=scratch,
        )


class FloatTransposeConvolution(_TransposeConvolution):
    """The family over one float type.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("constant weights")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the convolution cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(3, 4))
        if reasons:
            return reasons
        weights, source, bias, output = _tensors(graph, operator)
        reasons += self._kind.check("input", source)
        reasons += self._kind.check_constant("filter", weights)
        for role, tensor in (("input", source), ("filter", weights), ("output", output)):
            reasons += checks.check_rank(role, tensor, (4,))
        reasons += checks.check_activation(operator.attributes.activation)
        if reasons:
            return reasons
        reasons += self._kind.check_bias(bias, weights.shape[0])
        return reasons + _shape_problems(operator, weights, source, output)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call; the weights are ordered by the phases of the outputs."""
        del choices, target
        kind, name, options = self._kind, operator_name(operator), operator.attributes
        filters, source, bias, output = _tensors(graph, operator)
        weights, scratch = _phases(name, operator, filters, source)
        params = Struct(
            f"cmsis_nn_conv_params_{kind.suffix}",
            (
                *_window_fields(options, filters, output),
                ("activation", kind.activation(options.activation)),
                ("weight_format", STANDARD_FORMAT),
            ),
        )
        arguments = (
            Argument("ctx", buffer(f"{name}_scratch", scratch)),
            Argument("conv_params", params),
            Argument("input_dims", dims(*source.shape)),
            Argument("input", kind.input(source)),
            Argument("filter_dims", dims(*filters.shape)),
            Argument("filter", kind.input(weights)),
            Argument("bias", kind.input(bias)),
            Argument("output_dims", dims(*output.shape)),
            Argument("output", kind.output(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(f"helia_nn_transpose_conv_{kind.suffix}", arguments),
            constants=(*constants_of(source), weights, *constants_of(bias)),
            scratch_bytes=scratch,
        )


def _phases(name: str, operator: Operator, filters: Tensor, source: Tensor) -> tuple[Constant, int]:
    """Gives the weights by phase, and the bytes of scratch for the inputs of one output."""
    assert filters.data is not None
    stride_h, stride_w = operator.attributes.stride_h, operator.attributes.stride_w
    taps = -(-filters.shape[1] // stride_h) * -(-filters.shape[2] // stride_w)
    weights = Constant(f"{name}_phases", by_phase(filters.data, stride_h, stride_w))
    return weights, taps * source.shape[3] * source.dtype.size_bytes


def _phase_sums(
    filters: NDArray[Any],
    bias: Tensor | None,
    options: TransposeConvolutionAttributes,
    zero_point: int,
) -> NDArray[Any]:
    """Gives the start values of each phase's channels, as :func:`folded_sums` does."""
    start = None if bias is None else bias.data
    channels = filters.shape[0]
    parts = [
        filters[:, y :: options.stride_h, x :: options.stride_w].reshape(channels, -1)
        for y in range(options.stride_h)
        for x in range(options.stride_w)
    ]
    return np.concatenate([folded_sums(part, start, zero_point) for part in parts])


def by_phase(filters: NDArray[Any], stride_h: int, stride_w: int) -> NDArray[Any]:
    """Gives the weights of a transpose convolution phase by phase, as the float kernels read them.

    Args:
        filters: Weights in the layout ``[C_OUT, HK, WK, C_IN]``.
        stride_h: Vertical stride.
        stride_w: Horizontal stride.

    Returns:
        A vector: for each phase of the rows, for each phase of the columns the weights ``[C_OUT, taps, taps, C_IN]``,
        taps from the last to the first; one tap of zeros along an axis where a phase has none.
    """
    parts = []
    for phase_h in range(stride_h):
        for phase_w in range(stride_w):
            part = filters[:, phase_h::stride_h, phase_w::stride_w][:, ::-1, ::-1]
            missing = [(0, 0), *((0, int(size == 0)) for size in part.shape[1:3]), (0, 0)]
            parts.append(np.pad(part, missing).reshape(-1))
    return np.concatenate(parts)


def _shape_problems(
    operator: Operator, weights: Tensor, source: Tensor, output: Tensor
) -> list[str]:
    reasons = []
    if source.shape[3] != weights.shape[3] or output.shape[3] != weights.shape[0]:
        reasons.append(
            f"filter {list(weights.shape)} does not fit input {list(source.shape)} and output "
            f"{list(output.shape)}"
        )
    if source.shape[0] != output.shape[0]:
        reasons.append("input and output differ in batches")
    if min(operator.attributes.stride_h, operator.attributes.stride_w) < 1:
        reasons.append("has a stride below 1")
    return reasons


def _window_fields(
    options: TransposeConvolutionAttributes, weights: Tensor, output: Tensor
) -> tuple[tuple[str, Struct], ...]:
    """Gives stride, padding and dilation; the padding is that of the convolution from output to input."""
    pad_h = stride_padding(options.padding, output.shape[1], weights.shape[1], options.stride_h)
    pad_w = stride_padding(options.padding, output.shape[2], weights.shape[2], options.stride_w)
    return (
        ("stride", tile(options.stride_w, options.stride_h)),
        ("padding", tile(pad_w, pad_h)),
        ("dilation", tile(1, 1)),
    )


def _tensors(graph: Graph, operator: Operator) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    bias = operator.inputs[3] if len(operator.inputs) > 3 else None
    return (
        graph.tensor(operator.inputs[1]),
        graph.tensor(operator.inputs[2]),
        graph.tensor(bias) if bias is not None else None,
        graph.tensor(operator.outputs[0]),
    )
