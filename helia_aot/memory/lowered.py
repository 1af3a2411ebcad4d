# SPDX-License-Identifier: Apache-2.0
"""From a lowered graph to the requests of the memory planner: what needs a place, how long, and which rules apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from helia_aot.config.convert import UNSET, TensorRule
from helia_aot.config.rules import (
    RuleSubject,
    rule_ids,
    unmatched_ids,
    unmatched_rules,
    winning_rule,
)
from helia_aot.ir.graph import Graph
from helia_aot.memory.requests import TensorRequest
from helia_aot.operators.spec import LoweredOperator


def requests_of(
    graph: Graph,
    lowered: Sequence[LoweredOperator],
    rules: Sequence[TensorRule],
    scratch_placement: Mapping[str, str],
) -> list[TensorRequest]:
    """Gives one request for each tensor that a module needs: constants in operator order, then the rest.

    Args:
        graph: The graph.
        lowered: Its operators in execution order, with their constants and scratch buffers.
        rules: The rules of ``memory.tensors``; for each field the most specific one wins.
        scratch_placement: Memory of an operator's scratch buffer by the buffer's id, for operators
            whose attributes name one. It goes over rules that do not name the id.
    """
    named = {tensor_id for rule in rules if rule.attributes.memory for tensor_id in rule_ids(rule)}
    placed = {buffer: m for buffer, m in scratch_placement.items() if buffer not in named}
    return [
        replace(
            request,
            memory=placed.get(request.id) or _rule_memory(rules, request, "memory"),
            destination_memory=_rule_memory(rules, request, "constant_destination_memory"),
        )
        for request in (
            _constant_requests(lowered)
            + _variable_requests(graph)
            + _scratch_requests(graph, lowered)
        )
    ]


def _rule_memory(rules: Sequence[TensorRule], request: TensorRequest, field: str) -> str | None:
    """Gives what the rules say about one field; only constants have a destination."""
    if field == "constant_destination_memory" and request.role != "constant":
        return None
    won = winning_rule(
        rules,
        op_type=request.role,
        ids=(request.id,),
        field_of=lambda rule: getattr(rule.attributes, field),
    )
    memory: str | None = getattr(won[1].attributes, field) if won else None
    is_unset = field == "constant_destination_memory" and memory == UNSET
    return None if is_unset else memory


def tensor_rule_warnings(
    rules: Sequence[TensorRule], requests: Sequence[TensorRequest]
) -> tuple[str, ...]:
    """Gives one warning for each rule of ``memory.tensors``, or id in one, that matches no tensor."""
    subjects = [RuleSubject(request.role, (request.id,)) for request in requests]
    unmatched = {index for index, _ in unmatched_rules(rules, subjects)}
    warnings = []
    for index, rule in enumerate(rules):
        where = f"memory.tensors[{index}] (type {rule.type}, id {rule.id})"
        if index in unmatched:
            warnings.append(f"{where} matches no tensor")
            continue
        warnings += [
            f"{where} names {name!r}, but no tensor that it could match has that id"
            for name in unmatched_ids(rule, subjects)
        ]
    return tuple(warnings)


def _constant_requests(lowered: Sequence[LoweredOperator]) -> list[TensorRequest]:
    constants = {c.id: c for operator in lowered for c in operator.constants}
    return [
        TensorRequest(
            id=constant.id,
            role="constant",
            size_bytes=constant.data.nbytes,
            data=constant.data.tobytes(),
        )
        for constant in constants.values()
    ]


def _variable_requests(graph: Graph) -> list[TensorRequest]:
    """Gives the tensors that keep their values from one run to the next."""
    read = dict.fromkeys(
        i for operator in graph.operators for i in operator.inputs if i is not None
    )
    return [
        TensorRequest(
            id=tensor_id, role="persistent", size_bytes=graph.tensor(tensor_id).size_bytes
        )
        for tensor_id in read
        if graph.tensor(tensor_id).is_variable
    ]


def _scratch_requests(graph: Graph, lowered: Sequence[LoweredOperator]) -> list[TensorRequest]:
    """Gives the computed tensors and scratch buffers with their lifetimes.

    An input of the model is live from the start, an output to the end; what an operator reads and writes is live at its
    position, so that no operator overwrites what it still reads.
    """
    last = len(graph.operators) - 1
    first_use = dict.fromkeys(graph.inputs, 0)
    last_use = dict.fromkeys(graph.inputs, 0)
    for position, operator in enumerate(graph.operators):
        for tensor_id in operator.outputs:
            first_use.setdefault(tensor_id, position)
            last_use[tensor_id] = position
        last_use.update((source, position) for source in operator.inputs if source in first_use)
    last_use.update({tensor_id: last for tensor_id in graph.outputs if tensor_id in first_use})
    alias: dict[str, str] = {}
    for low in lowered:
        alias.update(low.alias)
    requests = [
        TensorRequest(
            id=tensor_id,
            role="scratch",
            size_bytes=graph.tensor(tensor_id).size_bytes,
            first_use=first_use[tensor_id],
            last_use=last_use[tensor_id],
            alias_of=alias.get(tensor_id),
        )
        for tensor_id in first_use
    ]
    requests += [
        TensorRequest(
            id=operator.scratch_id,
            role="scratch",
            size_bytes=operator.scratch_bytes,
            first_use=position,
            last_use=position,
        )
        for position, operator in enumerate(lowered)
        if operator.scratch_bytes
    ]
    return requests
