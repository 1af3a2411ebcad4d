# SPDX-License-Identifier: Apache-2.0
"""Decodes the option table of each TFLite operator into its attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import tflite

from helia_aot.ir.attributes import (
    Activation,
    BinaryAttributes,
    ConvolutionAttributes,
    FullyConnectedAttributes,
    Padding,
    PoolAttributes,
    ReshapeAttributes,
    SoftmaxAttributes,
)

_ACTIVATIONS: Final[dict[int, Activation]] = {
    tflite.ActivationFunctionType.NONE: "NONE",
    tflite.ActivationFunctionType.RELU: "RELU",
    tflite.ActivationFunctionType.RELU_N1_TO_1: "RELU_N1_TO_1",
    tflite.ActivationFunctionType.RELU6: "RELU6",
    tflite.ActivationFunctionType.TANH: "TANH",
    tflite.ActivationFunctionType.SIGN_BIT: "SIGN_BIT",
}
_PADDINGS: Final[dict[int, Padding]] = {tflite.Padding.SAME: "SAME", tflite.Padding.VALID: "VALID"}


def decode_attributes(op_type: str, table: Any) -> Any:
    """Decodes an operator's options.

    Args:
        op_type: TFLite operator name.
        table: The flatbuffer union of the options; None when the operator has none.

    Returns:
        The attributes, or None for an operator type that has no decoder.

    Raises:
        ValueError: The options are missing where the operator needs them, or hold an unknown code.
    """
    decoder = _DECODERS.get(op_type)
    return decoder(table) if decoder else None


def _options(kind: Any, table: Any) -> Any:
    if table is None:
        raise ValueError(f"{kind.__name__} are missing")
    options = kind()
    options.Init(table.Bytes, table.Pos)
    return options


def _activation(code: int) -> Activation:
    if code not in _ACTIVATIONS:
        raise ValueError(f"unknown activation code {code}")
    return _ACTIVATIONS[code]


def _padding(code: int) -> Padding:
    if code not in _PADDINGS:
        raise ValueError(f"unknown padding code {code}")
    return _PADDINGS[code]


def _positive(number: int, what: str) -> int:
    if number < 1:
        raise ValueError(f"{what} is {number}")
    return number


def _convolution(table: Any) -> ConvolutionAttributes:
    options = _options(tflite.Conv2DOptions, table)
    return ConvolutionAttributes(
        padding=_padding(options.Padding()),
        stride_h=_positive(options.StrideH(), "stride height"),
        stride_w=_positive(options.StrideW(), "stride width"),
        dilation_h=_positive(options.DilationHFactor(), "dilation height"),
        dilation_w=_positive(options.DilationWFactor(), "dilation width"),
        activation=_activation(options.FusedActivationFunction()),
    )


def _depthwise(table: Any) -> ConvolutionAttributes:
    options = _options(tflite.DepthwiseConv2DOptions, table)
    return ConvolutionAttributes(
        padding=_padding(options.Padding()),
        stride_h=_positive(options.StrideH(), "stride height"),
        stride_w=_positive(options.StrideW(), "stride width"),
        dilation_h=_positive(options.DilationHFactor(), "dilation height"),
        dilation_w=_positive(options.DilationWFactor(), "dilation width"),
        activation=_activation(options.FusedActivationFunction()),
        depth_multiplier=options.DepthMultiplier(),
    )


def _pool(table: Any) -> PoolAttributes:
    options = _options(tflite.Pool2DOptions, table)
    return PoolAttributes(
        padding=_padding(options.Padding()),
        stride_h=_positive(options.StrideH(), "stride height"),
        stride_w=_positive(options.StrideW(), "stride width"),
        filter_h=_positive(options.FilterHeight(), "filter height"),
        filter_w=_positive(options.FilterWidth(), "filter width"),
        activation=_activation(options.FusedActivationFunction()),
    )


def _fully_connected(table: Any) -> FullyConnectedAttributes:
    options = _options(tflite.FullyConnectedOptions, table)
    default = tflite.FullyConnectedOptionsWeightsFormat.DEFAULT
    return FullyConnectedAttributes(
        activation=_activation(options.FusedActivationFunction()),
        keep_num_dims=bool(options.KeepNumDims()),
        shuffled_weights=options.WeightsFormat() != default,
    )


def _add(table: Any) -> BinaryAttributes:
    if table is None:
        return BinaryAttributes("NONE")
    options = _options(tflite.AddOptions, table)
    return BinaryAttributes(_activation(options.FusedActivationFunction()))


def _softmax(table: Any) -> SoftmaxAttributes:
    return SoftmaxAttributes(float(_options(tflite.SoftmaxOptions, table).Beta()))


def _reshape(_table: Any) -> ReshapeAttributes:
    return ReshapeAttributes()


_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "ADD": _add,
    "AVERAGE_POOL_2D": _pool,
    "CONV_2D": _convolution,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _fully_connected,
    "MAX_POOL_2D": _pool,
    "RESHAPE": _reshape,
    "SOFTMAX": _softmax,
}
