# SPDX-License-Identifier: Apache-2.0
"""BATCH_MATMUL in models, several side by side, against the real TFLite Micro interpreter."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from golden import FLOAT_TOLERANCE, float_error
from host_module import build_module, run_program
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import UnsupportedModelError

LEFT, RIGHT = (2, 1, 3, 5), (1, 4, 5, 7)


class Products:
    """A model of products of its two inputs in all orders, and of products with a constant."""

    def __init__(self, dtype: str) -> None:
        self.rng = np.random.default_rng(8)
        self.dtype = dtype
        self.model = ModelBuilder()
        self.outputs: list[int] = []
        self.inputs: list[int] = []
        for adj_x, adj_y in itertools.product((False, True), (False, True)):
            x = self.tensor(self.swapped(LEFT, adj_x), 0.02)
            y = self.tensor(self.swapped(RIGHT, adj_y), 0.03)
            self.inputs += [x, y]
            self.product(x, y, adj_x, adj_y)
        vector = self.tensor((6, 5), 0.02)
        self.inputs.append(vector)
        for adj in (False, True):
            self.product(
                vector, self.tensor((4, 5) if adj else (5, 4), 0.01, constant=True), False, adj
            )
        self.product(self.tensor((5, 3), 0.01, constant=True), self.inputs[0], True, True)

    @staticmethod
    def swapped(shape: tuple[int, ...], swap: bool) -> tuple[int, ...]:
        return (*shape[:-2], shape[-1], shape[-2]) if swap else shape

    def tensor(self, shape: tuple[int, ...], scale: float, *, constant: bool = False) -> int:
        fields: dict = {"dtype": self.dtype}
        data = self.rng.uniform(-100, 100, shape)
        if self.dtype == "float32":
            data = data / 50
        else:
            wide = self.dtype == "int16"
            zero = 0 if wide or constant else int(self.rng.integers(-20, 20))
            fields |= {"scale": scale / (200 if wide else 1), "zero_point": zero}
            data = data * (200 if wide else 1)
        if constant:
            fields["data"] = data.astype(self.dtype)
        return self.model.tensor(shape, **fields)

    def product(self, x: int, y: int, adj_x: bool, adj_y: bool) -> None:
        left, right = (np.zeros(self.model.tensors[i].shape) for i in (x, y))
        left = np.swapaxes(left, -1, -2) if adj_x else left
        right = np.swapaxes(right, -1, -2) if adj_y else right
        output = self.tensor((left @ right).shape, 0.07)
        options = ("BatchMatMulOptions", {"AdjX": adj_x, "AdjY": adj_y})
        self.model.operator("BATCH_MATMUL", [x, y], [output], options)
        self.outputs.append(output)


def converted(model: bytes, folder: Path):
    path = folder / "model.tflite"
    path.write_bytes(model)
    return convert(ConvertConfig.model_validate({"model": {"path": path}}))


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32"])
def test_products_equal_those_of_tflite_micro(dtype: str, tmp_path: Path) -> None:
    made = Products(dtype)
    model = made.model.build(inputs=made.inputs, outputs=made.outputs)
    conversion = converted(model, tmp_path)
    rng = np.random.default_rng(4)
    arrays = []
    for tensor in conversion.module.inputs:
        if dtype == "float32":
            arrays.append(rng.standard_normal(tensor.shape).astype(np.float32))
        else:
            info = np.iinfo(dtype)
            arrays.append(rng.integers(info.min, info.max + 1, tensor.shape).astype(dtype))
    got = run_program(build_module(conversion, tmp_path), conversion, arrays)
    interpreter = tflite_micro_runtime().Interpreter.from_bytes(model, arena_size=1 << 20)
    for position, array in enumerate(arrays):
        interpreter.set_input(array, position)
    interpreter.invoke()
    for i, ours in enumerate(got):
        theirs = interpreter.get_output(i).reshape(ours.shape)
        if dtype == "float32":
            assert float_error(ours, theirs) < FLOAT_TOLERANCE
        else:
            np.testing.assert_array_equal(ours, theirs, err_msg=f"output {i}")


def test_sides_that_do_not_fit_are_named(tmp_path: Path) -> None:
    model = ModelBuilder()
    x, y = model.tensor((2, 3), dtype="float32"), model.tensor((4, 5), dtype="float32")
    z = model.tensor((2, 5), dtype="float32")
    model.operator("BATCH_MATMUL", [x, y], [z], ("BatchMatMulOptions", {}))
    with pytest.raises(UnsupportedModelError, match=r"\[2, 3\] and \[4, 5\] do not fit"):
        converted(model.build(inputs=[x, y], outputs=[z]), tmp_path)
