# SPDX-License-Identifier: Apache-2.0
"""One measurement from a configuration: convert, build, run, compare."""

from __future__ import annotations

import re
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helia_aot.api import Conversion, convert
from helia_aot.codegen.module import ModuleTensor
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import Problem
from runners.base import MeasureSettings
from runners.errors import RunnerError
from runners.measurement import Measurement, Stimulus
from runners.registry import create_runner
from runners.verdict import stimulus_problems

_KEY = re.compile(r"(input|output)_(\d+)")
_EVALUATION_KEYS = ("inputs", "labels")
"""Labelled samples may lie in the same file; one measurement does not use them."""
_WIDE_INTEGER_LIMIT = 1 << 15


@dataclass(frozen=True)
class OutputComparison:
    """One output of the target against the expected one.

    Attributes:
        name: Key in the file, e.g. ``output_0``.
        differing: Elements that differ.
        size: Elements.
        max_abs_difference: The largest difference; NaN if one side alone is NaN somewhere.
    """

    name: str
    differing: int
    size: int
    max_abs_difference: float

    @property
    def equal(self) -> bool:
        """Whether all elements are the same."""
        return self.differing == 0


@dataclass(frozen=True)
class MeasureReport:
    """What a measurement found.

    Attributes:
        conversion: What was measured.
        measurement: The numbers, or the reason why there are none.
        stimulus: Where the inputs came from, as a phrase.
        inputs: The inputs.
        outputs: What the target computed; empty unless the measurement is ``ok``.
        comparisons: One for each expected output that was given.
    """

    conversion: Conversion
    measurement: Measurement
    stimulus: str
    inputs: tuple[NDArray[Any], ...]
    outputs: tuple[NDArray[Any], ...]
    comparisons: tuple[OutputComparison, ...]

    @property
    def bit_exact(self) -> bool | None:
        """Whether all expected outputs came out; None if none were given or the target gave none."""
        if not self.comparisons:
            return None
        return all(comparison.equal for comparison in self.comparisons)


def measure(
    config: ConvertConfig,
    *,
    inputs_path: Path | None = None,
    outputs_path: Path | None = None,
    boards: Path | None = None,
    settings: MeasureSettings | None = None,
) -> MeasureReport:
    """Converts a model, measures it, and compares its outputs with expected ones.

    Args:
        config: What to convert and how.
        inputs_path: An ``.npz`` with ``input_0``, ... in the model's own types and shapes, and
            perhaps ``output_0``, ... to compare with; None takes :func:`random_stimulus`.
        outputs_path: An ``.npz`` to write with the inputs and what the target computed, in the same
            form; an old one is replaced. Nothing is written unless the measurement is ``ok``.
        boards: A board file, to measure on one of its boards; None measures in the simulator.
        settings: How to measure; None takes the defaults.

    Raises:
        HeliaError: Whatever the conversion raises.
        RunnerError: If a file is not as described, or the runner cannot serve the platform.
        ToolchainError: If a tool is missing.
    """
    conversion = convert(config)
    module = conversion.module
    expected: Mapping[int, NDArray[Any]] = {}
    if inputs_path is None:
        stimulus, source = random_stimulus(module.inputs), "pseudo-random, seed 0"
    else:
        stimulus, expected = read_inputs(inputs_path, module.inputs, module.outputs)
        source = inputs_path.name
    runner = "simulator" if boards is None else "device"
    target = create_runner(runner, conversion.platform, boards=boards)
    result = target.measure(conversion, stimulus, settings or MeasureSettings())
    if outputs_path is not None and result.outputs:
        write_outputs(outputs_path, stimulus.inputs, result.outputs)
    comparisons = [
        _compare(f"output_{index}", result.outputs[index], array)
        for index, array in sorted(expected.items())
        if result.outputs
    ]
    return MeasureReport(
        conversion,
        result.measurement,
        source,
        stimulus.inputs,
        result.outputs,
        tuple(comparisons),
    )


def random_stimulus(inputs: Sequence[ModuleTensor], seed: int = 0) -> Stimulus:
    """Gives inputs that are the same for the same seed on every machine.

    Integers of up to 16 bits take their full range, wider ones -32768..32767, floats [-1, 1),
    Booleans both values, all evenly.

    Args:
        inputs: Inputs of the module.
        seed: Any number from 0 up.
    """
    generator = np.random.default_rng(seed)
    return Stimulus(tuple(_random_array(tensor, generator) for tensor in inputs))


