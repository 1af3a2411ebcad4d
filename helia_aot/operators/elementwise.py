# SPDX-License-Identifier: Apache-2.0
"""ADD: constraints and lowering, with and without broadcasting."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.ir.quantization import ADD_LEFT_SHIFT_S8, activation_range, addition_parameters
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
    tensor_dims,
)


class Add:
    """The ADD family: int8, same shapes or broadcast up to four dimensions."""

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the addition cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        for role, tensor in (("input 0", first), ("input 1", second), ("output", output)):
            reasons += checks.check_int8(role, tensor)
        reasons += checks.check_activation(operator.attributes.activation)
        if reasons:
            return reasons
        try:
            shape = np.broadcast_shapes(first.shape, second.shape)
        except ValueError:
            return [f"shapes {list(first.shape)} and {list(second.shape)} cannot be broadcast"]
        if shape != output.shape:
            reasons.append(f"output has shape {list(output.shape)}; its inputs give {list(shape)}")
        if first.shape != second.shape and len(shape) > 4:
            reasons.append(f"broadcasts {len(shape)} dimensions; supported: up to 4")
        return reasons

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts none: an addition has no weights."""
        del graph, operator
        return 0

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the addition call."""
        del choices, target
        first, second = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        same = first.shape == second.shape
        scaling = _scaling(operator, first, second, output)
        if same:
            arguments = [
                Argument("input_1_vect", TensorPointer(first.id, "const int8_t *")),
                Argument("input_2_vect", TensorPointer(second.id, "const int8_t *")),
                *scaling[:7],
                Argument("output", TensorPointer(output.id, "int8_t *")),
                *scaling[7:],
                Argument("block_size", output.elements),
            ]
        else:
            arguments = [
                Argument("input1_data", TensorPointer(first.id, "const int8_t *")),
                Argument("input1_dims", tensor_dims(first.shape)),
                Argument("input2_data", TensorPointer(second.id, "const int8_t *")),
                Argument("input2_dims", tensor_dims(second.shape)),
                *scaling[:7],
                Argument("output_data", TensorPointer(output.id, "int8_t *")),
                Argument("output_dims", tensor_dims(output.shape)),
                *scaling[7:],
            ]
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=KernelCall("arm_elementwise_add_s8" if same else "arm_add_s8", tuple(arguments)),
            constants=tuple(Constant(t.id, t.data) for t in (first, second) if t.data is not None),
        )


def _scaling(operator: Operator, first: Tensor, second: Tensor, output: Tensor) -> list[Argument]:
    """Gives the seven scalars before the output argument and the five after it."""
    assert first.quantization is not None
    assert second.quantization is not None
    assert output.quantization is not None
    one, two, out = addition_parameters(
        first.quantization, second.quantization, output.quantization
    )
    low, high = activation_range(operator.attributes.activation, output.dtype, output.quantization)
    return [
        Argument("input_1_offset", -first.quantization.zero_point),
        Argument("input_1_mult", one[0]),
        Argument("input_1_shift", one[1]),
        Argument("input_2_offset", -second.quantization.zero_point),
        Argument("input_2_mult", two[0]),
        Argument("input_2_shift", two[1]),
        Argument("left_shift", ADD_LEFT_SHIFT_S8),
        Argument("out_offset", output.quantization.zero_point),
        Argument("out_mult", out[0]),
        Argument("out_shift", out[1]),
        Argument("out_activation_min", low),
        Argument("out_activation_max", high),
    ]
