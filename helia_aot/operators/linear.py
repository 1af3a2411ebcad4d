# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED: constraints and lowering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helia_aot.ir.graph import Graph, Operator
from helia_aot.ir.quantization import activation_range, fully_connected_multiplier
from helia_aot.operators import checks
from helia_aot.operators.convolution import (
    channel_constants,
    folded_sums,
    per_channel,
    sums_or_bias,
)
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
)


class FullyConnected:
    """The FULLY_CONNECTED family: int8 with per-tensor or per-channel weights."""

    support = (
        Support(
            ("int8",),
            "constant weights with zero point 0, per tensor or per channel",
        ),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2, 3))
        if reasons:
            return reasons
        source, weights, *rest = checks.inputs_of(graph, operator)
        output = graph.tensor(operator.outputs[0])
        reasons += checks.check_int8("input", source) + checks.check_int8("output", output)
        reasons += checks.check_rank("filter", weights, (2,))
        reasons += checks.check_activation(operator.attributes.activation)
        if operator.attributes.shuffled_weights:
            reasons.append("the weights are shuffled; supported: the default weight format")
        if reasons or source is None or weights is None:
            return reasons
        channels = weights.shape[0]
        reasons += checks.check_filter(weights, axis=0, channels=channels)
        reasons += checks.check_bias(rest[0] if rest else None, channels)
        return reasons + checks.check_product(source, weights, output)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each weight and row of input."""
        depth = graph.tensor(operator.inputs[1]).shape[1]
        return graph.tensor(operator.outputs[0]).elements * depth

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob: int8 layers have one kernel."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the fully connected call."""
        del choices
        name = operator_name(operator)
        source, weights = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[1])
        output = graph.tensor(operator.outputs[0])
        assert source.quantization is not None
        assert weights.quantization is not None
        assert output.quantization is not None
        assert weights.data is not None
        channels, depth = weights.shape
        rows = source.elements // depth
        sums, bias = sums_or_bias(graph, operator, weights.data, source.quantization, target)
        if target.mve and sums is None:
            # CMSIS-NN's interface asks for both: its arm_vector_sum_s8 would make these sums from this bias.
            data = folded_sums(
                weights.data, bias.data if bias else None, source.quantization.zero_point
            )
            sums = Constant(f"{name}_weight_sum", data)
        low, high = activation_range(
            operator.attributes.activation, output.dtype, output.quantization
        )
        entry, quant, quant_constants = self._quantization(name, source, weights, output)
        params = Struct(
            "cmsis_nn_fc_params",
            (
                ("input_offset", -source.quantization.zero_point),
                ("filter_offset", 0),
                ("output_offset", output.quantization.zero_point),
                ("activation", clamp(low, high)),
            ),
        )
        arguments = (
            Argument("ctx", buffer(sums.id if sums else None, 4 * channels)),
            Argument("fc_params", params),
            Argument("quant_params", quant),
            Argument("input_dims", dims(rows, 1, 1, depth)),
            Argument("input_data", TensorPointer(source.id, "const int8_t *")),
            Argument("filter_dims", dims(depth, 1, 1, channels)),
            Argument("filter_data", TensorPointer(weights.id, "const int8_t *")),
            Argument("bias_dims", dims(1, 1, 1, channels)),
            Argument("bias_data", TensorPointer(bias.id if bias else None, "const int32_t *")),
            Argument("output_dims", dims(rows, 1, 1, channels)),
            Argument("output_data", TensorPointer(output.id, "int8_t *")),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(entry, arguments),
            constants=(
                Constant(weights.id, weights.data),
                *(c for c in (sums, bias) if c),
                *quant_constants,
            ),
        )

    def _quantization(
        self, name: str, source: Any, weights: Any, output: Any
    ) -> tuple[str, Struct, tuple[Constant, ...]]:
        """Gives the entry, its requantization structure and the constants that it needs."""
        if weights.quantization.is_per_channel:
            multiplier, shift = channel_constants(
                name,
                source.quantization,
                weights.quantization,
                output.quantization,
                weights.shape[0],
            )
            quant = per_channel(multiplier, shift)
            return "arm_fully_connected_per_channel_s8", quant, (multiplier, shift)
        factor, exponent = fully_connected_multiplier(
            source.quantization, weights.quantization, output.quantization
        )
        quant = Struct(
            "cmsis_nn_per_tensor_quant_params", (("multiplier", factor), ("shift", exponent))
        )
        return "arm_fully_connected_s8", quant, ()
