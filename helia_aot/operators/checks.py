# SPDX-License-Identifier: Apache-2.0
"""Checks that several operator families share; each gives the reasons why an operator cannot be compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from helia_aot.ir.attributes import Activation, ConvolutionAttributes, PoolAttributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor

_CLAMPS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")


def inputs_of(graph: Graph, operator: Operator) -> list[Tensor | None]:
    """Gives the operator's input tensors, None where an optional one is absent."""
    return [None if i is None else graph.tensor(i) for i in operator.inputs]


def check_count(operator: Operator, inputs: Sequence[int], outputs: int = 1) -> list[str]:
    """Checks how many tensors the operator has; ``inputs`` lists the counts allowed, the lowest is needed."""
    reasons = []
    if len(operator.inputs) not in inputs:
        wanted = " or ".join(str(count) for count in inputs)
        reasons.append(f"has {len(operator.inputs)} inputs; supported: {wanted}")
    reasons += [
        f"input {position} is absent"
        for position, tensor_id in enumerate(operator.inputs[: min(inputs)])
        if tensor_id is None
    ]
    if len(operator.outputs) != outputs:
        reasons.append(f"has {len(operator.outputs)} outputs; supported: {outputs}")
    return reasons


def check_int8(role: str, tensor: Tensor | None) -> list[str]:
    """Checks for an int8 tensor with per-tensor quantization."""
    if tensor is None:
        return [f"{role} is absent"]
    if tensor.dtype is not DType.INT8:
        return [f"{role} has type {tensor.dtype}; supported: int8"]
    if tensor.quantization is None:
        return [f"{role} has no quantization"]
    if tensor.quantization.is_per_channel:
        return [f"{role} is quantized per channel; supported: per tensor"]
    return check_scales(role, tensor)


def check_quantized(
    role: str,
    tensor: Tensor | None,
    dtypes: Sequence[DType] = (DType.INT8, DType.INT16),
    *,
    symmetric_int16: bool = True,
    zero_scale: bool = False,
) -> list[str]:
    """Checks for a tensor of some integer types with per-tensor quantization, int16 by default with zero point 0."""
    if tensor is None:
        return [f"{role} is absent"]
    if tensor.dtype not in dtypes:
        return [f"{role} has type {tensor.dtype}; supported: {', '.join(dtypes)}"]
    if tensor.quantization is None:
        return [f"{role} has no quantization"]
    if tensor.quantization.is_per_channel:
        return [f"{role} is quantized per channel; supported: per tensor"]
    if symmetric_int16 and tensor.dtype is DType.INT16 and tensor.quantization.zero_point:
        return [f"{role} is int16 with zero point {tensor.quantization.zero_point}; supported: 0"]
    if zero_scale and tensor.quantization.scale == 0:
        return []
    return check_scales(role, tensor)


def check_same_type(*tensors: Tensor | None) -> list[str]:
    """Checks that tensors have one element type."""
    types = list(dict.fromkeys(t.dtype.value for t in tensors if t is not None))
    return [f"mixes the types {', '.join(types)}"] if len(types) > 1 else []


def check_constant(role: str, tensor: Tensor | None) -> list[str]:
    """Checks that a tensor is known at conversion."""
    if tensor is None:
        return [f"{role} is absent"]
    return [] if tensor.is_constant else [f"{role} is computed; supported: a constant"]


def check_integers(role: str, tensor: Tensor | None) -> list[str]:
    """Checks that a tensor is a constant of axes, extents or other whole numbers."""
    reasons = check_constant(role, tensor)
    dtype = None if tensor is None else tensor.dtype
    if dtype is not None and not (dtype.is_numeric and dtype.numpy.kind in "iu"):
        reasons.append(f"{role} has type {dtype}; supported: integers")
    return reasons


def check_shape(role: str, tensor: Tensor, expected: Sequence[int]) -> list[str]:
    """Checks a tensor's shape against what the operator gives."""
    if tensor.shape != tuple(expected):
        return [f"{role} has shape {list(tensor.shape)}; the operator gives {list(expected)}"]
    return []


