# SPDX-License-Identifier: Apache-2.0
"""Compile a TFLite model to a small stand-alone C module, with every choice on record.

The names below are the public interface. They load on first use, so importing the package is cheap.

    >>> import helia_aot
    >>> config = helia_aot.load_convert_config(None, {"model.path": "kws.tflite"})
    >>> config.module.prefix
    'aot'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from helia_aot.version import __version__

if TYPE_CHECKING:
    from helia_aot.api import (
        Conversion,
        convert,
        module_directory,
        output_path,
        write_archive,
        write_module,
        write_output,
    )
    from helia_aot.config.convert import ConvertConfig
    from helia_aot.config.load import load_convert_config
    from helia_aot.errors import (
        BudgetError,
        ConfigError,
        EmitError,
        HeliaError,
        InvariantError,
        ModelError,
        PlanError,
        Problem,
        UnsupportedModelError,
    )
    from helia_aot.optimization.plan import OptimizationPlan
    from helia_aot.optimization.read import read_plan, read_report
    from helia_aot.optimization.report import OptimizationReport
    from helia_aot.platforms.registry import load_platform, platform_names
    from helia_aot.platforms.schema import Platform

_HOMES: Final[dict[str, tuple[str, ...]]] = {
    "helia_aot.api": (
        "Conversion",
        "convert",
        "module_directory",
        "output_path",
        "write_archive",
        "write_module",
        "write_output",
    ),
    "helia_aot.config.convert": ("ConvertConfig",),
    "helia_aot.config.load": ("load_convert_config",),
    "helia_aot.errors": (
        "BudgetError",
        "ConfigError",
        "EmitError",
        "HeliaError",
        "InvariantError",
        "ModelError",
        "PlanError",
        "Problem",
        "UnsupportedModelError",
    ),
    "helia_aot.optimization.plan": ("OptimizationPlan",),
    "helia_aot.optimization.read": ("read_plan", "read_report"),
    "helia_aot.optimization.report": ("OptimizationReport",),
    "helia_aot.platforms.registry": ("load_platform", "platform_names"),
    "helia_aot.platforms.schema": ("Platform",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BudgetError",
    "ConfigError",
    "Conversion",
    "ConvertConfig",
    "EmitError",
    "HeliaError",
    "InvariantError",
    "ModelError",
    "OptimizationPlan",
    "OptimizationReport",
    "PlanError",
    "Platform",
    "Problem",
    "UnsupportedModelError",
    "__version__",
    "convert",
    "load_convert_config",
    "load_platform",
    "module_directory",
    "output_path",
    "platform_names",
    "read_plan",
    "read_report",
    "write_archive",
    "write_module",
    "write_output",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
