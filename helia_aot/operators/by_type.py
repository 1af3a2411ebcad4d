# SPDX-License-Identifier: Apache-2.0
"""An operator type with one family for each element type of its activations."""

from __future__ import annotations

from collections.abc import Mapping

from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators.spec import (
    FixedDomain,
    HasFixedChoices,
    KnobDomain,
    LoweredOperator,
    OperatorFamily,
    Support,
    Target,
)


class ByType:
    """Passes each operator to the family that stands for the element type of its first output.

    Args:
        families: Element type by its numpy name -> family; a family may stand for several types.
    """

    def __init__(self, families: Mapping[str, OperatorFamily]) -> None:
        self._families = dict(families)

    @property
    def support(self) -> tuple[Support, ...]:
        """What the families take, each once, in the order of their types."""
        lines = [line for family in self._families.values() for line in family.support]
        return tuple(dict.fromkeys(lines))

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the operator cannot be compiled."""
        if not operator.outputs:
            return ["has no output"]
        dtype = graph.tensor(operator.outputs[0]).dtype.value
        family = self._families.get(dtype)
        if family is None:
            return [f"output has type {dtype}; supported: {', '.join(self._families)}"]
        return family.problems(graph, operator)

    def macs(self, graph: Graph, operator: Operator) -> int:
        """Counts multiply-accumulates, as the family does."""
        return self._family(graph, operator).macs(graph, operator)

    def domains(self, graph: Graph, operator: Operator, target: Target) -> Mapping[str, KnobDomain]:
        """Gives the family's knobs."""
        return self._family(graph, operator).domains(graph, operator, target)

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        """Gives the family's fixed choices, if it has any."""
        family = self._family(graph, operator)
        if not isinstance(family, HasFixedChoices):
            return {}
        return family.fixed(graph, operator, knobs, target)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the family's call."""
        return self._family(graph, operator).lower(graph, operator, choices, target)

    def _family(self, graph: Graph, operator: Operator) -> OperatorFamily:
        return self._families[graph.tensor(operator.outputs[0]).dtype.value]