def check_scales(role: str, tensor: Tensor) -> list[str]:
    """Checks that all scales of a tensor are positive, finite numbers."""
    scales = tensor.quantization.scales if tensor.quantization else ()
    if not all(np.isfinite(scale) and scale > 0 for scale in scales):
        return [f"{role} has a quantization scale that is not positive and finite"]
    return []


def check_filter(tensor: Tensor | None, *, axis: int, channels: int) -> list[str]:
    """Checks constant int8 weights with zero point 0, quantized per tensor or along ``axis``."""
    if tensor is None:
        return ["filter is absent"]
    if tensor.dtype is not DType.INT8:
        return [f"filter has type {tensor.dtype}; supported: int8"]
    if not tensor.is_constant:
        return ["filter is computed; supported: a constant"]
    if tensor.quantization is None:
        return ["filter has no quantization"]
    reasons = check_scales("filter", tensor)
    if any(tensor.quantization.zero_points):
        reasons.append("filter has a zero point other than 0")
    if tensor.quantization.is_per_channel and (
        len(tensor.quantization.scales) != channels or tensor.quantization.axis != axis
    ):
        reasons.append(
            f"filter has {len(tensor.quantization.scales)} scales along dimension "
            f"{tensor.quantization.axis}; supported: {channels} along dimension {axis}"
        )
    return reasons


def check_bias(
    tensor: Tensor | None, channels: int, dtypes: Sequence[DType] = (DType.INT32,)
) -> list[str]:
    """Checks an optional constant bias with one value for each channel."""
    if tensor is None:
        return []
    if tensor.dtype not in dtypes:
        return [f"bias has type {tensor.dtype}; supported: {', '.join(dtypes)}"]
    if not tensor.is_constant:
        return ["bias is computed; supported: a constant"]
    if tensor.elements != channels:
        return [f"bias has {tensor.elements} values for {channels} output channels"]
    return []


def fused_activation(operator: Operator) -> Activation:
    """Gives the fused activation of an operator with two inputs; types without options have none."""
    return "NONE" if operator.attributes is None else operator.attributes.activation


def check_activation(activation: Activation) -> list[str]:
    """Checks that a fused activation is a clamp."""
    if activation not in _CLAMPS:
        return [f"fused activation {activation}; supported: {', '.join(_CLAMPS)}"]
    return []


def check_steps(attributes: ConvolutionAttributes | PoolAttributes) -> list[str]:
    """Checks that strides, dilations and window sizes are at least 1; damaged files have others."""
    numbers = {field.name: getattr(attributes, field.name) for field in fields(attributes)}
    return [
        f"{name} is {number}; it must be at least 1"
        for name, number in numbers.items()
        if isinstance(number, int) and not isinstance(number, bool) and number < 1
    ]


def check_rank(role: str, tensor: Tensor | None, ranks: Sequence[int]) -> list[str]:
    """Checks how many dimensions a tensor has."""
    if tensor is not None and len(tensor.shape) not in ranks:
        wanted = " or ".join(str(rank) for rank in ranks)
        return [f"{role} has shape {list(tensor.shape)}; supported: {wanted} dimensions"]
    return []


def check_product(source: Tensor, weights: Tensor, output: Tensor) -> list[str]:
    """Checks that rows of an input and a filter of shape [channels, depth] make an output."""
    channels, depth = weights.shape
    if source.elements % depth or output.elements * depth != source.elements * channels:
        return [
            f"input {list(source.shape)} and output {list(output.shape)} do not fit the "
            f"filter {list(weights.shape)}"
        ]
    return []


def check_same_quantization(first: Tensor, second: Tensor) -> list[str]:
    """Checks that input and output are quantized alike, as operators that only move or select need it.

    Scales may differ by so little that no number of the type would be requantized to another one.
    """
    if not _is_alike(first, second):
        return ["input and output are quantized differently; supported: the same quantization"]
    return []


def _is_alike(first: Tensor, second: Tensor) -> bool:
    one, two = first.quantization, second.quantization
    if one is None or two is None or one == two:
        return True
    if one.is_per_channel or two.is_per_channel or one.zero_points != two.zero_points:
        return False
    # A number without its zero point is below 2^bits, and half a step away from the next one.
    least = 2.0 ** -(8 * first.dtype.size_bytes + 1)
    return two.scale > 0 and abs(one.scale / two.scale - 1) < least
