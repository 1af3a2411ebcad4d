# SPDX-License-Identifier: Apache-2.0
"""Operators that only move data, for every element type: RESHAPE to TILE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.copies import (
    MOST_AXES,
    Axis,
    element_strides,
    mapped_copy,
    merged_axes,
    renamed,
    strided_copy,
)
from helia_aot.operators.spec import (
    Argument,
    Array,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    integers,
    lowered,
)

ANY_TYPE: Final = ("any",)
"""What :class:`Support` says of operators that move elements of whatever type."""
_ALIKE: Final = "input and output quantized alike"


def check_moved(
    source: Tensor | None, output: Tensor, role: str = "input", *, alike: bool = True
) -> list[str]:
    """Checks what every move needs: whole bytes, one type and, for most, one quantization."""
    if source is None:
        return [f"{role} is absent"]
    if not source.dtype.is_numeric:
        return [f"{role} has type {source.dtype}, whose elements are no whole bytes"]
    reasons = checks.check_same_type(source, output)
    return reasons or (checks.check_same_quantization(source, output) if alike else [])


def numbers(tensor: Tensor) -> list[int]:
    """Gives the elements of a constant integer tensor."""
    assert tensor.data is not None
    return [int(value) for value in tensor.data.reshape(-1)]


class Mover(Plain):
    """What the movers share: the number of inputs, constants among them, and the checks of every move.

    Attributes:
        counts: Allowed numbers of inputs.
        constants: Position and name of each input that must be a constant of whole numbers.
        data: Position of the input that is moved.
        alike: Whether input and output must be quantized alike.
    """

    counts: tuple[int, ...] = (1,)
    constants: ClassVar[Mapping[int, str]] = {}
    data: int = 0
    alike: bool = True
    limits: str = _ALIKE

    @property
    def support(self) -> tuple[Support, ...]:
        """What the family takes."""
        return (Support(ANY_TYPE, self.limits),)

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the move cannot be compiled."""
        reasons = checks.check_count(operator, inputs=self.counts)
        if reasons:
            return reasons
        inputs = checks.inputs_of(graph, operator)
        for position, name in self.constants.items():
            if position < len(inputs):
                reasons += checks.check_integers(name, inputs[position])
        output = graph.tensor(operator.outputs[0])
        reasons += check_moved(inputs[self.data], output, alike=self.alike)
        return reasons or self.shape_problems(graph, operator)

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists how the shapes contradict the operator; the common checks have passed."""
        del graph, operator
        return []

    def _ends(self, graph: Graph, operator: Operator) -> tuple[Tensor, Tensor]:
        return graph.tensor(operator.inputs[self.data]), graph.tensor(operator.outputs[0])


class Reshape(Mover):
    """The RESHAPE, SQUEEZE and EXPAND_DIMS families; the shape comes from the output tensor."""

    counts = (1, 2)

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks that no element is lost."""
        source, output = self._ends(graph, operator)
        if source.elements != output.elements:
            return [f"input {list(source.shape)} and output {list(output.shape)} differ in size"]
        return []

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Renames the input, or copies it where it is a constant and cannot be written."""
        del choices, target
        source, output = self._ends(graph, operator)
        if source.data is None:
            return renamed(operator, source, output)
        arguments = (
            Argument("input", TensorPointer(source.id, "const int8_t *")),
            Argument("output", TensorPointer(output.id, "int8_t *")),
            Argument("total_size", source.size_bytes),
        )
        return lowered(
            operator,
            "arm_reshape_s8",
            arguments,
            constants=constants_of(source),
            returns_status=False,
        )


class Strided(Mover):
    """Families that read the input with steps; a subclass gives the axes."""

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives the axes and the first element; the checks have passed.

        Raises:
            ValueError: The operator's constants contradict its shapes.
        """
        raise NotImplementedError

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks the axes against the output."""
        _, output = self._ends(graph, operator)
        try:
            axes, _ = self.axes(graph, operator)
        except ValueError as error:
            return [str(error)]
        moved = len(merged_axes(axes)[1])
        if moved > MOST_AXES:
            return [f"moves along {moved} axes; supported: {MOST_AXES}"]
        elements = int(np.prod([axis.extent for axis in axes], dtype=np.int64))
        if elements != output.elements:
            return [
                f"output has shape {list(output.shape)}; the operator gives {elements} elements"
            ]
        return []

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the copy."""
        del choices, target
        source, output = self._ends(graph, operator)
        axes, start = self.axes(graph, operator)
        return strided_copy(operator, source, output, axes, start)


