# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED of weights or biases that the model computes, and of int8 weights with a zero point."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import activation_range, fully_connected_multiplier
from helia_aot.operators import checks
from helia_aot.operators.blockwise import ByWeights
from helia_aot.operators.floating import STANDARD_FORMAT, FloatType
from helia_aot.operators.spec import (
    Argument,
    KnobDomain,
    LoweredOperator,
    OperatorFamily,
    Struct,
    Support,
    Target,
    TensorPointer,
    buffer,
    clamp,
    constants_of,
    dims,
    lowered,
    read_pointer,
    written_pointer,
)


class ComputedFullyConnected:
    """The family over int8 or one float type; one loop for each output.

    Args:
        kind: The float type; None for int8.
    """

    def __init__(self, kind: FloatType | None = None) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        if self._kind:
            return self._kind.support("computed weights or bias")
        return (Support(("int8",), "computed weights or bias, and zero points; one scale"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2, 3))
        if reasons:
            return reasons
        source, weights, *rest = checks.inputs_of(graph, operator)
        output = graph.tensor(operator.outputs[0])
        for role, tensor in (("input", source), ("filter", weights), ("output", output)):
            reasons += self._check(role, tensor)
        reasons += checks.check_rank("filter", weights, (2,))
        reasons += checks.check_activation(operator.attributes.activation)
        if operator.attributes.shuffled_weights:
            reasons.append("the weights are shuffled; supported: the default weight format")
        if reasons or source is None or weights is None:
            return reasons
        channels = weights.shape[0]
        bias = rest[0] if rest else None
        if bias is not None:
            wanted = self._kind.dtype if self._kind else DType.INT32
            if bias.dtype is not wanted or bias.elements != channels:
                reasons.append(
                    f"bias has type {bias.dtype} and {bias.elements} values; "
                    f"supported: {channels} of {wanted}"
                )
        return reasons + checks.check_product(source, weights, output)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each weight and row of input."""
        depth = graph.tensor(operator.inputs[1]).shape[1]
        return graph.tensor(operator.outputs[0]).elements * depth

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        source, weights, *rest = (None if i is None else graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        assert source is not None
        assert weights is not None
        bias = rest[0] if rest else None
        if self._kind:
            entry, arguments = self._real(operator, self._kind, (source, weights, bias, output))
        else:
            entry, arguments = self._integer(operator, (source, weights, bias, output))
        constants = constants_of(source, weights, bias)
        return lowered(operator, entry, arguments, constants=constants)

    def _check(self, role: str, tensor: Tensor | None) -> list[str]:
        if self._kind:
            return self._kind.check(role, tensor)
        return checks.check_int8(role, tensor)

    @staticmethod
    def _real(
        operator: Operator, kind: FloatType, tensors: tuple[Tensor, Tensor, Tensor | None, Tensor]
    ) -> tuple[str, list[Argument]]:
        source, weights, bias, output = tensors
        channels, depth = weights.shape
        rows = source.elements // depth
        params = Struct(
            f"cmsis_nn_fc_params_{kind.suffix}",
            (
                ("activation", kind.activation(operator.attributes.activation)),
                ("weight_format", STANDARD_FORMAT),
            ),
        )
        return f"arm_fully_connected_nhwc_{kind.suffix}", [
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
        ]

    @staticmethod
    def _integer(
        operator: Operator, tensors: tuple[Tensor, Tensor, Tensor | None, Tensor]
    ) -> tuple[str, list[Argument]]:
        source, weights, bias, output = tensors
        assert source.quantization is not None
        assert weights.quantization is not None
        assert output.quantization is not None
        channels, depth = weights.shape
        low, high = activation_range(
            operator.attributes.activation, output.dtype, output.quantization
        )
        multiplier, shift = fully_connected_multiplier(
            source.quantization, weights.quantization, output.quantization
        )
        params = Struct(
            "cmsis_nn_fc_params",
            (
                ("input_offset", -source.quantization.zero_point),
                ("filter_offset", -weights.quantization.zero_point),
                ("output_offset", output.quantization.zero_point),
                ("activation", clamp(low, high)),
            ),
        )
        quant = Struct(
            "cmsis_nn_per_tensor_quant_params", (("multiplier", multiplier), ("shift", shift))
        )
        return "helia_nn_fully_connected_offsets_s8", [
            Argument("fc_params", params),
            Argument("quant_params", quant),
            Argument("input_dims", dims(source.elements // depth, 1, 1, depth)),
            Argument("input", read_pointer(source)),
            Argument("filter_dims", dims(depth, 1, 1, channels)),
            Argument("filter", read_pointer(weights)),
            Argument("bias", TensorPointer(bias.id if bias else None, "const int32_t *")),
            Argument("output", written_pointer(output)),
        ]


def _is_computed(graph: Graph, operator: Operator) -> bool:
    """Says whether weights or bias are computed, or int8 weights have one zero point other than 0."""
    if len(operator.inputs) < 2 or operator.inputs[1] is None:
        return False
    weights, *rest = (graph.tensor(i) for i in operator.inputs[1:3] if i is not None)
    if weights.dtype is DType.INT8 and weights.quantization is not None:
        quantization = weights.quantization
        if not quantization.is_per_channel and quantization.zero_point:
            return True
    return any(not tensor.is_constant for tensor in (weights, *rest))


class ByOrigin(ByWeights):
    """Passes FULLY_CONNECTED on by where its weights come from.

    Args:
        constant: The family of constant weights and biases.
        computed: The family of all others.
    """

    def __init__(self, constant: OperatorFamily, computed: OperatorFamily) -> None:
        super().__init__(constant, computed)

    def _family(self, graph: Graph, operator: Operator) -> OperatorFamily:
        return self._other if _is_computed(graph, operator) else self._plain
