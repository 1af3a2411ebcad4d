# SPDX-License-Identifier: Apache-2.0
"""The compiler as a library: convert a model, write the module."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import EmitError, Problem
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.pipeline import Conversion, run_pipeline

__all__ = ["Conversion", "convert", "module_directory", "write_module"]

_MARK = "includes-api"


def convert(config: ConvertConfig, *, plan: OptimizationPlan | None = None) -> Conversion:
    """Converts a model in memory; writes nothing.

    Args:
        config: What to convert and how.
        plan: A plan to reproduce, in place of the file that ``optimization.plan`` names.

    Returns:
        The module, its plan, report and residency. Deterministic: the same model, configuration and plan always give
        the same bytes.

    Raises:
        ConfigError: A setting or rule cannot be followed.
        ModelError: The model cannot be read.
        UnsupportedModelError: The model needs what is not supported; everything is listed.
        PlanError: The plan does not belong to this model and target; everything is listed.
        BudgetError: The module does not fit.
    """
    return run_pipeline(config, plan)


def module_directory(config: ConvertConfig) -> Path:
    """Gives the folder that a module is written to: ``<module.path>/<module.name>``."""
    return config.module.path / config.module.name


def write_module(conversion: Conversion, directory: Path, *, force: bool = False) -> Path:
    """Writes a module whole, or not at all.

    The files go to a new folder beside the destination, which takes its place by renaming, so that an interrupted or
    failed write leaves what was there before.

    Args:
        conversion: What to write.
        directory: The module's folder; its parents are made as needed.
        force: Whether to replace an existing module.

    Returns:
        The folder.

    Raises:
        EmitError: The folder exists and ``force`` is false, or is no module, or the disk refuses.
    """
    _check_destination(directory, force)
    new_parents = [path for path in directory.parents if not path.exists()]
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".{directory.name}.", dir=directory.parent
        ) as folder:
            staging = Path(folder) / directory.name
            for file in conversion.module.files:
                path = staging / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(file.text, encoding="utf-8", newline="\n")
            _swap(staging, directory, aside=Path(folder) / "replaced")
    except OSError as error:
        for path in new_parents:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise _disk_error(directory, error) from error
    return directory


def _check_destination(directory: Path, force: bool) -> None:
    if not directory.exists():
        return
    if not force:
        raise EmitError(
            f"{directory} exists",
            [Problem(str(directory), "it would be overwritten")],
            next_step="Give --force to replace it, or another module.path or module.name.",
        )
    is_module = directory.is_dir() and (
        (directory / _MARK).is_dir() or not any(directory.iterdir())
    )
    if not is_module:
        raise EmitError(
            f"{directory} is not a generated module",
            [Problem(str(directory), "--force replaces generated modules only")],
            next_step="Give another module.path or module.name.",
        )


def _swap(staging: Path, directory: Path, *, aside: Path) -> None:
    """Puts the new folder in the place of the old one, which comes back if that fails."""
    if not directory.exists():
        staging.rename(directory)
        return
    directory.rename(aside)
    try:
        staging.rename(directory)
    except OSError:
        aside.rename(directory)
        raise


def _disk_error(directory: Path, error: OSError) -> EmitError:
    return EmitError(
        f"The module cannot be written to {directory}",
        [Problem(str(error.filename or directory), error.strerror or str(error))],
        next_step="Nothing was left behind. Check the free space and the permissions.",
    )
