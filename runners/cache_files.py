# SPDX-License-Identifier: Apache-2.0
"""Caches of one user on one machine as folders of files: written whole, and limited in size.

An entry is written under a name of its own and renamed, so any number of processes may share a folder.
Its modification time is when it was last used: reading renews it, and the entries that were not used
for the longest time go first.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LIMIT_MB: Final = 1024
"""Megabytes (2**20 bytes) that one cache may take; ``HELIA_CACHE_LIMIT_MB`` changes it."""

KEPT_SHARE: Final = 0.9
"""Share of the limit that pruning leaves, so that it is not needed again at once."""

WRITES_PER_PRUNE: Final = 64
"""Writes of one process after which the size is looked at; the first one looks too."""

_STALE_S: Final = 3600.0
_ENTRY_FOLDERS: Final = "[0-9a-f][0-9a-f]"


def cache_directory() -> Path:
    """Gives the directory of all caches.

    It is ``$HELIA_CACHE_DIR``, else ``$XDG_CACHE_HOME/helia-search``, else
    ``~/.cache/helia-search``.
    """
    own = os.environ.get("HELIA_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "helia-search"


def limit_bytes() -> int:
    """Gives the bytes that one cache may take."""
    text = os.environ.get("HELIA_CACHE_LIMIT_MB", "")
    return (int(text) if text.isdecimal() else LIMIT_MB) * 2**20


@dataclass(frozen=True)
class CacheUse:
    """What a cache takes.

    Attributes:
        entries: Whole entries.
        size_bytes: Their bytes.
    """

    entries: int
    size_bytes: int


class CacheFolder:
    """One cache.

    Args:
        directory: Where the entries are; made at the first write.
        suffix: Suffix of an entry's file, e.g. ``.json``.
    """

    def __init__(self, directory: Path, suffix: str) -> None:
        self.directory = directory
        self._suffix = suffix
        self._writes = 0

    def read(self, key: str) -> bytes | None:
        """Gives the bytes of an entry, which counts as used then; None if there is none."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):
            os.utime(path)
        return data

    def write(self, key: str, data: bytes) -> None:
        """Keeps an entry, and prunes the cache from time to time.

        Raises:
            OSError: The disk refuses; nothing of the entry is left.
        """
        path = self._path(key)
        partial = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(data)
            partial.replace(path)
        except OSError:
            with suppress(OSError):
                partial.unlink()
            raise
        if self._writes % WRITES_PER_PRUNE == 0:
            self.prune(limit_bytes())
        self._writes += 1

    def drop(self, key: str) -> None:
        """Deletes an entry, such as a damaged one."""
        with suppress(OSError):
            self._path(key).unlink()

    def use(self) -> CacheUse:
        """Gives what the cache takes."""
        sizes = [status.st_size for path, status in self._files() if path.suffix == self._suffix]
        return CacheUse(len(sizes), sum(sizes))

    def prune(self, most_bytes: int) -> CacheUse:
        """Deletes what was not used for the longest time until the rest is below the limit.

        What killed processes left half written goes too, after an hour. Other processes may read and
        write meanwhile.

        Args:
            most_bytes: Bytes above which anything is deleted, at least 0.

        Returns:
            What was deleted.
        """
        entries: list[tuple[float, str, Path, int]] = []
        for path, status in self._files():
            if path.suffix == self._suffix:
                entries.append((status.st_mtime, path.name, path, status.st_size))
            elif time.time() - status.st_mtime > _STALE_S:
                with suppress(OSError):
                    path.unlink()
        left = sum(size for *_, size in entries)
        count = removed = 0
        if left > most_bytes:
            for _, _, path, size in sorted(entries):
                if left <= KEPT_SHARE * most_bytes:
                    break
                with suppress(OSError):
                    path.unlink()
                left, removed, count = left - size, removed + size, count + 1
        return CacheUse(count, removed)

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}{self._suffix}"

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self.directory.glob(f"{_ENTRY_FOLDERS}/*"):
            with suppress(OSError):  # another process may have deleted it
                yield path, path.stat()
