# SPDX-License-Identifier: Apache-2.0
"""Shapes of element-wise operators, whose inputs are broadcast to the output's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from helia_aot.ir.graph import Tensor
from helia_aot.operators.spec import Struct, dims, tensor_dims

DIMENSIONS: Final = 4
"""Dimensions that the kernels walk."""
BROADCAST: Final = "broadcasts"


def check_broadcast(inputs: Sequence[Tensor], output: Tensor) -> list[str]:
    """Checks inputs that are broadcast to the output's shape, whatever their type."""
    shapes = [tensor.shape for tensor in inputs]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(str(list(shape)) for shape in shapes)
        return [f"shapes {listed} cannot be broadcast"]
    if shape != output.shape:
        return [f"output has shape {list(output.shape)}; its inputs give {list(shape)}"]
    runs = len(merged_shapes(shapes, shape)[-1])
    if runs > DIMENSIONS:
        return [f"broadcasts {runs} runs of dimensions; supported: up to {DIMENSIONS}"]
    return []


def merged_shapes(
    shapes: Sequence[tuple[int, ...]], output: tuple[int, ...], most: int = DIMENSIONS
) -> list[tuple[int, ...]]:
    """Gives the shapes of inputs and output, at first those of the inputs, with few enough dimensions for the kernels.

    Shapes of up to ``most`` dimensions stay as they are. Of larger ones, neighbouring dimensions that every input
    repeats or walks alike become one.

    Args:
        shapes: Shapes of the inputs, which broadcast to ``output``.
        output: Shape of the output.
        most: Dimensions that need no merging; there may be more of them after it.
    """
    rank = len(output)
    if rank <= most:
        return [*shapes, output]
    padded = [(1,) * (rank - len(shape)) + shape for shape in (*shapes, output)]
    merged: list[list[int]] = [[] for _ in padded]
    last: tuple[bool, ...] | None = None
    for extents in zip(*padded, strict=True):
        if extents[-1] == 1:
            continue
        repeats = tuple(extent == 1 for extent in extents)
        for run, extent in zip(merged, extents, strict=True):
            if repeats == last:
                run[-1] *= extent
            else:
                run.append(extent)
        last = repeats
    return [tuple(run) for run in merged]


def operand_dims(*tensors: Tensor) -> list[Struct]:
    """Gives the extents of all inputs and the output, which is last; equal shapes as one run."""
    output = tensors[-1]
    if all(tensor.shape == output.shape for tensor in tensors):
        return [dims(1, 1, 1, output.elements)] * len(tensors)
    return [
        tensor_dims(shape)
        for shape in merged_shapes([tensor.shape for tensor in tensors[:-1]], output.shape)
    ]
