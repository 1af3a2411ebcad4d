# SPDX-License-Identifier: Apache-2.0
"""Compiling with a cache: an object is found again by everything that decides its bytes."""

from __future__ import annotations

import hashlib
import math
import os
import posixpath
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from runners.cache_files import CacheFolder
from runners.errors import RunnerError
from runners.failure import CandidateFailure
from runners.toolchain import Tool

COMPILE_TIMEOUT_S = 120.0
"""Deadline of one compiler or linker process, where the build leaves that much."""
MAX_PROCESSES = 2
MAX_MESSAGE_CHARACTERS = 8000
"""A message is kept up to this length; the first errors matter."""

OBJECTS = "objects"
"""Name of the cache, and of its folder."""

_FORMAT = b"helia-search object 1"
_DIGEST_BYTES = 32
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)
_RIG_MESSAGES = (
    "No space left on device",
    "Killed signal terminated program",
    "virtual memory exhausted",
    "cannot create temporary",
)


@dataclass(frozen=True)
class Source:
    """One translation unit.

    Attributes:
        path: Its place in the source tree; relative, POSIX.
        object_path: Where its object goes in the build directory; relative, POSIX.
        flags: Compiler flags.
        forced_includes: Headers of the tree that are included before it.
        cached: Whether its object is worth keeping; not for large data that assembles at once.
    """

    path: str
    object_path: str
    flags: tuple[str, ...]
    forced_includes: tuple[str, ...] = ()
    cached: bool = True


Tree = Mapping[str, bytes]
"""All files that a source may include, by relative POSIX path."""


class ObjectCache:
    """Objects on disk by key, shared by any number of processes and limited in size.

    An entry starts with a digest of its content, so a damaged one is dropped and compiled again.
    """

    def __init__(self, directory: Path) -> None:
        self._files = CacheFolder(directory, ".o")

    def read(self, key: str) -> bytes | None:
        """Gives the object of a key; None if there is none that is whole."""
        entry = self._files.read(key)
        if entry is None:
            return None
        data = entry[_DIGEST_BYTES:]
        if hashlib.sha256(data).digest() != entry[:_DIGEST_BYTES]:
            self._files.drop(key)
            return None
        return data

    def write(self, key: str, data: bytes) -> None:
        """Keeps an object.

        Raises:
            RunnerError: If the cache cannot be written.
        """
        try:
            self._files.write(key, hashlib.sha256(data).digest() + data)
        except OSError as error:
            raise RunnerError(
                f"the object cache {self._files.directory} cannot be written: {error.strerror}",
                next_step="set HELIA_CACHE_DIR to a directory that can",
            ) from error


class Compiler:
    """Compiles sources of a tree in a build directory.

    Objects do not depend on where that directory is: every path that the compiler sees is relative.
    """

    def __init__(self, tool: Tool, cache: ObjectCache) -> None:
        self._tool = tool
        self._cache = cache

    def compile(
        self,
        sources: Sequence[Source],
        tree: Tree,
        directory: Path,
        *,
        ends_s: float = math.inf,
    ) -> int:
        """Puts the object of every source at its place in the build directory.

        The tree is written to the directory only if something has to be compiled.

        Args:
            sources: What to compile.
            tree: Files that they may include, themselves among them.
            directory: The build directory; must exist.
            ends_s: Deadline on the clock of :func:`time.monotonic`.

        Returns:
            The number of sources that were not in the cache.

        Raises:
            CandidateFailure: If a source does not compile.
        """
        for folder in {posixpath.dirname(source.object_path) for source in sources}:
            (directory / folder).mkdir(parents=True, exist_ok=True)
        missing: list[tuple[Source, str | None]] = []
        for source in sources:
            key = self._key(source, tree) if source.cached else None
            data = self._cache.read(key) if key is not None else None
            if data is None:
                missing.append((source, key))
            else:
                (directory / source.object_path).write_bytes(data)
        if missing:
            write_tree(tree, directory)
            with ThreadPoolExecutor(MAX_PROCESSES) as pool:
                list(
                    pool.map(
                        lambda item: self._compile(item[0], item[1], directory, ends_s), missing
                    )
                )
        return sum(key is not None for _, key in missing)

    def _compile(self, source: Source, key: str | None, directory: Path, ends_s: float) -> None:
        includes = [part for path in source.forced_includes for part in ("-include", path)]
        command: list[str | Path] = [self._tool.path, *source.flags, *includes, "-c", source.path]
        command += ["-o", source.object_path]
        stderr = run_tool(command, directory, source.path, ends_s=ends_s)
        if stderr is not None:
            raise CandidateFailure(
                "plan_bad",
                "build",
                f"{source.path} does not compile: {first_error(stderr)}",
                {"source": source.path, "message": stderr[:MAX_MESSAGE_CHARACTERS]},
            )
        if key is not None:
            self._cache.write(key, (directory / source.object_path).read_bytes())

    def _key(self, source: Source, tree: Tree) -> str:
        digest = hashlib.sha256(_FORMAT)
        names = (self._tool.digest, source.path, *source.flags, "", *source.forced_includes)
        digest.update("\0".join(names).encode())
        for path in visible_files((source.path, *source.forced_includes), source.flags, tree):
            digest.update(path.encode() + b"\0" + hashlib.sha256(tree[path]).digest())
        return digest.hexdigest()


