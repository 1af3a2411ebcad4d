# SPDX-License-Identifier: Apache-2.0
"""What every runner does round a measurement: checks the request, keeps files and time, sums the image up."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helia_aot.errors import Problem
from runners.base import MeasureSettings
from runners.build import BuildResult
from runners.errors import RunnerError
from runners.firmware_result import MAX_WINDOWS
from runners.measurement import Stimulus
from runners.verdict import stimulus_problems

if TYPE_CHECKING:
    from helia_aot.api import Conversion
    from helia_aot.platforms.schema import Platform
    from runners.kernel_library import LibraryFiles

_FIXED_WINDOWS = 2  # the empty one and the one with callbacks


def check_request(
    platform: Platform,
    conversion: Conversion,
    stimulus: Stimulus,
    settings: MeasureSettings,
    *,
    library: LibraryFiles | None,
) -> None:
    """Passes only what a runner can measure.

    Args:
        platform: The runner's.
        conversion: What is to be measured.
        stimulus: Its inputs.
        settings: How.
        library: The runner's kernel library of the user's; None if it has none.

    Raises:
        RunnerError: If platform, stimulus or settings are not for the runner; carries every problem.
    """
    problems: list[Problem] = []
    if conversion.platform != platform:
        problems.append(
            Problem("platform", f"the module is for another platform than {platform.name}")
        )
    is_bundled = any(file.path.startswith("kernels/") for file in conversion.module.files)
    if not is_bundled and library is None:
        advice = "set module.kernels to bundled, or name a library with runner.kernels"
        problems.append(Problem("module.kernels", "the module comes without its kernels", advice))
    if is_bundled and library is not None:
        reason = "the module brings its own kernels, so the kernel library would not be measured"
        problems.append(Problem("module.kernels", reason, "set module.kernels to external"))
    elif library is not None and library.dialect != conversion.config.module.dialect:
        reason = f"the module does not make the calls of {library.dialect}, which the library has"
        problems.append(Problem("module.dialect", reason, f"set it to {library.dialect}"))
    if not conversion.module.allocates_arenas:
        problems.append(
            Problem(
                "memory.allocate_arenas",
                "the module leaves its arenas to an application",
                "set memory.allocate_arenas to true",
            )
        )
    if not conversion.module.hydrates_constants:
        problems.append(
            Problem(
                "memory.auto_hydrate_constants",
                "the module leaves copying its staged constants to an application",
                "set memory.auto_hydrate_constants to true",
            )
        )
    if settings.warmups + settings.repeats > MAX_WINDOWS - _FIXED_WINDOWS:
        limit = MAX_WINDOWS - _FIXED_WINDOWS
        problems.append(Problem("settings", f"more than {limit} warm-ups and repeats"))
    problems += stimulus_problems(conversion.module.inputs, stimulus)
    if problems:
        raise RunnerError("the module cannot be measured like this", problems)


@contextmanager
def work_directory(keep: Path | None) -> Iterator[Path]:
    """Gives an empty directory that goes at the end, copied to ``keep`` before if that is given."""
    with tempfile.TemporaryDirectory(prefix="helia-search-") as name:
        directory = Path(name)
        try:
            yield directory
        finally:
            if keep is not None:
                shutil.copytree(directory, keep, dirs_exist_ok=True)


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Records how many seconds its block took, whatever ends it."""
    start = time.monotonic()
    try:
        yield
    finally:
        seconds[stage] = round(time.monotonic() - start, 4)


@cache
def firmware_digest() -> str:
    """Gives the SHA-256 over the sources of the firmware and the linker script."""
    digest = hashlib.sha256()
    folder = resources.files("runners").joinpath("firmware")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_file() and entry.name.endswith((".c", ".h", ".j2")):
            digest.update(entry.name.encode() + b"\0" + entry.read_bytes())
    return digest.hexdigest()


def image_facts(built: BuildResult, platform: Platform) -> dict[str, Any]:
    """Gives the fields of a measurement that the image alone decides."""
    sections = built.image.sections
    initialised = sum(s.text_bytes + s.rodata_bytes + s.data_bytes for s in sections.values())
    volatile = [s for name, s in sections.items() if platform.memories[name].volatile]
    return {
        "sections": dict(sections),
        "code_bytes": built.image.code_bytes,
        "source_code_bytes": dict(built.source_code_bytes),
        "flash_bytes": initialised,
        "ram_bytes": sum(s.total_bytes for s in volatile),
        "image_sha256": built.image.sha256,
    }
