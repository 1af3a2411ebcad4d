# SPDX-License-Identifier: Apache-2.0
"""Small C applications around generated modules, built with the host's compiler and run."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from host_kernels import STRICT, compiler, kernel_objects

from helia_aot.api import Conversion, convert, write_module
from helia_aot.config.convert import ConvertConfig

STAGED = [
    {"type": "constant", "attributes": {"memory": "MRAM", "constant_destination_memory": "DTCM"}}
]
"""Rules that stage all constants from MRAM to DTCM."""


def converted(
    model: Path,
    prefix: str = "m",
    *,
    memory: Mapping[str, Any] | None = None,
    module: Mapping[str, Any] | None = None,
    **sections: Any,
) -> Conversion:
    """Converts a model; the module's name is its prefix, and the residency record is written."""
    return convert(
        ConvertConfig.model_validate(
            {
                "model": {"path": model},
                "module": {"prefix": prefix, "name": prefix, **(module or {})},
                "memory": {"dump_residency_json": True, **(memory or {})},
                **sections,
            }
        )
    )


def written(conversion: Conversion, folder: Path) -> Path:
    """Writes a module below a folder."""
    return write_module(conversion, folder / conversion.module.name)


def run_application(
    main: str, modules: Sequence[Path], folder: Path, *flags: str
) -> subprocess.CompletedProcess[bytes]:
    """Builds an application with modules under sanitizers, runs it in the folder and gives how it ended."""
    source, program = folder / "main.c", folder / "application"
    source.write_text(main)
    sources = [path for module in modules for path in sorted(module.glob("src/*.c"))]
    includes = [f"-I{module}/includes-api" for module in modules]
    command = [compiler(), *STRICT, *flags, *includes, str(source), *map(str, sources)]
    kernels = [path for module in modules for path in sorted(module.glob("kernels/src/*.c"))]
    objects = dict.fromkeys(kernel_objects(kernels))  # modules may share kernels
    subprocess.run([*command, *map(str, objects), "-o", str(program)], check=True)
    return subprocess.run([str(program)], cwd=folder, capture_output=True, check=False)


def check(condition: str, code: int) -> str:
    """Gives a C statement that ends main with a code unless the condition holds."""
    return f"    if (!({condition})) {{ return {code}; }}\n"


def c_bytes(array: np.ndarray) -> str:
    """Gives the bytes of an array as a C initializer."""
    return ", ".join(str(value) for value in np.ascontiguousarray(array).tobytes())
