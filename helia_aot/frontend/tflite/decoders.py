# SPDX-License-Identifier: Apache-2.0
"""Decodes the option table of each TFLite operator into its attributes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import tflite

from helia_aot.ir.attributes import (
    Activation,
    AxisAttributes,
    BatchMatMulAttributes,
    BinaryAttributes,
    BlockAttributes,
    BranchAttributes,
    CallAttributes,
    ConvolutionAttributes,
    CumulativeSumAttributes,
    FullyConnectedAttributes,
    GeluAttributes,
    LeakyReluAttributes,
    LoopAttributes,
    LstmAttributes,
    MirrorPadAttributes,
    Padding,
    PoolAttributes,
    ReduceAttributes,
    ReshapeAttributes,
    ResizeAttributes,
    SliceAttributes,
    SoftmaxAttributes,
    SvdfAttributes,
    TransposeConvolutionAttributes,
    VariableAttributes,
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


def _finite(what: str, number: float) -> float:
    if not math.isfinite(number):
        raise ValueError(f"{what} is {number}")
    return float(number)


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
        narrow_bias=options.QuantizedBiasType() == tflite.TensorType.INT32,
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
        narrow_bias=options.QuantizedBiasType() == tflite.TensorType.INT32,
    )


def _softmax(table: Any) -> SoftmaxAttributes:
    return SoftmaxAttributes(_finite("beta", _options(tflite.SoftmaxOptions, table).Beta()))


def _reshape(_table: Any) -> ReshapeAttributes:
    return ReshapeAttributes()


def _binary(kind: Any) -> Callable[[Any], BinaryAttributes]:
    """Gives the decoder of an element-wise operator, whose options may be missing."""

    def decode(table: Any) -> BinaryAttributes:
        if table is None:
            return BinaryAttributes("NONE")
        return BinaryAttributes(_activation(_options(kind, table).FusedActivationFunction()))

    return decode


def _leaky_relu(table: Any) -> LeakyReluAttributes:
    return LeakyReluAttributes(_finite("alpha", _options(tflite.LeakyReluOptions, table).Alpha()))


def _gelu(table: Any) -> GeluAttributes:
    if table is None:
        return GeluAttributes(approximate=False)
    return GeluAttributes(bool(_options(tflite.GeluOptions, table).Approximate()))


def _concatenation(table: Any) -> AxisAttributes:
    options = _options(tflite.ConcatenationOptions, table)
    return AxisAttributes(options.Axis(), _activation(options.FusedActivationFunction()))


def _pack(table: Any) -> AxisAttributes:
    return AxisAttributes(_options(tflite.PackOptions, table).Axis())


def _unpack(table: Any) -> AxisAttributes:
    return AxisAttributes(_options(tflite.UnpackOptions, table).Axis())


def _gather(table: Any) -> AxisAttributes:
    options = _options(tflite.GatherOptions, table)
    return AxisAttributes(options.Axis(), batch_dims=options.BatchDims())


def _mirror_pad(table: Any) -> MirrorPadAttributes:
    mode = _options(tflite.MirrorPadOptions, table).Mode()
    return MirrorPadAttributes(mode == tflite.MirrorPadMode.SYMMETRIC)


def _strided_slice(table: Any) -> SliceAttributes:
    options = _options(tflite.StridedSliceOptions, table)
    return SliceAttributes(
        begin_mask=options.BeginMask(),
        end_mask=options.EndMask(),
        ellipsis_mask=options.EllipsisMask(),
        new_axis_mask=options.NewAxisMask(),
        shrink_axis_mask=options.ShrinkAxisMask(),
        offset=bool(options.Offset()),
    )


def _space_to_depth(table: Any) -> BlockAttributes:
    return BlockAttributes(_options(tflite.SpaceToDepthOptions, table).BlockSize())


def _depth_to_space(table: Any) -> BlockAttributes:
    return BlockAttributes(_options(tflite.DepthToSpaceOptions, table).BlockSize())


def _resize(kind: Any) -> Callable[[Any], ResizeAttributes]:
    def decode(table: Any) -> ResizeAttributes:
        options = _options(kind, table)
        return ResizeAttributes(bool(options.AlignCorners()), bool(options.HalfPixelCenters()))

    return decode


def _reducer(table: Any) -> ReduceAttributes:
    return ReduceAttributes(bool(_options(tflite.ReducerOptions, table).KeepDims()))


def _cumulative_sum(table: Any) -> CumulativeSumAttributes:
    if table is None:
        return CumulativeSumAttributes(exclusive=False, reverse=False)
    options = _options(tflite.CumsumOptions, table)
    return CumulativeSumAttributes(bool(options.Exclusive()), bool(options.Reverse()))


def _transpose_conv(table: Any) -> TransposeConvolutionAttributes:
    options = _options(tflite.TransposeConvOptions, table)
    return TransposeConvolutionAttributes(
        padding=_padding(options.Padding()),
        stride_h=_positive(options.StrideH(), "stride height"),
        stride_w=_positive(options.StrideW(), "stride width"),
        activation=_activation(options.FusedActivationFunction()),
    )


def _svdf(table: Any) -> SvdfAttributes:
    options = _options(tflite.SVDFOptions, table)
    return SvdfAttributes(options.Rank(), _activation(options.FusedActivationFunction()))


def _lstm(table: Any) -> LstmAttributes:
    options = _options(tflite.UnidirectionalSequenceLSTMOptions, table)
    return LstmAttributes(
        activation=_activation(options.FusedActivationFunction()),
        cell_clip=_finite("cell clip", options.CellClip()),
        proj_clip=_finite("projection clip", options.ProjClip()),
        time_major=bool(options.TimeMajor()),
        diagonal=bool(options.DiagonalRecurrentTensors()),
    )


def _batch_matmul(table: Any) -> BatchMatMulAttributes:
    if table is None:
        return BatchMatMulAttributes(adj_x=False, adj_y=False)
    options = _options(tflite.BatchMatMulOptions, table)
    return BatchMatMulAttributes(bool(options.AdjX()), bool(options.AdjY()))


def _var_handle(table: Any) -> VariableAttributes:
    options = _options(tflite.VarHandleOptions, table)
    parts = [
        part.decode("utf-8", errors="replace") if part else ""
        for part in (options.Container(), options.SharedName())
    ]
    return VariableAttributes("/".join(parts))


def _if(table: Any) -> BranchAttributes:
    options = _options(tflite.IfOptions, table)
    return BranchAttributes(options.ThenSubgraphIndex(), options.ElseSubgraphIndex())


def _while(table: Any) -> LoopAttributes:
    options = _options(tflite.WhileOptions, table)
    return LoopAttributes(options.CondSubgraphIndex(), options.BodySubgraphIndex())


def _call_once(table: Any) -> CallAttributes:
    return CallAttributes(_options(tflite.CallOnceOptions, table).InitSubgraphIndex())


_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "ADD": _binary(tflite.AddOptions),
    "AVERAGE_POOL_2D": _pool,
    "BATCH_MATMUL": _batch_matmul,
    "CALL_ONCE": _call_once,
    "CONCATENATION": _concatenation,
    "CONV_2D": _convolution,
    "CUMSUM": _cumulative_sum,
    "DEPTHWISE_CONV_2D": _depthwise,
    "DEPTH_TO_SPACE": _depth_to_space,
    "DIV": _binary(tflite.DivOptions),
    "FULLY_CONNECTED": _fully_connected,
    "GATHER": _gather,
    "GELU": _gelu,
    "IF": _if,
    "L2_NORMALIZATION": _binary(tflite.L2NormOptions),
    "L2_POOL_2D": _pool,
    "LEAKY_RELU": _leaky_relu,
    "MAX_POOL_2D": _pool,
    "MEAN": _reducer,
    "MIRROR_PAD": _mirror_pad,
    "MUL": _binary(tflite.MulOptions),
    "PACK": _pack,
    "REDUCE_ALL": _reducer,
    "REDUCE_ANY": _reducer,
    "REDUCE_MAX": _reducer,
    "REDUCE_MIN": _reducer,
    "RESHAPE": _reshape,
    "RESIZE_BILINEAR": _resize(tflite.ResizeBilinearOptions),
    "RESIZE_NEAREST_NEIGHBOR": _resize(tflite.ResizeNearestNeighborOptions),
    "SOFTMAX": _softmax,
    "SPACE_TO_DEPTH": _space_to_depth,
    "STRIDED_SLICE": _strided_slice,
    "SUB": _binary(tflite.SubOptions),
    "SUM": _reducer,
    "SVDF": _svdf,
    "TRANSPOSE_CONV": _transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "UNPACK": _unpack,
    "VAR_HANDLE": _var_handle,
    "WHILE": _while,
}
