# SPDX-License-Identifier: Apache-2.0
"""Measurements on disk, shared between campaigns, processes and models.

A measurement is found again before building, by the plan and all that it was made from; and before
running, by the image, the stimulus and what runs it. Only good measurements are kept: a failure is
looked at anew. The directory is ``measurements`` in the directory of all caches
(:func:`runners.cache_files.cache_directory`); it may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from optimizer.errors import CampaignError
from results.records import CampaignIdentity
from runners.base import MeasureSettings
from runners.cache_files import CacheFolder, cache_directory
from runners.measurement import Measurement, RunnerIdentity

MEASUREMENTS: Final = "measurements"
"""Name of the cache, and of its folder."""

_FORMAT = "helia-search measurement 2"


class CacheError(CampaignError):
    """The measurement cache cannot be written."""


class MeasurementCache:
    """Good measurements by key; safe for any number of processes, and limited in size.

    An entry begins with a digest of the rest: a damaged one is deleted and counts as missing.

    Args:
        directory: Where the entries are; made at the first write.
    """

    def __init__(self, directory: Path) -> None:
        self._files = CacheFolder(directory, ".json")

    @classmethod
    def shared(cls) -> MeasurementCache:
        """Gives the cache of this user on this machine."""
        return cls(cache_directory() / MEASUREMENTS)

    def read(self, key: str) -> Measurement | None:
        """Gives the measurement of a key, without seconds; None if there is none that is whole."""
        data = self._files.read(key)
        if data is None:
            return None
        try:
            digest, _, text = data.decode("utf-8").partition("\n")
            if digest == _digest(text):
                return Measurement.model_validate_json(text)
        except (UnicodeDecodeError, ValidationError):
            pass
        self._files.drop(key)
        return None

    def write(self, key: str, measurement: Measurement) -> None:
        """Keeps a good measurement; others are left alone.

        Raises:
            CacheError: The cache cannot be written.
        """
        if measurement.status != "ok":
            return
        # Seconds belong to the evaluation that took them, and are nobody else's.
        text = measurement.model_copy(update={"stage_seconds": {}}).model_dump_json()
        try:
            self._files.write(key, f"{_digest(text)}\n{text}".encode())
        except OSError as error:
            raise CacheError(
                f"The measurement cache {self._files.directory} cannot be written: "
                f"{error.strerror}.",
                next_step="set HELIA_CACHE_DIR to a folder that can be written, or use --no-cache",
            ) from error


def plan_cache_key(identity: CampaignIdentity, plan_key: str) -> str:
    """Gives the key of a plan before it is built.

    It covers all that can change a measurement: model, settings, compiler, runner, toolchain, timing
    model, stimulus and plan; but not the campaign's name, space, sampler or seed.
    """
    parts = identity.model_dump(
        mode="json",
        include={
            "model_sha256",
            "subgraph",
            "config_sha256",
            "compiler",
            "runner",
            "stimulus_sha256",
        },
    )
    return _key("plan", {**parts, "plan_key": plan_key})


def image_cache_key(
    *,
    image_sha256: str,
    model_sha256: str,
    stimulus_sha256: str,
    runner: RunnerIdentity,
    settings: MeasureSettings,
) -> str:
    """Gives the key of an image before it runs: equal images count equal cycles.

    The compiler is not part of it: another compiler that makes the same image changes nothing.
    """
    return _key(
        "image",
        {
            "image_sha256": image_sha256,
            "model_sha256": model_sha256,
            "stimulus_sha256": stimulus_sha256,
            "runner": runner.model_dump(mode="json"),
            "warmups": settings.warmups,
            "repeats": settings.repeats,
            "per_operator": settings.per_operator,
        },
    )


def _key(kind: str, parts: dict[str, object]) -> str:
    text = json.dumps({"format": _FORMAT, "kind": kind, **parts}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