class Transpose(Strided):
    """The TRANSPOSE family."""

    counts = (2,)
    constants: ClassVar[Mapping[int, str]] = {1: "permutation"}
    limits = f"the permutation is a constant; {_ALIKE}"

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives the dimensions in the order of the permutation."""
        source, output = self._ends(graph, operator)
        order = numbers(graph.tensor(operator.inputs[1]))
        order = [axis + len(source.shape) if axis < 0 else axis for axis in order]
        if sorted(order) != list(range(len(source.shape))):
            raise ValueError(f"permutation {order} does not fit {len(source.shape)} dimensions")
        shape = tuple(source.shape[axis] for axis in order)
        if shape != output.shape:
            raise ValueError(
                f"output has shape {list(output.shape)}; the operator gives {list(shape)}"
            )
        strides = element_strides(source.shape)
        return [Axis(source.shape[axis], strides[axis]) for axis in order], 0


class StridedSlice(Strided):
    """The STRIDED_SLICE family."""

    counts = (4,)
    constants: ClassVar[Mapping[int, str]] = {1: "begin", 2: "end", 3: "strides"}
    limits = f"begin, end and strides are constants; {_ALIKE}"

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives each dimension's range."""
        source, output = self._ends(graph, operator)
        begin, end, steps = (numbers(graph.tensor(i)) for i in operator.inputs[1:])
        ranges, shape = slice_ranges(source.shape, begin, end, steps, operator.attributes)
        if shape != output.shape:
            raise ValueError(
                f"output has shape {list(output.shape)}; the operator gives {list(shape)}"
            )
        strides = element_strides(source.shape)
        axes = [Axis(len(r), r.step * s) for r, s in zip(ranges, strides, strict=True)]
        return axes, sum(r.start * s for r, s in zip(ranges, strides, strict=True))


def slice_ranges(
    shape: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    steps: Sequence[int],
    options: Any,
) -> tuple[list[range], tuple[int, ...]]:
    """Gives the indices that STRIDED_SLICE takes of each dimension, and the output's shape.

    Raises:
        ValueError: The options or numbers are outside what is possible.
    """
    if not len(begin) == len(end) == len(steps):
        raise ValueError(f"{len(begin)} begins, {len(end)} ends and {len(steps)} strides differ")
    entries = range(len(begin))
    dots = [i for i in entries if options.ellipsis_mask >> i & 1]
    added = [i for i in entries if options.new_axis_mask >> i & 1 and i not in dots]
    left = len(shape) - (len(begin) - len(dots) - len(added))
    if len(dots) > 1 or left < 0:
        raise ValueError(f"{len(begin)} begins do not fit {len(shape)} dimensions")
    ranges: list[range] = []
    kept: list[int] = []
    for i in entries:
        if i in dots:
            whole = [range(size) for size in shape[len(ranges) : len(ranges) + left]]
            ranges += whole
            kept += [len(r) for r in whole]
        elif i in added:
            kept.append(1)
        else:
            entry = (begin[i], end[i], steps[i])
            chosen = _chosen(shape[len(ranges)], entry, options, i)
            ranges.append(chosen)
            kept += [] if options.shrink_axis_mask >> i & 1 else [len(chosen)]
    rest = [range(size) for size in shape[len(ranges) :]]
    if not all(len(r) for r in (*ranges, *rest)):
        raise ValueError("takes nothing of its input")
    return [*ranges, *rest], (*kept, *(len(r) for r in rest))


