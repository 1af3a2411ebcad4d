# SPDX-License-Identifier: Apache-2.0
"""The families of integer operators, and of those that do not look at the element type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.operators.activation import Activation, Softmax
from helia_aot.operators.batch_matmul import IntegerBatchMatMul
from helia_aot.operators.cast import Cast
from helia_aot.operators.convolution import Convolution
from helia_aot.operators.depthwise import Depthwise
from helia_aot.operators.elementwise import Arithmetic, Extremum, Prelu
from helia_aot.operators.layers_s16 import ConvolutionS16, DepthwiseS16, FullyConnectedS16
from helia_aot.operators.linear import FullyConnected
from helia_aot.operators.lstm import IntegerLstm
from helia_aot.operators.movement import (
    Blocks,
    BroadcastTo,
    Concatenation,
    Gather,
    MirrorPad,
    Pad,
    Reshape,
    ResizeNearest,
    Slice,
    Split,
    StridedSlice,
    Tile,
    Transpose,
)
from helia_aot.operators.pooling import Pooling
from helia_aot.operators.quantization import Dequantize, Quantize
from helia_aot.operators.reduction import ArgExtremum, Reduction
from helia_aot.operators.resize import ResizeBilinear
from helia_aot.operators.spec import OperatorFamily
from helia_aot.operators.svdf import Svdf
from helia_aot.operators.transpose_convolution import TransposeConvolution
from helia_aot.operators.variables import Variable


def _integer(family: OperatorFamily) -> dict[str, OperatorFamily]:
    """Gives a family the two integer types of activations."""
    return {"int8": family, "int16": family}


UNTYPED: Final[Mapping[str, OperatorFamily]] = {
    "ASSIGN_VARIABLE": Variable(assigns=True),
    "ARG_MAX": ArgExtremum("max"),
    "ARG_MIN": ArgExtremum("min"),
    "BROADCAST_TO": BroadcastTo(),
    "CAST": Cast(),
    "CONCATENATION": Concatenation(new_axis=False),
    "DEPTH_TO_SPACE": Blocks(to_depth=False),
    "DEQUANTIZE": Dequantize(),
    "EXPAND_DIMS": Reshape(),
    "GATHER": Gather(),
    "MIRROR_PAD": MirrorPad(),
    "PACK": Concatenation(new_axis=True),
    "PAD": Pad(),
    "PADV2": Pad(),
    "QUANTIZE": Quantize(),
    "READ_VARIABLE": Variable(assigns=False),
    "RESHAPE": Reshape(),
    "RESIZE_NEAREST_NEIGHBOR": ResizeNearest(),
    "SLICE": Slice(),
    "SPACE_TO_DEPTH": Blocks(to_depth=True),
    "SPLIT": Split(data=1, axis=0, inputs=2),
    "SPLIT_V": Split(data=0, axis=2, inputs=3),
    "SQUEEZE": Reshape(),
    "STRIDED_SLICE": StridedSlice(),
    "TILE": Tile(),
    "TRANSPOSE": Transpose(),
    "UNPACK": Split(data=0, axis=None, inputs=1),
}
"""TFLite operator name -> the one family for all element types."""

INTEGER: Final[Mapping[str, Mapping[str, OperatorFamily]]] = {
    "ABS": _integer(Activation("ABS")),
    "ADD": _integer(Arithmetic("add")),
    "AVERAGE_POOL_2D": _integer(Pooling("avgpool")),
    "BATCH_MATMUL": _integer(IntegerBatchMatMul()),
    "CONV_2D": {"int8": Convolution(), "int16": ConvolutionS16()},
    "DEPTHWISE_CONV_2D": {"int8": Depthwise(), "int16": DepthwiseS16()},
    "ELU": {"int8": Activation("ELU")},
    "FULLY_CONNECTED": {"int8": FullyConnected(), "int16": FullyConnectedS16()},
    "HARD_SWISH": {"int8": Activation("HARD_SWISH")},
    "LEAKY_RELU": _integer(Activation("LEAKY_RELU")),
    "LOGISTIC": _integer(Activation("LOGISTIC")),
    "MAXIMUM": _integer(Extremum("maximum")),
    "MAX_POOL_2D": _integer(Pooling("max_pool")),
    "MEAN": _integer(Reduction("MEAN")),
    "MINIMUM": _integer(Extremum("minimum")),
    "MUL": _integer(Arithmetic("mul")),
    "PRELU": _integer(Prelu()),
    "REDUCE_MAX": _integer(Reduction("REDUCE_MAX")),
    "REDUCE_MIN": _integer(Reduction("REDUCE_MIN")),
    "RELU": _integer(Activation("RELU")),
    "RELU6": _integer(Activation("RELU6")),
    "RELU_N1_TO_1": _integer(Activation("RELU_N1_TO_1")),
    "RESIZE_BILINEAR": {"int8": ResizeBilinear()},
    "SOFTMAX": _integer(Softmax()),
    "SUB": _integer(Arithmetic("sub")),
    "SUM": _integer(Reduction("SUM")),
    "SVDF": {"int8": Svdf()},
    "TANH": _integer(Activation("TANH")),
    "TRANSPOSE_CONV": _integer(TransposeConvolution()),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _integer(IntegerLstm()),
}
"""TFLite operator name -> element type of the first output -> family."""
