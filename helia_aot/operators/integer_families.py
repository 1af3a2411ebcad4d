# SPDX-License-Identifier: Apache-2.0
"""The families of integer operators, and of those that do not look at the element type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.operators.activation import Activation, LogSoftmax, Softmax
from helia_aot.operators.batch_matmul import IntegerBatchMatMul
from helia_aot.operators.cast import Cast
from helia_aot.operators.comparison import Comparison, Logical, LogicalNot, Select
from helia_aot.operators.computed_weights import ByOrigin, ComputedFullyConnected
from helia_aot.operators.convolution import Convolution
from helia_aot.operators.depthwise import Depthwise
from helia_aot.operators.elementwise import Arithmetic, Extremum, Prelu
from helia_aot.operators.filling import Fill, ZerosLike
from helia_aot.operators.indexing import DynamicUpdateSlice, EmbeddingLookup, GatherNd
from helia_aot.operators.integer32 import Arithmetic32, Extremum64
from helia_aot.operators.layers_s16 import ConvolutionS16, DepthwiseS16, FullyConnectedS16
from helia_aot.operators.linear import FullyConnected
from helia_aot.operators.look_up_choices import HardSwish, Rsqrt16
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
    Reverse,
    Slice,
    Split,
    StridedSlice,
    Tile,
    Transpose,
)
from helia_aot.operators.normalization import L2Normalization
from helia_aot.operators.pooling import Pooling
from helia_aot.operators.quantization import Dequantize, Quantize
from helia_aot.operators.reduction import ArgExtremum, LogicalReduction, Reduction
from helia_aot.operators.resize import ResizeBilinear
from helia_aot.operators.space_batch import SpaceBatch
from helia_aot.operators.spec import OperatorFamily
from helia_aot.operators.static_shapes import BroadcastArgs, Known, rank_of, shape_of
from helia_aot.operators.sums import AddN, CumulativeSum
from helia_aot.operators.svdf import Svdf
from helia_aot.operators.transpose_convolution import TransposeConvolution
from helia_aot.operators.variables import Variable


def _integer(family: OperatorFamily) -> dict[str, OperatorFamily]:
    """Gives a family the two integer types of activations."""
    return {"int8": family, "int16": family}


UNTYPED: Final[Mapping[str, OperatorFamily]] = {
    "ARG_MAX": ArgExtremum("max"),
    "ARG_MIN": ArgExtremum("min"),
    "ASSIGN_VARIABLE": Variable(assigns=True),
    "BATCH_TO_SPACE_ND": SpaceBatch(to_batch=False),
    "BROADCAST_ARGS": BroadcastArgs(),
    "BROADCAST_TO": BroadcastTo(),
    "CAST": Cast(),
    "CONCATENATION": Concatenation(new_axis=False),
    "DEPTH_TO_SPACE": Blocks(to_depth=False),
    "DEQUANTIZE": Dequantize(),
    "DYNAMIC_UPDATE_SLICE": DynamicUpdateSlice(),
    "EMBEDDING_LOOKUP": EmbeddingLookup(),
    "EQUAL": Comparison("EQUAL"),
    "EXPAND_DIMS": Reshape(),
    "FILL": Fill(),
    "GATHER": Gather(),
    "GATHER_ND": GatherNd(),
    "GREATER": Comparison("GREATER"),
    "GREATER_EQUAL": Comparison("GREATER_EQUAL"),
    "LESS": Comparison("LESS"),
    "LESS_EQUAL": Comparison("LESS_EQUAL"),
    "LOGICAL_AND": Logical("arm_minimum_s8"),
    "LOGICAL_NOT": LogicalNot(),
    "LOGICAL_OR": Logical("arm_maximum_s8"),
    "MIRROR_PAD": MirrorPad(),
    "NOT_EQUAL": Comparison("NOT_EQUAL"),
    "PACK": Concatenation(new_axis=True),
    "PAD": Pad(),
    "PADV2": Pad(),
    "QUANTIZE": Quantize(),
    "RANK": Known(rank_of),
    "READ_VARIABLE": Variable(assigns=False),
    "RESHAPE": Reshape(),
    "RESIZE_NEAREST_NEIGHBOR": ResizeNearest(),
    "REVERSE_V2": Reverse(),
    "SELECT": Select(broadcasts=False),
    "SELECT_V2": Select(broadcasts=True),
    "SHAPE": Known(shape_of),
    "SLICE": Slice(),
    "SPACE_TO_BATCH_ND": SpaceBatch(to_batch=True),
    "SPACE_TO_DEPTH": Blocks(to_depth=True),
    "SPLIT": Split(data=1, axis=0, inputs=2),
    "SPLIT_V": Split(data=0, axis=2, inputs=3),
    "SQUEEZE": Reshape(),
    "STRIDED_SLICE": StridedSlice(),
    "TILE": Tile(),
    "TRANSPOSE": Transpose(),
    "UNPACK": Split(data=0, axis=None, inputs=1),
    "ZEROS_LIKE": ZerosLike(),
}
"""TFLite operator name -> the one family for all element types."""

INTEGER: Final[Mapping[str, Mapping[str, OperatorFamily]]] = {
    "ABS": _integer(Activation("ABS")),
    "ADD": {**_integer(Arithmetic("add")), "int32": Arithmetic32("ADD")},
    "ADD_N": {"int8": AddN()},
    "AVERAGE_POOL_2D": _integer(Pooling("avgpool")),
    "BATCH_MATMUL": _integer(IntegerBatchMatMul()),
    "CONV_2D": {"int8": Convolution(), "int16": ConvolutionS16()},
    "CUMSUM": {"int8": CumulativeSum()},
    "DEPTHWISE_CONV_2D": {"int8": Depthwise(), "int16": DepthwiseS16()},
    "DIV": {"int8": Arithmetic("div"), "int32": Arithmetic32("DIV")},
    "ELU": {"int8": Activation("ELU")},
    "EXP": {"int8": Activation("EXP")},
    "FLOOR_DIV": {"int32": Arithmetic32("FLOOR_DIV")},
    "FLOOR_MOD": {"int32": Arithmetic32("FLOOR_MOD")},
    "FULLY_CONNECTED": {
        "int8": ByOrigin(FullyConnected(), ComputedFullyConnected()),
        "int16": FullyConnectedS16(),
    },
    "GELU": {"int8": Activation("GELU")},
    "HARD_SWISH": {"int8": HardSwish()},
    "L2_NORMALIZATION": {"int8": L2Normalization()},
    "LEAKY_RELU": _integer(Activation("LEAKY_RELU")),
    "LOG": {"int8": Activation("LOG")},
    "LOGISTIC": _integer(Activation("LOGISTIC")),
    "LOG_SOFTMAX": {"int8": LogSoftmax()},
    "MAXIMUM": {
        **_integer(Extremum("maximum")),
        "int32": Arithmetic32("MAXIMUM"),
        "int64": Extremum64("maximum"),
    },
    "MAX_POOL_2D": _integer(Pooling("max_pool")),
    "MEAN": _integer(Reduction("MEAN")),
    "MINIMUM": {
        **_integer(Extremum("minimum")),
        "int32": Arithmetic32("MINIMUM"),
        "int64": Extremum64("minimum"),
    },
    "MUL": {**_integer(Arithmetic("mul")), "int32": Arithmetic32("MUL")},
    "NEG": {"int8": Activation("NEG")},
    "PRELU": _integer(Prelu()),
    "REDUCE_ALL": {"bool": LogicalReduction("REDUCE_ALL")},
    "REDUCE_ANY": {"bool": LogicalReduction("REDUCE_ANY")},
    "REDUCE_MAX": _integer(Reduction("REDUCE_MAX")),
    "REDUCE_MIN": _integer(Reduction("REDUCE_MIN")),
    "RELU": _integer(Activation("RELU")),
    "RELU6": _integer(Activation("RELU6")),
    "RELU_N1_TO_1": _integer(Activation("RELU_N1_TO_1")),
    "RESIZE_BILINEAR": {"int8": ResizeBilinear()},
    "RSQRT": {"int8": Activation("RSQRT"), "int16": Rsqrt16()},
    "SOFTMAX": _integer(Softmax()),
    "SQRT": {"int8": Activation("SQRT")},
    "SQUARED_DIFFERENCE": {
        **_integer(Arithmetic("squared_difference")),
        "int32": Arithmetic32("SQUARED_DIFFERENCE"),
    },
    "SUB": {**_integer(Arithmetic("sub")), "int32": Arithmetic32("SUB")},
    "SUM": _integer(Reduction("SUM")),
    "SVDF": {"int8": Svdf()},
    "TANH": _integer(Activation("TANH")),
    "TRANSPOSE_CONV": _integer(TransposeConvolution()),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _integer(IntegerLstm()),
}
"""TFLite operator name -> element type of the first output -> family."""
