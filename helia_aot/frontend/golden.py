# SPDX-License-Identifier: Apache-2.0
"""Reads recorded inputs and outputs of a model: one case of an ``.npz`` file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.errors import ConfigError, Problem
from helia_aot.ir.graph import Graph

_KEY: Final = "test.golden_data"


@dataclass(frozen=True)
class GoldenCase:
    """What a model was given and what it must give back.

    Attributes:
        inputs: One array for each input of the model, in its type and shape.
        outputs: One array for each output.
    """

    inputs: tuple[NDArray[Any], ...]
    outputs: tuple[NDArray[Any], ...]


def read_golden_case(path: Path, graph: Graph) -> GoldenCase:
    """Reads ``input_0``, ... and ``output_0``, ... of a file.

    Args:
        path: The ``.npz`` file.
        graph: The model that it belongs to.

    Raises:
        ConfigError: The file cannot be read, an array is missing or superfluous, or one does not have
            its tensor's type and shape, or holds values that are not finite. All problems are listed.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except (ValueError, zipfile.BadZipFile, AttributeError, EOFError) as error:
        raise _unreadable(path, "not an .npz file of plain arrays") from error
    wanted = {
        **{f"input_{index}": graph.tensor(name) for index, name in enumerate(graph.inputs)},
        **{f"output_{index}": graph.tensor(name) for index, name in enumerate(graph.outputs)},
    }
    shapes = {name: (tensor.dtype.value, tensor.shape) for name, tensor in wanted.items()}
    problems = list(_problems(arrays, shapes))
    if problems:
        raise ConfigError("The golden data does not belong to the model", problems)
    return GoldenCase(
        _numbered(arrays, "input", graph.inputs), _numbered(arrays, "output", graph.outputs)
    )


def _problems(
    arrays: Mapping[str, NDArray[Any]], wanted: Mapping[str, tuple[str, tuple[int, ...]]]
) -> Iterator[Problem]:
    for name, (dtype, shape) in wanted.items():
        if name not in arrays:
            yield Problem(_KEY, f"{name} is missing", f"add {dtype} {list(shape)}")
            continue
        array = arrays[name]
        if (array.dtype.name, array.shape) != (dtype, shape):
            yield Problem(
                _KEY,
                f"{name} is {array.dtype.name} {list(array.shape)}, the model has "
                f"{dtype} {list(shape)}",
            )
        elif array.dtype.kind == "f" and not np.isfinite(array).all():
            yield Problem(_KEY, f"{name} holds values that are not finite")
    for name in sorted(set(arrays) - set(wanted)):
        yield Problem(_KEY, f"{name} is no input or output of the model", "remove it")


def _numbered(
    arrays: Mapping[str, NDArray[Any]], side: str, tensors: Sequence[str]
) -> tuple[NDArray[Any], ...]:
    return tuple(arrays[f"{side}_{index}"] for index in range(len(tensors)))


def _unreadable(path: Path, reason: str) -> ConfigError:
    return ConfigError(
        "The golden data cannot be read",
        [Problem(_KEY, f"{path}: {reason}", "give an .npz file with input_0, output_0, ...")],
    )
