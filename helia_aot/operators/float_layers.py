# SPDX-License-Identifier: Apache-2.0
"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED in float32 and float16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.attributes import ConvolutionAttributes
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.kernels.manifest import scratch_bytes
from helia_aot.operators import checks
from helia_aot.operators.convolution import check_groups, check_output
from helia_aot.operators.floating import (
    FLOAT16,
    PACKED_FORMAT,
    STANDARD_FORMAT,
    FloatType,
    bias_of,
    packing_reason,
    present,
    weights_constant,
)
from helia_aot.operators.geometry import Window, window
from helia_aot.operators.spec import (
    Argument,
    FixedDomain,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Struct,
    Support,
    Target,
    buffer,
    dims,
    operator_name,
    tile,
)


class FloatConvolution:
    """CONV_2D of one float type.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("constant weights; groups too")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the convolution cannot be compiled."""
        reasons = self._kind.check_layer(graph, operator, filter_rank=4)
        if reasons:
            return reasons
        source, weights, *rest = checks.inputs_of(graph, operator)
        assert source is not None
        assert weights is not None
        channels = weights.shape[0]
        reasons += checks.check_rank("input", source, (4,))
        reasons += self._kind.check_bias(rest[0] if rest else None, channels)
        if reasons:
            return reasons
        reasons = check_groups(source, weights)
        if reasons:
            return reasons
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        return check_output(graph.tensor(operator.outputs[0]), geometry, channels)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each tap, padding included."""
        weights = graph.tensor(operator.inputs[1])
        return graph.tensor(operator.outputs[0]).elements * int(np.prod(weights.shape[1:]))

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives ``accumulation``, which exists for FP16 convolutions with a 1x1 filter."""
        source, weights = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        if self._kind is not FLOAT16 or not is_pointwise(geometry) or _has_groups(source, weights):
            return {}
        return accumulation(
            f"arm_convolve_1x1_nhwc_{self._kind.suffix}",
            geometry_rows(geometry),
            weights.shape[0],
            target,
        )

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        """Gives ``weight_layout`` for 1x1 convolutions."""
        source, weights = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        if not is_pointwise(geometry) or _has_groups(source, weights):
            return {}
        return weight_layout(self._kind, geometry_rows(geometry), weights.shape[0], knobs, target)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the convolution call."""
        source, filters = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        weights = filters.data
        assert weights is not None
        rows = geometry_rows(window(operator.attributes, source.shape, *weights.shape[1:3]))
        packed = not _has_groups(source, filters) and is_packed(
            self._kind, rows, weights.shape[0], choices, target
        )
        return lower_convolution(self._kind, graph, operator, weights, packed=packed)


class FloatDepthwise:
    """DEPTHWISE_CONV_2D of one float type; float16 adds in one half-precision chain over the taps.

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
        """Lists why the depthwise convolution cannot be compiled."""
        reasons = self._kind.check_layer(graph, operator, filter_rank=4)
        if reasons:
            return reasons
        source, weights, *rest = checks.inputs_of(graph, operator)
        assert source is not None
        assert weights is not None
        channels = weights.shape[3]
        reasons += checks.check_rank("input", source, (4,))
        reasons += self._kind.check_bias(rest[0] if rest else None, channels)
        if reasons:
            return reasons
        if weights.shape[0] != 1 or channels % source.shape[3]:
            return [
                f"filter shape {list(weights.shape)} does not fit {source.shape[3]} input channels"
            ]
        geometry = window(operator.attributes, source.shape, *weights.shape[1:3])
        return check_output(graph.tensor(operator.outputs[0]), geometry, channels)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each tap, padding included."""
        weights = graph.tensor(operator.inputs[1])
        return graph.tensor(operator.outputs[0]).elements * weights.shape[1] * weights.shape[2]

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the depthwise call."""
        del choices, target
        kind, name = self._kind, operator_name(operator)
        source, filters = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        output = graph.tensor(operator.outputs[0])
        assert filters.data is not None
        channels = filters.shape[3]
        geometry = window(operator.attributes, source.shape, *filters.shape[1:3])
        bias = bias_of(graph, operator)
        weights_of_model = weights_constant(kind, name, filters, filters.data, packed=False)
        params = Struct(
            f"cmsis_nn_dw_conv_params_{kind.suffix}",
            (
                ("ch_mult", channels // source.shape[3]),
                *_window_fields(operator.attributes, geometry, kind),
            ),
        )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument("dw_conv_params", params),
            Argument("input_dims", dims(*source.shape)),
            Argument("input", kind.input(source)),
            Argument("filter_dims", dims(*filters.shape)),
            Argument("kernel", kind.input(weights_of_model)),
            Argument("bias_dims", dims(1, 1, 1, channels)),
            Argument("bias", kind.input(bias)),
            Argument("output_dims", dims(*output.shape)),
            Argument("output", kind.output(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(f"arm_depthwise_nhwc_conv_{kind.suffix}", arguments),
            constants=present((weights_of_model, bias)),
        )


class FloatFullyConnected:
    """FULLY_CONNECTED of one float type.

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
        """Lists why the layer cannot be compiled."""
        reasons = self._kind.check_layer(graph, operator, filter_rank=2)
        if not reasons and operator.attributes.shuffled_weights:
            reasons.append("the weights are shuffled; supported: the default weight format")
        if reasons:
            return reasons
        source, weights, *rest = checks.inputs_of(graph, operator)
        assert source is not None
        assert weights is not None
        output = graph.tensor(operator.outputs[0])
        channels = weights.shape[0]
        reasons += self._kind.check_bias(rest[0] if rest else None, channels)
        return reasons + checks.check_product(source, weights, output)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each weight and row of input."""
        depth = graph.tensor(operator.inputs[1]).shape[1]
        return graph.tensor(operator.outputs[0]).elements * depth

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives ``accumulation``, which exists for FP16 layers."""
        if self._kind is not FLOAT16:
            return {}
        source, weights = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        channels, depth = weights.shape
        return accumulation(self._entry, source.elements // depth, channels, target)

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        """Gives ``weight_layout``."""
        source, weights = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        channels, depth = weights.shape
        return weight_layout(self._kind, source.elements // depth, channels, knobs, target)

    @property
    def _entry(self) -> str:
        return f"arm_fully_connected_nhwc_{self._kind.suffix}"

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the fully connected call."""
        kind, name = self._kind, operator_name(operator)
        source, tensor = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        output = graph.tensor(operator.outputs[0])
        assert tensor.data is not None
        channels, depth = tensor.shape
        rows = source.elements // depth
        packed = is_packed(kind, rows, channels, choices, target)
        weights = weights_constant(kind, name, tensor, tensor.data, packed=packed)
        bias = bias_of(graph, operator)
        params = Struct(
            f"cmsis_nn_fc_params_{kind.suffix}",
            (
                ("activation", kind.activation(operator.attributes.activation)),
                ("weight_format", PACKED_FORMAT if packed else STANDARD_FORMAT),
            ),
        )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument("fc_params", params),
            Argument("input_dims", dims(rows, 1, 1, depth)),
            Argument("input", kind.input(source)),
            Argument("filter_dims", dims(depth, 1, 1, channels)),
            Argument("kernel", kind.input(weights)),
            Argument("bias_dims", dims(1, 1, 1, channels)),
            Argument("bias", kind.input(bias)),
            Argument("output_dims", dims(rows, 1, 1, channels)),
            Argument("output", kind.output(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(self._entry, arguments),
            constants=present((weights, bias)),
        )


def _has_groups(source: Tensor, weights: Tensor) -> bool:
    return source.shape[3] != weights.shape[3]


def is_pointwise(geometry: Window) -> bool:
    """Says whether a convolution reads single pixels, without padding."""
    return (geometry.filter_h, geometry.filter_w, geometry.pad_h, geometry.pad_w) == (1, 1, 0, 0)


def geometry_rows(geometry: Window) -> int:
    """Gives the rows of the matrix product of a convolution: its output pixels."""
    return geometry.batches * geometry.out_h * geometry.out_w


def accumulation(entry: str, rows: int, outputs: int, target: Target) -> dict[str, KnobDomain]:
    """Gives what ``accumulation`` means for an FP16 layer: ``fast`` packs, where that pays off."""
    reason = packing_reason(FLOAT16, rows, outputs, target)
    domain = KnobDomain(
        "accumulation",
        {"precise": entry, "fast": entry},
        applicable=not reason,
        reason=reason and f"{reason}; the layer keeps the standard layout",
    )
    return {"accumulation": domain}


def weight_layout(
    kind: FloatType, rows: int, outputs: int, knobs: Mapping[str, str], target: Target
) -> Mapping[str, FixedDomain]:
    """Gives the ``weight_layout`` choice of a matrix product and what decides it.

    In FP16 the layout follows ``accumulation``, except where ``fast`` leaves the standard layout because packing would
    not pay off; that, and every FP32 layer, is decided by a heuristic over shape and target.
    """
    layout = "packed" if is_packed(kind, rows, outputs, knobs, target) else "standard"
    is_fast = knobs.get("accumulation") == "fast"
    by_knob = kind is FLOAT16 and (layout == "packed" or not is_fast)
    return {"weight_layout": FixedDomain((layout,), layout, "knob" if by_knob else "heuristic")}


def is_packed(
    kind: FloatType, rows: int, outputs: int, choices: Mapping[str, str], target: Target
) -> bool:
    """Says whether a layer's weights are packed: by ``accumulation`` in FP16, wherever it pays off in FP32."""
    if packing_reason(kind, rows, outputs, target):
        return False
    return kind is not FLOAT16 or choices.get("accumulation") == "fast"


def lower_convolution(
    kind: FloatType,
    graph: Graph,
    operator: Operator,
    weights: NDArray[Any],
    *,
    packed: bool,
) -> LoweredOperator:
    """Makes the call of a convolution entry.

    Args:
        kind: The element type.
        graph: The graph.
        operator: A CONV_2D.
        weights: Weights in the layout ``[C_OUT, HK, WK, C_IN]``.
        packed: Whether to pack them.
    """
    name = operator_name(operator)
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    channels, filter_h, filter_w, c_in = weights.shape
    geometry = window(operator.attributes, source.shape, filter_h, filter_w)
    constant = weights_constant(
        kind, name, graph.tensor(operator.inputs[1]), weights, packed=packed
    )
    bias = bias_of(graph, operator)
    is_direct = is_pointwise(geometry) and c_in == source.shape[3]
    form = "arm_convolve_1x1_nhwc" if is_direct else "arm_convolve_nhwc"
    entry = f"{form}_{kind.suffix}"
    scratch = scratch_bytes(
        entry, kernel_height=filter_h, kernel_width=filter_w, input_channels=c_in
    )
    params = Struct(
        f"cmsis_nn_conv_params_{kind.suffix}",
        (
            *_window_fields(operator.attributes, geometry, kind),
            ("weight_format", PACKED_FORMAT if packed else STANDARD_FORMAT),
        ),
    )
    arguments = (
        Argument("ctx", buffer(f"{name}_scratch" if scratch else None, scratch)),
        Argument("conv_params", params),
        Argument("input_dims", dims(*source.shape)),
        Argument("input_data", kind.input(source)),
        Argument("filter_dims", dims(channels, filter_h, filter_w, c_in)),
        Argument("filter_data", kind.input(constant)),
        Argument("bias_dims", dims(1, 1, 1, channels)),
        Argument("bias_data", kind.input(bias)),
        Argument("output_dims", dims(*output.shape)),
        Argument("output_data", kind.output(output)),
    )
    return LoweredOperator(
        node_id=operator.node_id,
        name=name,
        op_type=operator.op_type,
        call=KernelCall(entry, arguments),
        constants=present((constant, bias)),
        scratch_bytes=scratch,
    )


def _window_fields(
    attributes: ConvolutionAttributes, geometry: Window, kind: FloatType
) -> tuple[tuple[str, Struct], ...]:
    return (
        ("stride", tile(geometry.stride_w, geometry.stride_h)),
        ("padding", tile(geometry.pad_w, geometry.pad_h)),
        ("dilation", tile(geometry.dilation_w, geometry.dilation_h)),
        ("activation", kind.activation(attributes.activation)),
    )
