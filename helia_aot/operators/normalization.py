# SPDX-License-Identifier: Apache-2.0
"""L2_NORMALIZATION: every row of the last dimension divided by its length."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.activation import check_output_scale
from helia_aot.operators.float_maps import same_shape_problems
from helia_aot.operators.floating import FloatType
from helia_aot.operators.spec import (
    Argument,
    LoweredOperator,
    Plain,
    Support,
    Target,
    constants_of,
    lowered,
    read_pointer,
    written_pointer,
)

_LIMITS = "last dimension, no fused activation"


def _form_problems(operator: Operator, source: Tensor) -> list[str]:
    reasons = []
    if not source.shape:
        reasons.append("input is a scalar; supported: at least 1 dimension")
    if operator.attributes.activation != "NONE":
        reasons.append(f"fused activation {operator.attributes.activation}; supported: NONE")
    return reasons


def _rows(source: Tensor) -> list[Argument]:
    return [
        Argument("num_rows", source.elements // source.shape[-1]),
        Argument("row_size", source.shape[-1]),
    ]


class L2Normalization(Plain):
    """The family for int8; the inverse root is taken in fixed point, as TFLite Micro takes it."""

    support = (Support(("int8",), f"{_LIMITS}; output scale 1/128 and zero point 0"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += checks.check_quantized("input", source, (DType.INT8,))
        reasons += checks.check_quantized("output", output, (DType.INT8,))
        reasons += checks.check_shape("output", output, source.shape)
        reasons += _form_problems(operator, source)
        if not reasons and output.quantization is not None:
            reasons += check_output_scale(output.quantization, 1 / 128, 0)
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        assert source.quantization is not None
        arguments = [
            Argument("input", read_pointer(source)),
            Argument("zero_point", source.quantization.zero_point),
            *_rows(source),
            Argument("output", written_pointer(output)),
        ]
        constants = constants_of(source)
        return lowered(operator, "helia_nn_l2_normalize_s8", arguments, constants=constants)


class FloatL2Normalization(Plain):
    """The family for floats; computed in single precision.

    Args:
        kind: The type.
    """

    def __init__(self, kind: FloatType) -> None:
        self._kind = kind

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return self._kind.support(_LIMITS)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        reasons = same_shape_problems(self._kind, graph, operator)
        return reasons or _form_problems(operator, graph.tensor(operator.inputs[0]))

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        arguments = [
            Argument("input", self._kind.input(source)),
            *_rows(source),
            Argument("output", self._kind.output(output)),
        ]
        entry = f"helia_nn_l2_normalize_{self._kind.suffix}"
        return lowered(operator, entry, arguments, constants=constants_of(source))
