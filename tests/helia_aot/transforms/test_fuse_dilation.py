# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from host_module import build_module, run_program
from required import litert_interpreter
from tflite_models import ACTIVATIONS, PADDINGS, ModelBuilder
from transform_checks import assert_same, converted, graph_of, op_types, random_inputs

from helia_aot.api import Conversion
from helia_aot.ir.attributes import ExplicitPadding
from helia_aot.transforms.fuse_dilation import fuse_dilation

POINT = 5


class Blocked:
    """A model of one convolution over blocks.

    Args:
        dtype: int8 or float32.
        shape: Shape of the input, NHWC or NWC.
        block: Rows and columns of a block, or columns alone.
        kernel: Rows and columns of the filter.
        depthwise: Whether the layer is DEPTHWISE_CONV_2D.
    """

    def __init__(
        self,
        dtype: str = "int8",
        shape: Sequence[int] = (1, 9, 8, 4),
        block: Sequence[int] = (2, 2),
        kernel: tuple[int, int] = (3, 3),
        *,
        depthwise: bool = True,
    ) -> None:
        self.rng = np.random.default_rng(3)
        self.model, self.dtype = ModelBuilder(), dtype
        self.block, self.kernel, self.depthwise = block, kernel, depthwise
        self.x = self.tensor(shape)
        self.outputs: list[int] = []

    def tensor(self, shape: Sequence[int], scale: float = 0.05) -> int:
        if self.dtype == "float32":
            return self.model.tensor(shape, dtype="float32")
        return self.model.tensor(shape, scale=scale, zero_point=POINT)

    def cut(self, x: int, margins: Sequence[tuple[int, int]]) -> int:
        n, *extents, c = self.model.tensors[x].shape
        places = [
            (size + sum(ends)) // block
            for size, ends, block in zip(extents, margins, self.block, strict=True)
        ]
        y = self.tensor((n * int(np.prod(self.block)), *places, c))
        self.move("SPACE_TO_BATCH_ND", x, margins, y)
        return y

    def join(self, x: int, margins: Sequence[tuple[int, int]]) -> int:
        n, *extents, c = self.model.tensors[x].shape
        whole = [
            size * block - sum(ends)
            for size, ends, block in zip(extents, margins, self.block, strict=True)
        ]
        y = self.tensor((n // int(np.prod(self.block)), *whole, c), 0.2)
        self.move("BATCH_TO_SPACE_ND", x, margins, y)
        self.outputs.append(y)
        return y

    def move(self, op_type: str, x: int, margins: Sequence[tuple[int, int]], y: int) -> None:
        constants = [self.model.constant(np.array(a, np.int32)) for a in (self.block, margins)]
        options = op_type.title().replace("_", "").replace("Nd", "ND") + "Options"
        self.model.operator(op_type, [x, *constants], [y], (options, {}))

    def renamed(self, x: int, shape: Sequence[int], op_type: str) -> int:
        scale = self.model.tensors[x].scale
        y = self.tensor(shape, scale[0] if scale else 0.0)
        second = {"EXPAND_DIMS": [1], "RESHAPE": list(shape), "SQUEEZE": None}[op_type]
        inputs = [x] if second is None else [x, self.model.constant(np.array(second, np.int32))]
        options = {"EXPAND_DIMS": "ExpandDimsOptions", "SQUEEZE": "SqueezeOptions"}
        self.model.operator(op_type, inputs, [y], (options.get(op_type, "ReshapeOptions"), {}))
        return y

    def layer(self, x: int, outputs: int = 4, stride: int = 1) -> int:
        n, h, w, c = self.model.tensors[x].shape
        extents = [(s - k) // stride + 1 for s, k in zip((h, w), self.kernel, strict=True)]
        y = self.tensor((n, *extents, outputs), 0.2)
        shape = (1, *self.kernel, outputs) if self.depthwise else (outputs, *self.kernel, c)
        fields = {
            "Padding": PADDINGS["valid"],
            "StrideH": stride,
            "StrideW": stride,
            "DilationHFactor": 1,
            "DilationWFactor": 1,
            "FusedActivationFunction": ACTIVATIONS["relu"],
        }
        if self.depthwise:
            fields["DepthMultiplier"] = outputs // c
        op_type = "DEPTHWISE_CONV_2D" if self.depthwise else "CONV_2D"
        table = "DepthwiseConv2DOptions" if self.depthwise else "Conv2DOptions"
        inputs = [x, self.weights(shape, outputs), self.bias(outputs)]
        self.model.operator(op_type, inputs, [y], (table, fields))
        return y

    def weights(self, shape: Sequence[int], outputs: int) -> int:
        if self.dtype == "float32":
            return self.model.constant(self.rng.standard_normal(shape).astype(np.float32))
        data = self.rng.integers(-127, 128, shape).astype(np.int8)
        scales = self.rng.uniform(0.002, 0.01, outputs)
        return self.model.constant(data, scale=scales, axis=3 if self.depthwise else 0)

    def bias(self, outputs: int) -> int:
        if self.dtype == "float32":
            return self.model.constant(self.rng.standard_normal(outputs).astype(np.float32))
        data = self.rng.integers(-900, 900, outputs).astype(np.int32)
        return self.model.constant(data, scale=np.full(outputs, 1e-4))

    def build(self) -> bytes:
        return self.model.build(inputs=[self.x], outputs=self.outputs)


def check_outputs(
    data: bytes, conversion: Conversion, inputs: Sequence[np.ndarray], folder: Path
) -> None:
    """Compares with LiteRT, because TFLite Micro pads with whatever the memory held."""
    interpreter = litert_interpreter(data)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    wanted = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    assert_same(run_program(build_module(conversion, folder), conversion, inputs), wanted)


IMAGES = [
    ((2, 2), (3, 3), ((2, 3), (2, 2)), ((0, 1), (0, 0))),  # as large as the input
    ((3, 1), (3, 3), ((3, 3), (1, 1)), ((0, 0), (0, 0))),
    ((2, 3), (1, 2), ((0, 1), (0, 1)), ((0, 1), (0, 1))),  # no padding, the rest cut off
    ((4, 2), (3, 1), ((8, 3), (0, 0)), ((0, 3), (0, 0))),  # sees nothing after
]


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_blocks_become_dilation(dtype: str, tmp_path: Path) -> None:
    m = Blocked(dtype)
    for m.block, m.kernel, padding, crops in IMAGES:
        m.join(m.layer(m.cut(m.x, padding), outputs=8), crops)
    data = m.build()
    conversion = converted(data, tmp_path)
    assert op_types(conversion) == ["DEPTHWISE_CONV_2D"] * len(IMAGES)
    names = [m.model.tensors[output].name for output in m.outputs]
    assert [operator.id for operator in conversion.plan.operators] == [f"0:{n}" for n in names]
    check_outputs(data, conversion, random_inputs(m.model, [m.x]), tmp_path)


def test_convolutions_over_one_dimension(tmp_path: Path) -> None:
    m = Blocked(shape=(2, 21, 4), block=(4,))
    cases = [(1, "EXPAND_DIMS", "SQUEEZE"), (1, "RESHAPE", "RESHAPE"), (2, "RESHAPE", "SQUEEZE")]
    for axis, expand, drop in cases:
        m.kernel = (1, 3) if axis == 1 else (3, 1)
        cut = m.cut(m.x, [(8, 3)])  # causal
        shape = m.model.tensors[cut].shape
        layer = m.layer(m.renamed(cut, (*shape[:axis], 1, *shape[axis:]), expand), outputs=8)
        shape = m.model.tensors[layer].shape
        m.join(m.renamed(layer, (*shape[:axis], *shape[axis + 1 :]), drop), [(0, 3)])
    data = m.build()
    conversion = converted(data, tmp_path)
    assert op_types(conversion) == [
        t for _, *ends in cases for t in (ends[0], "DEPTHWISE_CONV_2D", ends[1])
    ]
    check_outputs(data, conversion, random_inputs(m.model, [m.x]), tmp_path)
    assert "SPACE_TO_BATCH_ND" in op_types(converted(data, tmp_path, ["fuse_dilation"]))


def test_where_the_dilation_and_the_padding_go(tmp_path: Path) -> None:
    m = Blocked()
    m.join(m.layer(m.cut(m.x, [(2, 3), (2, 2)])), [(0, 1), (0, 0)])
    (layer,) = fuse_dilation(graph_of(m.build(), tmp_path)).operators
    assert (layer.attributes.dilation_h, layer.attributes.dilation_w) == (2, 2)
    assert layer.attributes.padding == ExplicitPadding(2, 2, 2, 2)


def _is_an_output(m: Blocked) -> None:
    cut = m.cut(m.x, [(2, 3), (2, 2)])
    m.join(m.layer(cut), [(0, 1), (0, 0)])
    m.outputs.append(cut)


def _another_reader(m: Blocked) -> None:
    cut = m.cut(m.x, [(2, 3), (2, 2)])
    m.join(m.layer(cut), [(0, 1), (0, 0)])
    m.join(m.layer(cut), [(0, 1), (0, 0)])


def _cuts_the_front(m: Blocked) -> None:
    m.join(m.layer(m.cut(m.x, [(2, 3), (2, 2)])), [(1, 0), (0, 0)])


def _strides(m: Blocked) -> None:
    m.join(m.layer(m.cut(m.x, [(2, 3), (2, 2)]), stride=2), [(0, 0), (0, 0)])


def _pads_beyond_the_filter(m: Blocked) -> None:
    m.join(m.layer(m.cut(m.x, [(6, 3), (2, 2)])), [(0, 1), (0, 0)])


def _mixes_channels(m: Blocked) -> None:
    m.depthwise = False
    m.join(m.layer(m.cut(m.x, [(2, 3), (2, 2)])), [(0, 1), (0, 0)])
    m.depthwise = True


OTHERS = [
    _mixes_channels,
    _is_an_output,
    _another_reader,
    _cuts_the_front,
    _strides,
    _pads_beyond_the_filter,
]


@pytest.mark.parametrize("build", OTHERS)
def test_other_blocks_stay(build, tmp_path: Path) -> None:
    m = Blocked()
    build(m)
    graph = graph_of(m.build(), tmp_path)
    assert fuse_dilation(graph) is graph


def test_blocks_that_stay_give_the_same(tmp_path: Path) -> None:
    m = Blocked()
    for build in OTHERS:
        build(m)
    data = m.build()
    check_outputs(data, converted(data, tmp_path), random_inputs(m.model, [m.x]), tmp_path)
