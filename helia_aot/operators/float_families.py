# SPDX-License-Identifier: Apache-2.0
"""The float32 and float16 families by operator type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from helia_aot.operators.batch_matmul import FloatBatchMatMul
from helia_aot.operators.blockwise import BlockwiseFullyConnected, ByWeights
from helia_aot.operators.computed_weights import ByOrigin, ComputedFullyConnected
from helia_aot.operators.float_functions import (
    FUNCTIONS,
    FloatArithmetic,
    FloatElementary,
    FloatLeakyRelu,
    FloatLogSoftmax,
    FloatReduction,
    FloatResizeBilinear,
)
from helia_aot.operators.float_layers import (
    FloatConvolution,
    FloatDepthwise,
    FloatFullyConnected,
)
from helia_aot.operators.float_maps import (
    FloatBinary,
    FloatClamp,
    FloatFunction,
    FloatPooling,
    FloatSelection,
    FloatSoftmax,
)
from helia_aot.operators.floating import FLOAT16, FLOAT32, FloatType
from helia_aot.operators.lstm import FloatLstm
from helia_aot.operators.normalization import FloatL2Normalization
from helia_aot.operators.spec import OperatorFamily
from helia_aot.operators.sums import AddN, CumulativeSum
from helia_aot.operators.svdf import FloatSvdf
from helia_aot.operators.transpose_convolution import FloatTransposeConvolution


def _families(kind: FloatType) -> dict[str, OperatorFamily]:
    return {
        "ADD": FloatBinary(kind, "add"),
        "ADD_N": AddN(kind),
        "AVERAGE_POOL_2D": FloatPooling(kind, "arm_avg_pool"),
        "BATCH_MATMUL": FloatBatchMatMul(kind),
        "CONV_2D": FloatConvolution(kind),
        "CUMSUM": CumulativeSum(kind),
        "DEPTHWISE_CONV_2D": FloatDepthwise(kind),
        "FULLY_CONNECTED": ByOrigin(
            ByWeights(FloatFullyConnected(kind), BlockwiseFullyConnected(kind)),
            ComputedFullyConnected(kind),
        ),
        "HARD_SWISH": FloatFunction(kind, "hard_swish"),
        "LOGISTIC": FloatFunction(kind, "logistic"),
        "MAXIMUM": FloatSelection(kind, "maximum"),
        "MAX_POOL_2D": FloatPooling(kind, "arm_max_pool"),
        "MINIMUM": FloatSelection(kind, "minimum"),
        "MUL": FloatBinary(kind, "mul"),
        "PRELU": FloatSelection(kind, "prelu"),
        "RELU": FloatClamp(kind, "RELU"),
        "RELU6": FloatClamp(kind, "RELU6"),
        "RELU_N1_TO_1": FloatClamp(kind, "RELU_N1_TO_1"),
        "SOFTMAX": FloatSoftmax(kind),
        "SUB": FloatBinary(kind, "sub"),
        "SVDF": FloatSvdf(kind),
        "TANH": FloatFunction(kind, "tanh"),
        "L2_NORMALIZATION": FloatL2Normalization(kind),
        "L2_POOL_2D": FloatPooling(kind, "helia_nn_l2_pool"),
        "LEAKY_RELU": FloatLeakyRelu(kind),
        "LOG_SOFTMAX": FloatLogSoftmax(kind),
        "RESIZE_BILINEAR": FloatResizeBilinear(kind),
        **{name: FloatElementary(kind, name) for name in FUNCTIONS},
        **{
            name: FloatArithmetic(kind, name)
            for name in ("DIV", "FLOOR_DIV", "FLOOR_MOD", "SQUARED_DIFFERENCE")
        },
        **{
            name: FloatReduction(kind, name) for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN")
        },
        "TRANSPOSE_CONV": FloatTransposeConvolution(kind),
        "UNIDIRECTIONAL_SEQUENCE_LSTM": FloatLstm(kind),
    }


FLOAT_FAMILIES: Final[Mapping[str, Mapping[str, OperatorFamily]]] = {
    op_type: {kind.dtype.value: _families(kind)[op_type] for kind in (FLOAT32, FLOAT16)}
    for op_type in _families(FLOAT32)
}
"""TFLite operator name -> element type -> family."""