def _chosen(size: int, entry: tuple[int, int, int], options: Any, place: int) -> range:
    """Gives the indices that one entry of begin, end and strides takes of its dimension."""
    begin, end, step = entry
    if step == 0:
        raise ValueError("has a stride of 0")
    index = begin + size if begin < 0 else begin
    if options.shrink_axis_mask >> place & 1:
        if not 0 <= index < size:
            raise ValueError(f"index {begin} is outside a dimension of {size}")
        return range(index, index + 1)
    first = None if options.begin_mask >> place & 1 else begin
    last: int | None = end
    if options.offset:
        last = max(0, (0 if first is None else index) + end)
    return range(size)[slice(first, None if options.end_mask >> place & 1 else last, step)]


class Slice(Strided):
    """The SLICE family: a constant begin becomes a copy along axes, a computed one is read when the model runs."""

    counts = (3,)
    constants: ClassVar[Mapping[int, str]] = {2: "size"}
    limits = f"the size is a constant, a computed begin is checked at run time; {_ALIKE}"

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks begin and size against the shapes."""
        begin = graph.tensor(operator.inputs[1])
        if begin.dtype not in (DType.INT32, DType.INT64):
            return [f"begin has type {begin.dtype}; supported: int32, int64"]
        if begin.is_constant:
            return super().shape_problems(graph, operator)
        source, output = self._ends(graph, operator)
        reasons = checks.check_shape("begin", begin, (len(source.shape),))
        size = numbers(graph.tensor(operator.inputs[2]))
        fits = len(size) == len(source.shape) == len(output.shape) and all(
            count in (part, -1) and part <= whole
            for count, part, whole in zip(size, output.shape, source.shape, strict=True)
        )
        if not fits or not 1 <= len(size) <= MOST_AXES:
            reasons.append(f"takes {size} of {list(source.shape)} as {list(output.shape)}")
        return reasons

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives each dimension's range; the begin is a constant."""
        source, output = self._ends(graph, operator)
        begin, size = (numbers(graph.tensor(i)) for i in operator.inputs[1:])
        if not len(begin) == len(size) == len(source.shape):
            raise ValueError(f"{len(begin)} begins do not fit {len(source.shape)} dimensions")
        sizes = [
            whole - first if count == -1 else count
            for first, count, whole in zip(begin, size, source.shape, strict=True)
        ]
        inside = all(
            first >= 0 and count >= 1 and first + count <= whole
            for first, count, whole in zip(begin, sizes, source.shape, strict=True)
        )
        if not inside or tuple(sizes) != output.shape:
            raise ValueError(f"takes {sizes} from {begin} of {list(source.shape)}")
        strides = element_strides(source.shape)
        axes = [Axis(count, stride) for count, stride in zip(sizes, strides, strict=True)]
        return axes, sum(first * stride for first, stride in zip(begin, strides, strict=True))

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the copy, or the call that reads the begin."""
        begin = graph.tensor(operator.inputs[1])
        if begin.is_constant:
            return super().lower(graph, operator, choices, target)
        source, output = self._ends(graph, operator)
        arguments = [
            Argument("input", TensorPointer(source.id, "const void *")),
            Argument("starts", TensorPointer(begin.id, "const void *")),
            Argument("start_bytes", begin.dtype.size_bytes),
            Argument("axes", len(source.shape)),
            Argument("extents", integers(source.shape)),
            Argument("output_extents", integers(output.shape)),
            Argument("element_bytes", source.dtype.size_bytes),
            Argument("output", TensorPointer(output.id, "void *")),
        ]
        return lowered(operator, "helia_nn_slice", arguments, constants=constants_of(source))


class Tile(Strided):
    """The TILE family."""

    counts = (2,)
    constants: ClassVar[Mapping[int, str]] = {1: "multiples"}
    limits = f"the multiples are a constant; {_ALIKE}"

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives for each dimension the repetitions and the dimension itself."""
        source, output = self._ends(graph, operator)
        multiples = numbers(graph.tensor(operator.inputs[1]))
        shape = tuple(m * s for m, s in zip(multiples, source.shape, strict=False))
        if len(multiples) != len(source.shape) or shape != output.shape:
            raise ValueError(
                f"multiples {multiples} of {list(source.shape)} do not give {list(output.shape)}"
            )
        axes = []
        for count, size, stride in zip(
            multiples, source.shape, element_strides(source.shape), strict=True
        ):
            axes += [Axis(count, 0), Axis(size, stride)]
        return axes, 0


