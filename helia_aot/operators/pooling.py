# SPDX-License-Identifier: Apache-2.0
"""AVERAGE_POOL_2D and MAX_POOL_2D: constraints and lowering."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator
from helia_aot.ir.quantization import activation_range
from helia_aot.operators import checks
from helia_aot.operators.convolution import check_output
from helia_aot.operators.geometry import window
from helia_aot.operators.spec import (
    Argument,
    KernelCall,
    LoweredOperator,
    Plain,
    Struct,
    Support,
    Target,
    buffer,
    clamp,
    dims,
    operator_name,
    read_pointer,
    tile,
    written_pointer,
)


class Pooling(Plain):
    """The pooling family: int8 and int16.

    Args:
        kind: Name of the kernel entry between ``arm_`` and the element type.
    """

    support = (Support(("int8", "int16"), "input and output quantized alike"),)

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the pool cannot be compiled."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        reasons += checks.check_quantized("input", source)
        reasons += checks.check_quantized("output", output)
        reasons += checks.check_same_type(source, output)
        reasons += checks.check_rank("input", source, (4,))
        reasons += checks.check_activation(operator.attributes.activation)
        reasons += checks.check_steps(operator.attributes)
        if reasons:
            return reasons
        reasons += checks.check_same_quantization(source, output)
        options = operator.attributes
        geometry = window(options, source.shape, options.filter_h, options.filter_w)
        return reasons + check_output(output, geometry, source.shape[3])

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
        suffix = "s8" if output.dtype is DType.INT8 else "s16"
        names = (
            ("src", "dst")
            if (self._kind, suffix) == ("max_pool", "s16")
            else ("input_data", "output_data")
        )
        arguments = (
            Argument("ctx", buffer(None, 0)),
            Argument("pool_params", params),
            Argument("input_dims", dims(*source.shape)),
            Argument(names[0], read_pointer(source)),
            Argument("filter_dims", dims(1, options.filter_h, options.filter_w, 1)),
            Argument("output_dims", dims(*output.shape)),
            Argument(names[1], written_pointer(output)),
        )
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=KernelCall(f"arm_{self._kind}_{suffix}", arguments),
        )
