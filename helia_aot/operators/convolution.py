# SPDX-License-Identifier: Apache-2.0
"""CONV_2D: constraints, routing to the convolution entries, and lowering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.attributes import ConvolutionAttributes
from helia_aot.ir.graph import Graph, Operator, Quantization, Tensor
from helia_aot.ir.quantization import activation_range, convolution_multipliers
from helia_aot.kernels.manifest import scratch_bytes
from helia_aot.operators import checks
from helia_aot.operators.geometry import Window, window
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
    dims,
    operator_name,
    tile,
)

GENERAL: Final = "arm_convolve_s8"
SMALL_CIN: Final = "arm_convolve_s8_small_cin"
C16: Final = "arm_convolve_s8_3x3_c16_s1"
WRAPPER: Final = "arm_convolve_wrapper_s8"
"""CMSIS-NN's entry for all shapes without groups, which chooses a kernel itself."""


class Convolution:
    """The CONV_2D family: int8 with per-tensor or per-channel weights."""

    support = (
        Support(
            ("int8",), "constant weights with zero point 0, per tensor or per channel; groups too"
        ),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the convolution cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2, 3))
        if reasons:
            return reasons
        source, weights, *rest = checks.inputs_of(graph, operator)
        output = graph.tensor(operator.outputs[0])
        reasons += checks.check_int8("input", source) + checks.check_int8("output", output)
        reasons += checks.check_rank("input", source, (4,)) + checks.check_rank(
            "filter", weights, (4,)
        )
        reasons += checks.check_activation(operator.attributes.activation)
        reasons += checks.check_steps(operator.attributes)
        if reasons or source is None or weights is None:
            return reasons
        channels = weights.shape[0]
        reasons += checks.check_filter(weights, axis=0, channels=channels)
        reasons += checks.check_bias(rest[0] if rest else None, channels)
        reasons += check_groups(source, weights)
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        reasons += check_output(output, geometry, channels)
        return reasons

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each tap, padding included."""
        weights = graph.tensor(operator.inputs[1])
        outputs = graph.tensor(operator.outputs[0]).elements
        return outputs * int(np.prod(weights.shape[1:]))

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives the ``kernel`` knob, which exists for every int8 convolution."""
        source, weights = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        if source.shape[3] != weights.shape[3]:
            reason = f"no direct entry takes groups; both values call {GENERAL}"
            entries = {"specialized": GENERAL, "generic": GENERAL}
            return {"kernel": KnobDomain("kernel", entries, applicable=False, reason=reason)}
        return {"kernel": kernel_domain(geometry, weights.shape[3], weights.shape[0], target)}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the convolution call for the chosen entry."""
        weights = graph.tensor(operator.inputs[1])
        assert weights.data is not None
        entry = self.domains(graph, operator, target)["kernel"].entries[choices["kernel"]]
        return lower_convolution(graph, operator, Constant(weights.id, weights.data), entry, target)


def check_groups(source: Tensor, weights: Tensor) -> list[str]:
    """Checks that the filter reads all input channels, or an equal part of them for each group of output channels."""
    channels, depth = source.shape[3], weights.shape[3]
    if depth < 1 or channels % depth or weights.shape[0] % (channels // depth):
        return [f"filter shape {list(weights.shape)} does not fit {channels} input channels"]
    return []


def check_output(output: Tensor, geometry: Window, channels: int) -> list[str]:
    """Checks that the output has the shape that the window gives."""
    expected = (geometry.batches, geometry.out_h, geometry.out_w, channels)
    if output.shape != expected:
        return [f"output has shape {list(output.shape)}; its options give {list(expected)}"]
    return []


def kernel_domain(geometry: Window, c_in: int, c_out: int, target: Target) -> KnobDomain:
    """Gives what ``kernel`` means for a convolution of a shape on a target."""
    if target.dialect == "cmsis-nn":
        return wrapper_domain(GENERAL if _is_strided_row(geometry, target) else WRAPPER)
    entries = {
        "specialized": _entry(geometry, c_in, c_out, target, specialized=True),
        "generic": _entry(geometry, c_in, c_out, target, specialized=False),
    }
    if not target.mve:
        reason = "the knob applies to MVE targets; others keep their kernels"
    elif entries["specialized"] == entries["generic"]:
        reason = f"no direct entry takes this shape; both values call {entries['generic']}"
    else:
        reason = ""
    return KnobDomain("kernel", entries, applicable=not reason, reason=reason)


def _is_strided_row(geometry: Window, target: Target) -> bool:
    """Says whether CMSIS-NN's wrapper would call its vector kernel for one row with a stride other than 1.

    In release 7.0.0 that kernel fails or computes something else for many widths and paddings; the general entry takes
    all of them.
    """
    is_point = geometry.filter_w == 1 and geometry.pad_w == 0
    one_row = (geometry.in_h, geometry.filter_h, geometry.dilation_w) == (1, 1, 1)
    return target.mve and one_row and geometry.stride_w > 1 and not is_point


def wrapper_domain(entry: str) -> KnobDomain:
    """Gives what ``kernel`` means for CMSIS-NN: nothing, as its wrapper chooses, or only one entry takes the shape."""
    reason = f"CMSIS-NN has no direct entries; both values call {entry}"
    entries = {"specialized": entry, "generic": entry}
    return KnobDomain("kernel", entries, applicable=False, reason=reason)


def _entry(geometry: Window, c_in: int, c_out: int, target: Target, *, specialized: bool) -> str:
    """Routes by shape; the order is that of the kernel library's own dispatcher."""
    unpadded = geometry.pad_h == 0 and geometry.pad_w == 0
    if (geometry.filter_h, geometry.filter_w) == (1, 1) and unpadded and not geometry.is_dilated:
        if (geometry.stride_h, geometry.stride_w) == (1, 1):
            return "arm_convolve_1x1_s8_fast"
        return "arm_convolve_1x1_s8"
    if (
        (geometry.in_h, geometry.filter_h, geometry.out_h) == (1, 1, 1)
        and geometry.dilation_w == 1
        and geometry.pad_h == 0
        and geometry.stride_w * c_in % 4 == 0
    ):
        return "arm_convolve_1_x_n_s8"
    if not target.mve:
        return GENERAL
    if (
        (geometry.out_h, geometry.out_w) == (1, 1)
        and geometry.stride_w * c_in % 4 == 0
        and (unpadded and not geometry.is_dilated)
    ):
        return "arm_convolve_1x1_out_s8"
    if specialized and takes_small_cin(geometry, c_in, c_out):
        return SMALL_CIN
    if specialized and takes_3x3_c16_s1(geometry, c_in):
        return C16
    return GENERAL


