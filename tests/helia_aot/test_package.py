# SPDX-License-Identifier: Apache-2.0
"""The public names of the compiler: they exist, and importing the package loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import helia_aot

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", helia_aot.__all__)
def test_public_name_loads(name: str) -> None:
    assert getattr(helia_aot, name).__doc__


def test_names_are_sorted_and_listed_by_dir() -> None:
    assert helia_aot.__all__ == sorted(helia_aot.__all__)
    assert dir(helia_aot) == helia_aot.__all__


def test_other_names_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        helia_aot.nothing  # noqa: B018 - the access itself is the test


@pytest.mark.parametrize("package", ["helia_aot", "helia_aot.optimization"])
def test_import_is_light(package: str) -> None:
    program = (
        f"import {package}, sys; sys.stdout.write(str({{'numpy', 'pydantic'}} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout == "set()"
