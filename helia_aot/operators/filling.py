# SPDX-License-Identifier: Apache-2.0
"""FILL and ZEROS_LIKE that conversion does not fold: one value everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators import checks
from helia_aot.operators.movement import ANY_TYPE, BroadcastTo
from helia_aot.operators.spec import LoweredOperator, Plain, Support, Target, operator_name
from helia_aot.operators.variables import fill_call


class Fill(BroadcastTo):
    """The FILL family: the value is read when the model runs; the shape comes from the output tensor."""

    counts = (2,)
    constants: ClassVar[Mapping[int, str]] = {0: "shape"}
    data = 1
    limits = "the shape is a constant; value and output quantized alike"

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks that the value is one element."""
        value, _ = self._ends(graph, operator)
        if value.elements != 1:
            return [f"value has shape {list(value.shape)}; supported: a scalar"]
        return super().shape_problems(graph, operator)


class ZerosLike(Plain):
    """The ZEROS_LIKE family: the stored number 0, whatever the zero point, as in TFLite."""

    support = (Support(ANY_TYPE, "the stored number 0"),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why there can be no zeros."""
        reasons = checks.check_count(operator, inputs=(1,))
        if reasons:
            return reasons
        source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
        if not output.dtype.is_numeric:
            return [f"output has type {output.dtype}, whose elements are no whole bytes"]
        reasons += checks.check_same_type(source, output)
        return reasons + checks.check_shape("output", output, source.shape)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call; the input is not read."""
        del choices, target
        output = graph.tensor(operator.outputs[0])
        return LoweredOperator(
            node_id=operator.node_id,
            name=operator_name(operator),
            op_type=operator.op_type,
            call=fill_call(output, b"\0"),
        )