def takes_small_cin(geometry: Window, c_in: int, c_out: int) -> bool:
    """Says whether ``arm_convolve_s8_small_cin`` takes the shape."""
    return (
        1 <= c_in <= 3
        and not geometry.is_dilated
        and geometry.filter_w * c_in <= 16
        and geometry.filter_w * geometry.filter_h * c_in <= 48
        and c_out % 4 == 0
    )


def takes_3x3_c16_s1(geometry: Window, c_in: int) -> bool:
    """Says whether ``arm_convolve_s8_3x3_c16_s1`` takes the shape."""
    return (
        c_in == 16
        and (geometry.filter_h, geometry.filter_w) == (3, 3)
        and (geometry.stride_h, geometry.stride_w) == (1, 1)
        and not geometry.is_dilated
    )


def folded_sums(
    weights_by_channel: NDArray[Any], bias: NDArray[Any] | None, input_zero_point: int
) -> NDArray[Any]:
    """Gives the int32 start value of each output channel: ``bias - zero_point * sum(weights)``.

    Args:
        weights_by_channel: Weights in shape ``[channels, taps]``.
        bias: One int32 for each channel, or None for zeros.
        input_zero_point: Zero point of the input.

    Returns:
        int32 values; sums beyond 32 bits wrap as the kernel's accumulator would.
    """
    sums = -input_zero_point * weights_by_channel.astype(np.int64).sum(axis=1)
    if bias is not None:
        sums = sums + bias.astype(np.int64).reshape(-1)
    wrapped: NDArray[Any] = (sums & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    return wrapped


def channel_constants(
    name: str, input_q: Quantization, filter_q: Quantization, output_q: Quantization, channels: int
) -> tuple[Constant, Constant]:
    """Gives the requantization multipliers and shifts of each channel as int32 constants.

    A channel whose scale is too small for a multiplier has 0 for it, and any shift gives the same output: -1 lets it
    stay among those that kernels may treat alike, as they shift to the right.
    """
    multipliers, shifts = (
        np.array(values, dtype=np.int32)
        for values in convolution_multipliers(input_q, filter_q, output_q, channels)
    )
    return (
        Constant(f"{name}_multiplier", multipliers),
        Constant(f"{name}_shift", np.where(multipliers == 0, np.int32(-1), shifts)),
    )


def convolution_params(
    c_type: str,
    attributes: ConvolutionAttributes,
    geometry: Window,
    source: Tensor,
    output: Tensor,
) -> Struct:
    """Gives ``cmsis_nn_conv_params`` or ``cmsis_nn_dw_conv_params``."""
    assert source.quantization is not None
    assert output.quantization is not None
    low, high = activation_range(attributes.activation, output.dtype, output.quantization)
    multiplier = (
        (("ch_mult", attributes.depth_multiplier),) if c_type == "cmsis_nn_dw_conv_params" else ()
    )
    return Struct(
        c_type,
        (
            ("input_offset", -source.quantization.zero_point),
            ("output_offset", output.quantization.zero_point),
            *multiplier,
            ("stride", tile(geometry.stride_w, geometry.stride_h)),
            ("padding", tile(geometry.pad_w, geometry.pad_h)),
            ("dilation", tile(geometry.dilation_w, geometry.dilation_h)),
            ("activation", clamp(low, high)),
        ),
    )


def lower_convolution(
    graph: Graph, operator: Operator, weights: Constant, entry: str, target: Target
) -> LoweredOperator:
    """Makes the call of a convolution entry.

    Args:
        graph: The graph.
        operator: A CONV_2D.
        weights: int8 weights in the layout ``[C_OUT, HK, WK, C_IN]``.
        entry: The convolution entry to call.
        target: The core's extensions.
    """
    name = operator_name(operator)
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    filters = graph.tensor(operator.inputs[1])
    assert source.quantization is not None
    assert filters.quantization is not None
    assert output.quantization is not None
    c_out, filter_h, filter_w, c_in = weights.data.shape
    geometry = window(operator.attributes, source.shape, filter_h, filter_w)
    sums, bias = sums_or_bias(
        graph, operator, weights.data.reshape(c_out, -1), source.quantization, target
    )
    multiplier, shift = channel_constants(
        name, source.quantization, filters.quantization, output.quantization, c_out
    )
    shapes = {
        "input_dims": (geometry.batches, geometry.in_h, geometry.in_w, source.shape[3]),
        "filter_dims": (c_out, filter_h, filter_w, c_in),
        "output_dims": (geometry.batches, geometry.out_h, geometry.out_w, c_out),
    }
    scratch = scratch_bytes(
        entry, kernel_height=filter_h, kernel_width=filter_w, input_channels=c_in
    )
    arguments = [
        Argument("ctx", buffer(f"{name}_scratch" if scratch else None, scratch)),
        Argument("weight_sum_ctx", buffer(sums.id if sums else None, 4 * c_out)),
        Argument(
            "conv_params",
            convolution_params(
                "cmsis_nn_conv_params", operator.attributes, geometry, source, output
            ),
        ),
        Argument("quant_params", per_channel(multiplier, shift)),
        Argument("input_dims", dims(*shapes["input_dims"])),
        Argument("input_data", TensorPointer(source.id, "const int8_t *")),
        Argument("filter_dims", dims(*shapes["filter_dims"])),
        Argument("filter_data", TensorPointer(weights.id, "const int8_t *")),
        Argument("bias_dims", dims(1, 1, 1, c_out)),
        Argument("bias_data", TensorPointer(bias.id if bias else None, "const int32_t *")),
    ]
    if entry in (GENERAL, SMALL_CIN, C16):
        arguments.append(Argument("upscale_dims", TensorPointer(None, "const cmsis_nn_dims *")))
    arguments += [
        Argument("output_dims", dims(*shapes["output_dims"])),
        Argument("output_data", TensorPointer(output.id, "int8_t *")),
    ]
    constants = [weights, *(c for c in (sums, bias) if c), multiplier, shift]
    return LoweredOperator(
        node_id=operator.node_id,
        name=name,
        op_type=operator.op_type,
        call=KernelCall(entry, tuple(arguments)),
        constants=tuple(constants),
        scratch_bytes=scratch,
    )


def sums_or_bias(
    graph: Graph,
    operator: Operator,
    weights_by_channel: NDArray[Any],
    input_q: Quantization,
    target: Target,
) -> tuple[Constant | None, Constant | None]:
    """Gives the folded sums on MVE cores, whose kernels add raw inputs, and the plain bias elsewhere.

    CMSIS-NN's kernels all take the plain bias.
    """
    bias = graph.tensor(operator.inputs[2]) if _has_bias(operator) else None
    if target.mve and target.dialect == "ns-cmsis-nn":
        sums = folded_sums(weights_by_channel, bias.data if bias else None, input_q.zero_point)
        return Constant(f"{operator_name(operator)}_weight_sum", sums), None
    if bias is None or bias.data is None:
        return None, None
    return None, Constant(bias.id, bias.data)


def per_channel(multiplier: Constant, shift: Constant) -> Struct:
    """Gives ``cmsis_nn_per_channel_quant_params``."""
    return Struct(
        "cmsis_nn_per_channel_quant_params",
        (
            ("multiplier", TensorPointer(multiplier.id, "int32_t *")),
            ("shift", TensorPointer(shift.id, "int32_t *")),
        ),
    )


def _has_bias(operator: Operator) -> bool:
    return len(operator.inputs) > 2 and operator.inputs[2] is not None
