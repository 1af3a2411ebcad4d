# SPDX-License-Identifier: Apache-2.0
"""AVERAGE_POOL_2D and MAX_POOL_2D: constraints and lowering."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.graph import Graph, Operator
from helia_aot.ir.quantization import activation_range
from helia_aot.operators import checks
from helia_aot.operators.convolution import check_output
from helia_aot.operators.geometry import window
from helia_aot.operators.spec import (
    Argument,
    KernelCall,
    KnobDomain,
    LoweredOperator,
    Struct,
    Target,
    TensorPointer,
    buffer,
    clamp,
    dims,
    operator_name,
    tile,
)


class Pooling:
    """The pooling family.

    Args:
        entry: The kernel entry of the pool.
    """

    def __init__(self, entry: str) -> None:
        self._entry = entry

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the pool cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += checks.check_int8("input", source) + checks.check_int8("output", output)
        reasons += checks.check_rank("input", source, (4,))
        reasons += checks.check_activation(operator.attributes.activation)
        reasons += checks.check_steps(operator.attributes)
        if reasons:
            return reasons
        reasons += checks.check_same_quantization(source, output)
        options = operator.attributes
        geometry = window(options, source.shape, options.filter_h, options.filter_w)
        return reasons + check_output(output, geometry, source.shape[3])

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts none: a pool has no weights."""
        del graph, operator
        return 0

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives no knob."""
        del graph, operator, target
        return {}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the pooling call."""
        del choices, target
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        assert output.quantization is not None
        options = operator.attributes
        geometry = window(options, source.shape, options.filter_h, options.filter_w)
        low, high = activation_range(options.activation, output.dtype, output.quantization)
        params = Struct(
            "cmsis_nn_pool_params",
            (
                ("stride", tile(geometry.stride_w, geometry.stride_h)),
                ("padding", tile(geometry.pad_w, geometry.pad_h)),
                ("activation", clamp(low, high)),
            ),
        )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument("pool_params", params),
            Argument("input_dims", dims(*source.shape)),
            Argument("input_data", TensorPointer(source.id, "const int8_t *")),
            Argument("filter_dims", dims(1, options.filter_h, options.filter_w, 1)),
            Argument("output_dims", dims(*output.shape)),
            Argument("output_data", TensorPointer(output.id, "int8_t *")),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=KernelCall(self._entry, arguments),
        )
