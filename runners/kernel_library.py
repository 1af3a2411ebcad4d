# SPDX-License-Identifier: Apache-2.0
"""The kernel library: the bundled one for the record, or one of the user's that modules are linked with."""

from __future__ import annotations

import hashlib
import posixpath
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from helia_aot.config.base import StrictModel
from helia_aot.config.dialect import LIBRARY_NAMES, Dialect
from helia_aot.errors import Problem
from runners.errors import RunnerError
from runners.objects import first_error, run_tool, write_tree
from runners.toolchain import Tool

_VERSION = re.compile(r"#define HELIA_NN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)")


def kernel_library_version(library: LibraryFiles | None = None) -> str:
    """Gives the release of the dialect, a blank, and a digest over all headers and sources.

    Args:
        library: The user's library; None is the bundled one.
    """
    return _bundled_version() if library is None else library.identity


@cache
def _bundled_version() -> str:
    library = resources.files("helia_aot.kernels")
    digest = hashlib.sha256()
    for folder in ("include", "src"):
        for entry in sorted(library.joinpath(folder).iterdir(), key=lambda entry: entry.name):
            if entry.name.endswith((".c", ".h")):
                digest.update(entry.name.encode() + b"\0" + entry.read_bytes())
    types = library.joinpath("include", "arm_nn_types.h").read_text("utf-8")
    return f"{'.'.join(_VERSION.findall(types))} {digest.hexdigest()[:16]}"


ARCHIVE_NAME = "helia_kernels.a"
_FOLDER = "library"
_CHECK = f"{_FOLDER}/dialect_check.c"

# Arguments of arm_convolve_s8: with ns-cmsis-nn the second of thirteen has the weight sums, which CMSIS-NN has not.
_CHECKED_ARGUMENTS: Mapping[Dialect, int] = {"ns-cmsis-nn": 13, "cmsis-nn": 12}
_DIALECT_CHECK = """#include "arm_nnfunctions.h"
#include <stddef.h>
int helia_dialect_check(void);
int helia_dialect_check(void)
{
    return (int)arm_convolve_s8(%s);
}
"""
_ADVICE: Mapping[Dialect, str] = {
    "ns-cmsis-nn": "give the headers of ns-cmsis-nn 7.37.0 or later, or set dialect to cmsis-nn for CMSIS-NN, "
    "here and in module.dialect",
    "cmsis-nn": "give the headers of CMSIS-NN 7.0.0 or later, or set dialect to ns-cmsis-nn for that library, "
    "here and in module.dialect",
}


class KernelLibrary(StrictModel):
    """A kernel library of the user's; modules for it are converted with ``module.kernels: external``."""

    dialect: Dialect = Field(
        ..., description="Entry names and argument lists that it has, as module.dialect"
    )
    version: str = Field(..., pattern=r"^\d+\.\d+\.\d+$", description="Its release, e.g. 7.37.0")
    includes: list[Path] = Field(..., min_length=1, description="Folders of its headers")
    sources: list[Path] = Field(
        default_factory=list, description="C files, or folders of them, to compile"
    )
    exclude: list[str] = Field(
        default_factory=list,
        description="Patterns of paths below the folders of sources that are not compiled, e.g. *_f16.c",
    )
    archive: Path | None = Field(None, description="A built archive (.a) in place of sources")

    @model_validator(mode="after")
    def _either_sources_or_archive(self) -> Self:
        if bool(self.sources) == (self.archive is not None):
            raise ValueError("give either sources or an archive")
        if self.exclude and not self.sources:
            raise ValueError("exclude leaves sources out, and an archive has none")
        return self

    def beside(self, folder: Path) -> Self:
        """Gives the library with its relative paths looked up in a folder."""
        return self.model_copy(
            update={
                "includes": [(folder / path).resolve() for path in self.includes],
                "sources": [(folder / path).resolve() for path in self.sources],
                "archive": None if self.archive is None else (folder / self.archive).resolve(),
            }
        )

    @property
    def version_number(self) -> int:
        """The release as modules compare it: 73700 for 7.37.0."""
        major, minor, patch = map(int, self.version.split("."))
        return major * 10000 + minor * 100 + patch


