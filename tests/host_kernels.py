# SPDX-License-Identifier: Apache-2.0
"""Compiles the bundled kernels of modules for the host, each kernel once for all tests of this machine.

An object is named by the digest of everything that makes it: the compiler, its flags, the source, and each header that the
source includes. A changed kernel or header is another object, so that nothing stale is ever linked.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

STRICT: Final = (
    "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)  # fmt: skip
"""Flags of everything that is compiled for the host."""
_INCLUDE: Final = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@cache
def compiler() -> str:
    """Gives the host's C compiler."""
    path = shutil.which("cc")
    assert path, "a host C compiler is needed"
    return path


@cache
def _identity() -> bytes:
    version = subprocess.run([compiler(), "--version"], capture_output=True, check=True).stdout
    return version + " ".join(STRICT).encode()


def kernel_objects(sources: Sequence[Path]) -> list[Path]:
    """Gives an object for each kernel of a module that was written, compiled with the strict flags.

    Args:
        sources: Files of the module's ``kernels/src``.
    """
    folder = Path(tempfile.gettempdir()) / f"helia-host-kernels-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    objects = [folder / f"{source.stem}-{_digest(source)}.o" for source in sources]
    missing = {o: s for o, s in zip(objects, sources, strict=True) if not o.exists()}
    while missing:  # in rounds, where modules have different kernels of one name
        together = {source.stem: (source, target) for target, source in missing.items()}
        _compile(list(together.values()), folder)
        missing = {o: s for o, s in missing.items() if not o.exists()}
    return objects


def _compile(pairs: Sequence[tuple[Path, Path]], folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [compiler(), *STRICT, "-c", *(str(source.resolve()) for source, _ in pairs)]
        subprocess.run(command, cwd=scratch, check=True)
        for source, target in pairs:
            (Path(scratch) / f"{source.stem}.o").replace(target)  # whole or not at all


def _digest(source: Path) -> str:
    digest = hashlib.sha256(_identity())
    for path in _closure(source):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:24]


def _closure(source: Path) -> list[Path]:
    """Gives a source and every header of the module that it includes, directly or not."""
    found = {source.resolve(): None}
    waiting = [source.resolve()]
    while waiting:
        path = waiting.pop()
        for name in _INCLUDE.findall(path.read_bytes()):
            for root in (path.parent, source.parent.parent / "include"):
                header = (root / name.decode()).resolve()
                if header.is_file() and header not in found:
                    found[header] = None
                    waiting.append(header)
    return sorted(found)
