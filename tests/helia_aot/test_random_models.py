# SPDX-License-Identifier: Apache-2.0
"""Random operators and small random networks against the real TFLite Micro interpreter, through the whole compiler.

Many cases share one model and so one program, see ``random_operators``. A failure names its case;
``pytest tests/helia_aot/test_random_models.py --generated-cases 5000`` tries more.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from host_module import HOST_PROGRAM, STRICT, run_sequence
from random_operators import KINDS, Maker
from required import tflite_micro_runtime
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert, write_module
from helia_aot.config.convert import ConvertConfig
from runners.base import MeasureSettings
from runners.measurement import Stimulus
from runners.registry import create_runner

CASES = 400
BATCH = 50
ON_THE_CORE = 2
"""Batches that the simulated Cortex-M55 runs too."""
FLOAT_TOLERANCE = 1e-5
"""Of an output's largest magnitude."""


class Batch:
    """One model with many cases side by side, and arrays for its inputs.

    Args:
        first: The first case.
        count: How many.
    """

    def __init__(self, first: int, count: int) -> None:
        model = ModelBuilder()
        self.cases = [Maker(model, number) for number in range(first, first + count)]
        inputs = [x for case in self.cases for x in case.inputs]
        self.data = model.build(inputs=inputs, outputs=[o for c in self.cases for o in c.outputs])
        tensors = [model.tensors[x] for x in inputs]
        rng = np.random.default_rng(first)
        self.samples = [
            [_array(rng, tensor.dtype, tensor.shape, ends) for tensor in tensors]
            for ends in (None, 0, 1)
        ]

    def convert(self, folder: Path, platform: str) -> Conversion:
        """Converts the model."""
        path = folder / "batch.tflite"
        path.write_bytes(self.data)
        return convert(
            ConvertConfig.model_validate({"model": {"path": path}, "platform": {"name": platform}})
        )

    def reference(self, sample: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Gives what TFLite Micro computes."""
        interpreter = tflite_micro_runtime().Interpreter.from_bytes(self.data, arena_size=1 << 23)
        for position, array in enumerate(sample):
            interpreter.set_input(array, position)
        interpreter.invoke()
        return [np.array(interpreter.get_output(i)) for i in range(len(self.cases))]

    def check(self, got: Sequence[np.ndarray], sample: Sequence[np.ndarray]) -> None:
        """Compares outputs with TFLite Micro's; a failure lists every case that differs."""
        differing = [
            f"case {case.number}: {case.kind} of {case.dtype}, {_difference(ours, theirs)}"
            for case, ours, theirs in zip(self.cases, got, self.reference(sample), strict=True)
            if not _is_equal(ours, theirs)
        ]
        assert not differing, "\n".join(differing)


def _array(
    rng: np.random.Generator, dtype: str, shape: Sequence[int], end: int | None
) -> np.ndarray:
    """Gives random numbers over the whole range, or one end of it everywhere."""
    if dtype == "float32":
        scale = 1.0 if end is None else 50.0
        return (rng.standard_normal(shape) * scale).astype(np.float32)
    ends = np.iinfo(dtype)
    if end is None:
        return rng.integers(ends.min, ends.max + 1, shape).astype(dtype)
    return np.full(shape, (ends.min, ends.max)[end], dtype)


def _is_equal(ours: np.ndarray, theirs: np.ndarray) -> bool:
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    if ours.dtype.kind != "f":
        return np.array_equal(ours, theirs)
    margin = FLOAT_TOLERANCE * max(1.0, float(np.abs(theirs).max()))
    return bool(np.abs(ours - theirs).max() <= margin)


def _difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    return f"{np.count_nonzero(apart)} of {apart.size} elements off by up to {apart.max():g}"


class Programs:
    """Builds modules for the host; kernels are compiled once for all of them.

    Args:
        folder: Where objects and programs go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        compiler = shutil.which("cc")
        assert compiler, "a host C compiler is needed"
        self._command = [compiler, *STRICT]

    def build(self, conversion: Conversion) -> Path:
        """Builds a program that reads the inputs and writes the outputs."""
        module = write_module(conversion, self._folder / conversion.module.name, force=True)
        kernels = sorted(module.glob("kernels/src/*.c"))
        missing = [path for path in kernels if not self._object(path).exists()]
        if missing:
            command = [*self._command, "-c", *map(str, missing)]
            subprocess.run(command, cwd=self._folder, check=True)
        main, program = self._folder / "all.c", self._folder / "program"
        includes = [f'#include "{path}"' for path in sorted(module.glob("src/*.c"))]
        text = HOST_PROGRAM.format(p=conversion.module.prefix)
        main.write_text("\n".join([*includes, text]))
        command = [*self._command, f"-I{module}/includes-api", str(main)]
        objects = [str(self._object(path)) for path in kernels]
        subprocess.run([*command, *objects, "-o", str(program)], check=True)
        return program

    def _object(self, source: Path) -> Path:
        return self._folder / f"{source.stem}.o"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs"))


def batches(count: int) -> list[tuple[int, int]]:
    """Gives first case and size of every batch."""
    return [(first, min(BATCH, count - first)) for first in range(0, count, BATCH)]


def test_outputs_equal_tflite_micro(
    programs: Programs, generated_cases: int | None, tmp_path: Path
) -> None:
    for first, count in batches(generated_cases or CASES):
        batch = Batch(first, count)
        conversion = batch.convert(tmp_path, "host")
        program = programs.build(conversion)
        runs = run_sequence(program, conversion, batch.samples)
        for got, sample in zip(runs, batch.samples, strict=True):
            batch.check(got, sample)


def test_outputs_on_the_vector_core_equal_tflite_micro(tmp_path: Path) -> None:
    for first, count in batches(CASES)[:ON_THE_CORE]:
        batch = Batch(first, count)
        conversion = batch.convert(tmp_path, "apollo510_evb")
        runner = create_runner("simulator", conversion.platform)
        sample = batch.samples[0]
        settings = MeasureSettings(warmups=0, per_operator=False)
        result = runner.measure(conversion, Stimulus(tuple(sample)), settings)
        assert result.measurement.status == "ok", result.measurement.reason
        batch.check(result.outputs, sample)


def test_every_kind_occurs_in_every_type() -> None:
    made = {(m.kind, m.dtype) for m in (Maker(ModelBuilder(), i) for i in range(CASES))}
    assert made == {(kind, dtype) for kind, (_, dtypes) in KINDS.items() for dtype in dtypes}