@dataclass(frozen=True)
class LibraryFiles:
    """A library as a build needs it.

    Attributes:
        tree: Headers and sources, by their path in a build directory.
        sources: Paths of the tree to compile.
        include_flags: Compiler flags that find the headers.
        archive: The archive's content; None for sources.
        version_number: Its release.
        dialect: Whose calls it has.
        identity: Dialect, release and digest over all of it, for the record.
    """

    tree: Mapping[str, bytes]
    sources: tuple[str, ...]
    include_flags: tuple[str, ...]
    archive: bytes | None
    version_number: int
    dialect: Dialect
    identity: str

    @property
    def version_macro(self) -> str:
        """The macro that tells a module the release, without the module's prefix."""
        return f"{self.dialect.replace('-', '_').upper()}_VERSION"


def read_library(library: KernelLibrary) -> LibraryFiles:
    """Reads a library.

    Raises:
        RunnerError: A file or folder is not there, or a folder holds nothing; carries every problem.
    """
    problems: list[Problem] = []
    tree: dict[str, bytes] = {}
    flags: list[str] = []
    for index, folder in enumerate(library.includes):
        place = f"{_FOLDER}/include{index}"
        flags.append(f"-I{place}")
        found = {f"{place}/{name}": path.read_bytes() for name, path in _files(folder, ".h")}
        if not found:
            problems.append(Problem("kernels.includes", f"{folder} holds no headers"))
        tree.update(found)
    sources = _read_sources(library, problems)
    if library.archive is not None and not library.archive.is_file():
        problems.append(Problem("kernels.archive", f"there is no file {library.archive}"))
    if problems:
        raise RunnerError("the kernel library cannot be used", problems)
    tree.update(sources)
    archive = None if library.archive is None else library.archive.read_bytes()
    digest = hashlib.sha256(archive or b"")
    for name, data in sorted(tree.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    return LibraryFiles(
        tree=tree,
        sources=tuple(sorted(name for name in sources if name.endswith(".c"))),
        include_flags=tuple(flags),
        archive=archive,
        version_number=library.version_number,
        dialect=library.dialect,
        identity=f"external {library.dialect} {library.version} {digest.hexdigest()[:16]}",
    )


def _read_sources(library: KernelLibrary, problems: list[Problem]) -> dict[str, bytes]:
    """Gives the C files that are to be compiled, and the headers beside them; adds what is wrong to the problems."""
    sources: dict[str, bytes] = {}
    unused = set(library.exclude)
    for index, path in enumerate(library.sources):
        found = dict(_files(path, ".c", ".h"))
        if not any(name.endswith(".c") for name in found):
            problems.append(Problem("kernels.sources", f"{path} is no C file and holds none"))
        for name, file in found.items():
            patterns = {pattern for pattern in library.exclude if fnmatchcase(name, pattern)}
            unused -= patterns
            if not patterns:
                sources[f"{_FOLDER}/source{index}/{name}"] = file.read_bytes()
    problems += [Problem("kernels.exclude", f"no source matches {name}") for name in sorted(unused)]
    return sources


def _files(path: Path, *suffixes: str) -> Iterator[tuple[str, Path]]:
    """Gives the files of a folder, or the one file, by relative POSIX path."""
    if path.is_file():
        yield path.name, path
        return
    for file in sorted(path.rglob("*")):
        if file.suffix in suffixes and file.is_file():
            yield posixpath.join(*file.relative_to(path).parts), file


def check_dialect(files: LibraryFiles, compiler: Tool, flags: tuple[str, ...]) -> None:
    """Passes only a library whose headers declare the calls that modules make.

    Otherwise each candidate would look bad, for a reason that is none of its own.

    Raises:
        RunnerError: If they do not.
    """
    check = _DIALECT_CHECK % ", ".join(["NULL"] * _CHECKED_ARGUMENTS[files.dialect])
    with tempfile.TemporaryDirectory(prefix="helia-search-") as name:
        directory = Path(name)
        write_tree({**files.tree, _CHECK: check.encode()}, directory)
        command: list[str | Path] = [compiler.path, *flags, *files.include_flags, "-fsyntax-only"]
        stderr = run_tool([*command, _CHECK], directory, "the kernel library's headers")
    if stderr is not None:
        raise RunnerError(
            f"the kernel library does not have the calls of {LIBRARY_NAMES[files.dialect]}",
            [Problem("kernels.includes", first_error(stderr))],
            next_step=_ADVICE[files.dialect],
        )
