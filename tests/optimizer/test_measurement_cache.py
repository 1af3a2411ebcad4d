# SPDX-License-Identifier: Apache-2.0
"""Measurements that campaigns share: hits before building and before running, damage, and races."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest
from double_runner import PriceList, PriceRunner
from synthetic_campaign import (
    SilentProgress,
    synthetic_identity,
    synthetic_space,
    table_measurement,
)

from helia_aot.api import Conversion
from helia_aot.platforms.schema import Platform
from optimizer.campaign import run_campaign
from optimizer.config import CampaignConfig
from optimizer.measurement_cache import (
    CacheError,
    MeasurementCache,
    image_cache_key,
    plan_cache_key,
)
from results.ledger import LEDGER_NAME, read_ledger
from results.records import TrialRecord
from results.summary import CampaignSummary
from runners.base import MeasureSettings
from runners.measurement import Measurement, MeasurementResult, Stimulus

PLAN, SPACE = synthetic_space(3)
GOOD = table_measurement(PLAN).model_copy(update={"stage_seconds": {"run": 3.0}})
KEY = "ab" * 32


@pytest.fixture
def cache(tmp_path: Path) -> MeasurementCache:
    return MeasurementCache(tmp_path / "measurements")


def test_a_measurement_is_found_again_without_its_seconds(cache: MeasurementCache) -> None:
    assert cache.read(KEY) is None
    cache.write(KEY, GOOD)
    assert cache.read(KEY) == GOOD.model_copy(update={"stage_seconds": {}})


def test_failures_are_not_kept(cache: MeasurementCache) -> None:
    cache.write(KEY, Measurement(status="plan_bad", stage="run", reason="the core faulted"))
    assert cache.read(KEY) is None


@pytest.mark.parametrize("damage", ["cut", "bit", "empty", "binary"])
def test_a_damaged_entry_is_dropped(cache: MeasurementCache, tmp_path: Path, damage: str) -> None:
    cache.write(KEY, GOOD)
    (path,) = (tmp_path / "measurements").rglob("*.json")
    data = path.read_bytes()
    damaged = {
        "cut": data[:-5],
        "bit": data.replace(b'"cycles":[', b'"cycles":[1', 1),
        "empty": b"",
        "binary": b"\xff\xfe",
    }
    path.write_bytes(damaged[damage])
    assert cache.read(KEY) is None
    assert not path.exists()
    cache.write(KEY, GOOD)
    assert cache.read(KEY) is not None


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match="--no-cache"):
        MeasurementCache(tmp_path / "file" / "measurements").write(KEY, GOOD)


def _write_often(folder: Path) -> None:
    cache = MeasurementCache(folder)
    for _ in range(100):
        cache.write(KEY, GOOD)
        assert cache.read(KEY) is not None


def test_many_processes_may_write_the_same_entry(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_write_often, args=(tmp_path,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert [path.suffix for path in tmp_path.rglob("*.*")] == [".json"]


def test_the_key_of_a_plan_covers_what_can_change_a_number() -> None:
    identity = synthetic_identity(SPACE)
    key = plan_cache_key(identity, "1" * 64)
    runner = identity.runner.model_copy(update={"timing_model": "another"})
    for change in (
        {"model_sha256": "9" * 64},
        {"config_sha256": "9" * 64},
        {"compiler": "another"},
        {"stimulus_sha256": "9" * 64},
        {"runner": runner},
    ):
        assert plan_cache_key(identity.model_copy(update=change), "1" * 64) != key
    assert plan_cache_key(identity, "2" * 64) != key
    for change in ({"campaign": "other"}, {"sampler": "random"}, {"seed": 3}, {"space_sha256": ""}):
        assert plan_cache_key(identity.model_copy(update=change), "1" * 64) == key


def test_the_key_of_an_image_covers_what_runs_it() -> None:
    runner = synthetic_identity(SPACE).runner

    def key(repeats: int = 1, image: str = "1", stimulus: str = "2") -> str:
        return image_cache_key(
            image_sha256=image,
            model_sha256="3",
            stimulus_sha256=stimulus,
            runner=runner,
            settings=MeasureSettings(repeats=repeats),
        )

    assert len({key(), key(repeats=2), key(image="9"), key(stimulus="9")}) == 4


class _CountingRunner(PriceRunner):
    """Asks for the image like a real runner does; ``calls`` counts builds and runs."""

    calls: ClassVar[Counter[str]] = Counter()

    def measure(
        self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
    ) -> MeasurementResult:
        self.calls["build"] += 1
        result = super().measure(conversion, stimulus, settings)
        assert result.measurement.image_sha256 is not None
        if settings.find_image and (found := settings.find_image(result.measurement.image_sha256)):
            return MeasurementResult(found)
        self.calls["run"] += 1
        return result


def _counting(platform: Platform) -> _CountingRunner:
    return _CountingRunner(platform, PriceList())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Counter[str]:
    monkeypatch.setenv("HELIA_CACHE_DIR", str(tmp_path / "cache"))
    _CountingRunner.calls.clear()
    return _CountingRunner.calls


def campaign(
    model: Path, out: Path, progress: SilentProgress | None = None, **changes: object
) -> CampaignSummary:
    tree = {
        "convert": {"model": {"path": str(model)}},
        "search": {"sampler": "tpe", "trials": 6},
        "ray": {"workers": 0},
        "out": str(out),
    }
    return run_campaign(
        CampaignConfig.model_validate({**tree, **changes}),
        progress=progress or SilentProgress(),
        runner_factory=_counting,
    )


def test_a_second_campaign_builds_the_repetitions_of_the_verdict_alone(
    digits_model: Path, tmp_path: Path, calls: Counter[str]
) -> None:
    first = campaign(digits_model, tmp_path / "first")
    assert (first.search.cache_hits, calls["build"]) == (0, calls["run"])
    calls.clear()
    second = campaign(digits_model, tmp_path / "second")
    assert calls == {"build": 4, "run": 4}
    assert second.search.cache_hits == 8  # baseline, reference, six trials
    assert second.best_cycles == first.best_cycles
    content = read_ledger(tmp_path / "second" / LEDGER_NAME)
    assert content is not None
    hits = [e for e in content[1] if isinstance(e, TrialRecord) and e.cache == "plan"]
    assert [(hit.seconds, hit.measurement.stage_seconds) for hit in hits] == [(0.0, {})] * 8


def test_an_equal_image_of_another_configuration_does_not_run_again(
    digits_model: Path, tmp_path: Path, calls: Counter[str]
) -> None:
    campaign(digits_model, tmp_path / "first")
    calls.clear()
    tree = {"model": {"path": str(digits_model)}, "module": {"name": "renamed"}}
    second = campaign(digits_model, tmp_path / "second", convert=tree)
    assert calls["build"] == 12
    assert calls["run"] == 4
    assert second.search.cache_hits == 8


def test_the_cache_can_be_left_alone(
    digits_model: Path, tmp_path: Path, calls: Counter[str]
) -> None:
    campaign(digits_model, tmp_path / "first")
    calls.clear()
    second = campaign(digits_model, tmp_path / "second", measurement_cache=False)
    assert second.search.cache_hits == 0
    assert calls["run"] == 12


def test_a_cache_that_cannot_be_written_stops_no_campaign(
    digits_model: Path, tmp_path: Path, calls: Counter[str]
) -> None:
    (tmp_path / "cache").write_text("")
    progress = SilentProgress()
    summary = campaign(digits_model, tmp_path / "out", progress)
    assert summary.search.trials == 6
    assert calls["run"] == 12
    assert [note for note in progress.notes if "cannot be written" in note] != []
