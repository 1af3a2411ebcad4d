# SPDX-License-Identifier: Apache-2.0
"""IF and WHILE without jumps: the operators of their subgraphs, written out in the order in which they run.

A module runs the same calls every time. So both branches of an IF are computed, and SELECT_V2 takes the
results of one; where constants tell the condition, only its branch is. A WHILE whose condition follows
from constants (a counter and its limit, as recurrent layers have them) becomes as many copies of its body
as it has rounds. Constants of a subgraph are shared by all copies.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from helia_aot.ir.attributes import BranchAttributes, LoopAttributes, ReshapeAttributes
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.transforms.fold_constants import constant_of
from helia_aot.transforms.fold_shapes import known_of
from helia_aot.transforms.pieces import Pieces

MAX_ROUNDS: Final = 10_000
"""Rounds of one loop, after which it is taken for one that does not end."""

MAX_OPERATORS: Final = 10_000
"""Operators of one loop written out; a module calls each of them."""

_COPY: Final = ""
"""Node id of the copies until all are known."""

_KEEPS_A_VALUE: Final = frozenset({"ASSIGN_VARIABLE", "CALL_ONCE"})


def inline_control_flow(graph: Graph) -> Graph:
    """Gives the graph without IF and WHILE; those that cannot be written out stay, with the reason.

    The copies have the tensor names of their subgraph, and node ids from the first on that the model has no
    operator for.

    Args:
        graph: The graph, which is not changed.
    """
    if not any(operator.op_type in ("IF", "WHILE") for operator in graph.operators):
        return graph
    return _Inliner(graph).run()


class _RefusedError(Exception):
    """An IF or WHILE cannot be written out."""


class _Inliner:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._tensors = dict(graph.tensors)
        # Constants that operators of the model itself compute, which other transforms may fold or not.
        self._known: dict[str, Tensor] = {}
        self._pieces = Pieces(self._tensors)
        self._running: list[int] = []

    def run(self) -> Graph:
        operators: list[Operator] = []
        for operator in self._graph.operators:
            if operator.op_type in ("IF", "WHILE"):
                operators += self._written_out(operator)
                continue
            folded = known_of(operator, self._tensors) or self._constant(operator)
            if folded is not None:
                self._known[folded.id] = folded
            operators.append(operator)
        return self._graph.replace(tensors=self._tensors, operators=self._numbered(operators))

    def _numbered(self, operators: Sequence[Operator]) -> tuple[Operator, ...]:
        """Gives the operators, the copies with node ids of their own and without those that nothing reads."""
        first = 1 + max(int(operator.node_id) for operator in self._graph.operators)
        numbers = itertools.count(first)
        return tuple(
            replace(operator, node_id=str(next(numbers))) if operator.node_id == _COPY else operator
            for operator in _read_ones(operators, self._graph.outputs)
        )

    def _constant(self, operator: Operator) -> Tensor | None:
        inputs = {i: self._known[i] for i in operator.inputs if i is not None and i in self._known}
        return constant_of(operator, {**self._some(operator), **inputs})

    def _some(self, operator: Operator) -> dict[str, Tensor]:
        ids = (*operator.inputs, *operator.outputs)
        return {i: self._tensors[i] for i in ids if i is not None}

    def _written_out(self, operator: Operator) -> list[Operator]:
        """Gives what computes the outputs of an IF or a WHILE; itself, with the reason, where nothing else can."""
        try:
            return self._made(operator, operator.node_id)
        except _RefusedError as error:
            attributes = replace(operator.attributes, refusal=str(error))
            return [replace(operator, attributes=attributes)]

    def _made(self, operator: Operator, prefix: str) -> list[Operator]:
        attributes = operator.attributes
        if isinstance(attributes, BranchAttributes):
            return self._branches(operator, attributes, prefix)
        return self._rounds(operator, attributes, prefix)

    def _branches(
        self, operator: Operator, attributes: BranchAttributes, prefix: str
    ) -> list[Operator]:
        condition, *values = _present(operator)
        decision = self._decision(condition)
        count = len(operator.outputs)
        if decision is not None:
            chosen = attributes.then_subgraph if decision else attributes.else_subgraph
            made, results = self._instance(chosen, values, prefix, results=count)
            return made + self._bound(operator, results)
        made, choices = [], []
        for name, number in (
            ("then", attributes.then_subgraph),
            ("else", attributes.else_subgraph),
        ):
            branch, results = self._instance(number, values, f"{prefix}_{name}", results=count)
            if any(map(self._changes_state, branch)):
                raise _RefusedError(
                    f"subgraph {number} changes a variable in one of its branches only"
                )
            made += branch
            choices.append(results)
        for place, output in enumerate(operator.outputs):
            inputs = (condition, *(results[place] for results in choices))
            made.append(Operator(_COPY, "SELECT_V2", inputs, (output,)))
        return made

    def _changes_state(self, operator: Operator) -> bool:
        ids = (i for i in operator.inputs if i is not None)
        return operator.op_type in _KEEPS_A_VALUE or any(self._tensors[i].is_variable for i in ids)

    def _rounds(
        self, operator: Operator, attributes: LoopAttributes, prefix: str
    ) -> list[Operator]:
        values = _present(operator)
        if len(operator.outputs) != len(values):
            raise _RefusedError(f"it has {len(values)} inputs and {len(operator.outputs)} outputs")
        made: list[Operator] = []
        for number in range(MAX_ROUNDS):
            this = f"{prefix}_{number}"
            _, (more,) = self._instance(
                attributes.condition_subgraph, values, f"{this}_if", results=1
            )
            decision = self._decision(more)
            if decision is None:
                raise _RefusedError(
                    f"how often it runs depends on what is computed, after {number} rounds; supported are loops "
                    "whose rounds follow from constants"
                )
            if not decision:
                return made + self._bound(operator, values)
            body, values = self._instance(
                attributes.body_subgraph, values, this, results=len(values)
            )
            made += body
            if len(made) > MAX_OPERATORS:
                raise _RefusedError(
                    f"written out it has more than {MAX_OPERATORS:,} operators after {number + 1:,} rounds"
                )
        raise _RefusedError(f"it does not end within {MAX_ROUNDS:,} rounds")

    def _decision(self, tensor_id: str) -> bool | None:
        tensor = self._known.get(tensor_id, self._tensors[tensor_id])
        return bool(tensor.data) if tensor.data is not None and tensor.data.size == 1 else None

    def _bound(self, operator: Operator, results: Sequence[str]) -> list[Operator]:
        """Gives what copies the results to the outputs; it is left out again where nothing needs it."""
        copies = []
        for result, output in zip(results, operator.outputs, strict=True):
            source, target = self._tensors[result], self._tensors[output]
            if source.is_constant and output not in self._graph.outputs:
                self._tensors[output] = replace(source, id=output, name=target.name)
            else:
                self._tensors[output] = replace(target, shape=source.shape)
                copies.append(Operator(_COPY, "RESHAPE", (result,), (output,), ReshapeAttributes()))
                self._pieces.copy(result, output)
        return copies

    def _instance(
        self, number: int, values: Sequence[str], prefix: str, *, results: int
    ) -> tuple[list[Operator], list[str]]:
        """Gives a copy of a subgraph's operators for some inputs, and the ids of its outputs."""
        inner = self._graph.subgraphs.get(number)
        if inner is None or number in self._running:
            what = "does not exist" if inner is None else "runs itself"
            raise _RefusedError(f"subgraph {number} {what}")
        if len(values) != len(inner.inputs):
            raise _RefusedError(
                f"subgraph {number} takes {len(inner.inputs)} values, not {len(values)}"
            )
        for place, (value, tensor_id) in enumerate(zip(values, inner.inputs, strict=True)):
            given, taken = self._tensors[value], inner.tensors[tensor_id]
            if (given.dtype, given.quantization) != (taken.dtype, taken.quantization):
                raise _RefusedError(f"input {place} of subgraph {number} has another type")
        if len(inner.outputs) != results:
            raise _RefusedError(
                f"subgraph {number} gives {len(inner.outputs)} results, not {results}"
            )
        self._running.append(number)
        try:
            return self._copied(inner, values, prefix)
        finally:
            self._running.pop()

    def _copied(
        self, inner: Graph, values: Sequence[str], prefix: str
    ) -> tuple[list[Operator], list[str]]:
        names = dict(zip(inner.inputs, values, strict=True))
        for tensor_id, tensor in inner.tensors.items():
            if tensor_id not in names:
                is_shared = tensor.is_constant or tensor.is_variable
                place = f"subgraph{inner.subgraph}" if is_shared else prefix
                names[tensor_id] = f"{place}_{tensor_id}"
                self._tensors[names[tensor_id]] = replace(tensor, id=names[tensor_id])
        made: list[Operator] = []
        for operator in inner.operators:
            copy = replace(
                operator,
                node_id=_COPY,
                inputs=tuple(
                    None if i is None else self._pieces.same(names[i]) for i in operator.inputs
                ),
                outputs=tuple(names[output] for output in operator.outputs),
            )
            if copy.op_type in ("IF", "WHILE"):
                made += self._settled(copy, f"{prefix}_{operator.node_id}")
            else:
                made += self._simplified(copy)
        return made, [self._pieces.same(names[output]) for output in inner.outputs]

    def _settled(self, operator: Operator, prefix: str) -> list[Operator]:
        """Gives an IF or WHILE of a subgraph written out; what it cannot do the operator around it cannot."""
        try:
            return self._made(operator, prefix)
        except _RefusedError as error:
            raise _RefusedError(f"of {operator.op_type} inside of it: {error}") from error

    def _simplified(self, operator: Operator) -> list[Operator]:
        """Gives an operator of a subgraph, or nothing where its output is a constant or another tensor."""
        folded = known_of(operator, self._tensors) or self._constant(operator)
        if folded is not None:
            self._tensors[folded.id] = folded
            return []
        return self._pieces.simplified(operator)


def _present(operator: Operator) -> list[str]:
    if None in operator.inputs or not operator.inputs:
        raise _RefusedError("an input is missing")
    return [i for i in operator.inputs if i is not None]


def _read_ones(operators: Sequence[Operator], outputs: Sequence[str]) -> list[Operator]:
    """Gives the operators without those copies whose outputs nothing reads."""
    read = set(outputs)
    kept = []
    for operator in reversed(operators):
        is_needed = operator.node_id != _COPY or operator.op_type in _KEEPS_A_VALUE
        if is_needed or not read.isdisjoint(operator.outputs):
            kept.append(operator)
            read.update(i for i in operator.inputs if i is not None)
    return kept[::-1]
