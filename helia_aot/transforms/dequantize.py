# SPDX-License-Identifier: Apache-2.0
"""The numbers that a quantized or half-precision constant stands for."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Tensor

QUANTIZED: Final = (DType.INT4, DType.INT8, DType.UINT8, DType.INT16)
"""Integer types whose constants can be dequantized."""


def can_dequantize(tensor: Tensor) -> bool:
    """Says whether a tensor is a float16 constant, or an integer one with a quantization that fits its shape."""
    if tensor.data is None:
        return False
    if tensor.dtype is DType.FLOAT16:
        return True
    quantization = tensor.quantization
    if tensor.dtype not in QUANTIZED:
        return False
    if tensor.blocks is not None:
        return True
    if quantization is None:
        return False
    if not quantization.is_per_channel:
        return True
    axis = quantization.axis
    return 0 <= axis < len(tensor.shape) and tensor.shape[axis] == len(quantization.scales)


def dequantized(tensor: Tensor) -> NDArray[Any]:
    """Gives a constant's numbers as float32, as DEQUANTIZE computes them.

    Args:
        tensor: A tensor that :func:`can_dequantize` takes.

    Returns:
        float32 values of the same shape: half precision widened exactly, or ``scale * (value - zero point)``, rounded
        once, with a scale for the tensor, each channel or each block.
    """
    assert tensor.data is not None
    if tensor.dtype is DType.FLOAT16:
        return tensor.data.astype(np.float32)
    if tensor.blocks is not None:
        blocks = tensor.blocks
        scales = np.repeat(blocks.scales.astype(np.float64), blocks.size, axis=-1)
        points = np.repeat(blocks.zero_points.astype(np.int64), blocks.size, axis=-1)
        return _real(scales, tensor.data, points)
    quantization = tensor.quantization
    assert quantization is not None
    shape = [1] * len(tensor.shape)
    if quantization.is_per_channel:
        shape[quantization.axis] = -1
    scales = np.array(quantization.scales, np.float64).reshape(shape)
    zero_points = np.array(quantization.zero_points, np.int64).reshape(shape)
    return _real(scales, tensor.data, zero_points)


def _real(scales: NDArray[Any], data: NDArray[Any], zero_points: NDArray[Any]) -> NDArray[Any]:
    values: NDArray[Any] = (scales * (data.astype(np.int64) - zero_points)).astype(np.float32)
    return values
