# SPDX-License-Identifier: Apache-2.0
"""LSTM models from run to run against the real TFLite Micro interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden import FLOAT_TOLERANCE, float_error
from host_module import build_module, run_sequence
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import UnsupportedModelError

RUNS = 4


def lstm_model(
    dtype: str,
    shape: tuple[int, int, int, int],
    *,
    time_major: bool = False,
    cell_clip: float = 0.0,
    cell_scale: float = 2.0**-11,
    output: tuple[float, int] = (1 / 130, 5),
    seed: int = 0,
    steps_of_weights: bool | None = None,
    **options: Any,
) -> bytes:
    """Gives a model of one LSTM.

    Args:
        dtype: Element type of input and output.
        shape: Batches, steps, inputs and units.
        time_major: Whether steps come before batches.
        cell_clip: Limit of the cell.
        cell_scale: Scale of an integer cell.
        output: Scale and zero point of an int8 output.
        seed: Of the weights.
        steps_of_weights: For float32: whether int8 weights stay int8, or their real values are written; None for
            weights that never were integers.
        options: More fields of the operator's options, and ``absent``: inputs to leave out.
    """
    rng = np.random.default_rng(seed)
    batches, steps, inputs, units = shape
    rows = (steps, batches) if time_major else (batches, steps)
    model = ModelBuilder()
    is_real = dtype == "float32"
    scale, zero = (None, 0) if is_real else output
    source_scale = None if is_real else 1 / 100
    if dtype == "int16":
        source_scale, scale, zero = 1 / 20000, 1 / 32768, 0
    source_zero = 7 if dtype == "int8" else 0
    x = model.tensor((*rows, inputs), dtype=dtype, scale=source_scale, zero_point=source_zero)

    def matrix(columns: int) -> int:
        if is_real and steps_of_weights is None:
            return model.constant(rng.standard_normal((units, columns)).astype(np.float32) * 0.4)
        data = rng.integers(-127, 128, (units, columns)).astype(np.int8)
        step = np.float32(rng.uniform(0.004, 0.02))
        if steps_of_weights is False:
            return model.constant((np.float64(step) * data).astype(np.float32))
        return model.constant(data, scale=float(step))

    seen, kept = [matrix(inputs) for _ in range(4)], [matrix(units) for _ in range(4)]
    biases = []
    for weights in seen:
        if is_real:
            biases.append(model.constant(rng.standard_normal(units).astype(np.float32)))
            continue
        step = model.tensors[weights].scale[0] * source_scale
        data = np.round(rng.uniform(-1, 1, units) / step)
        biases.append(
            model.constant(data.astype("int64" if dtype == "int16" else "int32"), scale=step)
        )
    hidden = model.tensor(
        (batches, units), dtype=dtype, scale=scale, zero_point=zero, is_variable=True
    )
    cell = model.tensor(
        (batches, units), dtype="float32" if is_real else "int16",
        scale=None if is_real else cell_scale, is_variable=True,
    )  # fmt: skip
    y = model.tensor((*rows, units), dtype=dtype, scale=scale, zero_point=zero)
    ids = [x, *seen, *kept, -1, -1, -1, *biases, -1, -1, hidden, cell, -1, -1, -1, -1]
    for i in options.pop("absent", ()):
        ids[i] = -1
    fields = {
        "FusedActivationFunction": 4,
        "CellClip": cell_clip,
        "TimeMajor": time_major,
        **options,
    }
    model.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", ids, [y], ("UnidirectionalSequenceLSTMOptions", fields))  # fmt: skip
    return model.build(inputs=[x], outputs=[y])


def converted(model: bytes, folder: Path):
    folder.mkdir(exist_ok=True)
    path = folder / "model.tflite"
    path.write_bytes(model)
    return convert(ConvertConfig.model_validate({"model": {"path": path}}))


CASES = {
    "int8": ("int8", (2, 3, 5, 7), {}),
    "int8_time_major": ("int8", (2, 3, 17, 6), {"time_major": True, "cell_scale": 2.0**-12}),
    "int8_limited": ("int8", (1, 4, 9, 4), {"cell_clip": 2.5, "cell_scale": 2.0**-13}),
    "int16": ("int16", (1, 3, 6, 5), {}),
    "float32": ("float32", (2, 3, 6, 5), {"time_major": True, "cell_clip": 0.7}),
}


@pytest.mark.parametrize("name", CASES)
def test_runs_equal_those_of_tflite_micro(name: str, tmp_path: Path) -> None:
    dtype, shape, fields = CASES[name]
    model = lstm_model(dtype, shape, **fields)
    conversion = converted(model, tmp_path)
    program = build_module(conversion, tmp_path)
    rng = np.random.default_rng(3)
    size = conversion.module.inputs[0].shape
    if dtype == "float32":
        samples = [rng.standard_normal(size).astype(np.float32) for _ in range(RUNS)]
    else:
        info = np.iinfo(dtype)
        samples = [rng.integers(info.min, info.max + 1, size).astype(dtype) for _ in range(RUNS)]
    interpreter = tflite_micro_runtime().Interpreter.from_bytes(model)
    runs = run_sequence(program, conversion, [[sample] for sample in samples])
    for sample, (got,) in zip(samples, runs, strict=True):
        interpreter.set_input(sample, 0)
        interpreter.invoke()
        wanted = interpreter.get_output(0)
        if dtype == "float32":
            assert float_error(got, wanted) < FLOAT_TOLERANCE
        else:
            np.testing.assert_array_equal(got, wanted)
    assert len(np.unique(runs[-1][0])) > 5


def test_int8_weights_under_float_numbers_are_their_real_values(tmp_path: Path) -> None:
    shape, outputs = (1, 3, 6, 5), []
    sample = np.random.default_rng(6).standard_normal(shape[:3]).astype(np.float32)
    for kept in (True, False):
        conversion = converted(
            lstm_model("float32", shape, steps_of_weights=kept), tmp_path / str(kept)
        )
        program = build_module(conversion, tmp_path / str(kept))
        outputs.append(run_sequence(program, conversion, [[sample]] * 2))
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0][0], outputs[0][1])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"absent": (1, 5)}, "input 1 is absent"),
        ({"FusedActivationFunction": 1}, "activation RELU; supported: TANH"),
        ({"cell_scale": 0.0003}, "is no power of two"),
        ({"DiagonalRecurrentTensors": True}, "diagonal recurrent weights"),
    ],
)
def test_other_forms_are_refused(fields: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        converted(lstm_model("int8", (1, 2, 3, 4), **fields), tmp_path)
    assert words in str(caught.value)
