# SPDX-License-Identifier: Apache-2.0
"""Names of operators that stay the same when other operators come and go.

A plan written today must find its operators tomorrow, so an operator is named after its first
output tensor, not after its position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from helia_aot.ir.graph import Graph

IdSource = Literal["tensor_name", "tensor_name+ordinal", "index", "node_id"]


@dataclass(frozen=True)
class OperatorId:
    """How one operator is named.

    Attributes:
        id: ``<subgraph>:<first output tensor name>``; with ``#1``, ``#2``, ... where a name
            repeats; ``<subgraph>:@<index>`` where there is no name; the node id where the stable id
            would also name another operator.
        id_source: Which of these it is.
        index: Position in execution order.
        node_id: The operator's index in the model's subgraph, as text.
    """

    id: str
    id_source: IdSource
    index: int
    node_id: str

    @property
    def names(self) -> tuple[str, ...]:
        """Every id that a rule can name the operator by."""
        return (self.id,) if self.id == self.node_id else (self.id, self.node_id)


def operator_ids(graph: Graph) -> tuple[OperatorId, ...]:
    """Gives the ids of all operators of a graph, in execution order; all ``id`` are different."""
    stable = _stable_ids(graph)
    spelled = Counter(stable_id for stable_id, _ in stable)
    owner = {operator.node_id: index for index, operator in enumerate(graph.operators)}
    ids: list[OperatorId] = []
    for index, (stable_id, source) in enumerate(stable):
        node_id = graph.operators[index].node_id
        if spelled[stable_id] > 1 or owner.get(stable_id, index) != index:
            ids.append(OperatorId(node_id, "node_id", index, node_id))
        else:
            ids.append(OperatorId(stable_id, source, index, node_id))
    return tuple(ids)


def ambiguity_warnings(ids: Sequence[OperatorId]) -> tuple[str, ...]:
    """Gives a warning for each operator whose stable id would also name another operator."""
    return tuple(
        f"operator {item.node_id}: its stable id would also name another operator, so rules and "
        f"plans know it by its node id only"
        for item in ids
        if item.id_source == "node_id"
    )


def _stable_ids(graph: Graph) -> list[tuple[str, IdSource]]:
    names = [_first_output_name(graph, index) for index in range(len(graph.operators))]
    repeats = Counter(names)
    seen: Counter[str] = Counter()
    ids: list[tuple[str, IdSource]] = []
    for index, name in enumerate(names):
        seen[name] += 1
        if not name:
            ids.append((f"{graph.subgraph}:@{index}", "index"))
        elif repeats[name] > 1:
            ids.append((f"{graph.subgraph}:{name}#{seen[name]}", "tensor_name+ordinal"))
        else:
            ids.append((f"{graph.subgraph}:{name}", "tensor_name"))
    return ids


def _first_output_name(graph: Graph, index: int) -> str:
    outputs = graph.operators[index].outputs
    return graph.tensor(outputs[0]).name if outputs else ""
