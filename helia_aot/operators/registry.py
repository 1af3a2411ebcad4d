# SPDX-License-Identifier: Apache-2.0
"""Which operator types are supported, and the one check that names everything a model needs beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.errors import Problem, UnsupportedModelError
from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators.activation import Softmax
from helia_aot.operators.convolution import C16, SMALL_CIN, Convolution
from helia_aot.operators.depthwise import (
    DIRECT_3X3,
    DIRECT_3X3_C64_S1,
    DIRECT_CHANNELWISE,
    DIRECT_PLANAR,
    Depthwise,
)
from helia_aot.operators.elementwise import Add
from helia_aot.operators.linear import FullyConnected
from helia_aot.operators.movement import Reshape
from helia_aot.operators.pooling import Pooling
from helia_aot.operators.spec import OperatorFamily

FAMILIES: Final[Mapping[str, OperatorFamily]] = {
    "ADD": Add(),
    "AVERAGE_POOL_2D": Pooling("arm_avgpool_s8"),
    "CONV_2D": Convolution(),
    "DEPTHWISE_CONV_2D": Depthwise(),
    "FULLY_CONNECTED": FullyConnected(),
    "MAX_POOL_2D": Pooling("arm_max_pool_s8"),
    "RESHAPE": Reshape(),
    "SOFTMAX": Softmax(),
}
"""TFLite operator name -> its family."""

DIRECT_ENTRIES: Final = frozenset(
    {SMALL_CIN, C16, DIRECT_3X3, DIRECT_3X3_C64_S1, DIRECT_CHANNELWISE, DIRECT_PLANAR}
)
"""Entries that a module can call only with kernel library release 7.37.0 or later."""


def check_supported(graph: Graph, model_name: str) -> None:
    """Checks that every operator of a graph can be compiled.

    Raises:
        UnsupportedModelError: Lists every operator that cannot, with its type and each reason.
    """
    problems = [
        Problem(f"operator {operator.node_id} {operator.op_type}", reason)
        for operator in graph.operators
        for reason in _reasons(graph, operator)
    ]
    computed = {output for operator in graph.operators for output in operator.outputs}
    problems += [
        Problem(f"output {position} of the model", "no operator computes it")
        for position, tensor_id in enumerate(graph.outputs)
        if tensor_id not in computed and tensor_id not in graph.inputs
    ]
    if problems:
        count = len({problem.where for problem in problems})
        raise UnsupportedModelError(
            f"{model_name} needs what is not supported, in {count} place(s)",
            problems,
            next_step=f"Supported operators (int8): {', '.join(FAMILIES)}.",
        )


def _reasons(graph: Graph, operator: Operator) -> list[str]:
    family = FAMILIES.get(operator.op_type)
    if family is None:
        return ["this operator is not supported"]
    return _graph_reasons(graph, operator) or family.problems(graph, operator)


def _graph_reasons(graph: Graph, operator: Operator) -> list[str]:
    """Gives what is wrong with the operator's tensors whatever its type."""
    computed = {output for other in graph.operators for output in other.outputs}
    reasons = []
    for role, ids in (("input", operator.inputs), ("output", operator.outputs)):
        for position, tensor_id in enumerate(ids):
            if tensor_id is None:
                continue
            tensor = graph.tensor(tensor_id)
            if any(size < 1 for size in tensor.shape):
                reasons.append(f"{role} {position} has the shape {list(tensor.shape)}, not static")
            if role == "input" and not (
                tensor.is_constant or tensor_id in computed or tensor_id in graph.inputs
            ):
                kind = "is a variable" if tensor.is_variable else "is computed by no operator"
                reasons.append(f"{role} {position} (tensor {tensor_id}) {kind}")
    return reasons