def _random_array(tensor: ModuleTensor, generator: np.random.Generator) -> NDArray[Any]:
    dtype = np.dtype(tensor.dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, tensor.shape).astype(dtype)
    if dtype.kind == "f":
        return generator.uniform(-1, 1, tensor.shape).astype(dtype)
    limits = np.iinfo(dtype)
    low = max(int(limits.min), -_WIDE_INTEGER_LIMIT)
    high = min(
        int(limits.max), 2 * _WIDE_INTEGER_LIMIT - 1 if low == 0 else _WIDE_INTEGER_LIMIT - 1
    )
    return generator.integers(low, high, tensor.shape, endpoint=True).astype(dtype)


def read_inputs(
    path: Path, inputs: Sequence[ModuleTensor], outputs: Sequence[ModuleTensor]
) -> tuple[Stimulus, dict[int, NDArray[Any]]]:
    """Reads a stimulus, and the outputs that it should give.

    Args:
        path: An ``.npz`` with ``input_<i>`` for every input and ``output_<i>`` for any output; ``inputs`` and
            ``labels``, the samples of an evaluation, are left alone.
        inputs: Inputs of the module.
        outputs: Outputs of the module.

    Returns:
        The stimulus, and expected outputs by index.

    Raises:
        RunnerError: If the file cannot be read or an array does not fit; carries every problem.
    """
    arrays = read_arrays(path)
    given: dict[str, dict[int, NDArray[Any]]] = {"input": {}, "output": {}}
    problems: list[Problem] = []
    for name, array in arrays.items():
        if name in _EVALUATION_KEYS:
            continue
        match = _KEY.fullmatch(name)
        tensors = {"input": inputs, "output": outputs}.get(match[1], ()) if match else ()
        if match and int(match[2]) < len(tensors):
            given[match[1]][int(match[2])] = array
        else:
            problems.append(Problem(name, "is no input or output of the model", "remove it"))
    for index in range(len(inputs)):
        if index not in given["input"]:
            problems.append(Problem(f"input_{index}", "is missing"))
    if not problems:
        stimulus = Stimulus(tuple(given["input"][index] for index in range(len(inputs))))
        problems += stimulus_problems(inputs, stimulus)
    for index, array in given["output"].items():
        tensor = outputs[index]
        if array.shape != tensor.shape or array.dtype != np.dtype(tensor.dtype):
            wanted = f"{tensor.dtype} {list(tensor.shape)}"
            reason = f"is {array.dtype} {list(array.shape)}, the model's output is {wanted}"
            problems.append(Problem(f"output_{index}", reason))
    if problems:
        raise RunnerError(f"{path} does not fit the model", problems)
    return stimulus, given["output"]


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Reads all arrays of an ``.npz`` file by name.

    Raises:
        RunnerError: If it cannot be read or is none.
    """
    try:
        with path.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("it holds a single array")
            return {name: file[name] for name in file.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        raise RunnerError(
            f"{path} cannot be read", [Problem(str(path), str(error), "give an .npz file")]
        ) from error


def write_outputs(
    path: Path, inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]]
) -> None:
    """Writes inputs and outputs in the form that :func:`read_inputs` reads; whole or not at all.

    Args:
        path: The file; an old one is replaced.
        inputs: Arrays for ``input_0``, ...
        outputs: Arrays for ``output_0``, ...

    Raises:
        RunnerError: If it cannot be written.
    """
    arrays = {f"input_{index}": array for index, array in enumerate(inputs)}
    arrays.update({f"output_{index}": array for index, array in enumerate(outputs)})
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with partial.open("wb") as stream:
            np.savez(stream, allow_pickle=False, **arrays)
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise RunnerError(
            f"{path} cannot be written", [Problem(str(path), error.strerror or str(error))]
        ) from error


def _compare(name: str, actual: NDArray[Any], expected: NDArray[Any]) -> OutputComparison:
    floating = actual.dtype.kind == "f"
    same = np.equal(actual, expected) | (
        (np.isnan(actual) & np.isnan(expected)) if floating else False
    )
    wide = np.float64 if floating else np.int64
    difference = np.abs(actual.astype(wide) - expected.astype(wide))
    largest = float(np.max(np.where(same, 0, difference), initial=0))
    return OutputComparison(name, int(np.count_nonzero(~same)), actual.size, largest)