def run_tool(
    command: Sequence[str | Path], directory: Path, subject: str, *, ends_s: float = math.inf
) -> str | None:
    """Runs a compiler or linker.

    Args:
        command: Program and arguments.
        directory: Its working directory.
        subject: What it works on, for messages.
        ends_s: Deadline on the clock of :func:`time.monotonic`.

    Returns:
        None if it succeeded, else what it printed as errors.

    Raises:
        CandidateFailure: ``rig_bad``, if the machine and not the source is at fault.
    """
    timeout_s = min(COMPILE_TIMEOUT_S, ends_s - time.monotonic())
    if timeout_s <= 0:
        raise CandidateFailure("rig_bad", "build", f"no time was left for {subject}")
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CandidateFailure(
            "rig_bad", "build", f"the compiler could not handle {subject}: {error}"
        ) from error
    if done.returncode == 0:
        return None
    if done.returncode < 0 or any(message in done.stderr for message in _RIG_MESSAGES):
        raise CandidateFailure(
            "rig_bad",
            "build",
            f"the compiler was stopped while it worked on {subject}",
            {"message": done.stderr, "exit_code": done.returncode},
        )
    return done.stderr or f"exit code {done.returncode} without a message"


def first_error(stderr: str) -> str:
    """Gives the line that says what is wrong."""
    lines = [line for line in stderr.splitlines() if not line.startswith("collect2:")]
    marks = ("undefined reference", "error:")
    found = (line for mark in marks for line in lines if mark in line.lower())
    return next(found, lines[0] if lines else stderr.strip()).rsplit("/ld: ", 1)[-1]


def write_tree(tree: Tree, directory: Path) -> None:
    """Writes all files of a tree below a directory."""
    for folder in {posixpath.dirname(path) for path in tree}:
        (directory / folder).mkdir(parents=True, exist_ok=True)
    for path, data in tree.items():
        (directory / path).write_bytes(data)


def visible_files(roots: Sequence[str], flags: Sequence[str], tree: Tree) -> list[str]:
    """Gives every file of a tree that sources can see, sorted.

    Conditions round an ``#include`` are not looked at, so this is what is included, or more.

    Args:
        roots: The source and what is included before it.
        flags: Compiler flags; ``-I<folder>`` ones are used.
        tree: All files.
    """
    folders = [flag.removeprefix("-I") for flag in flags if flag.startswith("-I")]
    seen: set[str] = set()
    pending = list(roots)
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        pending.extend(_resolved(path, folders, tree))
    return sorted(seen)


def _resolved(path: str, folders: Sequence[str], tree: Tree) -> Iterator[str]:
    for name in _includes(tree[path]):
        for folder in (posixpath.dirname(path), *folders):
            target = posixpath.normpath(posixpath.join(folder, name))
            if target in tree:
                yield target
                break


@lru_cache(maxsize=1024)
def _includes(data: bytes) -> tuple[str, ...]:
    return tuple(_INCLUDE.findall(data.decode("utf-8", "replace")))
