# SPDX-License-Identifier: Apache-2.0
"""The compilers and the emulator: where they are, their versions, and digests of what they are.

Tools are looked up in ``PATH``. A missing one is an error that says how to install it; nothing is
downloaded.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from helia_aot.errors import Problem
from runners.errors import ToolchainError

_QUERY_TIMEOUT_S = 30

_INSTALL = {
    "arm-none-eabi-gcc": (
        "apt install gcc-arm-none-eabi libnewlib-arm-none-eabi",
        "brew install --cask gcc-arm-embedded",
        "dnf install arm-none-eabi-gcc-cs arm-none-eabi-newlib",
    ),
    "qemu-system-arm": (
        "apt install qemu-system-arm",
        "brew install qemu",
        "dnf install qemu-system-arm",
    ),
    "cc": ("apt install gcc", "xcode-select --install", "dnf install gcc"),
}


@dataclass(frozen=True)
class Tool:
    """A program.

    Attributes:
        path: The executable.
        version: The first line that it prints about its version.
        digest: SHA-256, 64 hexadecimal digits, over all files that decide what it makes.
    """

    path: Path
    version: str
    digest: str


def find_arm_compiler() -> Tool:
    """Gives the cross compiler; its digest covers compiler, assembler, linker and C library.

    Raises:
        ToolchainError: If the compiler or its C library is missing, or does not start.
    """
    return _arm_compiler(*_located("arm-none-eabi-gcc"))


def find_emulator() -> Tool:
    """Gives QEMU for Arm boards.

    Raises:
        ToolchainError: If it is missing or does not start.
    """
    return _single_program(*_located("qemu-system-arm"))


def find_host_compiler() -> Tool:
    """Gives the C compiler of this machine, which builds the timing plugin.

    Raises:
        ToolchainError: If it is missing or does not start.
    """
    return _single_program(*_located("cc"))


def check_tools() -> list[Problem]:
    """Gives a problem for every tool that is missing; empty when all are there."""
    problems: list[Problem] = []
    for find in (find_arm_compiler, find_emulator, find_host_compiler):
        try:
            find()
        except ToolchainError as error:
            problems.extend(error.problems)
    return problems


def _located(name: str) -> tuple[Path, int]:
    """Gives the program and its change time, which makes cached answers follow an upgrade."""
    found = shutil.which(name)
    if found is None:
        raise _missing(name, "is not in PATH")
    path = Path(found).resolve()
    return path, path.stat().st_mtime_ns


def _missing(name: str, reason: str) -> ToolchainError:
    debian, mac, fedora = _INSTALL[name]
    return ToolchainError(
        "A tool of the simulator is missing",
        [Problem(name, reason, f"Debian/Ubuntu: {debian}; macOS: {mac}; Fedora: {fedora}")],
    )


@cache
def _arm_compiler(path: Path, changed_ns: int) -> Tool:  # noqa: ARG001 - part of the cache key
    name = "arm-none-eabi-gcc"
    programs = [
        _output(name, path, [f"-print-prog-name={program}"]) for program in ("cc1", "as", "ld")
    ]
    flags = ["-mthumb", "-mcpu=cortex-m55", "-mfloat-abi=hard"]
    libraries = [
        _output(name, path, [*flags, f"-print-file-name={library}"])
        for library in ("libc_nano.a", "libgcc.a")
    ]
    files = [Path(shutil.which(file) or file) for file in (*programs, *libraries)]
    for file in files:
        if not file.is_file():
            raise _missing(name, f"has no {file.name}")
    version = _output(name, path, ["--version"]).splitlines()[0]
    return Tool(path, version, _digest([version.encode(), *(file.read_bytes() for file in files)]))


@cache
def _single_program(path: Path, changed_ns: int) -> Tool:  # noqa: ARG001 - part of the cache key
    version = _output(path.name, path, ["--version"]).splitlines()[0]
    return Tool(path, version, _digest([path.read_bytes()]))


def _output(name: str, path: Path, arguments: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=_QUERY_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = re.sub(r"\s+", " ", str(error))
        raise ToolchainError(
            "A tool of the simulator does not start",
            [Problem(name, reason, f"try '{path} {' '.join(arguments)}'")],
        ) from error
    return done.stdout.strip()


def _digest(parts: Sequence[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()
