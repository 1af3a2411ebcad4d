# SPDX-License-Identifier: Apache-2.0
"""Float layers side by side in one model, run after run against the real TFLite Micro interpreter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from golden import FLOAT_TOLERANCE, float_error
from host_module import build_module, run_sequence
from required import tflite_micro_runtime
from tflite_models import PADDINGS, ModelBuilder, output_extent

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.operators.transpose_convolution import by_phase

HALF_TOLERANCE = 4e-3
"""Of the largest magnitude of an output."""
IMAGE, VECTOR = (2, 5, 6, 4), (2, 10)


class Layers:
    """A model of an image and a vector as inputs, each layer an output."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(17)
        self.model = ModelBuilder()
        self.image = self.model.tensor(IMAGE, dtype="float32")
        self.vector = self.model.tensor(VECTOR, dtype="float32")
        self.outputs: list[int] = []
        for groups, kernel, stride in (
            (2, (3, 3), (1, 2)),
            (4, (2, 3), (2, 1)),
            (2, (1, 1), (1, 1)),
        ):
            self.grouped_convolution(groups, kernel, stride)
        for padding, stride, kernel, has_bias in (
            ("same", (2, 2), (3, 3), True),
            ("valid", (1, 3), (2, 2), False),
            ("valid", (2, 1), (5, 3), True),
        ):
            self.transpose_convolution(padding, stride, kernel, has_bias=has_bias)
        for rank, memory, activation in ((1, 3, 0), (2, 5, 1)):
            self.svdf(rank, memory, activation)

    def weights(self, *shape: int) -> int:
        return self.model.constant((self.rng.standard_normal(shape) * 0.3).astype(np.float32))

    def add(self, op_type: str, inputs: list[int], shape: tuple[int, ...], options) -> None:
        output = self.model.tensor(shape, dtype="float32")
        self.model.operator(op_type, inputs, [output], options)
        self.outputs.append(output)

    def grouped_convolution(self, groups, kernel, stride) -> None:
        n, h, w, c = IMAGE
        size = [output_extent(*e, 1, "same") for e in zip((h, w), kernel, stride, strict=True)]
        inputs = [self.image, self.weights(8, *kernel, c // groups), self.weights(8)]
        options = {
            "Padding": PADDINGS["same"], "StrideH": stride[0], "StrideW": stride[1],
            "DilationHFactor": 1, "DilationWFactor": 1,
        }  # fmt: skip
        self.add("CONV_2D", inputs, (n, *size, 8), ("Conv2DOptions", options))

    def transpose_convolution(self, padding, stride, kernel, *, has_bias: bool) -> None:
        n, h, w, c = IMAGE
        extents = zip((h, w), kernel, stride, strict=True)
        size = [i * s if padding == "same" else (i - 1) * s + max(k, s) for i, k, s in extents]
        shape = self.model.constant(np.array([n, *size, 3], np.int32))
        inputs = [shape, self.weights(3, *kernel, c), self.image]
        inputs += [self.weights(3)] if has_bias else []
        options = {"Padding": PADDINGS[padding], "StrideH": stride[0], "StrideW": stride[1]}
        self.add("TRANSPOSE_CONV", inputs, (n, *size, 3), ("TransposeConvOptions", options))

    def svdf(self, rank: int, memory: int, activation: int) -> None:
        batches, inputs = VECTOR
        filters = 6 * rank
        state = self.model.tensor((batches, memory * filters), dtype="float32", is_variable=True)
        ids = [
            self.vector,
            self.weights(filters, inputs),
            self.weights(filters, memory),
            self.weights(6),
            state,
        ]
        options = {"Rank": rank, "FusedActivationFunction": activation}
        self.add("SVDF", ids, (batches, 6), ("SVDFOptions", options))

    def build(self) -> bytes:
        return self.model.build(inputs=[self.image, self.vector], outputs=self.outputs)


@pytest.mark.parametrize(
    ("precision", "tolerance"), [("model", FLOAT_TOLERANCE), ("float16", HALF_TOLERANCE)]
)
def test_layers_are_close_to_those_of_tflite_micro(
    precision: str, tolerance: float, tmp_path: Path
) -> None:
    model = Layers().build()
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    config = {
        "model": {"path": path, "precision": precision},
        "platform": {"name": "apollo510_evb"},
    }
    conversion = convert(ConvertConfig.model_validate(config))
    program = build_module(conversion, tmp_path)
    rng = np.random.default_rng(2)
    samples = [
        [rng.standard_normal(shape).astype(np.float32) for shape in (IMAGE, VECTOR)]
        for _ in range(4)
    ]
    dtype = conversion.module.inputs[0].dtype
    runs = run_sequence(program, conversion, [[a.astype(dtype) for a in s] for s in samples])
    interpreter = tflite_micro_runtime().Interpreter.from_bytes(model, arena_size=1 << 20)
    for sample, outputs in zip(samples, runs, strict=True):
        for position, array in enumerate(sample):
            interpreter.set_input(array, position)
        interpreter.invoke()
        for i, got in enumerate(outputs):
            wanted = interpreter.get_output(i)
            assert float_error(got, wanted) < tolerance, f"output {i}"


def test_phases_hold_every_weight_once() -> None:
    filters = np.arange(1, 2 * 3 * 5 * 2 + 1).reshape(2, 3, 5, 2)
    ordered = by_phase(filters, 2, 3)
    assert sorted(ordered.tolist()) == list(range(1, 61))
    # Rows of phase 1 have one tap, columns of phase 2 too.
    assert by_phase(filters[:, 1:2, 2:3], 1, 1).tolist() == filters[:, 1, 2].reshape(-1).tolist()
    # A stride beyond the filter leaves phases that no tap reaches.
    assert by_phase(filters[:1, :1, :1], 1, 2).tolist() == [1, 2, 0, 0]
