# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED in float32 and float16 whose int4 weights are scaled by blocks and stay packed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.floating import FloatType, bias_of, present
from helia_aot.operators.spec import (
    Argument,
    Constant,
    FixedDomain,
    HasFixedChoices,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    OperatorFamily,
    Struct,
    Support,
    Target,
    TensorPointer,
    operator_name,
)

_WEIGHTS: Final = 1
_BLOCK_STEP: Final = 8
"""The kernels take blocks of a multiple of this."""


def stays_packed(op_type: str, weights: Tensor) -> bool:
    """Says whether the weights of a float layer are read packed, as int4 with a scale for each block."""
    blocks = weights.blocks
    return (
        op_type == "FULLY_CONNECTED"
        and weights.dtype is DType.INT4
        and weights.is_constant
        and len(weights.shape) == 2
        and blocks is not None
        and blocks.size % _BLOCK_STEP == 0
        and not blocks.zero_points.any()
    )


def packed_int4(values: NDArray[Any]) -> NDArray[np.int8]:
    """Gives int4 values two to a byte, the even one in the low half.

    Args:
        values: Values in -8..7 as int8, an even number in the last dimension.
    """
    halves = values.astype(np.uint8)
    return ((halves[..., ::2] & 15) | (halves[..., 1::2] << 4)).view(np.int8)


class BlockwiseFullyConnected:
    """FULLY_CONNECTED of one float type over int4 weights that are scaled by blocks.

    Args:
        kind: The type of the activations.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support("constant int4 weights scaled by blocks of a multiple of 8")

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2, 3))
        if reasons:
            return reasons
        source, weights, *rest = checks.inputs_of(graph, operator)
        assert source is not None
        assert weights is not None
        reasons += self._kind.check("input", source)
        reasons += checks.check_activation(operator.attributes.activation)
        if operator.attributes.shuffled_weights:
            reasons.append("the weights are shuffled; supported: the default weight format")
        channels, depth = weights.shape
        reasons += self._kind.check_bias(rest[0] if rest else None, channels)
        outputs = graph.tensor(operator.outputs[0]).elements
        if source.elements % depth or outputs * depth != source.elements * channels:
            reasons.append(f"the filter {list(weights.shape)} does not fit input and output")
        return reasons

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts one multiply-accumulate for each weight and row of input."""
        depth = graph.tensor(operator.inputs[_WEIGHTS]).shape[1]
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
        kind, name = self._kind, operator_name(operator)
        source, filters = graph.tensor(operator.inputs[0]), graph.tensor(operator.inputs[_WEIGHTS])
        assert filters.data is not None
        assert filters.blocks is not None
        channels, depth = filters.shape
        weights = Constant(f"{name}_int4", packed_int4(filters.data))
        scales = Constant(f"{name}_scale", filters.blocks.scales.astype(np.float32))
        bias = bias_of(graph, operator)
        params = Struct(
            "helia_nn_blockwise_params",
            (
                ("rows", source.elements // depth),
                ("depth", depth),
                ("channels", channels),
                ("block", filters.blocks.size),
            ),
        )
        arguments = (
            Argument("params", params),
            Argument("activation", kind.activation(operator.attributes.activation)),
            Argument("input", kind.input(source)),
            Argument("weights", TensorPointer(weights.id, "const int8_t *")),
            Argument("scales", TensorPointer(scales.id, "const float32_t *")),
            Argument("bias", kind.input(bias)),
            Argument("output", kind.output(graph.tensor(operator.outputs[0]))),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall(f"helia_nn_fully_connected_blockwise_{kind.suffix}", arguments),
            constants=present((weights, scales, bias)),
        )


class ByWeights:
    """Passes each layer to the family that stands for the form of its weights.

    Args:
        plain: The family of weights in the layer's own type.
        other: The family of weights that stay packed.
    """

    def __init__(self, plain: OperatorFamily, other: OperatorFamily) -> None:
        self._plain, self._other = plain, other

    @property
    def support(self) -> tuple[Support, ...]:
        """What both families take."""
        return (*self._plain.support, *self._other.support)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the layer cannot be compiled."""
        return self._family(graph, operator).problems(graph, operator)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts multiply-accumulates, as the family does."""
        return self._family(graph, operator).macs(graph, operator)

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives the family's knobs."""
        return self._family(graph, operator).domains(graph, operator, target)

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        """Gives the family's fixed choices, if it has any."""
        family = self._family(graph, operator)
        if not isinstance(family, HasFixedChoices):
            return {}
        return family.fixed(graph, operator, knobs, target)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the family's call."""
        return self._family(graph, operator).lower(graph, operator, choices, target)

    def _family(self, graph: Graph, operator: Operator) -> OperatorFamily:
        weights = operator.inputs[_WEIGHTS] if len(operator.inputs) > _WEIGHTS else None
        if weights is not None and stays_packed(operator.op_type, graph.tensor(weights)):
            return self._other
        return self._plain
