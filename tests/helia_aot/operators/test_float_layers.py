# SPDX-License-Identifier: Apache-2.0
"""Where float weights are packed, what ``accumulation`` means for a layer, and what float layers refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import reference_flt

from helia_aot.ir.attributes import ConvolutionAttributes, FullyConnectedAttributes
from helia_aot.ir.dtypes import DType
from helia_aot.ir.graph import Graph, Operator, Tensor
from helia_aot.operators.floating import pack
from helia_aot.operators.registry import FAMILIES
from helia_aot.operators.spec import FixedDomain, Target

M55 = Target(mve=True, dsp=True, fp16=True)
WITHOUT_FP16 = Target(mve=True, dsp=True, fp16=False)
M4 = Target(mve=False, dsp=True)


def weights(shape, dtype: DType) -> Tensor:
    data = np.arange(np.prod(shape), dtype=np.float64).reshape(shape).astype(dtype.value)
    return Tensor("w", "w", tuple(shape), dtype, None, data)


def linear(rows: int, depth: int, outputs: int, dtype: DType = DType.FLOAT16) -> Graph:
    tensors = {
        "x": Tensor("x", "x", (rows, depth), dtype),
        "w": weights((outputs, depth), dtype),
        "y": Tensor("y", "y", (rows, outputs), dtype),
    }
    options = FullyConnectedAttributes("NONE", keep_num_dims=False, shuffled_weights=False)
    operator = Operator("0", "FULLY_CONNECTED", ("x", "w"), ("y",), options)
    return Graph(0, tensors, (operator,), ("x",), ("y",))


def conv(size: int, channels: int, kernel: int = 1, dtype: DType = DType.FLOAT16) -> Graph:
    tensors = {
        "x": Tensor("x", "x", (1, size, size, 3), dtype),
        "w": weights((channels, kernel, kernel, 3), dtype),
        "y": Tensor("y", "y", (1, size, size, channels), dtype),
    }
    operator = Operator(
        "0", "CONV_2D", ("x", "w"), ("y",), ConvolutionAttributes("SAME", 1, 1, 1, 1, "RELU")
    )
    return Graph(0, tensors, (operator,), ("x",), ("y",))


def lowered(graph: Graph, target: Target, **choices: str):
    operator = graph.operators[0]
    family = FAMILIES[operator.op_type]
    assert not family.problems(graph, operator)
    return family.lower(graph, operator, choices, target)


def layout(graph: Graph, target: Target, **knobs: str) -> FixedDomain:
    operator = graph.operators[0]
    return FAMILIES[operator.op_type].fixed(graph, operator, knobs, target)["weight_layout"]


@pytest.mark.parametrize(
    ("graph", "target", "reason"),
    [
        (linear(4, 5, 8), M55, ""),
        (linear(3, 5, 8), M55, "3 row(s) share the weights; packing pays off from 4 on"),
        (linear(4, 5, 7), M55, "7 output(s) fill no lane group of 8"),
        (conv(2, 8), M55, ""),
        (conv(1, 8), M55, "1 row(s) share the weights"),
        (conv(2, 8), WITHOUT_FP16, "MVE targets that compute in float16 only"),
        (conv(2, 8), M4, "MVE targets that compute in float16 only"),
    ],
)
def test_accumulation_applies_where_packing_pays_off(
    graph: Graph, target: Target, reason: str
) -> None:
    operator = graph.operators[0]
    domain = FAMILIES[operator.op_type].domains(graph, operator, target)["accumulation"]
    assert domain.applicable == (not reason)
    assert reason in domain.reason
    assert set(domain.entries) == {"precise", "fast"}
    fast = FixedDomain(("packed",), "packed", "knob")
    left = FixedDomain(("standard",), "standard", "heuristic")
    assert layout(graph, target, accumulation="fast") == (left if reason else fast)
    assert layout(graph, target, accumulation="precise") == replace(left, set_by="knob")


@pytest.mark.parametrize(
    "graph",
    [linear(9, 8, 16, DType.FLOAT32), conv(5, 8, dtype=DType.FLOAT32), conv(5, 8, 3)],
    ids=["float32 fc", "float32 1x1", "float16 3x3"],
)
def test_other_layers_have_no_knob(graph: Graph) -> None:
    operator = graph.operators[0]
    assert not FAMILIES[operator.op_type].domains(graph, operator, M55)


@pytest.mark.parametrize(
    ("graph", "target", "expected"),
    [
        (linear(4, 5, 4, DType.FLOAT32), M55, "packed"),
        (linear(1, 5, 4, DType.FLOAT32), M55, "standard"),
        (linear(4, 5, 3, DType.FLOAT32), M55, "standard"),
        (linear(4, 5, 4, DType.FLOAT32), M4, "standard"),
        (conv(6, 8, 3, DType.FLOAT32), M55, "packed"),
        (conv(6, 8, 3), M55, "standard"),
    ],
)
def test_float32_weights_pack_by_shape(graph: Graph, target: Target, expected: str) -> None:
    is_packed = lowered(graph, target).constants[0].id.endswith("_packed")
    assert is_packed == (expected == "packed")
    if graph.tensor("w").shape[1:3] != (3, 3):  # the choice is recorded for matrix products
        assert layout(graph, target) == FixedDomain((expected,), expected, "heuristic")


def test_packed_weights_are_a_constant_of_the_layer() -> None:
    graph = linear(4, 3, 10)
    packed = lowered(graph, M55, accumulation="fast").constants[0]
    assert packed.id == "fully_connected_0_packed"
    data = graph.tensor("w").data
    assert data is not None
    np.testing.assert_array_equal(packed.data, reference_flt.pack_nt_n(data, 8))
    assert packed.data.dtype == np.float16
    assert lowered(graph, M55, accumulation="precise").constants[0].id == "w"


def test_packing_pads_the_last_block_with_zeros() -> None:
    packed = pack(np.arange(1, 11, dtype=np.float32).reshape(5, 2), 4)
    np.testing.assert_array_equal(packed, [1, 3, 5, 7, 2, 4, 6, 8, 9, 0, 0, 0, 10, 0, 0, 0])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"w": weights((8, 5, 1), DType.FLOAT16)}, "supported: 2 dimensions"),
        ({"w": weights((8, 5), DType.FLOAT32)}, "filter has type float32; supported: float16"),
        ({"x": Tensor("x", "x", (4, 4), DType.FLOAT16)}, "do not fit the filter"),
    ],
)
def test_what_a_layer_refuses(changes: dict[str, Tensor], reason: str) -> None:
    graph = linear(4, 5, 8)
    graph = graph.replace(tensors={**graph.tensors, **changes})
    operator = graph.operators[0]
    assert any(reason in text for text in FAMILIES[operator.op_type].problems(graph, operator))
