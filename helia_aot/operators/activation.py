# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX: constraints and lowering."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from helia_aot.ir.graph import Graph, Operator
from helia_aot.ir.quantization import softmax_parameters
from helia_aot.operators import checks
from helia_aot.operators.spec import (
    Argument,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Target,
    TensorPointer,
    operator_name,
)

_OUTPUT_SCALE = 1.0 / 256.0
_OUTPUT_ZERO_POINT = -128


class Softmax:
    """The SOFTMAX family: int8 over the last dimension."""

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the softmax cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += checks.check_int8("input", source) + checks.check_int8("output", output)
        reasons += checks.check_rank("input", source, (1, 2, 3, 4))
        if source.shape != output.shape:
            reasons.append(
                f"input {list(source.shape)} and output {list(output.shape)} differ in shape"
            )
        if reasons or source.quantization is None or output.quantization is None:
            return reasons
        scale_fits = bool(np.isclose(output.quantization.scale, _OUTPUT_SCALE, rtol=1e-4, atol=0))
        if not scale_fits or output.quantization.zero_point != _OUTPUT_ZERO_POINT:
            reasons.append(
                f"output has scale {output.quantization.scale:.9g} and zero point "
                f"{output.quantization.zero_point}; supported: 1/256 and {_OUTPUT_ZERO_POINT}"
            )
        try:
            softmax_parameters(operator.attributes.beta, source.quantization.scale)
        except ValueError as error:
            reasons.append(str(error))
        return reasons

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts none: a softmax has no weights."""
        del graph, operator
        return 0

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the softmax call."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        assert source.quantization is not None
        multiplier, shift, diff_min = softmax_parameters(
            operator.attributes.beta, source.quantization.scale
        )
        row_size = source.shape[-1]
        arguments = (
            Argument("input", TensorPointer(source.id, "const int8_t *")),
            Argument("num_rows", source.elements // row_size),
            Argument("row_size", row_size),
            Argument("mult", multiplier),
            Argument("shift", shift),
            Argument("diff_min", diff_min),
            Argument("output", TensorPointer(output.id, "int8_t *")),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=KernelCall("arm_softmax_s8", arguments, returns_status=False),
        )