class Reverse(Strided):
    """The REVERSE_V2 family.

    The TFLite converter gives its output a scale of its own; TFLite moves the numbers as they are all the same.
    """

    counts = (2,)
    constants: ClassVar[Mapping[int, str]] = {1: "axes"}
    alike = False
    limits = "the axes are a constant; numbers are moved as they are, whatever the scales"

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives each dimension, the reversed ones from their ends."""
        source, output = self._ends(graph, operator)
        rank = len(source.shape)
        listed = numbers(graph.tensor(operator.inputs[1]))
        reversed_axes = {axis + rank if axis < 0 else axis for axis in listed}
        if len(reversed_axes) != len(listed) or not reversed_axes <= set(range(rank)):
            raise ValueError(f"axes {listed} do not fit {rank} dimensions")
        if output.shape != source.shape:
            raise ValueError(
                f"output has shape {list(output.shape)}; the operator gives {list(source.shape)}"
            )
        axes, start = [], 0
        for axis, stride in enumerate(element_strides(source.shape)):
            size = source.shape[axis]
            if axis in reversed_axes:
                start += (size - 1) * stride
                axes.append(Axis(size, -stride))
            else:
                axes.append(Axis(size, stride))
        return axes, start


class BroadcastTo(Strided):
    """The BROADCAST_TO family; the shape comes from the output tensor."""

    counts = (2,)

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives the output's dimensions, those of extent 1 in the input repeated."""
        source, output = self._ends(graph, operator)
        if np.broadcast_shapes(source.shape, output.shape) != output.shape:
            raise ValueError(f"{list(source.shape)} does not broadcast to {list(output.shape)}")
        shape = (1,) * (len(output.shape) - len(source.shape)) + source.shape
        strides = element_strides(shape)
        return [
            Axis(size, 0 if own == 1 else stride)
            for size, own, stride in zip(output.shape, shape, strides, strict=True)
        ], 0


class Blocks(Strided):
    """The SPACE_TO_DEPTH and DEPTH_TO_SPACE families.

    Args:
        to_depth: Whether blocks become channels, or channels become blocks.
    """

    def __init__(self, *, to_depth: bool) -> None:
        self._to_depth = to_depth

    def axes(self, graph: Graph, operator: Operator) -> tuple[list[Axis], int]:
        """Gives image, rows and columns of blocks, and the places inside a block."""
        source, output = self._ends(graph, operator)
        if len(source.shape) != len(output.shape) or len(source.shape) != 4:
            raise ValueError(f"input has shape {list(source.shape)}; supported: 4 dimensions")
        block = operator.attributes.block
        wide, deep = (source, output) if self._to_depth else (output, source)
        expected = (deep.shape[0], deep.shape[1] * block, deep.shape[2] * block)
        if block < 1 or wide.shape[:3] != expected or deep.shape[3] != wide.shape[3] * block**2:
            raise ValueError(
                f"blocks of {block} do not turn {list(source.shape)} into {list(output.shape)}"
            )
        n, rows, columns, _ = deep.shape
        channels = wide.shape[3]
        if self._to_depth:
            row, pixel = wide.shape[2] * channels, channels
            return [
                Axis(n, wide.shape[1] * row),
                Axis(rows, block * row),
                Axis(columns, block * pixel),
                Axis(block, row),
                Axis(block, pixel),
                Axis(channels, 1),
            ], 0
        pixel = deep.shape[3]
        row = columns * pixel
        return [
            Axis(n, rows * row),
            Axis(rows, row),
            Axis(block, block * channels),
            Axis(columns, pixel),
            Axis(block, channels),
            Axis(channels, 1),
        ], 0


