# SPDX-License-Identifier: Apache-2.0
"""Tensors that are put together from pieces: what takes a piece out again can read the piece itself.

A recurrent layer collects its outputs so: each round cuts the collection at its own row and joins before, row and
after. Written out, that would copy the collection once for every round. Where the bounds are constants, the cuts fall
between pieces, and one CONCATENATION of all rows at the end is left.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from helia_aot.ir.attributes import AxisAttributes, ReshapeAttributes
from helia_aot.ir.graph import Operator, Tensor


@dataclass(frozen=True)
class _Joined:
    """How a tensor is put together: along one axis, from tensors of its own type."""

    axis: int
    parts: tuple[str, ...]


class Pieces:
    """What is known of the tensors of a straight line of operators, told one by one in order.

    Args:
        tensors: All tensors by id; shapes that constants tell are written into it.
    """

    def __init__(self, tensors: MutableMapping[str, Tensor]) -> None:
        self._tensors = tensors
        self._joined: dict[str, _Joined] = {}
        self._same: dict[str, str] = {}

    def same(self, tensor_id: str) -> str:
        """Gives the tensor that holds what a tensor would hold: itself, or the one that it is a copy of."""
        return self._same.get(tensor_id, tensor_id)

    def copy(self, source: str, output: str) -> None:
        """Takes note that one tensor holds what another one does."""
        if source in self._joined:
            self._joined[output] = self._joined[source]

    def simplified(self, operator: Operator) -> list[Operator]:
        """Gives the operator, what computes its output from pieces, or nothing where a piece is the output."""
        rule = {"CONCATENATION": self._concatenation, "GATHER": self._gather, "SLICE": self._slice}
        found = rule.get(operator.op_type)
        return [operator] if found is None else found(operator)

    def _number(self, tensor_id: str | None) -> np.ndarray[Any, Any] | None:
        return None if tensor_id is None else self._tensors[tensor_id].data

    def _concatenation(self, operator: Operator) -> list[Operator]:
        output = self._tensors[operator.outputs[0]]
        axis = operator.attributes.axis % max(1, len(output.shape))
        if operator.attributes.activation != "NONE":
            return [operator]
        parts: list[str] = []
        for tensor_id in operator.inputs:
            if tensor_id is None:
                return [operator]
            joined = self._joined.get(tensor_id)
            if joined is not None and joined.axis == axis:
                parts += joined.parts
            elif self._tensors[tensor_id].elements:
                parts.append(tensor_id)
        return self._join(operator, axis, parts)

    def _join(self, operator: Operator, axis: int, parts: list[str]) -> list[Operator]:
        """Gives what puts parts together, all of one quantization; one part is the output."""
        output = self._tensors[operator.outputs[0]]
        kinds = {(self._tensors[part].dtype, self._tensors[part].quantization) for part in parts}
        if kinds != {(output.dtype, output.quantization)}:
            return [operator]
        if len(parts) == 1 and self._tensors[parts[0]].shape == output.shape:
            self._same[output.id] = parts[0]
            return []
        self._joined[output.id] = _Joined(axis, tuple(parts))
        attributes = AxisAttributes(axis)
        return [
            replace(operator, op_type="CONCATENATION", inputs=tuple(parts), attributes=attributes)
        ]

    def _slice(self, operator: Operator) -> list[Operator]:
        source = self._tensors[operator.inputs[0] or ""]
        begin, size = map(self._number, operator.inputs[1:3])
        if (
            begin is None
            or size is None
            or begin.size != len(source.shape)
            or size.size != begin.size
        ):
            return [operator]
        starts = [int(value) for value in begin]
        shape = tuple(
            extent - start if count == -1 else int(count)
            for extent, start, count in zip(source.shape, starts, size, strict=True)
        )
        inside = zip(starts, shape, source.shape, strict=True)
        if not all(start >= 0 and 0 <= count <= extent - start for start, count, extent in inside):
            return [operator]
        output = replace(self._tensors[operator.outputs[0]], shape=shape)
        self._tensors[output.id] = output
        if 0 in shape:
            self._tensors[output.id] = replace(output, data=np.zeros(shape, output.dtype.numpy))
            return []
        joined = self._joined.get(source.id)
        if joined is None:
            return [operator]
        others = [i for i in range(len(shape)) if i != joined.axis]
        if any(shape[i] != source.shape[i] for i in others):
            return [operator]
        parts = self._between(joined, starts[joined.axis], starts[joined.axis] + shape[joined.axis])
        return [operator] if parts is None else self._join(operator, joined.axis, parts)

    def _between(self, joined: _Joined, first: int, end: int) -> list[str] | None:
        """Gives the parts from one index on to another; None where these lie inside of parts."""
        place, found, edges = 0, [], {0}
        for part in joined.parts:
            extent = self._tensors[part].shape[joined.axis]
            if first <= place and place + extent <= end:
                found.append(part)
            place += extent
            edges.add(place)
        return found if {first, end} <= edges else None

    def _gather(self, operator: Operator) -> list[Operator]:
        """Gives the RESHAPE of one part, where one index takes a part of extent 1."""
        joined = self._joined.get(operator.inputs[0] or "")
        index = self._number(operator.inputs[1])
        if joined is None or index is None or index.size != 1 or operator.attributes.batch_dims:
            return [operator]
        source, output = self._tensors[operator.inputs[0] or ""], self._tensors[operator.outputs[0]]
        at = int(index.reshape(()))
        if operator.attributes.axis % len(source.shape) != joined.axis:
            return [operator]
        parts = self._between(joined, at, at + 1)
        if not parts or self._tensors[parts[0]].elements != output.elements:
            return [operator]
        return [
            Operator(operator.node_id, "RESHAPE", (parts[0],), (output.id,), ReshapeAttributes())
        ]
