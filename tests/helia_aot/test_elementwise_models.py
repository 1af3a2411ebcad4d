# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators, comparisons and reductions of every type against the reference runtimes.

TFLite Micro is the oracle of all operators that it has, LiteRT that of the others.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elementwise_models import (
    Layers,
    functions,
    only_in_litert,
    plain,
    quantized,
    real,
    real_only_in_litert,
)
from host_module import build_module, run_program
from required import litert_interpreter, tflite_micro_runtime
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import UnsupportedModelError


def micro(model: bytes, arrays: Sequence[np.ndarray], outputs: int) -> list[np.ndarray]:
    runtime = tflite_micro_runtime()
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=1 << 22)
    for position, array in enumerate(arrays):
        interpreter.set_input(array, position)
    interpreter.invoke()
    return [interpreter.get_output(i) for i in range(outputs)]


def litert(model: bytes, arrays: Sequence[np.ndarray], outputs: int) -> list[np.ndarray]:
    interpreter = litert_interpreter(model)
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
        interpreter.set_tensor(detail["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()][:outputs]


def converted(data: bytes, folder: Path, **sections: Any) -> Conversion:
    path = folder / "model.tflite"
    path.write_bytes(data)
    config = {"model": {"path": path}, "platform": {"name": "apollo510_evb"}, **sections}
    return convert(ConvertConfig.model_validate(config))


def differences(
    made: Layers, conversion: Conversion, folder: Path, oracle: Callable[..., list[np.ndarray]]
) -> list[str]:
    """Runs module and oracle on the same inputs; gives a line for each output that differs in any element."""
    program = build_module(conversion, folder)
    model, found = made.build(), []
    for _ in range(3):
        arrays = made.samples()
        got = run_program(program, conversion, arrays)
        wanted = oracle(model, arrays, len(made.outputs))
        found += [
            f"{i} {name} {ours.shape}: {int((ours != theirs).sum())} differ, e.g. "
            f"{ours[ours != theirs][:4]} for {theirs[ours != theirs][:4]}"
            for i, (name, ours, theirs) in enumerate(
                zip(made.names, got, (t.reshape(g.shape) for t, g in zip(wanted, got, strict=True)), strict=True)
            )
            if not np.array_equal(ours, theirs)
        ]  # fmt: skip
    return found


@pytest.mark.parametrize(
    ("parts", "oracle"),
    [((quantized, plain, functions), micro), ((only_in_litert,), litert)],
    ids=["micro", "litert"],
)
def test_integer_operators_equal_the_reference(
    parts: Sequence[Callable[[Layers], None]], oracle: Any, tmp_path: Path
) -> None:
    made = Layers(seed=3)
    for part in parts:
        part(made)
    found = differences(made, converted(made.build(), tmp_path), tmp_path, oracle)
    assert not found, "\n".join(found)


TOLERANCES = {"model": 1e-6, "float16": 3e-3}
"""Of an output's largest magnitude, by ``model.precision``."""


@pytest.mark.parametrize("precision", TOLERANCES)
def test_float_operators_are_close_to_the_reference(precision: str, tmp_path: Path) -> None:
    for part, oracle in ((real, micro), (real_only_in_litert, litert)):
        made = Layers(seed=5)
        part(made)
        model, folder = made.build(), tmp_path / part.__name__
        folder.mkdir()
        path = folder / "model.tflite"
        conversion = converted(model, folder, model={"path": path, "precision": precision})
        arrays = made.samples()
        halves = [a.astype(t.dtype) for a, t in zip(arrays, conversion.module.inputs, strict=True)]
        got = run_program(build_module(conversion, folder), conversion, halves)
        wanted = oracle(model, arrays, len(made.outputs))
        found = []
        for i, (name, ours, theirs) in enumerate(zip(made.names, got, wanted, strict=True)):
            difference = np.abs(ours.astype(float) - theirs.reshape(ours.shape).astype(float)).max()
            exact = ours.dtype.kind in "bi"
            limit = 0 if exact else TOLERANCES[precision] * max(1, np.abs(theirs).max())
            if not difference <= limit:
                found.append(f"{i} {name} {ours.shape}: {difference:.3g} off, at most {limit:.3g}")
        assert not found, "\n".join(found)


def refusal(op_type: str, tensors: Sequence[dict[str, Any]], folder: Path) -> str:
    """Gives why an operator is refused; the last tensor is its output."""
    model = ModelBuilder()
    *inputs, output = (model.tensor((1, 4), **fields) for fields in tensors)
    model.operator(op_type, inputs, [output])
    with pytest.raises(UnsupportedModelError) as caught:
        converted(model.build(inputs=inputs, outputs=[output]), folder)
    return str(caught.value)


WORDS = {"dtype": "int16", "scale": 0.01}
BYTES = {"dtype": "int8", "scale": 0.01}
FLAGS = {"dtype": "bool"}
REFUSED = {
    "comparison of int16": ("LESS", [WORDS, WORDS, FLAGS], "input 0 has type int16; supported: int8, int32"),
    "comparison of two types": ("LESS", [BYTES, {"dtype": "int32"}, FLAGS], "mixes the types int8, int32"),
    "order of bools": ("LESS", [FLAGS, FLAGS, FLAGS], "input 0 has type bool"),
    "coarse scale": ("EQUAL", [{**BYTES, "scale": 1.5}, BYTES, FLAGS], "input 0 has the scale 1.5; supported: below 1"),
    "number as condition": ("SELECT_V2", [BYTES, BYTES, BYTES, BYTES], "condition has type int8; supported: bool"),
    "choice between scales": ("SELECT_V2", [FLAGS, BYTES, {**BYTES, "scale": 0.1}, BYTES], "quantized differently"),
    "logic of numbers": ("LOGICAL_AND", [BYTES, FLAGS, FLAGS], "input 0 has type int8; supported: bool"),
    "exponential of int16": ("EXP", [WORDS, WORDS], "output has type int16; supported: int8, float32, float16"),
    "quotient of int16": ("DIV", [WORDS, WORDS, WORDS], "output has type int16; supported: int8, int32"),
    "logarithm of the softmax": ("LOG_SOFTMAX", [BYTES, BYTES], "supported: 1/16 and 127"),
    "remainder of int64": ("FLOOR_MOD", [{"dtype": "int64"}] * 3, "output has type int64; supported: int32, float32"),
}  # fmt: skip
"""Operators and types that are refused: tensors, and a part of the reason."""


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_beyond_the_reference_is_refused_with_the_reason(case: str, tmp_path: Path) -> None:
    op_type, tensors, reason = REFUSED[case]
    assert reason in refusal(op_type, tensors, tmp_path)


def test_integer_division_by_zero_stops_the_run(tmp_path: Path) -> None:
    model = ModelBuilder()
    a, b, y = (model.tensor((4,), dtype="int32") for _ in range(3))
    model.operator("DIV", [a, b], [y], ("DivOptions", {}))
    conversion = converted(model.build(inputs=[a, b], outputs=[y]), tmp_path)
    program = build_module(conversion, tmp_path)
    numbers = np.array([7, -7, 0, 9], np.int32)
    (got,) = run_program(program, conversion, [numbers, np.full(4, 2, np.int32)])
    np.testing.assert_array_equal(got, [3, -3, 0, 4])
    with pytest.raises(subprocess.CalledProcessError):
        run_program(program, conversion, [numbers, np.array([1, 0, 1, 1], np.int32)])


def test_half_precision_meets_integers_and_single_precision(tmp_path: Path) -> None:
    """QUANTIZE, DEQUANTIZE and CAST of float16; numpy is the oracle, because no interpreter quantizes halves."""
    model = ModelBuilder()
    x = model.tensor((40,), dtype="float16", name="x")
    outputs = []
    for dtype, scale, zero in (("int8", 0.04, -9), ("int16", 0.0003, 0)):
        steps = model.tensor((40,), dtype=dtype, scale=scale, zero_point=zero)
        model.operator("QUANTIZE", [x], [steps], ("QuantizeOptions", {}))
        back = model.tensor((40,), dtype="float16")
        model.operator("DEQUANTIZE", [steps], [back], ("DequantizeOptions", {}))
        outputs += [steps, back]
    wide, whole = model.tensor((40,), dtype="float32"), model.tensor((40,), dtype="int32")
    model.operator("DEQUANTIZE", [x], [wide], ("DequantizeOptions", {}))
    model.operator("CAST", [x], [whole], ("CastOptions", {}))
    conversion = converted(model.build(inputs=[x], outputs=[*outputs, wide, whole]), tmp_path)
    source = (np.random.default_rng(3).normal(size=40) * 3).astype(np.float16)
    got = run_program(build_module(conversion, tmp_path), conversion, [source])
    wanted = []
    for dtype, scale, zero in ((np.int8, 0.04, -9), (np.int16, 0.0003, 0)):
        info = np.iinfo(dtype)
        quotient = source.astype(np.float32) / np.float32(scale)
        rounded = np.sign(quotient) * np.floor(np.abs(quotient) + 0.5) + zero
        steps = np.clip(rounded, info.min, info.max).astype(dtype)
        real = np.float32(scale) * (steps.astype(int) - zero).astype(np.float32)
        wanted += [steps, real.astype(np.float16)]
    wanted += [source.astype(np.float32), source.astype(np.int32)]
    for ours, theirs in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
