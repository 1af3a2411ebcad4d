# SPDX-License-Identifier: Apache-2.0
"""Tensors that are put together from pieces: what takes a piece out again can read the piece itself.

A recurrent layer collects its outputs so: each round cuts the collection at its own row and joins before, row and
after. Written out, that would copy the collection once for every round. Where the bounds are constants, the cuts fall
between pieces, and one CONCATENATION of all rows at the end is left.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, replace

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
        inputs = [self._tensors[i] for i in operator.inputs if i is not None]
        if len(inputs) != len(operator.inputs) or len(operator.outputs) != 1:
            return [operator]
        found: list[Operator] | None = None
        if operator.op_type == "CONCATENATION":
            found = self._concatenation(operator, [tensor.id for tensor in inputs])
        elif operator.op_type == "GATHER" and len(inputs) == 2:
            found = self._gather(operator, *inputs)
        elif operator.op_type == "SLICE" and len(inputs) == 3:
            found = self._slice(operator, *inputs)
        return [operator] if found is None else found

    def _concatenation(self, operator: Operator, inputs: Sequence[str]) -> list[Operator] | None:
        rank = len(self._tensors[operator.outputs[0]].shape)
        axis = operator.attributes.axis
        if not -rank <= axis < rank or operator.attributes.activation != "NONE":
            return None
        axis %= rank
        parts: list[str] = []
        for tensor_id in inputs:
            joined = self._joined.get(tensor_id)
            if joined is not None and joined.axis == axis:
                parts += joined.parts
            elif self._tensors[tensor_id].elements:
                parts.append(tensor_id)
        return self._join(operator, axis, parts)

    def _join(self, operator: Operator, axis: int, parts: list[str]) -> list[Operator] | None:
        """Gives what puts parts together; one part is the output. None where the parts do not make the output."""
        output = self._tensors[operator.outputs[0]]
        tensors = [self._tensors[part] for part in parts]
        if {(t.dtype, t.quantization) for t in tensors} != {(output.dtype, output.quantization)}:
            return None
        if {_beside(t, axis) for t in tensors} != {_beside(output, axis)}:
            return None
        if sum(t.shape[axis] for t in tensors) != output.shape[axis]:
            return None
        if len(parts) == 1:
            self._same[output.id] = parts[0]
            return []
        self._joined[output.id] = _Joined(axis, tuple(parts))
        attributes = AxisAttributes(axis)
        return [
            replace(operator, op_type="CONCATENATION", inputs=tuple(parts), attributes=attributes)
        ]

    def _slice(
        self, operator: Operator, source: Tensor, begin: Tensor, size: Tensor
    ) -> list[Operator] | None:
        starts, counts = _integers(begin), _integers(size)
        if starts is None or counts is None or not len(starts) == len(counts) == len(source.shape):
            return None
        shape = tuple(
            extent - start if count == -1 else count
            for extent, start, count in zip(source.shape, starts, counts, strict=True)
        )
        inside = zip(starts, shape, source.shape, strict=True)
        if not all(start >= 0 and 0 <= count <= extent - start for start, count, extent in inside):
            return None
        output = replace(self._tensors[operator.outputs[0]], shape=shape)
        self._tensors[output.id] = output
        if 0 in shape and output.dtype.is_numeric:
            self._tensors[output.id] = replace(output, data=np.zeros(shape, output.dtype.numpy))
            return []
        joined = self._joined.get(source.id)
        if joined is None or _beside(output, joined.axis) != _beside(source, joined.axis):
            return None
        first = starts[joined.axis]
        parts = self._between(joined, first, first + shape[joined.axis])
        return None if parts is None else self._join(operator, joined.axis, parts)

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

    def _gather(self, operator: Operator, source: Tensor, indices: Tensor) -> list[Operator] | None:
        """Gives the RESHAPE of one part, where one index takes a part of extent 1."""
        joined, index = self._joined.get(source.id), _integers(indices)
        if joined is None or index is None or len(index) != 1 or operator.attributes.batch_dims:
            return None
        if operator.attributes.axis not in (joined.axis, joined.axis - len(source.shape)):
            return None
        parts = self._between(joined, index[0], index[0] + 1)
        output = self._tensors[operator.outputs[0]]
        if not parts or self._tensors[parts[0]].elements != output.elements:
            return None
        return [
            Operator(operator.node_id, "RESHAPE", (parts[0],), (output.id,), ReshapeAttributes())
        ]


def _beside(tensor: Tensor, axis: int) -> tuple[int, ...] | None:
    """Gives the extents of all dimensions but one; None where there is none of that number."""
    return tensor.shape[:axis] + tensor.shape[axis + 1 :] if axis < len(tensor.shape) else None


def _integers(tensor: Tensor) -> list[int] | None:
    """Gives the elements of a constant of whole numbers."""
    if tensor.data is None or tensor.data.dtype.kind not in "iu":
        return None
    return [int(value) for value in tensor.data.reshape(-1)]
