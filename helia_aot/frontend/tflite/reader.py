# SPDX-License-Identifier: Apache-2.0
"""Reads a ``.tflite`` file into a :class:`helia_aot.ir.graph.Graph`.

The reader checks that the file is whole and consistent; whether its operators are supported is for the operator
families to say. Operators that no decoder knows keep ``attributes=None``, so that one later error can name all of them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import tflite
from flatbuffers.number_types import Int32Flags

from helia_aot.errors import ModelError, Problem
from helia_aot.frontend.tflite.decoders import decode_attributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Blocks, Graph, Operator, Quantization, Tensor

_IDENTIFIER: Final = b"TFL3"
_SCHEMA_VERSION: Final = 3
# Slot of OperatorCode.builtin_code in the flatbuffer's table (field 3 of the schema).
_BUILTIN_CODE_SLOT: Final = 10
# Kind of QuantizationParameters.details, and the slots of its fields: scales, zero points (both tensors; -1 is none)
# and block size. The tflite package does not know the table.
_BLOCKWISE: Final = 2
_BLOCK_SLOTS: Final = (4, 6, 8)
# What the flatbuffers library and numpy raise when offsets of a damaged file point into nowhere.
_DAMAGE: Final = (
    struct.error,
    IndexError,
    ValueError,
    TypeError,
    OverflowError,
    RuntimeError,
    AssertionError,
    KeyError,
    AttributeError,
)
# Offsets below this say that a buffer's bytes are in its table.
_FIRST_OUTSIDE: Final = 2
_DTYPES: Final = {
    code: DType(name.lower())
    for name, code in vars(tflite.TensorType).items()
    if name.isupper() and name.lower() in {dtype.value for dtype in DType}
}


@dataclass(frozen=True)
class ModelFile:
    """A model file as read.

    Attributes:
        name: File name without folders.
        data: The bytes of the file.
        graph: The subgraph that was asked for.
    """

    name: str
    data: bytes
    graph: Graph


def read_model(path: Path, subgraph: int = 0) -> ModelFile:
    """Reads one subgraph of a TFLite model.

    Args:
        path: The ``.tflite`` file.
        subgraph: Index of the subgraph to read.

    Returns:
        The file's bytes and the graph; the same file always gives the same graph.

    Raises:
        ModelError: The file is missing, is no TFLite model, is damaged, or contradicts itself; every problem found
            is listed.
    """
    data = _read_bytes(path)
    try:
        return ModelFile(path.name, data, _Reader(path.name, data).read(subgraph))
    except ModelError:
        raise
    except _DAMAGE as error:
        raise ModelError(
            f"{path} is damaged",
            [
                Problem(
                    path.name,
                    f"its tables point outside the file ({type(error).__name__}: {error})",
                )
            ],
            next_step="The file is probably truncated: copy or export it again.",
        ) from error


def _read_bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"The model {path} cannot be read",
            [Problem(str(path), error.strerror or str(error))],
            next_step="Check model.path; relative paths start at the current directory.",
        ) from error
    if len(data) < 8 or data[4:8] != _IDENTIFIER:
        raise ModelError(
            f"{path} is not a TFLite model",
            [
                Problem(
                    path.name, f"bytes 4 to 7 are {data[4:8]!r}, a TFLite model has {_IDENTIFIER!r}"
                )
            ],
            next_step="Give a .tflite file as the TFLite/LiteRT converter writes it.",
        )
    return data


class _Reader:
    """The state of one read: the flatbuffer and the problems found so far."""

    def __init__(self, name: str, data: bytes) -> None:
        self._name = name
        self._data = data
        self._model = tflite.Model.GetRootAs(data, 0)
        self._problems: list[Problem] = []

    def read(self, index: int) -> Graph:
        version = self._model.Version()
        if version != _SCHEMA_VERSION:
            self._problem("", f"schema version {version}; supported: {_SCHEMA_VERSION}")
        count = self._model.SubgraphsLength()
        if not 0 <= index < count:
            raise ModelError(
                f"{self._name} has no subgraph {index}",
                [Problem("model.subgraph", f"the model has {count} subgraph(s), numbered from 0")],
            )
        graph = self._subgraph(index)
        graph = graph.replace(subgraphs=self._called(graph, count))
        if self._problems:
            raise ModelError(f"{self._name} contradicts itself", self._problems)
        return graph

    def _called(self, graph: Graph, count: int) -> dict[int, Graph]:
        """Gives what the operators of a graph run, and what those run, by index."""
        found: dict[int, Graph] = {}
        waiting = [graph]
        while waiting:
            operators = waiting.pop().operators
            named = {number for o in operators for number in getattr(o.attributes, "subgraphs", ())}
            for number in sorted(named - {graph.subgraph, *found}):
                if 0 <= number < count:
                    found[number] = self._subgraph(number)
                    waiting.append(found[number])
        return dict(sorted(found.items()))

    def _subgraph(self, index: int) -> Graph:
        subgraph = self._model.Subgraphs(index)
        tensors = {
            str(i): self._tensor(subgraph.Tensors(i), i) for i in range(subgraph.TensorsLength())
        }
        for i in range(subgraph.TensorsLength()):
            blocks = self._blocks(subgraph.Tensors(i).Quantization(), i, tensors)
            if blocks is not None:
                tensors[str(i)] = replace(tensors[str(i)], blocks=blocks)
        operators = tuple(
            self._operator(subgraph.Operators(i), i, tensors)
            for i in range(subgraph.OperatorsLength())
        )
        inputs = self._ids([subgraph.Inputs(i) for i in range(subgraph.InputsLength())], tensors)
        tensors |= _empty_constants(tensors, operators, inputs)
        outputs = self._ids([subgraph.Outputs(i) for i in range(subgraph.OutputsLength())], tensors)
        return Graph(
            subgraph=index,
            tensors=tensors,
            operators=operators,
            inputs=tuple(i for i in inputs if i is not None),
            outputs=tuple(o for o in outputs if o is not None),
            description=_text(self._model.Description()),
        )

    def _problem(self, where: str, reason: str) -> None:
        self._problems.append(Problem(f"{self._name} {where}".strip(), reason))

    def _tensor(self, raw: Any, index: int) -> Tensor:
        shape = tuple(int(raw.Shape(i)) for i in range(raw.ShapeLength()))
        dtype = _DTYPES.get(raw.Type())
        if raw.Sparsity() is not None:
            self._problem(
                f"tensor {index}", "it is stored sparsely, which is not supported; export it dense"
            )
        if dtype is None:
            self._problem(f"tensor {index}", f"unknown element type code {raw.Type()}")
            dtype = DType.VARIANT
        return Tensor(
            id=str(index),
            name=_text(raw.Name()),
            shape=shape,
            dtype=dtype,
            quantization=self._quantization(raw.Quantization(), index),
            data=self._constant(raw, index, shape, dtype),
            is_variable=bool(raw.IsVariable()),
        )

    def _quantization(self, raw: Any, index: int) -> Quantization | None:
        if raw is None or raw.ScaleLength() == 0:
            return None
        scales = tuple(float(value) for value in raw.ScaleAsNumpy())
        points = (
            tuple(int(value) for value in raw.ZeroPointAsNumpy())
            if raw.ZeroPointLength()
            else (0,) * len(scales)
        )
        if len(points) == 1:
            points *= len(scales)
        if len(points) != len(scales):
            self._problem(f"tensor {index}", f"{len(scales)} scales, but {len(points)} zero points")
        return Quantization(scales, points, raw.QuantizedDimension())

    def _blocks(self, raw: Any, index: int, tensors: dict[str, Tensor]) -> Blocks | None:
        """Gives a tensor's quantization by blocks, whose scales are another tensor."""
        if raw is None or raw.DetailsType() != _BLOCKWISE or raw.Details() is None:
            return None
        table = raw.Details()
        offsets = [table.Offset(slot) for slot in _BLOCK_SLOTS]
        scales_id, zeros_id, size = (
            int(table.Get(Int32Flags, offset + table.Pos)) if offset else 0 for offset in offsets
        )
        shape = tensors[str(index)].shape
        scales = tensors.get(str(scales_id))
        zeros = tensors.get(str(zeros_id)) if zeros_id >= 0 else None
        fits = bool(shape) and size > 0 and shape[-1] % size == 0
        wanted = (*shape[:-1], shape[-1] // size) if fits else ()
        if (
            scales is None
            or scales.data is None
            or scales.shape != wanted
            or scales.dtype not in (DType.FLOAT16, DType.FLOAT32)
            or (zeros_id >= 0 and (zeros is None or zeros.data is None or zeros.shape != wanted))
        ):
            self._problem(
                f"tensor {index}",
                f"blocks of {size} with scales in tensor {scales_id} do not fit its shape {list(shape)}",
            )
            return None
        given = None if zeros is None else zeros.data
        return Blocks(scales.data, np.zeros(wanted, np.int32) if given is None else given, size)

    def _constant(self, raw: Any, index: int, shape: tuple[int, ...], dtype: DType) -> Any:
        number = raw.Buffer()
        if not 0 <= number < self._model.BuffersLength():
            self._problem(f"tensor {index}", f"buffer {number} does not exist")
            return None
        data = self._payload(self._model.Buffers(number), number)
        if data is None:
            return None
        elements = math.prod(shape)
        if not dtype.is_numeric and dtype is not DType.INT4:
            return data
        needed = (elements + 1) // 2 if dtype is DType.INT4 else elements * dtype.size_bytes
        if data.nbytes != needed:
            self._problem(
                f"tensor {index}",
                f"its buffer has {data.nbytes} bytes, shape {list(shape)} of {dtype} needs {needed}",
            )
            return None
        if dtype is DType.INT4:
            return _int4_values(data, elements).reshape(shape)
        values = np.frombuffer(data.tobytes(), dtype=dtype.numpy.newbyteorder("<")).reshape(shape)
        return values.astype(dtype.numpy, copy=False)

    def _payload(self, buffer: Any, number: int) -> Any:
        """Gives a buffer's bytes, which lie in its table or, in files of more than 2 GB, behind the flatbuffer."""
        if buffer.DataLength():
            return buffer.DataAsNumpy()
        start, size = buffer.Offset(), buffer.Size()
        if start < _FIRST_OUTSIDE or size == 0:
            return None
        if start + size > len(self._data):
            self._problem(
                f"buffer {number}",
                f"{size} bytes from byte {start} on are not in the file of {len(self._data)} bytes",
            )
            return None
        return np.frombuffer(self._data, np.uint8, size, start)

    def _operator(self, raw: Any, index: int, tensors: dict[str, Tensor]) -> Operator:
        code = self._model.OperatorCodes(raw.OpcodeIndex())
        number = _builtin_code(code)
        op_type = tflite.BUILTIN_OPCODE2NAME.get(number, f"BUILTIN({number})")
        if op_type == "CUSTOM":
            op_type = f"CUSTOM({_text(code.CustomCode())})"
        return Operator(
            node_id=str(index),
            op_type=op_type,
            inputs=self._ids([raw.Inputs(i) for i in range(raw.InputsLength())], tensors),
            outputs=tuple(
                i
                for i in self._ids([raw.Outputs(i) for i in range(raw.OutputsLength())], tensors)
                if i is not None
            ),
            attributes=decode_attributes(op_type, raw.BuiltinOptions()),
        )

    def _ids(self, indices: list[int], tensors: dict[str, Tensor]) -> tuple[str | None, ...]:
        ids: list[str | None] = []
        for index in indices:
            if index == -1:
                ids.append(None)
                continue
            if str(index) not in tensors:
                self._problem("graph", f"tensor {index} does not exist")
                continue
            ids.append(str(index))
        return tuple(ids)


def _empty_constants(
    tensors: Mapping[str, Tensor], operators: Sequence[Operator], inputs: Sequence[str | None]
) -> dict[str, Tensor]:
    """Gives the tensors of no elements that nothing computes as constants, e.g. the shape of a scalar."""
    made = {*inputs, *(output for operator in operators for output in operator.outputs)}
    return {
        tensor.id: replace(tensor, data=np.zeros(tensor.shape, tensor.dtype.numpy))
        for tensor in tensors.values()
        if 0 in tensor.shape
        and min(tensor.shape) >= 0
        and tensor.dtype.is_numeric
        and tensor.data is None
        and tensor.id not in made
    }


def _int4_values(data: Any, elements: int) -> Any:
    """Gives packed int4 values, the low half of a byte first, as int8."""
    halves = np.stack([data & 0x0F, data >> 4], axis=-1).reshape(-1)[:elements].astype(np.int8)
    return np.where(halves > 7, halves - 16, halves).astype(np.int8)


def _builtin_code(code: Any) -> int:
    """Gives an operator's code from whichever of the two fields its writer filled.

    Codes above 127 fit the newer field only, older writers know the older field only, and some writers fill the newer
    field alone; the package's own accessor ignores the newer field for small codes, so it is read directly.
    """
    offset = code._tab.Offset(_BUILTIN_CODE_SLOT)
    newer = code._tab.Get(Int32Flags, offset + code._tab.Pos) if offset else 0
    return int(max(newer, code.DeprecatedBuiltinCode()))


def _text(raw: bytes | None) -> str:
    return raw.decode("utf-8", errors="replace") if raw else ""
