# SPDX-License-Identifier: Apache-2.0
"""What the caches of this user take, and pruning them: behind ``helia-search cache``."""

from __future__ import annotations

from helia_aot.config.base import StrictModel
from optimizer.measurement_cache import MEASUREMENTS
from optimizer.operator_memory import OPERATORS
from runners.cache_files import CacheFolder, cache_directory, limit_bytes
from runners.objects import OBJECTS

_SUFFIXES = {OBJECTS: ".o", MEASUREMENTS: ".json", OPERATORS: ".json"}


class CacheReport(StrictModel):
    """One cache.

    Attributes:
        name: What it holds, and the name of its folder.
        directory: Where it is.
        entries: How many entries it has now.
        size_bytes: Their bytes.
        limit_bytes: Bytes above which the entries that were not used for the longest time go.
        removed_entries: How many entries pruning has deleted just now.
        removed_bytes: Their bytes.
    """

    name: str
    directory: str
    entries: int
    size_bytes: int
    limit_bytes: int
    removed_entries: int
    removed_bytes: int


def cache_reports(*, prune_to_bytes: int | None = None) -> tuple[CacheReport, ...]:
    """Gives what every cache takes.

    Args:
        prune_to_bytes: Prune each to this many bytes first; None deletes nothing.
    """
    reports = []
    for name, suffix in _SUFFIXES.items():
        folder = CacheFolder(cache_directory() / name, suffix)
        removed = None if prune_to_bytes is None else folder.prune(prune_to_bytes)
        use = folder.use()
        reports.append(
            CacheReport(
                name=name,
                directory=str(folder.directory),
                entries=use.entries,
                size_bytes=use.size_bytes,
                limit_bytes=limit_bytes(),
                removed_entries=removed.entries if removed else 0,
                removed_bytes=removed.size_bytes if removed else 0,
            )
        )
    return tuple(reports)
