# SPDX-License-Identifier: Apache-2.0
"""DEPTHWISE_CONV_2D: constraints, routing to the depthwise entries, and lowering."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators import checks
from helia_aot.operators.convolution import (
    channel_constants,
    check_output,
    convolution_params,
    per_channel,
    sums_or_bias,
    wrapper_domain,
)
from helia_aot.operators.geometry import Window, window
from helia_aot.operators.spec import (
    Argument,
    Constant,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Support,
    Target,
    TensorPointer,
    buffer,
    dims,
    operator_name,
)

GENERAL: Final = "arm_depthwise_conv_s8"
DSP_3X3: Final = "arm_depthwise_conv_3x3_s8"
OPTIMIZED: Final = "arm_depthwise_conv_s8_opt"
DIRECT_3X3_C64_S1: Final = "arm_depthwise_conv_s8_opt_3x3_c64_s1"
DIRECT_3X3: Final = "arm_depthwise_conv_s8_opt_3x3"
DIRECT_PLANAR: Final = "arm_depthwise_conv_s8_opt_planar"
DIRECT_CHANNELWISE: Final = "arm_depthwise_conv_s8_opt_channelwise"
WRAPPER: Final = "arm_depthwise_conv_wrapper_s8"
"""CMSIS-NN's entry for all shapes, which chooses a kernel itself."""
_LANES: Final = 16
"""int8 lanes of a vector."""
_WITHOUT_SUMS: Final = (GENERAL, DSP_3X3)
_PLANAR_FIRST_LAYOUT_LANES: Final = 32
_PLANAR_LAYOUT_LANES: Final = {DIRECT_3X3: 600, DIRECT_CHANNELWISE: 96}
"""What the planar entry's preparations cost, see :func:`planar_pays`."""


