# SPDX-License-Identifier: Apache-2.0
"""Modules of every kind compile without a warning, with GCC for host and target and with Clang."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from module_program import STAGED, converted, written

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-c")
M55 = ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard")
COMPILERS = {
    "gcc": ("gcc",),
    "clang": ("clang",),
    "gcc m55": ("arm-none-eabi-gcc", *M55),
    "gcc m4": ("arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft"),
}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "staged by hand": {"memory": {"tensors": STAGED, "auto_hydrate_constants": False}},
    "external": {"memory": {"tensors": STAGED, "allocate_arenas": False}},
    "external cold": {"memory": {"allocate_arenas": False}},
    "placed": {
        "memory": {"tensors": [{"type": "*", "attributes": {"memory": "itcm"}}]},
        "operators": [{"attributes": {"code_placement": "itcm"}}],
    },
}


@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
def test_no_warnings(compiler: tuple[str, ...], digits_model: Path, tmp_path: Path) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    sources = []
    for index, settings in enumerate(KINDS.values()):
        module = written(converted(digits_model, f"k{index}", **settings), tmp_path)
        sources += sorted(module.glob("src/*.c"))
    sources += sorted(module.glob("kernels/src/*.c"))
    command = [*compiler, *WARNINGS, *map(str, sources)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
