# SPDX-License-Identifier: Apache-2.0
"""SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: every place of a block is an image of the batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators.movement import Mover, numbers
from helia_aot.operators.spec import (
    Argument,
    LoweredOperator,
    Struct,
    Target,
    TensorPointer,
    constants_of,
    dims,
    lowered,
    tile,
)

_ALIKE: Final = "input and output quantized alike"


@dataclass(frozen=True)
class BlockGrid:
    """What one of the operators does along rows and columns.

    Attributes:
        block: Rows and columns of a block.
        before: Rows above and columns on the left that are added or cut off.
        after: Rows below and columns on the right that are added or cut off.
    """

    block: tuple[int, int]
    before: tuple[int, int]
    after: tuple[int, int]


def block_grid(graph: Graph, operator: Operator) -> BlockGrid:
    """Reads block and margins of an operator with constant ones; a tensor of three dimensions has one column.

    Raises:
        ValueError: They do not fit the input.
    """
    source = graph.tensor(operator.inputs[0])
    block, margins = (numbers(graph.tensor(i)) for i in operator.inputs[1:3])
    axes = len(source.shape) - 2
    if axes not in (1, 2):
        raise ValueError(f"input has shape {list(source.shape)}; supported: 3 or 4 dimensions")
    if len(block) != axes or len(margins) != 2 * axes or min(block) < 1 or min(margins) < 0:
        raise ValueError(f"blocks {block} and margins {margins} do not fit {axes} dimensions")
    one = [1] * (2 - axes)
    none = [0] * (2 - axes)
    rows, columns = [*block, *one]
    above, left = [*margins[::2], *none]
    below, right = [*margins[1::2], *none]
    return BlockGrid((rows, columns), (above, left), (below, right))


class SpaceBatch(Mover):
    """Both families.

    Args:
        to_batch: Whether places become images, or images become places.
    """

    counts = (3,)
    constants: ClassVar[Mapping[int, str]] = {1: "block shape", 2: "padding or crops"}

    def __init__(self, *, to_batch: bool) -> None:
        self._to_batch = to_batch
        margins = "padding" if to_batch else "crops"
        self.limits = f"block and {margins} are constants; 3 or 4 dimensions; {_ALIKE}"

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks block, margins and both shapes."""
        source, output = self._ends(graph, operator)
        try:
            blocks = block_grid(graph, operator)
            expected = self._shape(source, blocks)
        except ValueError as error:
            return [str(error)]
        if expected != output.shape:
            return [f"output has shape {list(output.shape)}; the operator gives {list(expected)}"]
        zero = output.quantization.zero_point if output.quantization else 0
        if self._to_batch and zero and output.dtype.size_bytes > 1:
            return [f"pads {output.dtype} with zero point {zero}; supported: 0"]
        return []

    def _shape(self, source: Tensor, blocks: BlockGrid) -> tuple[int, ...]:
        """Gives the output's shape.

        Raises:
            ValueError: The blocks do not cover the input, or nothing is left of it.
        """
        n, *extents, c = source.shape
        places = blocks.block[0] * blocks.block[1]
        found = []
        for size, block, before, after in zip(
            extents, blocks.block, blocks.before, blocks.after, strict=False
        ):
            whole = size + before + after if self._to_batch else size * block - before - after
            if whole < 1 or (self._to_batch and whole % block):
                raise ValueError(
                    f"blocks of {block} do not fit {size} with the margins {before} and {after}"
                )
            found.append(whole // block if self._to_batch else whole)
        if not self._to_batch and n % places:
            raise ValueError(f"a batch of {n} does not hold whole blocks of {places} images")
        return (n * places if self._to_batch else n // places, *found, c)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the copy."""
        del choices, target
        source, output = self._ends(graph, operator)
        blocks = block_grid(graph, operator)
        (rows, columns), (above, left) = blocks.block, blocks.before
        arguments = [
            Argument("input", TensorPointer(source.id, "const void *")),
            Argument("input_dims", _image_dims(source)),
            Argument("block", tile(w=columns, h=rows)),
            Argument("padding" if self._to_batch else "crop", tile(w=left, h=above)),
            Argument("pixel_bytes", source.shape[-1] * source.dtype.size_bytes),
        ]
        if self._to_batch:
            zero = output.quantization.zero_point if output.quantization else 0
            arguments.append(Argument("fill", zero))
        arguments += [
            Argument("output", TensorPointer(output.id, "void *")),
            Argument("output_dims", _image_dims(output)),
        ]
        entry = "helia_nn_space_to_batch" if self._to_batch else "helia_nn_batch_to_space"
        return lowered(operator, entry, arguments, constants=constants_of(source))


def _image_dims(tensor: Tensor) -> Struct:
    n, h, *w, c = tensor.shape
    return dims(n, h, w[0] if w else 1, c)
