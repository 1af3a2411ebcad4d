# SPDX-License-Identifier: Apache-2.0
"""Caches stay below their limit; what was used last stays longest."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from runners.cache_files import WRITES_PER_PRUNE, CacheFolder, CacheUse

KEYS = [f"{number:02x}" * 32 for number in range(10)]


def age(cache: CacheFolder, key: str, seconds: float) -> None:
    (path,) = cache.directory.rglob(f"{key}*")
    now = time.time()
    os.utime(path, (now - seconds, now - seconds))


@pytest.fixture
def cache(tmp_path: Path) -> CacheFolder:
    cache = CacheFolder(tmp_path, ".json")
    for number, key in enumerate(KEYS):
        cache.write(key, bytes(1000))
        age(cache, key, 1000 - number)
    return cache


def test_what_was_not_used_for_the_longest_time_goes_first(cache: CacheFolder) -> None:
    assert cache.use() == CacheUse(10, 10_000)
    assert cache.read(KEYS[0]) == bytes(1000)  # now the last one that was used
    assert cache.prune(10_000) == CacheUse(0, 0)
    assert cache.prune(5_000) == CacheUse(6, 6_000)
    left = [key for key in KEYS if cache.read(key) is not None]
    assert left == [KEYS[0], *KEYS[7:]]


def test_pruning_to_nothing_empties_a_cache(cache: CacheFolder) -> None:
    assert cache.prune(0) == CacheUse(10, 10_000)
    assert cache.use() == CacheUse(0, 0)
    assert CacheFolder(cache.directory / "missing", ".json").prune(0) == CacheUse(0, 0)


def test_writing_prunes(cache: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELIA_CACHE_LIMIT_MB", "0")
    other = CacheFolder(cache.directory, ".json")
    other.write("ff" * 32, b"new")
    assert cache.use().entries == 0
    for number in range(WRITES_PER_PRUNE - 1):
        other.write(f"{number:064x}", b"new")
    assert cache.use().entries == WRITES_PER_PRUNE - 1
    other.write("ee" * 32, b"new")
    assert cache.use().entries == 0


def test_what_a_killed_writer_left_goes_after_an_hour(cache: CacheFolder) -> None:
    folder = cache.directory / KEYS[0][:2]
    old, new = (folder / f"{KEYS[0]}.json.{name}" for name in ("1-old", "2-new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    cache.prune(10**6)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_disk_that_refuses_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        CacheFolder(tmp_path / "file", ".json").write(KEYS[0], b"")
