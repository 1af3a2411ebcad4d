# SPDX-License-Identifier: Apache-2.0
"""Reading TFLite files: what arrives in the graph and what is refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tflite_models import ModelBuilder

from helia_aot.errors import ModelError
from helia_aot.frontend.tflite.reader import read_model
from helia_aot.ir.dtypes import DType
from helia_aot.operators.registry import check_supported


def write(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "model.tflite"
    path.write_bytes(data)
    return path


def small_model() -> bytes:
    model = ModelBuilder()
    x = model.tensor((1, 4, 4, 2), scale=0.5, zero_point=-3, name="x")
    y = model.conv_2d(
        x, np.arange(36, dtype=np.int8).reshape(2, 3, 3, 2), np.array([5, -6], np.int32),
        filter_scale=[0.25, 0.125], scale=1.0, zero_point=7, padding="same", activation="relu6",
        name="y",
    )  # fmt: skip
    return model.build(inputs=[x], outputs=[y])


def test_tensors_arrive_with_type_shape_quantization_and_payload(tmp_path: Path) -> None:
    graph = read_model(write(tmp_path, small_model())).graph
    source, filters = graph.tensor("0"), graph.tensor("1")
    assert (source.name, source.shape, source.dtype) == ("x", (1, 4, 4, 2), DType.INT8)
    assert source.quantization is not None
    assert (source.quantization.scale, source.quantization.zero_point) == (0.5, -3)
    assert not source.is_constant
    assert filters.quantization is not None
    assert filters.quantization.scales == (0.25, 0.125)
    assert filters.data is not None
    np.testing.assert_array_equal(filters.data.reshape(-1), np.arange(36))
    operator = graph.operators[0]
    assert (operator.op_type, operator.node_id) == ("CONV_2D", "0")
    assert operator.attributes.activation == "RELU6"
    assert operator.attributes.padding == "SAME"


def test_a_subgraph_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"1 subgraph\(s\)"):
        read_model(write(tmp_path, small_model()), 3)


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damage_never_escapes_as_another_exception(data: st.DataObject, tmp_path: Path) -> None:
    model = bytearray(small_model())
    for _ in range(data.draw(st.integers(1, 4))):
        model[data.draw(st.integers(8, len(model) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ModelError):  # of which an unsupported model is one kind
        check_supported(read_model(write(tmp_path, bytes(model))).graph, "model.tflite")
