# SPDX-License-Identifier: Apache-2.0
"""Data movement as copies: from what an operator does to axes to the calls of the two copying kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from helia_aot.ir.graph import Operator, Tensor
from helia_aot.operators.spec import (
    Argument,
    Constant,
    LoweredOperator,
    TensorPointer,
    constants_of,
    integers,
    lowered,
    operator_name,
)

FILLED: Final = -(1 << 31)
"""In the place of an offset: the kernel writes the pattern."""
MOST_AXES: Final = 8
"""Axes that the copying kernels walk."""


@dataclass(frozen=True)
class Axis:
    """One axis of the output and how the input is read along it.

    Attributes:
        extent: Positions.
        stride: Elements of the input from one position to the next; 0 repeats, a negative one goes back.
    """

    extent: int
    stride: int


def element_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Gives the elements from one index to the next along each dimension of a dense tensor."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def merged_axes(axes: Sequence[Axis]) -> tuple[int, list[Axis]]:
    """Gives the elements that lie side by side, and the axes outside of them, as few as do the same."""
    run, rest = 1, [axis for axis in axes if axis.extent != 1]
    while rest and rest[-1].stride == run:
        run *= rest.pop().extent
    merged: list[Axis] = []
    for axis in rest:
        if merged and merged[-1].stride == axis.stride * axis.extent:
            merged[-1] = Axis(merged[-1].extent * axis.extent, axis.stride)
        else:
            merged.append(axis)
    return run, merged


def strided_copy(
    operator: Operator, source: Tensor, output: Tensor, axes: Sequence[Axis], start: int = 0
) -> LoweredOperator:
    """Makes the copy of a tensor along axes, or renames the tensor where nothing moves.

    Args:
        operator: The operator.
        source: The tensor that is read.
        output: The tensor that is written, dense, its elements in the order of the axes.
        axes: The axes, outermost first.
        start: Element of the input at which the copy starts.
    """
    size = source.dtype.size_bytes
    run, merged = merged_axes(axes)
    if not merged and run == source.elements and source.data is None:
        return renamed(operator, source, output)
    merged = merged or [Axis(1, run)]
    arguments = [
        Argument("input", TensorPointer(source.id, "const void *")),
        Argument("input_offset", start * size),
        Argument("run_bytes", run * size),
        Argument("axes", len(merged)),
        Argument("extents", integers([axis.extent for axis in merged])),
        Argument("strides", integers([axis.stride * size for axis in merged])),
        Argument("output", TensorPointer(output.id, "void *")),
    ]
    return lowered(operator, "helia_nn_copy_strided", arguments, constants=constants_of(source))


def renamed(operator: Operator, source: Tensor, output: Tensor) -> LoweredOperator:
    """Lets the output share the storage of the input."""
    return LoweredOperator(
        node_id=operator.node_id,
        name=operator_name(operator),
        op_type=operator.op_type,
        call=None,
        alias={output.id: source.id},
    )


def mapped_copy(
    operator: Operator,
    source: Tensor,
    output: Tensor,
    positions: Sequence[Sequence[int | None]],
    fill: bytes = b"\0",
) -> LoweredOperator:
    """Makes the copy of a tensor whose every dimension lists where it is read.

    Args:
        operator: The operator.
        source: The tensor that is read.
        output: The tensor that is written; as many dimensions as the source.
        positions: For each dimension of the output the indices along the same dimension of the source; None where the
            output gets the fill value.
        fill: One element of the fill value.
    """
    size = source.dtype.size_bytes
    strides = element_strides(source.shape)
    offsets = [
        [None if index is None else index * stride * size for index in row]
        for row, stride in zip(positions, strides, strict=True)
    ]
    shape = list(source.shape)
    run = size
    while len(offsets) > 1 and positions[len(offsets) - 1] == range(shape[-1]):
        run *= shape.pop()
        offsets.pop()
    segments = _segments(offsets.pop(), run)
    outer = [row for row in offsets if row != [0]]
    table = [FILLED if offset is None else offset for row in outer for offset in row]
    table += [number for segment in segments for number in segment]
    constant = Constant(f"{operator_name(operator)}_map", np.array(table, dtype=np.int32))
    pattern = fill[:1] if len(set(fill)) == 1 else fill
    arguments = [
        Argument("input", TensorPointer(source.id, "const void *")),
        Argument("map", TensorPointer(constant.id, "const int32_t *")),
        Argument("axes", len(outer) + 1),
        Argument("extents", integers([*(len(row) for row in outer), len(segments)])),
        Argument("row_bytes", sum(length for _, length in segments)),
        Argument("pattern", int.from_bytes(pattern, "little", signed=True)),
        Argument("pattern_bytes", len(pattern)),
        Argument("output", TensorPointer(output.id, "void *")),
    ]
    constants = (*constants_of(source), constant)
    return lowered(operator, "helia_nn_copy_mapped", arguments, constants=constants)


def _segments(offsets: Sequence[int | None], run: int) -> list[tuple[int, int]]:
    """Joins neighbouring runs that are read without a gap, and neighbouring fills."""
    segments: list[tuple[int, int]] = []
    for offset in offsets:
        wanted = FILLED if offset is None else offset
        if segments:
            last, length = segments[-1]
            follows = wanted == FILLED if last == FILLED else wanted == last + length
            if follows:
                segments[-1] = (last, length + run)
                continue
        segments.append((wanted, run))
    return segments