class Depthwise:
    """The DEPTHWISE_CONV_2D family: int8 with per-tensor or per-channel weights."""

    support = (Support(("int8",), "constant weights with zero point 0, per tensor or per channel"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the depthwise convolution cannot be compiled."""
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
        channels = weights.shape[3]
        reasons += checks.check_filter(weights, axis=3, channels=channels)
        reasons += checks.check_bias(rest[0] if rest else None, channels)
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

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives the ``kernel`` knob, which exists for every int8 depthwise convolution."""
        if target.dialect == "cmsis-nn":
            return {"kernel": wrapper_domain(WRAPPER)}
        source, weights = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        channels = weights.shape[3]
        entries = {
            value: _entry(geometry, source.shape[3], channels, target, specialized=specialized)
            for value, specialized in (("specialized", True), ("generic", False))
        }
        if not target.mve:
            reason = "the knob applies to MVE targets; others keep their kernels"
        elif entries["specialized"] == entries["generic"]:
            reason = f"no direct entry takes this shape; both values call {entries['generic']}"
        else:
            reason = ""
        return {"kernel": KnobDomain("kernel", entries, applicable=not reason, reason=reason)}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the depthwise call."""
        source, filters = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        output = graph.tensor(operator.outputs[0])
        assert source.quantization is not None
        assert filters.quantization is not None
        assert output.quantization is not None
        assert filters.data is not None
        name = operator_name(operator)
        _, filter_h, filter_w, c_out = filters.shape
        entry = self.domains(graph, operator, target)["kernel"].entries[choices["kernel"]]
        geometry = window(operator.attributes, source.shape, filter_h, filter_w)
        target = replace(target, mve=target.mve and entry not in _WITHOUT_SUMS)
        by_channel = filters.data.reshape(-1, c_out).T
        sums, bias = sums_or_bias(graph, operator, by_channel, source.quantization, target)
        multiplier, shift = channel_constants(
            name, source.quantization, filters.quantization, output.quantization, c_out
        )
        scratch = scratch_bytes(entry, geometry, c_out) if target.mve else 0
        arguments = [Argument("ctx", buffer(f"{name}_scratch" if scratch else None, scratch))]
        if entry not in _WITHOUT_SUMS:
            arguments.append(
                Argument("weight_sum_ctx", buffer(sums.id if sums else None, 4 * c_out))
            )
        arguments += [
            Argument(
                "dw_conv_params",
                convolution_params(
                    "cmsis_nn_dw_conv_params", operator.attributes, geometry, source, output
                ),
            ),
            Argument("quant_params", per_channel(multiplier, shift)),
            Argument("input_dims", dims(*source.shape)),
            Argument("input_data", TensorPointer(source.id, "const int8_t *")),
            Argument("filter_dims", dims(*filters.shape)),
            Argument("filter_data", TensorPointer(filters.id, "const int8_t *")),
            Argument("bias_dims", dims(1, 1, 1, c_out)),
            Argument("bias_data", TensorPointer(bias.id if bias else None, "const int32_t *")),
            Argument("output_dims", dims(*output.shape)),
            Argument("output_data", TensorPointer(output.id, "int8_t *")),
        ]
        weights_constant = Constant(filters.id, filters.data)
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(entry, tuple(arguments)),
            constants=(weights_constant, *(c for c in (sums, bias) if c), multiplier, shift),
            scratch_bytes=scratch,
        )


def _entry(geometry: Window, c_in: int, c_out: int, target: Target, *, specialized: bool) -> str:
    if not takes_optimized(geometry, c_in, c_out):
        return GENERAL
    is_3x3 = (geometry.filter_h, geometry.filter_w) == (3, 3) and not geometry.is_dilated
    if not target.mve:
        if not target.dsp:
            return GENERAL
        return DSP_3X3 if is_3x3 and max(geometry.pad_h, geometry.pad_w) <= 1 else OPTIMIZED
    if not specialized:
        return OPTIMIZED
    unit_stride = (geometry.stride_h, geometry.stride_w) == (1, 1)
    if is_3x3 and c_in == 64 and unit_stride and max(geometry.pad_h, geometry.pad_w) <= 1:
        return DIRECT_3X3_C64_S1
    others = DIRECT_3X3 if is_3x3 else DIRECT_CHANNELWISE
    planar = takes_planar(geometry, c_in) and planar_pays(geometry, c_in, instead_of=others)
    return DIRECT_PLANAR if planar else others


def takes_optimized(geometry: Window, c_in: int, c_out: int) -> bool:
    """Says whether the optimized depthwise entries take the shape.

    They read one image with one output for each channel, without dilation or dilated along a single row.
    """
    one_row = (geometry.in_h, geometry.filter_h, geometry.out_h, geometry.pad_h) == (1, 1, 1, 0)
    dilated_row = one_row and (geometry.stride_h, geometry.stride_w) == (1, 1)
    return c_in == c_out and geometry.batches == 1 and (not geometry.is_dilated or dilated_row)


def takes_planar(geometry: Window, channels: int) -> bool:
    """Says whether ``arm_depthwise_conv_s8_opt_planar`` takes a shape that the optimized entries take.

    Few channels are packed into whole vectors, which repeats after ``channels / gcd(channels, 16)`` vectors; the entry
    keeps up to 16 of them.
    """
    row = _row(geometry)
    return (
        row.stride_w == 1
        and channels % _LANES != 0
        and _packed_vectors(channels) <= _LANES
        and row.out_w * channels >= _LANES
    )


def planar_pays(geometry: Window, channels: int, *, instead_of: str) -> bool:
    """Says whether ``arm_depthwise_conv_s8_opt_planar`` is worth its preparations.

    It fills the lanes of the last vector of each pixel, which the other entries leave empty, but has
    to lay out weights and quantization for every vector until the channels repeat, not once for each
    16 channels.

    Args:
        geometry: The layer's window.
        channels: Input channels, as many as output channels.
        instead_of: The entry that would be called otherwise.

    Returns:
        Whether the lanes filled in all outputs are worth that. The prices, in lanes, are fitted to
        modelled cycles of shapes of 4 to 80 channels (``tests/benchmarks/depthwise_planar.py``).
    """
    slices = -(-channels // _LANES)
    filled_lanes = geometry.out_h * geometry.out_w * (slices * _LANES - channels)
    lanes_of_layout = _PLANAR_LAYOUT_LANES[instead_of] * (_packed_vectors(channels) - slices)
    return filled_lanes >= _PLANAR_FIRST_LAYOUT_LANES + lanes_of_layout


@dataclass(frozen=True)
class _Row:
    """The window as the optimized entries walk it: along rows, a single column turned into one."""

    filter_h: int
    filter_w: int
    stride_w: int
    dilation_w: int
    in_w: int
    out_w: int

    @property
    def pixels(self) -> int:
        """Pixels of one input row with its padding."""
        return (self.out_w - 1) * self.stride_w + (self.filter_w - 1) * self.dilation_w + 1


def _is_column(geometry: Window) -> bool:
    single = (geometry.in_w, geometry.filter_w, geometry.out_w, geometry.pad_w) == (1, 1, 1, 0)
    return single and not geometry.is_dilated


def _row(geometry: Window) -> _Row:
    if _is_column(geometry):
        return _Row(1, geometry.filter_h, geometry.stride_h, 1, geometry.in_h, geometry.out_h)
    return _Row(
        geometry.filter_h,
        geometry.filter_w,
        geometry.stride_w,
        geometry.dilation_w,
        geometry.in_w,
        geometry.out_w,
    )


def _packed_vectors(channels: int) -> int:
    return channels // math.gcd(channels, _LANES)


def scratch_bytes(entry: str, geometry: Window, channels: int) -> int:
    """Gives the scratch bytes of a depthwise entry's vector body.

    Args:
        entry: The depthwise entry.
        geometry: The layer's window.
        channels: Input channels, as many as output channels.

    Returns:
        Bytes, as the entries' documentation in ``arm_nnfunctions.h`` states them; 0 for entries without scratch.
    """
    row = _row(geometry)
    taps = row.filter_h * row.filter_w
    if entry in (DIRECT_3X3, DIRECT_3X3_C64_S1):
        return 336 + 48 * row.pixels
    if entry == DIRECT_CHANNELWISE:
        return 192 + 16 * taps + 16 * row.filter_h * row.pixels
    if entry == DIRECT_PLANAR:
        sets = min(_packed_vectors(channels), -(-row.out_w * channels // _LANES))
        return sets * (192 + 16 * taps) + row.filter_h * (row.pixels * channels + 16)
    if entry == OPTIMIZED:
        size = geometry.in_h, geometry.in_w
        return optimized_scratch_bytes(size, (geometry.filter_h, geometry.filter_w), channels)
    return 0


def optimized_scratch_bytes(size: Sequence[int], kernel: Sequence[int], channels: int) -> int:
    """Gives the scratch bytes of ``arm_depthwise_conv_s8_opt``'s vector body.

    Args:
        size: Height and width of the input.
        kernel: Height and width of the filter.
        channels: Input channels, as many as output channels.

    Returns:
        Bytes, as ``arm_depthwise_conv_s8_opt_get_buffer_size`` of the bundled kernels says.
    """
    columns = 192 + 16 * kernel[0] * kernel[1] * (1 + 8)
    if channels % 4 == 0 or _packed_vectors(channels) > _LANES:
        return columns
    is_column = (size[1], kernel[1]) == (1, 1)
    filter_h, filter_w, width = (1, kernel[0], size[0]) if is_column else (*kernel, size[1])
    planar = _packed_vectors(channels) * (192 + 16 * filter_h * filter_w) + filter_h * (
        (width + 2 * (filter_w - 1)) * channels + 16
    )
    return max(columns, planar)