class Mapped(Mover):
    """Families that list where each dimension is read; a subclass gives the positions."""

    def positions(self, graph: Graph, operator: Operator) -> list[Sequence[int | None]]:
        """Gives, for each dimension of the output, the indices of the source; None for the fill value.

        Raises:
            ValueError: The operator's constants contradict its shapes.
        """
        raise NotImplementedError

    def fill(self, graph: Graph, operator: Operator) -> bytes:
        """Gives one element of the fill value."""
        del graph, operator
        return b"\0"

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks the positions against the output."""
        source, output = self._ends(graph, operator)
        try:
            positions = self.positions(graph, operator)
        except ValueError as error:
            return [str(error)]
        if len(source.shape) > MOST_AXES:
            return [f"moves along {len(source.shape)} axes; supported: {MOST_AXES}"]
        fill = self.fill(graph, operator)
        if len(fill) > 4 and len(set(fill)) > 1:
            return [f"fills with a {source.dtype} that is no repeated byte"]
        return checks.check_shape("output", output, [len(row) for row in positions])

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the copy."""
        del choices, target
        source, output = self._ends(graph, operator)
        fill = self.fill(graph, operator)
        return mapped_copy(operator, source, output, self.positions(graph, operator), fill)


class Pad(Mapped):
    """The PAD and PADV2 families: padding with zero, the zero point, or a constant."""

    counts = (2, 3)
    constants: ClassVar[Mapping[int, str]] = {1: "padding"}
    limits = f"padding and value are constants; {_ALIKE}"

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the move cannot be compiled, the pad value among it."""
        value = checks.inputs_of(graph, operator)[2:3]
        reasons = checks.check_constant("pad value", value[0]) if value else []
        return reasons or super().problems(graph, operator)

    def positions(self, graph: Graph, operator: Operator) -> list[Sequence[int | None]]:
        """Gives each dimension with nothing before and after it."""
        source, output = self._ends(graph, operator)
        amounts = _amounts(graph, operator, source, output)
        return [
            range(size)
            if before == after == 0
            else [*[None] * before, *range(size), *[None] * after]
            for size, (before, after) in zip(source.shape, amounts, strict=True)
        ]

    def fill(self, graph: Graph, operator: Operator) -> bytes:
        """Gives the constant, or what stands for zero."""
        source, output = self._ends(graph, operator)
        kind = source.dtype.numpy.newbyteorder("<")
        if len(operator.inputs) > 2 and operator.inputs[2] is not None:
            value = graph.tensor(operator.inputs[2])
            assert value.data is not None
            return value.data.reshape(-1)[:1].astype(kind).tobytes()
        zero = output.quantization.zero_point if output.quantization else 0
        return np.array([zero]).astype(kind).tobytes()


class MirrorPad(Mapped):
    """The MIRROR_PAD family."""

    counts = (2,)
    constants: ClassVar[Mapping[int, str]] = {1: "padding"}
    limits = f"the padding is a constant; {_ALIKE}"

    def positions(self, graph: Graph, operator: Operator) -> list[Sequence[int | None]]:
        """Gives each dimension with its mirror images, with or without the edge."""
        source, output = self._ends(graph, operator)
        skip = 0 if operator.attributes.symmetric else 1
        rows: list[Sequence[int | None]] = []
        for size, (before, after) in zip(
            source.shape, _amounts(graph, operator, source, output), strict=True
        ):
            if max(before, after) > size - skip:
                raise ValueError(f"mirrors {max(before, after)} of {size} elements")
            left = [skip + i for i in reversed(range(before))]
            right = [size - 1 - skip - i for i in range(after)]
            rows.append([*left, *range(size), *right] if before or after else range(size))
        return rows


class ResizeNearest(Mapped):
    """The RESIZE_NEAREST_NEIGHBOR family."""

    counts = (2,)
    constants: ClassVar[Mapping[int, str]] = {1: "size"}
    limits = f"the size is a constant; {_ALIKE}"

    def positions(self, graph: Graph, operator: Operator) -> list[Sequence[int | None]]:
        """Gives the nearest row and column of each output row and column."""
        source, output = self._ends(graph, operator)
        check_image_sizes(graph, operator)
        rows, columns = (
            _nearest(source.shape[i], output.shape[i], operator.attributes) for i in (1, 2)
        )
        return [range(source.shape[0]), rows, columns, range(source.shape[3])]


def check_image_sizes(graph: Graph, operator: Operator) -> None:
    """Checks input, size and output of a resize.

    Raises:
        ValueError: They contradict each other.
    """
    source, output = graph.tensor(operator.inputs[0]), graph.tensor(operator.outputs[0])
    size = numbers(graph.tensor(operator.inputs[1]))
    if len(source.shape) != 4 or len(size) != 2:
        raise ValueError(f"input has shape {list(source.shape)}; supported: 4 dimensions")
    expected = (source.shape[0], *size, source.shape[3])
    if output.shape != expected:
        raise ValueError(
            f"output has shape {list(output.shape)}; the operator gives {list(expected)}"
        )


def _nearest(size: int, wanted: int, options: Any) -> list[int | None]:
    """Computes in single precision, as TFLite does."""
    corners = options.align_corners and wanted > 1
    scale = (
        np.float32(size - 1) / np.float32(wanted - 1)
        if corners
        else np.float32(size) / np.float32(wanted)
    )
    offset = np.float32(0.5 if options.half_pixel_centers else 0.0)
    found: list[int | None] = []
    for i in range(wanted):
        at = float((np.float32(i) + offset) * scale)
        index = int(np.floor(at + 0.5)) if options.align_corners else int(np.floor(at))
        found.append(max(0, min(index, size - 1)))
    return found


class Gather(Mapped):
    """The GATHER family: constant indices become a list of places, computed ones are read when the model runs."""

    counts = (2,)
    limits = f"int32 indices, computed ones checked at run time; {_ALIKE}"

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks type, axis and shape."""
        source, output = self._ends(graph, operator)
        indices = graph.tensor(operator.inputs[1])
        if indices.dtype is not DType.INT32:
            return [f"indices have type {indices.dtype}; supported: int32"]
        axis, batch_dims = _gather_axes(operator, source, indices)
        if not 0 <= batch_dims <= min(axis, len(indices.shape)) or axis >= len(source.shape):
            return [f"axis {axis} and {batch_dims} batch dimensions do not fit the shapes"]
        if source.shape[:batch_dims] != indices.shape[:batch_dims]:
            return ["data and indices differ in their batch dimensions"]
        shape = source.shape[:axis] + indices.shape[batch_dims:] + source.shape[axis + 1 :]
        reasons = checks.check_shape("output", output, shape)
        if indices.data is not None and not all(
            0 <= i < source.shape[axis] for i in numbers(indices)
        ):
            reasons.append(f"an index is outside the {source.shape[axis]} elements of its axis")
        return reasons

    def positions(self, graph: Graph, operator: Operator) -> list[Sequence[int | None]]:
        """Gives the listed indices along the axis."""
        source, _ = self._ends(graph, operator)
        indices = graph.tensor(operator.inputs[1])
        axis, _ = _gather_axes(operator, source, indices)
        rows: list[Sequence[int | None]] = [range(size) for size in source.shape]
        rows[axis] = numbers(indices)
        return rows

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the copy, or the call that reads the indices."""
        source, output = self._ends(graph, operator)
        indices = graph.tensor(operator.inputs[1])
        axis, batch_dims = _gather_axes(operator, source, indices)
        if indices.data is not None and batch_dims == 0:
            return super().lower(graph, operator, choices, target)
        batches = int(np.prod(source.shape[:batch_dims], dtype=np.int64))
        run = int(np.prod(source.shape[axis + 1 :], dtype=np.int64)) * source.dtype.size_bytes
        arguments = [
            Argument("input", TensorPointer(source.id, "const void *")),
            Argument("indices", TensorPointer(indices.id, "const int32_t *")),
            Argument("batches", batches),
            Argument("outer", int(np.prod(source.shape[batch_dims:axis], dtype=np.int64))),
            Argument("extent", source.shape[axis]),
            Argument("count", indices.elements // batches),
            Argument("run_bytes", run),
            Argument("output", TensorPointer(output.id, "void *")),
        ]
        return lowered(
            operator, "helia_nn_gather", arguments, constants=constants_of(source, indices)
        )


def _gather_axes(operator: Operator, source: Tensor, indices: Tensor) -> tuple[int, int]:
    axis, batch_dims = operator.attributes.axis, operator.attributes.batch_dims
    return (
        axis + len(source.shape) if axis < 0 else axis,
        batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims,
    )


def _amounts(
    graph: Graph, operator: Operator, source: Tensor, output: Tensor
) -> list[tuple[int, int]]:
    """Gives what is added before and after each dimension; checked first, because rows of that length are listed."""
    flat = numbers(graph.tensor(operator.inputs[1]))
    if len(flat) != 2 * len(source.shape) or min(flat) < 0:
        raise ValueError(f"padding {flat} does not fit {len(source.shape)} dimensions")
    amounts = list(zip(flat[::2], flat[1::2], strict=True))
    padded = tuple(size + sum(ends) for size, ends in zip(source.shape, amounts, strict=True))
    if output.shape != padded:
        raise ValueError(f"output has shape {list(output.shape)}; padding gives {list(padded)}")
    return amounts


class Concatenation(Plain):
    """The CONCATENATION and PACK families.

    Args:
        new_axis: Whether the inputs are put along a new dimension, or along one that they have.
    """

    support = (Support(ANY_TYPE, f"all {_ALIKE.replace('input', 'inputs')}"),)

    def __init__(self, *, new_axis: bool) -> None:
        self._new_axis = new_axis

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the inputs cannot be put together."""
        if not operator.inputs or len(operator.outputs) != 1:
            return [f"has {len(operator.inputs)} inputs and {len(operator.outputs)} outputs"]
        output = graph.tensor(operator.outputs[0])
        reasons = []
        for position, tensor in enumerate(checks.inputs_of(graph, operator)):
            reasons += check_moved(tensor, output, f"input {position}")
        if operator.attributes.activation != "NONE":
            reasons.append(f"fused activation {operator.attributes.activation}; supported: NONE")
        if reasons:
            return reasons
        shapes = [self._shape(graph.tensor(i), operator, output) for i in operator.inputs]
        axis = self._axis(operator, output)
        if not 0 <= axis < len(output.shape) or any(len(s) != len(output.shape) for s in shapes):
            return [f"axis {operator.attributes.axis} does not fit the shapes"]
        whole = list(shapes[0])
        whole[axis] = sum(shape[axis] for shape in shapes)
        others = {shape[:axis] + shape[axis + 1 :] for shape in shapes}
        if len(others) > 1:
            return [f"inputs of shapes {[list(s) for s in shapes]} do not fit along axis {axis}"]
        return checks.check_shape("output", output, whole)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call that writes a run of each input in turn."""
        del choices, target
        inputs = [graph.tensor(i) for i in operator.inputs]
        output = graph.tensor(operator.outputs[0])
        runs = int(np.prod(output.shape[: self._axis(operator, output)], dtype=np.int64))
        arguments = [
            Argument(
                "inputs",
                Array(
                    "const void *const", tuple(TensorPointer(t.id, "const void *") for t in inputs)
                ),
            ),
            Argument("run_bytes", integers([t.size_bytes // runs for t in inputs])),
            Argument("count", len(inputs)),
            Argument("runs", runs),
            Argument("output", TensorPointer(output.id, "void *")),
        ]
        return lowered(operator, "helia_nn_concatenate", arguments, constants=constants_of(*inputs))

    def _axis(self, operator: Operator, output: Tensor) -> int:
        axis: int = operator.attributes.axis
        return axis + len(output.shape) if axis < 0 else axis

    def _shape(self, tensor: Tensor, operator: Operator, output: Tensor) -> tuple[int, ...]:
        if not self._new_axis:
            return tensor.shape
        axis = self._axis(operator, output)
        return (*tensor.shape[:axis], 1, *tensor.shape[axis:])


class Split(Plain):
    """The SPLIT, SPLIT_V and UNPACK families; the sizes come from the output tensors.

    Args:
        data: Position of the input that is split.
        axis: Position of the constant that names the dimension; None where it is an option.
        inputs: Number of inputs.
    """

    support = (Support(ANY_TYPE, f"the axis is a constant; {_ALIKE}"),)

    def __init__(self, *, data: int, axis: int | None, inputs: int) -> None:
        self._data, self._position, self._inputs = data, axis, inputs

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the input cannot be split."""
        if not operator.outputs:
            return ["has no output"]
        reasons = checks.check_count(
            operator, inputs=(self._inputs,), outputs=len(operator.outputs)
        )
        if reasons:
            return reasons
        if self._position is not None:
            axis = graph.tensor(operator.inputs[self._position])
            reasons += checks.check_integers("axis", axis)
        source = graph.tensor(operator.inputs[self._data])
        outputs = [graph.tensor(o) for o in operator.outputs]
        for output in outputs:
            reasons += check_moved(source, output)
        return reasons or self._shape_problems(graph, operator, source, outputs)

    def _shape_problems(
        self, graph: Graph, operator: Operator, source: Tensor, outputs: Sequence[Tensor]
    ) -> list[str]:
        axis = self._axis(graph, operator)
        if not 0 <= axis < len(source.shape):
            return [f"axis {axis} does not fit {len(source.shape)} dimensions"]
        before, after = source.shape[:axis], source.shape[axis + 1 :]
        drops = self._position is None
        for output in outputs:
            middle = () if drops else output.shape[axis : axis + 1]
            if output.shape != (*before, *middle, *after):
                return [f"output {list(output.shape)} does not fit input {list(source.shape)}"]
        if sum(output.elements for output in outputs) != source.elements:
            return ["the outputs are not as large together as the input"]
        return []

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call that reads a run for each output in turn."""
        del choices, target
        source = graph.tensor(operator.inputs[self._data])
        outputs = [graph.tensor(o) for o in operator.outputs]
        runs = int(np.prod(source.shape[: self._axis(graph, operator)], dtype=np.int64))
        arguments = [
            Argument("input", TensorPointer(source.id, "const void *")),
            Argument("run_bytes", integers([t.size_bytes // runs for t in outputs])),
            Argument("count", len(outputs)),
            Argument("runs", runs),
            Argument(
                "outputs",
                Array("void *const", tuple(TensorPointer(t.id, "void *") for t in outputs)),
            ),
        ]
        return lowered(operator, "helia_nn_split", arguments, constants=constants_of(source))

    def _axis(self, graph: Graph, operator: Operator) -> int:
        rank = len(graph.tensor(operator.inputs[self._data]).shape)
        if self._position is None:
            axis = operator.attributes.axis
        else:
            axis = numbers(graph.tensor(operator.inputs[self._position]))[0]
        return int(axis + rank if axis < 0 else axis)
