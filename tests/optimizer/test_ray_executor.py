# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from double_runner import PriceList

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig, ModelConfig
from optimizer.compiler import compiler_sha256
from optimizer.errors import CampaignError
from optimizer.evaluate import TrialContext, TrialJob
from optimizer.executor import Executor
from optimizer.ray_executor import RayExecutor, local_worker_count
from runners.base import MeasureSettings
from runners.measure import random_stimulus


def context(model: Path, prices: PriceList) -> TrialContext:
    config = ConvertConfig(model=ModelConfig(path=model))
    return TrialContext(
        config=config,
        stimulus=random_stimulus(convert(config).module.inputs),
        settings=MeasureSettings(),
        create_runner=prices,
        compiler_sha256=compiler_sha256(),
    )


def outcomes(executor: Executor, jobs: list[TrialJob]) -> list[tuple[int, str]]:
    for job in jobs:
        executor.submit(job)
    results: list[tuple[int, str]] = []
    while len(results) < len(jobs):
        results += [
            (item.job.number, item.measurement.status) for item in executor.wait(timeout_s=1.0)
        ]
    return sorted(results)


@pytest.fixture(scope="module")
def marks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("marks")


@pytest.fixture(scope="module")
def executor(digits_model: Path, marks: Path) -> Iterator[RayExecutor]:
    prices = PriceList(die_once=marks / "died", hang_once=marks / "hung")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        started = RayExecutor(context(digits_model, prices), workers=2, address=None)
        yield started
        started.close()
        started.close()


def test_a_lost_worker_and_a_late_one_come_back_as_rig_faults(
    executor: RayExecutor, marks: Path
) -> None:
    assert executor.workers == 2
    first = outcomes(executor, [TrialJob(0, None, None, 120.0)])
    assert (first, (marks / "died").exists()) == ([(0, "rig_bad")], True)
    second = outcomes(executor, [TrialJob(1, None, None, 6.0)])
    assert (second, (marks / "hung").exists()) == ([(1, "rig_bad")], True)
    both = outcomes(executor, [TrialJob(number, None, None, 120.0) for number in (2, 3)])
    assert both == [(2, "ok"), (3, "ok")]


def test_outputs_are_compared_on_the_worker(executor: RayExecutor) -> None:
    assert outcomes(executor, [TrialJob(4, None, "f" * 64, 120.0)]) == [(4, "plan_bad")]


def test_ray_that_cannot_start_is_an_error(digits_model: Path, executor: RayExecutor) -> None:
    """One process has one Ray, and the fixture holds it."""
    assert executor.workers
    with pytest.raises(CampaignError, match="Ray cannot be used on this machine"):
        RayExecutor(context(digits_model, PriceList()), workers=1, address=None)
    assert outcomes(executor, [TrialJob(5, None, None, 120.0)]) == [(5, "ok")]


def test_a_farm_may_have_more_boards_than_there_are_cores() -> None:
    cores = len(os.sched_getaffinity(0))
    assert local_worker_count(None, None) == cores
    assert local_worker_count(None, cores + 3) == cores + 3
    assert local_worker_count(cores + 2, cores + 3) == cores + 2
    assert local_worker_count(cores + 9, cores + 3) == cores + 3
    assert local_worker_count(None, 1) == 1
    with pytest.raises(CampaignError, match="cores"):
        local_worker_count(cores + 1, None)
