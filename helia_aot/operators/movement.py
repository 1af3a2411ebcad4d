# SPDX-License-Identifier: Apache-2.0
"""RESHAPE: a renamed tensor wherever input and output can share their storage."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators import checks
from helia_aot.operators.spec import (
    Argument,
    Constant,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Target,
    TensorPointer,
    operator_name,
)


class Reshape:
    """The RESHAPE family: int8; the shape comes from the output tensor."""

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the reshape cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1, 2))
        if reasons:
            return reasons
        source, *shape = checks.inputs_of(graph, operator)
        output = graph.tensor(operator.outputs[0])
        reasons += checks.check_int8("input", source) + checks.check_int8("output", output)
        if shape and shape[0] is not None and not shape[0].is_constant:
            reasons.append("the new shape is computed; supported: a constant")
        if reasons or source is None:
            return reasons
        if source.elements != output.elements:
            reasons.append(
                f"input {list(source.shape)} and output {list(output.shape)} differ in size"
            )
        return reasons + checks.check_same_quantization(source, output)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts none."""
        del graph, operator
        return 0

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Renames the input, or copies it where it is a constant and cannot be written."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        name = operator_name(operator)
        if source.data is None:
            return LoweredOperator(
                node_id=operator.node_id,
                name=name,
                op_type=operator.op_type,
                call=None,
                alias={output.id: source.id},
            )
        arguments = (
            Argument("input", TensorPointer(source.id, "const int8_t *")),
            Argument("output", TensorPointer(output.id, "int8_t *")),
            Argument("total_size", source.size_bytes),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=name,
            op_type=operator.op_type,
            call=KernelCall("arm_reshape_s8", arguments, returns_status=False),
            constants=(Constant(source.id, source.data),),
        )
