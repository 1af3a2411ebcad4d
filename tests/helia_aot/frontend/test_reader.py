# SPDX-License-Identifier: Apache-2.0
"""Reading TFLite files: what arrives in the graph and what is refused."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import numpy as np
import pytest
import tflite_models
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


@pytest.mark.parametrize("field", ["Stride", "DilationHFactor", "DilationWFactor"])
def test_a_window_that_does_not_move_is_a_model_error(field: str, tmp_path: Path) -> None:
    stride = (0, 1) if field == "Stride" else (1, 1)
    dilation = {"DilationHFactor": (0, 1), "DilationWFactor": (1, 0)}.get(field, (1, 1))
    model = ModelBuilder()
    x = model.tensor((1, 4, 4, 1), scale=0.5, zero_point=0, name="x")
    y = model.tensor((1, 4, 4, 1), scale=0.5, zero_point=0, name="y")
    filters = model.tensor((1, 1, 1, 1), scale=0.5, zero_point=0, name="f")
    window = tflite_models._window(stride, dilation, "same", "none")
    model.operator("CONV_2D", [x, filters], [y], ("Conv2DOptions", window))
    with pytest.raises(ModelError, match="is 0"):
        read_model(write(tmp_path, model.build(inputs=[x, filters], outputs=[y])))


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


def test_blocks_arrive_with_their_scales(models_dir: Path, tmp_path: Path) -> None:
    path = models_dir / "qwen_fc_blockwise_int4.tflite"
    (weights,) = [t for t in read_model(path).graph.tensors.values() if t.blocks is not None]
    blocks = weights.blocks
    assert (weights.dtype, weights.quantization, blocks.size) == (DType.INT4, None, 32)
    assert (blocks.scales.shape, blocks.scales.dtype) == ((1024, 32), np.float16)
    assert not blocks.zero_points.any()
    # The fields of the model's only table of blocks: tensor of scales, no zero points, block size.
    table = struct.pack("<3i", 3, -1, 32)
    assert path.read_bytes().count(table) == 1
    for scales, points, size in ((3, -1, 0), (3, -1, 48), (3, -1, 64), (99, -1, 32), (3, 2, 32)):
        damaged = path.read_bytes().replace(table, struct.pack("<3i", scales, points, size))
        with pytest.raises(ModelError, match="do not fit its shape"):
            read_model(write(tmp_path, damaged))
