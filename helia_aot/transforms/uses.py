# SPDX-License-Identifier: Apache-2.0
"""Who computes and who reads the tensors of a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from helia_aot.ir.graph import Graph, Operator, Tensor


def readers(graph: Graph) -> Mapping[str, list[Operator]]:
    """Gives the operators that read each tensor, one entry for each input that names it."""
    uses: dict[str, list[Operator]] = defaultdict(list)
    for operator in graph.operators:
        for tensor_id in operator.inputs:
            if tensor_id is not None:
                uses[tensor_id].append(operator)
    return uses


def writers(graph: Graph) -> Mapping[str, Operator]:
    """Gives the operator that computes each tensor."""
    return {output: operator for operator in graph.operators for output in operator.outputs}


def is_same_kind(first: Tensor, second: Tensor) -> bool:
    """Says whether two tensors have one element type and one quantization."""
    return first.dtype is second.dtype and first.quantization == second.quantization
