# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from double_runner import PriceList, PriceRunner

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.platforms.schema import Platform
from optimizer.compiler import compiler_sha256
from optimizer.deadlines import FLOOR, Deadlines, after_baseline
from optimizer.errors import CampaignError
from optimizer.evaluate import Evaluator, TrialContext, TrialJob
from optimizer.serial_executor import SerialExecutor
from optimizer.shipment import pack
from runners.base import MeasureSettings
from runners.errors import ToolchainError
from runners.measure import random_stimulus
from runners.measurement import Measurement, MeasurementResult, Stimulus

JOB = TrialJob(0, None, None, 60.0)


@pytest.fixture
def context(digits_model: Path) -> TrialContext:
    config = ConvertConfig.model_validate({"model": {"path": digits_model}})
    return TrialContext(
        config=config,
        stimulus=random_stimulus(convert(config).module.inputs),
        settings=MeasureSettings(),
        create_runner=PriceList(),
        compiler_sha256=compiler_sha256(),
    )


def test_an_evaluation_can_be_sent_to_another_process(context: TrialContext) -> None:
    copy, job = pickle.loads(pickle.dumps((context, JOB)))
    finished = pickle.loads(pickle.dumps(Evaluator(copy).evaluate(job)))
    assert finished.measurement.status == "ok"
    assert set(finished.measurement.stage_seconds) == {"convert", "run"}


def test_other_outputs_make_a_bad_plan(context: TrialContext) -> None:
    measurement = Evaluator(context).evaluate(replace(JOB, expected_outputs_sha256="f" * 64))
    assert measurement.measurement.status == "plan_bad"
    assert measurement.measurement.stage == "compare"
    assert measurement.measurement.evidence["expected_outputs_sha256"] == "f" * 64


def test_a_plan_that_does_not_fit_is_bad(context: TrialContext) -> None:
    memories = {"dtcm": 0, "sram": 0, "itcm": 0}
    config = ConvertConfig.model_validate(
        {"model": {"path": context.config.model.path}, "platform": {"memories": memories}}
    )
    measurement = Evaluator(replace(context, config=config)).evaluate(JOB).measurement
    assert (measurement.status, measurement.stage) == ("plan_bad", "convert")
    assert measurement.evidence["problems"]


def _without_compiler(platform: Platform) -> PriceRunner:
    raise ToolchainError(f"no compiler for {platform.core}")


def _with_a_bug(platform: Platform) -> PriceRunner:
    raise KeyError(platform.name)


def test_a_missing_tool_is_a_fault_of_the_rig(context: TrialContext) -> None:
    measurement = Evaluator(replace(context, create_runner=_without_compiler)).evaluate(JOB)
    assert measurement.measurement.status == "rig_bad"
    assert "no compiler for cortex-m55" in measurement.measurement.reason


def test_a_bug_is_an_unknown_outcome_with_its_text(context: TrialContext) -> None:
    measurement = Evaluator(replace(context, create_runner=_with_a_bug)).evaluate(JOB).measurement
    assert measurement.status == "unknown"
    assert measurement.reason == "KeyError: 'apollo510_evb'"


def test_another_compiler_on_the_worker_is_a_fault_of_the_rig(context: TrialContext) -> None:
    measurement = Evaluator(replace(context, compiler_sha256="0" * 64)).evaluate(JOB).measurement
    assert measurement.status == "rig_bad"
    assert "another compiler" in measurement.reason


def test_the_serial_executor_runs_jobs_in_order(context: TrialContext) -> None:
    executor = SerialExecutor(context)
    executor.submit(JOB)
    executor.submit(replace(JOB, number=1))
    assert [executor.wait(1.0)[0].job.number for _ in range(2)] == [0, 1]
    assert executor.wait(1.0) == []
    executor.submit(JOB)
    executor.close()
    assert executor.wait(1.0) == []


def test_a_worker_needs_no_file_of_the_campaign(context: TrialContext, tmp_path: Path) -> None:
    model = tmp_path / "model.tflite"
    model.write_bytes(context.config.model.path.read_bytes())
    config = ConvertConfig.model_validate({"model": {"path": model}})
    files = pack(config).files
    here = Evaluator(replace(context, config=config)).evaluate(JOB).measurement
    model.unlink()
    away = Evaluator(replace(context, config=config, files=files)).evaluate(JOB).measurement
    assert away.status == "ok"
    assert away.image_sha256 == here.image_sha256


def test_a_file_that_cannot_be_shipped_is_named(tmp_path: Path) -> None:
    config = ConvertConfig.model_validate({"model": {"path": tmp_path / "none.tflite"}})
    with pytest.raises(CampaignError, match=r"model\.path"):
        pack(config)


def test_a_conversion_that_does_not_end_is_an_unknown_outcome_with_its_deadline(
    context: TrialContext,
) -> None:
    job = replace(JOB, deadlines=Deadlines(convert_s=1e-3))
    measurement = Evaluator(context).evaluate(job).measurement
    assert (measurement.status, measurement.stage) == ("unknown", "convert")
    assert measurement.evidence["deadline_s"] == 1e-3
    assert Evaluator(context).evaluate(JOB).measurement.status == "ok"


def test_build_and_run_get_the_deadlines_of_the_job(context: TrialContext) -> None:
    seen: list[MeasureSettings] = []

    class Runner(PriceRunner):
        def measure(
            self, conversion: Conversion, stimulus: Stimulus, settings: MeasureSettings
        ) -> MeasurementResult:
            assert conversion.module.inputs
            assert stimulus.inputs
            seen.append(settings)
            failed = Measurement(status="plan_bad", stage="run", reason="it hangs")
            return MeasurementResult(failed)

    def create(platform: Platform) -> Runner:
        return Runner(platform, PriceList())

    job = replace(JOB, deadlines=Deadlines(build_s=33.0, run_s=7.0))
    measurement = Evaluator(replace(context, create_runner=create)).evaluate(job).measurement
    assert [(item.build_timeout_s, item.timeout_s) for item in seen] == [(33.0, 7.0)]
    assert measurement.evidence == {"deadline_s": 7.0}


def test_deadlines_follow_the_baseline_above_a_floor_and_below_the_limit_of_the_user() -> None:
    assert after_baseline({}, run_s=60.0) == Deadlines(run_s=60.0)
    quick = after_baseline({"convert": 0.1, "build": 0.2, "run": 0.3}, run_s=60.0)
    assert quick == FLOOR
    slow = after_baseline({"convert": 10.0, "build": 50.0, "run": 4.0}, run_s=30.0)
    assert slow == Deadlines(convert_s=100.0, build_s=500.0, run_s=30.0)
    assert after_baseline({"run": 4.0}, run_s=60.0).run_s == 40.0
    assert after_baseline({"run": 4.0}, run_s=5.0).run_s == 5.0
