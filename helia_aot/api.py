# SPDX-License-Identifier: Apache-2.0
"""The compiler as a library: convert a model, write the module."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from helia_aot.codegen.archive import archive_bytes
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import EmitError, Problem
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.pipeline import Conversion, run_pipeline, storage_of

__all__ = [
    "Conversion",
    "convert",
    "module_directory",
    "output_path",
    "storage_of",
    "write_archive",
    "write_module",
    "write_output",
]

_MARK = "includes-api"
_ARCHIVE_SUFFIX = ".zip"


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


def output_path(config: ConvertConfig) -> Path:
    """Gives what a conversion writes: the archive ``module.path`` if it ends in .zip, else the module's folder."""
    path = config.module.path
    return path if path.suffix.lower() == _ARCHIVE_SUFFIX else module_directory(config)


def write_output(conversion: Conversion) -> Path:
    """Writes a conversion to where its configuration says: a folder or an archive, with its ``force``.

    Returns:
        The folder or the archive.

    Raises:
        EmitError: As :func:`write_module` and :func:`write_archive`.
    """
    config = conversion.config
    path = output_path(config)
    write = write_module if path == module_directory(config) else write_archive
    return write(conversion, path, force=config.force)


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
                path.write_bytes(file.content)
            _swap(staging, directory, aside=Path(folder) / "replaced")
    except OSError as error:
        for path in new_parents:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise _disk_error(directory, error) from error
    return directory


def write_archive(conversion: Conversion, path: Path, *, force: bool = False) -> Path:
    """Writes a zip archive that holds the module's folder, reports included; whole or not at all.

    Args:
        conversion: What to write; equal modules give equal bytes.
        path: The archive; its parents are made as needed.
        force: Whether to replace an existing archive of a module.

    Returns:
        The archive.

    Raises:
        EmitError: The file exists and ``force`` is false, or holds no module, or the disk refuses.
    """
    _check_archive(path, force)
    data = archive_bytes(conversion.module)
    partial: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            prefix=f".{path.name}.", dir=path.parent, delete=False
        ) as file:
            partial = Path(file.name)
            file.write(data)
        partial.chmod(0o644)
        partial.replace(path)
    except OSError as error:
        if partial is not None:
            partial.unlink(missing_ok=True)
        raise _disk_error(path, error) from error
    return path


def _check_archive(path: Path, force: bool) -> None:
    if not path.exists():
        return
    if not force:
        raise _would_overwrite(path)
    if not _is_module_archive(path):
        raise _is_no_module(path, "archives of generated modules")


def _is_module_archive(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
    return any(PurePosixPath(name).parts[1:2] == (_MARK,) for name in names)


def _check_destination(directory: Path, force: bool) -> None:
    if not directory.exists():
        return
    if not force:
        raise _would_overwrite(directory)
    is_module = directory.is_dir() and (
        (directory / _MARK).is_dir() or not any(directory.iterdir())
    )
    if not is_module:
        raise _is_no_module(directory, "generated modules")


def _would_overwrite(path: Path) -> EmitError:
    return EmitError(
        f"{path} exists",
        [Problem(str(path), "it would be overwritten")],
        next_step="Give --force to replace it, or another module.path or module.name.",
    )


def _is_no_module(path: Path, replaced: str) -> EmitError:
    return EmitError(
        f"{path} is not a generated module",
        [Problem(str(path), f"--force replaces {replaced} only")],
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
