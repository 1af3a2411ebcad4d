# SPDX-License-Identifier: Apache-2.0
"""GATHER_ND, EMBEDDING_LOOKUP and DYNAMIC_UPDATE_SLICE: places that indices name when the model runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Final

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators import checks
from helia_aot.operators.copies import MOST_AXES
from helia_aot.operators.floating import FLOAT16, FLOAT32
from helia_aot.operators.movement import ANY_TYPE, Mover, check_moved, numbers
from helia_aot.operators.spec import (
    Argument,
    LoweredOperator,
    Plain,
    Support,
    Target,
    TensorPointer,
    constants_of,
    integers,
    lowered,
    read_pointer,
)

_CHECKED: Final = "int32 indices, computed ones checked at run time"
_ALIKE: Final = "input and output quantized alike"
_REAL: Final = {kind.dtype: kind for kind in (FLOAT32, FLOAT16)}


def _check_indices(indices: Tensor, extents: tuple[int, ...]) -> list[str]:
    """Checks type and, of constants, values of indices whose last dimension walks the extents in turn."""
    if indices.dtype is not DType.INT32:
        return [f"indices have type {indices.dtype}; supported: int32"]
    if indices.data is None:
        return []
    inside = all(0 <= i < extents[n % len(extents)] for n, i in enumerate(numbers(indices)))
    return [] if inside else [f"an index is outside of {list(extents)}"]


class GatherNd(Mover):
    """The GATHER_ND family: each position along the first dimensions names a run of the others."""

    counts = (2,)
    limits = f"{_CHECKED}; {_ALIKE}"

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks the indices and the shape."""
        source, output = self._ends(graph, operator)
        indices = graph.tensor(operator.inputs[1])
        depth = indices.shape[-1] if indices.shape else 0
        if not 1 <= depth <= len(source.shape):
            return [
                f"indices of shape {list(indices.shape)} do not fit {len(source.shape)} dimensions"
            ]
        reasons = _check_indices(indices, source.shape[:depth])
        shape = indices.shape[:-1] + source.shape[depth:]
        return reasons + checks.check_shape("output", output, shape)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call that reads the indices."""
        del choices, target
        source, output = self._ends(graph, operator)
        indices = graph.tensor(operator.inputs[1])
        depth = indices.shape[-1]
        arguments = [
            Argument("input", TensorPointer(source.id, "const void *")),
            Argument("indices", read_pointer(indices)),
            Argument("count", indices.elements // depth),
            Argument("depth", depth),
            Argument("extents", integers(source.shape[:depth])),
            Argument("run_bytes", math.prod(source.shape[depth:]) * source.dtype.size_bytes),
            Argument("output", TensorPointer(output.id, "void *")),
        ]
        constants = constants_of(source, indices)
        return lowered(operator, "helia_nn_gather_nd", arguments, constants=constants)


class EmbeddingLookup(Plain):
    """The EMBEDDING_LOOKUP family: rows of a table, int8 ones as they are or as floats."""

    support = (
        Support(ANY_TYPE, f"{_CHECKED}; {_ALIKE}"),
        Support(("int8",), "to float32 or float16; one scale for the table, zero point 0"),
    )

    def problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Lists why the rows cannot be looked up."""
        reasons = checks.check_count(operator, inputs=(2,))
        if reasons:
            return reasons
        indices, table = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        reasons += checks.check_rank("indices", indices, (1,))
        if len(table.shape) < 2:
            reasons.append(f"table has shape {list(table.shape)}; supported: at least 2 dimensions")
        if reasons:
            return reasons
        reasons += _check_indices(indices, table.shape[:1])
        if table.dtype is DType.INT8 and output.dtype in _REAL:
            reasons += checks.check_int8("table", table)
            if table.quantization is not None and table.quantization.zero_point:
                reasons.append("table has a zero point other than 0")
        else:
            reasons += check_moved(table, output, "table")
        shape = (*indices.shape, *table.shape[1:])
        return reasons + checks.check_shape("output", output, shape)

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call that reads the indices."""
        del choices, target
        indices, table = (graph.tensor(i) for i in operator.inputs)
        output = graph.tensor(operator.outputs[0])
        rows, row_size = table.shape[0], math.prod(table.shape[1:])
        constants = constants_of(table, indices)
        if table.dtype is DType.INT8 and output.dtype in _REAL:
            kind = _REAL[output.dtype]
            assert table.quantization is not None
            arguments = [
                Argument("input", read_pointer(table)),
                Argument("indices", read_pointer(indices)),
                Argument("rows", rows),
                Argument("count", indices.elements),
                Argument("row_size", row_size),
                Argument("scale", float(table.quantization.scale)),
                Argument("output", kind.output(output)),
            ]
            entry = f"helia_nn_embedding_s8_{kind.suffix}"
            return lowered(operator, entry, arguments, constants=constants)
        arguments = [
            Argument("input", TensorPointer(table.id, "const void *")),
            Argument("indices", read_pointer(indices)),
            Argument("batches", 1),
            Argument("outer", 1),
            Argument("extent", rows),
            Argument("count", indices.elements),
            Argument("run_bytes", row_size * table.dtype.size_bytes),
            Argument("output", TensorPointer(output.id, "void *")),
        ]
        return lowered(operator, "helia_nn_gather", arguments, constants=constants)


class DynamicUpdateSlice(Mover):
    """The DYNAMIC_UPDATE_SLICE family."""

    counts = (3,)
    limits = f"int32 or int64 starts, moved to where the update fits; up to 8 dimensions; {_ALIKE}"
    starts: ClassVar[tuple[DType, ...]] = (DType.INT32, DType.INT64)

    def shape_problems(self, graph: Graph, operator: Operator) -> list[str]:
        """Checks update, starts and shape."""
        source, output = self._ends(graph, operator)
        _, update, starts = (graph.tensor(i) for i in operator.inputs)
        rank = len(source.shape)
        reasons = check_moved(update, output, "update")
        if starts.dtype not in self.starts:
            reasons.append(f"starts have type {starts.dtype}; supported: {', '.join(self.starts)}")
        reasons += checks.check_shape("starts", starts, (rank,))
        reasons += checks.check_shape("output", output, source.shape)
        if not 1 <= rank <= MOST_AXES:
            reasons.append(f"moves along {rank} axes; supported: 1 to {MOST_AXES}")
        if len(update.shape) != rank or any(
            part > whole for part, whole in zip(update.shape, source.shape, strict=False)
        ):
            reasons.append(f"update {list(update.shape)} does not fit into {list(source.shape)}")
        return reasons

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        """Makes the call."""
        del choices, target
        source, output = self._ends(graph, operator)
        _, update, starts = (graph.tensor(i) for i in operator.inputs)
        arguments = [
            Argument("input", TensorPointer(source.id, "const void *")),
            Argument("update", TensorPointer(update.id, "const void *")),
            Argument("starts", TensorPointer(starts.id, "const void *")),
            Argument("start_bytes", starts.dtype.size_bytes),
            Argument("axes", len(source.shape)),
            Argument("extents", integers(source.shape)),
            Argument("update_extents", integers(update.shape)),
            Argument("element_bytes", source.dtype.size_bytes),
            Argument("output", TensorPointer(output.id, "void *")),
        ]
        constants = constants_of(source, update, starts)
        return lowered(operator, "helia_nn_update_slice", arguments, constants=constants)
