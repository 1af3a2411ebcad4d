# SPDX-License-Identifier: Apache-2.0
"""Tools and oracles that tests need: a skip for who lacks them, a failure where the set-up has promised them.

``scripts/test`` installs the compilers, the emulator and TFLite Micro, and says so with ``HELIA_TESTS_NEED_TOOLS=1``: a run that
silently left them out would be green without having looked.
"""

from __future__ import annotations

import os
import platform
import sys
from typing import Any, NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Ends a test that cannot run: skipped, or failed where the set-up has promised what is missing."""
    if os.environ.get("HELIA_TESTS_NEED_TOOLS"):
        pytest.fail(f"{what}, although the set-up installs it")
    pytest.skip(what, allow_module_level=True)


def tflite_micro_runtime() -> Any:
    """Gives TFLite Micro's interpreter module, the reference of the integer operators."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("TFLite Micro's package is made for Linux on x86-64", allow_module_level=True)
    try:
        from tflite_micro import runtime  # type: ignore[import-untyped]
    except ImportError:
        missing("tflite-micro is not installed")
    return runtime


def litert_interpreter(model: bytes, *, reference_kernels: bool = False) -> Any:
    """Gives LiteRT's interpreter for a model, without delegates: a second oracle, and the first of what TFLite Micro lacks.

    Args:
        model: The file.
        reference_kernels: Whether the plain reference kernels run instead of the optimized ones.
    """
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("LiteRT's package is set up for Linux on x86-64")
    try:
        from ai_edge_litert.interpreter import (  # type: ignore[import-untyped]
            Interpreter,
            OpResolverType,
        )
    except ImportError:
        missing("ai-edge-litert is not installed")
    plain, fast = OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    resolver = plain if reference_kernels else fast
    return Interpreter(model_content=model, experimental_op_resolver_type=resolver)


def litert_schema() -> Any:
    """Gives the classes that LiteRT's package generates from the schema of ``.tflite`` files."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("LiteRT's package is set up for Linux on x86-64")
    try:
        from ai_edge_litert import schema_py_generated
    except ImportError:
        missing("ai-edge-litert is not installed")
    return schema_py_generated
