# SPDX-License-Identifier: Apache-2.0
"""Constants of weight-only and dynamic-range models, and models turned to half precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helia_aot.errors import ConfigError
from helia_aot.ir.attributes import FullyConnectedAttributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Blocks, Graph, Operator, Quantization, Tensor
from helia_aot.transforms.float16 import float16
from helia_aot.transforms.float_weights import float_weights
from helia_aot.transforms.fold_dequantize import fold_dequantize
from helia_aot.transforms.unpack_int4 import unpack_int4

ATTRIBUTES = FullyConnectedAttributes("NONE", keep_num_dims=False, shuffled_weights=False)
WEIGHTS = np.array([[1, -2, 3], [-8, 0, 7]], np.int8)
PER_ROW = Quantization((0.1, 0.25), (0, 0), axis=0)
REAL = (np.array([[0.1], [0.25]]) * WEIGHTS).astype(np.float32)


def tensor(name: str, shape, dtype=DType.FLOAT32, quantization=None, data=None) -> Tensor:
    return Tensor(name, name, tuple(shape), dtype, quantization, data)


def graph(*, outputs=("y",), operators, **tensors: Tensor) -> Graph:
    return Graph(0, tensors, operators, ("x",), outputs)


def layer(weights: Tensor, source: DType = DType.FLOAT32) -> Graph:
    return graph(
        x=tensor("x", (1, 3), source),
        w=weights,
        y=tensor("y", (1, 2), source),
        operators=(Operator("0", "FULLY_CONNECTED", ("x", "w"), ("y",), ATTRIBUTES),),
    )


def dequantize_graph(source: Tensor, **changes) -> Graph:
    before = graph(
        x=tensor("x", (1, 3)),
        w=source,
        f=tensor("f", (2, 3)),
        y=tensor("y", (1, 2)),
        operators=(
            Operator("0", "DEQUANTIZE", ("w",), ("f",)),
            Operator("1", "FULLY_CONNECTED", ("x", "f"), ("y",), ATTRIBUTES),
        ),
    )
    return before.replace(**changes)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        (tensor("w", (2, 3), DType.FLOAT16, None, REAL.astype(np.float16)), REAL.astype(np.float16)),
        (tensor("w", (2, 3), DType.INT8, PER_ROW, WEIGHTS), REAL),
        (tensor("w", (2, 3), DType.INT4, PER_ROW, WEIGHTS), REAL),
        (tensor("w", (2, 3), DType.INT8, Quantization((0.5,), (3,)), WEIGHTS), 0.5 * (WEIGHTS.astype(float) - 3)),
    ],
)  # fmt: skip
def test_dequantize_of_a_constant_is_a_float_constant(source: Tensor, wanted: np.ndarray) -> None:
    folded = fold_dequantize(dequantize_graph(source))
    assert [operator.node_id for operator in folded.operators] == ["1"]
    constant = folded.tensor("f")
    assert constant.dtype is DType.FLOAT32
    assert constant.data is not None
    assert constant.data.dtype == np.float32
    np.testing.assert_array_equal(constant.data, wanted.astype(np.float32))


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        (tensor("w", (2, 3), DType.INT8, PER_ROW), {}),
        (tensor("w", (2, 3), DType.INT8, None, WEIGHTS), {}),
        (tensor("w", (2, 3), DType.INT8, Quantization((0.1,) * 5, (0,) * 5), WEIGHTS), {}),
        (tensor("w", (2, 3), DType.INT8, PER_ROW, WEIGHTS), {"outputs": ("y", "f")}),
    ],
    ids=["computed", "without scales", "scales that do not fit", "an output of the model"],
)
def test_other_dequantize_operators_stay(source: Tensor, changes: dict) -> None:
    before = dequantize_graph(source, **changes)
    after = fold_dequantize(before)
    assert after.operators == before.operators
    assert after.tensor("f").data is None


def test_integer_weights_of_a_float_layer_become_float() -> None:
    after = float_weights(layer(tensor("w", (2, 3), DType.INT8, PER_ROW, WEIGHTS)))
    weights = after.tensor("w")
    assert weights.dtype is DType.FLOAT32
    assert weights.quantization is None
    np.testing.assert_array_equal(weights.data, REAL)


def test_weights_that_an_integer_layer_reads_too_are_kept_for_it() -> None:
    before = layer(tensor("w", (2, 3), DType.INT8, PER_ROW, WEIGHTS))
    quantized = Operator("1", "FULLY_CONNECTED", ("q", "w"), ("r",), ATTRIBUTES)
    before = before.replace(
        tensors={**before.tensors, "q": tensor("q", (1, 3), DType.INT8), "r": tensor("r", (1, 2), DType.INT8)},
        operators=(*before.operators, quantized),
    )  # fmt: skip
    after = float_weights(before)
    assert after.tensor("w").dtype is DType.INT8
    assert [operator.inputs[1] for operator in after.operators] == ["w_float", "w"]
    np.testing.assert_array_equal(after.tensor("w_float").data, REAL)


@pytest.mark.parametrize("source", [DType.INT8, DType.FLOAT32])
def test_layers_of_one_kind_stay(source: DType) -> None:
    data = WEIGHTS if source is DType.INT8 else REAL
    before = layer(tensor("w", (2, 3), source, PER_ROW, data), source)
    assert float_weights(before).operators == before.operators
    assert float_weights(before).tensor("w") is before.tensor("w")


def test_int4_constants_become_int8() -> None:
    after = unpack_int4(layer(tensor("w", (2, 3), DType.INT4, PER_ROW, WEIGHTS), DType.INT8))
    assert after.tensor("w").dtype is DType.INT8
    assert after.tensor("w").quantization == PER_ROW
    np.testing.assert_array_equal(after.tensor("w").data, WEIGHTS)
    computed = layer(tensor("w", (2, 3), DType.INT4, PER_ROW))
    assert unpack_int4(computed).tensor("w").dtype is DType.INT4


BLOCKS = Blocks(np.array([[0.5, 2.0], [0.25, 1.0]], np.float16), np.zeros((2, 2), np.int32), 8)
NIBBLES = (np.arange(32).reshape(2, 16) % 16 - 8).astype(np.int8)


def by_blocks(op_type: str, blocks: Blocks) -> Graph:
    weights = replace(tensor("w", (2, 16), DType.INT4, None, NIBBLES), blocks=blocks)
    before = layer(weights)
    return before.replace(operators=(replace(before.operators[0], op_type=op_type),))


def test_weights_scaled_by_blocks_stay_where_a_kernel_reads_them_packed() -> None:
    before = by_blocks("FULLY_CONNECTED", BLOCKS)
    after = float_weights(unpack_int4(before))
    assert after.tensor("w") is before.tensor("w")


@pytest.mark.parametrize(
    ("op_type", "zero_point", "size"),
    [("BATCH_MATMUL", 0, 8), ("FULLY_CONNECTED", 1, 8), ("FULLY_CONNECTED", 0, 4)],
)
def test_other_weights_scaled_by_blocks_become_float(
    op_type: str, zero_point: int, size: int
) -> None:
    scales = np.repeat(BLOCKS.scales, 8 // size, axis=1)
    blocks = Blocks(scales, np.full(scales.shape, zero_point), size)
    after = float_weights(unpack_int4(by_blocks(op_type, blocks)))
    weights = after.tensor("w")
    assert weights.dtype is DType.FLOAT32
    assert weights.blocks is None
    steps = np.repeat(scales.astype(np.float64), size, axis=1)
    np.testing.assert_array_equal(weights.data, (steps * (NIBBLES - zero_point)).astype(np.float32))


def test_both_weights_of_a_recurrent_layer_become_float() -> None:
    x, y = tensor("x", (1, 2, 3)), tensor("y", (1, 2, 2))
    kinds = {f"w{i}": tensor(f"w{i}", (2, 3), DType.INT8, PER_ROW, WEIGHTS) for i in range(1, 9)}
    ids = ("x", *kinds)
    operator = Operator("0", "UNIDIRECTIONAL_SEQUENCE_LSTM", ids, ("y",))
    after = float_weights(graph(x=x, y=y, **kinds, operators=(operator,)))
    for name in kinds:
        np.testing.assert_array_equal(after.tensor(name).data, REAL)


def test_half_precision_rounds_constants_and_leaves_integers() -> None:
    before = layer(tensor("w", (2, 3), DType.FLOAT32, None, REAL))
    before = before.replace(tensors={**before.tensors, "i": tensor("i", (1,), DType.INT32)})
    after = float16(before)
    assert {t.id: t.dtype for t in after.tensors.values()} == {
        "x": DType.FLOAT16, "w": DType.FLOAT16, "y": DType.FLOAT16, "i": DType.INT32,
    }  # fmt: skip
    np.testing.assert_array_equal(after.tensor("w").data, REAL.astype(np.float16))


def test_half_precision_names_every_constant_beyond_its_range() -> None:
    before = layer(tensor("w", (2, 3), DType.FLOAT32, None, REAL * np.float32(1e6)))
    with pytest.raises(
        ConfigError, match=r"tensor w w: has values up to 2e\+06; float16 ends at 65504"
    ):
        float16(before)
