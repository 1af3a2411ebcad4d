# SPDX-License-Identifier: Apache-2.0
"""Measurements on disk, shared between campaigns, processes and models.

A measurement is found again before building, by the plan and all that it was made from; and before
running, by the image, the stimulus and what runs it. Only good measurements are kept: a failure is
looked at anew. The directory is ``measurements`` in the directory of all caches
(:func:`runners.objects.cache_directory`); it may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from optimizer.errors import CampaignError
from results.records import CampaignIdentity
from runners.base import MeasureSettings
from runners.measurement import Measurement, RunnerIdentity
from runners.objects import cache_directory

_FORMAT = "helia-search measurement 1"


class CacheError(CampaignError):
    """The measurement cache cannot be written."""


class MeasurementCache:
    """Good measurements by key; safe for any number of processes.

    An entry is written under a name of its own and renamed, so a reader sees all of it or nothing.
    It begins with a digest of the rest: a damaged entry is deleted and counts as missing.

    Args:
        directory: Where the entries are; made at the first write.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @classmethod
    def shared(cls) -> MeasurementCache:
        """Gives the cache of this user on this machine."""
        return cls(cache_directory() / "measurements")

    def read(self, key: str) -> Measurement | None:
        """Gives the measurement of a key, without seconds; None if there is none that is whole."""
        path = self._path(key)
        try:
            digest, _, text = path.read_text("utf-8").partition("\n")
            if digest == _digest(text):
                return Measurement.model_validate_json(text)
        except OSError:
            return None
        except (UnicodeDecodeError, ValidationError):
            pass
        with suppress(OSError):
            path.unlink()
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
        path = self._path(key)
        partial = path.with_name(f"{path.name}.{os.getpid()}-{uuid.uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(f"{_digest(text)}\n{text}", "utf-8")
            partial.replace(path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            raise CacheError(
                f"The measurement cache {self._directory} cannot be written: {error.strerror}.",
                next_step="set HELIA_CACHE_DIR to a folder that can be written, or use --no-cache",
            ) from error

    def _path(self, key: str) -> Path:
        return self._directory / key[:2] / f"{key}.json"


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
