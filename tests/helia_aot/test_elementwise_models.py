# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators, comparisons and reductions of every type against the reference runtimes.

TFLite Micro is the oracle of all operators that it has, LiteRT that of the others.
"""

from __future__ import annotations

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

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig


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
