# SPDX-License-Identifier: Apache-2.0
"""The test case of a module: recorded inputs, expected outputs and their comparison, as C."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from helia_aot.codegen.environment import render
from helia_aot.codegen.module import EmittedFile
from helia_aot.errors import Problem, UnsupportedModelError

_C_TYPES: Final = {
    "bool": "uint8_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "float32": "float",
}
_VALUES_PER_LINE: Final = 24


@dataclass(frozen=True)
class ModuleTestCase:
    """What a module is run on and what must come out.

    Attributes:
        inputs: One array for each input of the model, in its type.
        outputs: One array for each output.
        tolerance: Largest difference of an element that passes, in units of the output.
    """

    inputs: tuple[NDArray[Any], ...]
    outputs: tuple[NDArray[Any], ...]
    tolerance: float


def module_test_files(view: Mapping[str, Any], case: ModuleTestCase) -> list[EmittedFile]:
    """Gives header and source of a test case.

    Args:
        view: The values that every template of a module has.
        case: The test case.

    Raises:
        UnsupportedModelError: An input or output has an element type without a C type here.
    """
    _check_types(case)
    prefix = view["p"]
    extended = {
        **view,
        "test_inputs": [_array_view(array, case.tolerance) for array in case.inputs],
        "test_outputs": [_array_view(array, case.tolerance) for array in case.outputs],
    }
    return [
        EmittedFile(f"includes-api/{prefix}_test_case.h", render("test_case.h", extended)),
        EmittedFile(f"src/{prefix}_test_case.c", render("test_case.c", extended)),
    ]


def _check_types(case: ModuleTestCase) -> None:
    problems = [
        Problem(f"{side} {index}", f"no test case for {array.dtype.name} tensors")
        for side, arrays in (("input", case.inputs), ("output", case.outputs))
        for index, array in enumerate(arrays)
        if array.dtype.name not in _C_TYPES
    ]
    if problems:
        raise UnsupportedModelError(
            "The test case cannot be written", problems, next_step="set test.enabled: false"
        )


def _array_view(array: NDArray[Any], tolerance: float) -> dict[str, Any]:
    is_float = array.dtype.kind == "f"
    return {
        "c_type": _C_TYPES[array.dtype.name],
        "is_float": is_float,
        "elements": array.size,
        "text": _lines([_literal(value) for value in array.reshape(-1).tolist()]),
        "tolerance": _literal(float(np.float32(tolerance))) if is_float else math.floor(tolerance),
    }


def _lines(values: Sequence[str]) -> str:
    starts = range(0, len(values), _VALUES_PER_LINE)
    return ",\n".join(", ".join(values[i : i + _VALUES_PER_LINE]) for i in starts)


def _literal(value: float | bool) -> str:
    """Gives a C literal; that of a float reads back to the same 32-bit value."""
    if not isinstance(value, float):
        return str(int(value))
    text = f"{value:.9g}"
    return f"{text}f" if any(mark in text for mark in ".e") else f"{text}.0f"
