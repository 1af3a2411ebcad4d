# SPDX-License-Identifier: Apache-2.0
"""Builds small int8 ``.tflite`` models for tests, operator by operator.

    builder = ModelBuilder()
    x = builder.tensor((1, 8, 8, 3), scale=0.5, zero_point=3, name="input")
    y = builder.conv_2d(x, filters, bias, filter_scale=[...], scale=0.7, zero_point=-5)
    model = builder.build(inputs=[x], outputs=[y])  # bytes

Shapes are NHWC; filters are numpy int8 arrays in TFLite's layout. Biases get the scale input * filter. Every method
returns the index of its output tensor. The bytes are a function of the calls alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import flatbuffers
import numpy as np
import tflite

DTYPES = {
    "int4": tflite.TensorType.INT4,
    "int8": tflite.TensorType.INT8,
    "int16": tflite.TensorType.INT16,
    "int32": tflite.TensorType.INT32,
    "int64": tflite.TensorType.INT64,
    "uint8": tflite.TensorType.UINT8,
    "uint32": tflite.TensorType.UINT32,
    "bool": tflite.TensorType.BOOL,
    "float16": tflite.TensorType.FLOAT16,
    "float32": tflite.TensorType.FLOAT32,
    "resource": tflite.TensorType.RESOURCE,
}
VERSIONS = {"BROADCAST_TO": 2}
"""Versions of operators that have no first one; all others are written as version 1."""
BLOCKWISE = 2
"""Code of quantization by blocks among the details of a quantization."""
PADDINGS = {"same": tflite.Padding.SAME, "valid": tflite.Padding.VALID}
ACTIVATIONS = {
    "none": tflite.ActivationFunctionType.NONE,
    "relu": tflite.ActivationFunctionType.RELU,
    "relu6": tflite.ActivationFunctionType.RELU6,
    "relu_n1_to_1": tflite.ActivationFunctionType.RELU_N1_TO_1,
}


@dataclass(frozen=True)
class Tensor:
    """A tensor to be written; ``blocks`` names the tensor of the scales and the elements of a block."""

    shape: tuple[int, ...]
    dtype: str
    name: str
    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int
    data: bytes | None
    is_variable: bool = False
    signature: tuple[int, ...] = ()
    blocks: tuple[int, int] | None = None


@dataclass(frozen=True)
class Operator:
    """An operator to be written; ``options`` is (table name, fields) or None."""

    op_type: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: tuple[str, dict[str, Any]] | None


def output_extent(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    """Gives the output rows or columns as TFLite computes them."""
    if padding == "same":
        return -(-size // stride)
    return (size - (kernel - 1) * dilation - 1) // stride + 1


class ModelBuilder:
    """Collects tensors and operators of one subgraph, and the further subgraphs that these run."""

    def __init__(self, subgraph_name: str = "main") -> None:
        self.subgraph_name = subgraph_name
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.subgraphs: list[tuple[ModelBuilder, tuple[int, ...], tuple[int, ...]]] = []

    def subgraph(
        self, model: ModelBuilder, *, inputs: Sequence[int], outputs: Sequence[int]
    ) -> int:
        """Adds another subgraph and gives its number in the file."""
        self.subgraphs.append((model, tuple(inputs), tuple(outputs)))
        return len(self.subgraphs)

    def tensor(
        self,
        shape: Sequence[int],
        *,
        name: str | None = None,
        dtype: str = "int8",
        scale: float | Sequence[float] | None = None,
        zero_point: int = 0,
        axis: int = 0,
        data: np.ndarray | None = None,
        is_variable: bool = False,
        signature: Sequence[int] = (),
    ) -> int:
        """Adds a tensor; a sequence of scales is per-axis quantisation along ``axis``.

        A signature is the shape with -1 where it is not known before a run.
        """
        scales = (
            () if scale is None else tuple(np.atleast_1d(np.asarray(scale, np.float32)).tolist())
        )
        index = len(self.tensors)
        self.tensors.append(
            Tensor(
                tuple(int(s) for s in shape),
                dtype,
                f"tensor_{index}" if name is None else name,
                scales,
                (int(zero_point),) * len(scales),
                axis,
                None if data is None else np.ascontiguousarray(data, dtype=dtype).tobytes(),
                is_variable,
                tuple(signature),
            )
        )
        return index

    def operator(
        self,
        op_type: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: tuple[str, dict[str, Any]] | None = None,
    ) -> None:
        """Adds an operator, e.g. ``CONV_2D``; -1 is an absent input."""
        self.operators.append(Operator(op_type, tuple(inputs), tuple(outputs), options))

    def copy(self, tensor: Tensor, *, name: str) -> int:
        """Adds a tensor of another model under a new name."""
        self.tensors.append(replace(tensor, name=name))
        return len(self.tensors) - 1

    def constant(self, data: np.ndarray, **fields: Any) -> int:
        """Adds a constant tensor."""
        return self.tensor(data.shape, data=data, dtype=str(data.dtype), **fields)

    def _bias(
        self, bias: np.ndarray | None, x: int, filter_scale: float | Sequence[float]
    ) -> list[int]:
        if bias is None:
            return []
        scale = np.atleast_1d(np.asarray(filter_scale, np.float64)) * self.tensors[x].scale[0]
        return [self.constant(np.asarray(bias, np.int32), scale=scale)]

    def _output(self, shape: Sequence[int], scale: float, zero_point: int, name: str | None) -> int:
        return self.tensor(shape, scale=scale, zero_point=zero_point, name=name)

    def conv_2d(
        self,
        x: int,
        filters: np.ndarray,
        bias: np.ndarray | None,
        *,
        filter_scale: float | Sequence[float],
        scale: float,
        zero_point: int,
        stride: tuple[int, int] = (1, 1),
        dilation: tuple[int, int] = (1, 1),
        padding: str = "same",
        activation: str = "none",
        name: str | None = None,
    ) -> int:
        """Adds CONV_2D; filters [C_OUT, K_H, K_W, C_IN]; pairs are (height, width)."""
        weights = self.constant(filters, scale=filter_scale)
        n, *size, _ = self.tensors[x].shape
        extents = zip(size, filters.shape[1:3], stride, dilation, strict=True)
        shape = (n, *(output_extent(*e, padding) for e in extents), filters.shape[0])
        inputs = [x, weights, *self._bias(bias, x, filter_scale)]
        y = self._output(shape, scale, zero_point, name)
        self.operator(
            "CONV_2D",
            inputs,
            [y],
            ("Conv2DOptions", _window(stride, dilation, padding, activation)),
        )
        return y

    def depthwise_conv_2d(
        self,
        x: int,
        filters: np.ndarray,
        bias: np.ndarray | None,
        *,
        filter_scale: float | Sequence[float],
        scale: float,
        zero_point: int,
        stride: tuple[int, int] = (1, 1),
        dilation: tuple[int, int] = (1, 1),
        padding: str = "same",
        activation: str = "none",
        name: str | None = None,
    ) -> int:
        """Adds DEPTHWISE_CONV_2D; filters [1, K_H, K_W, C_OUT]."""
        weights = self.constant(filters, scale=filter_scale, axis=3)
        n, *size, c = self.tensors[x].shape
        extents = zip(size, filters.shape[1:3], stride, dilation, strict=True)
        shape = (n, *(output_extent(*e, padding) for e in extents), filters.shape[3])
        inputs = [x, weights, *self._bias(bias, x, filter_scale)]
        y = self._output(shape, scale, zero_point, name)
        fields = _window(stride, dilation, padding, activation)
        fields["DepthMultiplier"] = filters.shape[3] // c
        self.operator("DEPTHWISE_CONV_2D", inputs, [y], ("DepthwiseConv2DOptions", fields))
        return y

    def fully_connected(
        self,
        x: int,
        weights: np.ndarray,
        bias: np.ndarray | None,
        *,
        filter_scale: float | Sequence[float],
        scale: float,
        zero_point: int,
        activation: str = "none",
        name: str | None = None,
    ) -> int:
        """Adds FULLY_CONNECTED; weights [outputs, inputs]."""
        inputs = [x, self.constant(weights, scale=filter_scale), *self._bias(bias, x, filter_scale)]
        rows = int(np.prod(self.tensors[x].shape)) // weights.shape[1]
        y = self._output((rows, weights.shape[0]), scale, zero_point, name)
        options = ("FullyConnectedOptions", {"FusedActivationFunction": ACTIVATIONS[activation]})
        self.operator("FULLY_CONNECTED", inputs, [y], options)
        return y

    def average_pool_2d(self, x: int, **fields: Any) -> int:
        """Adds AVERAGE_POOL_2D; see :meth:`_pool`."""
        return self._pool("AVERAGE_POOL_2D", x, **fields)

    def max_pool_2d(self, x: int, **fields: Any) -> int:
        """Adds MAX_POOL_2D; see :meth:`_pool`."""
        return self._pool("MAX_POOL_2D", x, **fields)

    def _pool(
        self,
        op_type: str,
        x: int,
        *,
        kernel: tuple[int, int],
        stride: tuple[int, int] = (1, 1),
        padding: str = "valid",
        activation: str = "none",
        name: str | None = None,
    ) -> int:
        source = self.tensors[x]
        n, *size, c = source.shape
        extents = zip(size, kernel, stride, (1, 1), strict=True)
        shape = (n, *(output_extent(*e, padding) for e in extents), c)
        y = self._output(shape, source.scale[0], source.zero_point[0], name)
        fields = {
            "Padding": PADDINGS[padding],
            "StrideH": stride[0],
            "StrideW": stride[1],
            "FilterHeight": kernel[0],
            "FilterWidth": kernel[1],
            "FusedActivationFunction": ACTIVATIONS[activation],
        }
        self.operator(op_type, [x], [y], ("Pool2DOptions", fields))
        return y

    def add(
        self,
        a: int,
        b: int,
        *,
        scale: float,
        zero_point: int,
        activation: str = "none",
        name: str | None = None,
    ) -> int:
        """Adds ADD with broadcasting."""
        shape = np.broadcast_shapes(self.tensors[a].shape, self.tensors[b].shape)
        y = self._output(shape, scale, zero_point, name)
        self.operator(
            "ADD", [a, b], [y], ("AddOptions", {"FusedActivationFunction": ACTIVATIONS[activation]})
        )
        return y

    def softmax(self, x: int, *, beta: float = 1.0, name: str | None = None) -> int:
        """Adds SOFTMAX along the last axis (output scale 1/256, zero point -128)."""
        y = self._output(self.tensors[x].shape, 1 / 256, -128, name)
        self.operator("SOFTMAX", [x], [y], ("SoftmaxOptions", {"Beta": beta}))
        return y

    def reshape(self, x: int, shape: Sequence[int], *, name: str | None = None) -> int:
        """Adds RESHAPE with the new shape as a constant second input."""
        source = self.tensors[x]
        target = self.constant(np.array(shape, np.int32))
        y = self._output(shape, source.scale[0], source.zero_point[0], name)
        self.operator("RESHAPE", [x, target], [y], ("ReshapeOptions", {}))
        return y

    def build(self, *, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """Writes the flatbuffer."""
        return _Writer(self, inputs, outputs).write()


def _window(stride, dilation, padding: str, activation: str) -> dict[str, Any]:
    return {
        "Padding": PADDINGS[padding],
        "StrideH": stride[0],
        "StrideW": stride[1],
        "DilationHFactor": dilation[0],
        "DilationWFactor": dilation[1],
        "FusedActivationFunction": ACTIVATIONS[activation],
    }


class _Writer:
    """Writes a model with the flatbuffer functions of the ``tflite`` package."""

    def __init__(self, model: ModelBuilder, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        self.model, self.inputs, self.outputs = model, inputs, outputs
        self.fb = flatbuffers.Builder(1024)

    def table(self, table_name: str, **fields: Any) -> int:
        getattr(tflite, f"{table_name}Start")(self.fb)
        for field, value in fields.items():
            getattr(tflite, f"{table_name}Add{field}")(self.fb, value)
        return getattr(tflite, f"{table_name}End")(self.fb)

    def numbers(self, values: Sequence[float], dtype: str) -> int:
        return self.fb.CreateNumpyVector(np.asarray(values, dtype=dtype))

    def offsets(self, values: Sequence[int]) -> int:
        self.fb.StartVector(4, len(values), 4)
        for value in reversed(values):
            self.fb.PrependUOffsetTRelative(value)
        return self.fb.EndVector()

    def tensor(self, tensor: Tensor, buffer: int) -> int:
        name = self.fb.CreateString(tensor.name)
        shape = self.numbers(tensor.shape, "int32")
        fields = {"Shape": shape, "Type": DTYPES[tensor.dtype], "Buffer": buffer, "Name": name}
        if tensor.is_variable:
            fields["IsVariable"] = True
        if tensor.signature:
            fields["ShapeSignature"] = self.numbers(tensor.signature, "int32")
        if tensor.scale:
            fields["Quantization"] = self.table(
                "QuantizationParameters",
                Scale=self.numbers(tensor.scale, "float32"),
                ZeroPoint=self.numbers(tensor.zero_point, "int64"),
                QuantizedDimension=tensor.axis,
            )
        if tensor.blocks:
            fields["Quantization"] = self.table(
                "QuantizationParameters", DetailsType=BLOCKWISE, Details=self.blocks(*tensor.blocks)
            )
        return self.table("Tensor", **fields)

    def blocks(self, scales: int, size: int) -> int:
        """Writes a table that the package does not know: tensor of scales, none of zero points, elements of a block."""
        self.fb.StartObject(3)
        for slot, number in enumerate((scales, -1, size)):
            self.fb.PrependInt32Slot(slot, number, 0)
        return self.fb.EndObject()

    def operator(self, operator: Operator, opcode: int) -> int:
        fields: dict[str, Any] = {
            "OpcodeIndex": opcode,
            "Inputs": self.numbers(operator.inputs, "int32"),
            "Outputs": self.numbers(operator.outputs, "int32"),
        }
        if operator.options is not None:
            table_name, options = operator.options
            fields["BuiltinOptionsType"] = getattr(tflite.BuiltinOptions, table_name)
            written = {
                field: self.fb.CreateString(value) if isinstance(value, str) else value
                for field, value in options.items()
            }
            fields["BuiltinOptions"] = self.table(table_name, **written)
        return self.table("Operator", **fields)

    def opcode(self, op_type: str) -> int:
        code = getattr(tflite.BuiltinOperator, op_type)
        return self.table(
            "OperatorCode",
            DeprecatedBuiltinCode=min(code, 127),
            BuiltinCode=code,
            Version=VERSIONS.get(op_type, 1),
        )

    def buffers(self, models: Sequence[ModelBuilder]) -> tuple[int, list[list[int]]]:
        """Buffer 0 is the empty one of all tensors without data."""
        payloads = [b"", *(t.data for m in models for t in m.tensors if t.data is not None)]
        written = []
        for payload in payloads:
            data = self.fb.CreateByteVector(payload) if payload else None
            written.append(self.table("Buffer", **({} if data is None else {"Data": data})))
        numbers = iter(range(1, len(payloads)))
        indices = [[0 if t.data is None else next(numbers) for t in m.tensors] for m in models]
        return self.offsets(written), indices

    def subgraph(
        self,
        model: ModelBuilder,
        inputs: Sequence[int],
        outputs: Sequence[int],
        buffer_of: Sequence[int],
        op_types: Sequence[str],
    ) -> int:
        tensors = self.offsets(
            [self.tensor(t, b) for t, b in zip(model.tensors, buffer_of, strict=True)]
        )
        operators = self.offsets(
            [self.operator(o, op_types.index(o.op_type)) for o in model.operators]
        )
        return self.table(
            "SubGraph",
            Name=self.fb.CreateString(model.subgraph_name),
            Tensors=tensors,
            Inputs=self.numbers(inputs, "int32"),
            Outputs=self.numbers(outputs, "int32"),
            Operators=operators,
        )

    def write(self) -> bytes:
        parts = [(self.model, self.inputs, self.outputs), *self.model.subgraphs]
        buffers, buffer_of = self.buffers([model for model, _, _ in parts])
        op_types = sorted({o.op_type for model, _, _ in parts for o in model.operators})
        written = [
            self.subgraph(*part, buffer_of=numbers, op_types=op_types)
            for part, numbers in zip(parts, buffer_of, strict=True)
        ]
        opcodes = self.offsets([self.opcode(op_type) for op_type in op_types])
        subgraphs = self.offsets(written)
        description = self.fb.CreateString("built by a test")
        model = self.table(
            "Model",
            Version=3,
            OperatorCodes=opcodes,
            Subgraphs=subgraphs,
            Description=description,
            Buffers=buffers,
        )
        self.fb.Finish(model, file_identifier=b"TFL3")
        return bytes(self.fb.Output())
