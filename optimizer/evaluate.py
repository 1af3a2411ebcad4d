# SPDX-License-Identifier: Apache-2.0
"""One evaluation of one plan as a pure, picklable function: convert, build, run, compare.

A bad plan and a bad rig are data in the :class:`Measurement`; nothing is raised for them, so that a
worker stays alive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import helia_aot
from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import BudgetError, HeliaError
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.platforms.schema import Platform
from optimizer.accuracy import AccuracyConfig, Outputs, Samples, judge
from optimizer.compiler import compiler_sha256
from optimizer.deadlines import Deadlines, LateError, deadline
from optimizer.measurement_cache import CacheError, MeasurementCache, image_cache_key
from optimizer.quantities import OVERFLOW
from optimizer.shipment import Shipment
from runners.base import MeasureSettings, Runner
from runners.errors import RunnerError
from runners.measurement import Measurement, Stimulus, outputs_sha256

RunnerFactory = Callable[[Platform], Runner]
"""Makes the runner of a platform; picklable, so that every worker makes its own."""


@dataclass(frozen=True)
class TrialContext:
    """What all evaluations of a campaign share.

    Attributes:
        config: The conversion; its ``optimization.plan`` is not set.
        files: The files that it reads, by setting, as :class:`optimizer.shipment.Shipment`; empty
            where every worker can read them at their paths.
        stimulus: The model inputs that every plan runs on.
        settings: How often and how long a plan runs.
        create_runner: Makes the runner.
        compiler_sha256: Digest of the compiler that every worker must have.
        uses_cache: Whether images that this machine has measured before do not run again.
        accuracy: How errors are judged; None for a campaign of exact plans.
        samples: What they are judged on; set exactly with ``accuracy``.
    """

    config: ConvertConfig
    stimulus: Stimulus
    settings: MeasureSettings
    create_runner: RunnerFactory
    compiler_sha256: str
    uses_cache: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    accuracy: AccuracyConfig | None = None
    samples: Samples | None = None


@dataclass(frozen=True)
class TrialJob:
    """One plan to evaluate.

    Attributes:
        number: Tells jobs of one process apart.
        plan: The plan; None measures what ``auto`` chooses.
        expected_outputs_sha256: Digest that the outputs must have; None accepts any.
        deadline_s: Wall-clock seconds after which the worker is given up, above 0; they begin when
            a worker takes the job.
        may_use_cache: Whether an earlier measurement of the same image will do.
        holds_budget: Whether a plan over the budget of the configuration is bad; the plan that
            ``auto`` chooses is measured even then.
        deadlines: What its stages may take.
        avoid: Workers that should not run it, as long as there are others.
        may_differ: Whether the plan has other approximate values than the baseline, so that its outputs are judged
            instead of compared.
    """

    number: int
    plan: OptimizationPlan | None
    expected_outputs_sha256: str | None
    deadline_s: float
    may_use_cache: bool = False
    holds_budget: bool = True
    deadlines: Deadlines = field(default_factory=Deadlines)
    avoid: frozenset[int] = frozenset()
    may_differ: bool = False


@dataclass(frozen=True)
class Finished:
    """The outcome of a job.

    Attributes:
        job: The job.
        measurement: Its outcome.
        seconds: Wall-clock seconds on the worker.
        cache: How the measurement cache knew it; None for a new measurement.
        worker: Number of the worker that had it; None where none did.
    """

    job: TrialJob
    measurement: Measurement
    seconds: float
    cache: Literal["plan", "image"] | None = None
    worker: int | None = None


class Evaluator:
    """Evaluates jobs of one campaign in this process, with one runner that is made at first use."""

    def __init__(self, context: TrialContext) -> None:
        self._context = context
        self._runner: Runner | None = None
        self._is_cached = False
        self._baseline_outputs: list[Outputs] | None = None
        self._has_the_compiler = compiler_sha256() == context.compiler_sha256

    def ready(self) -> bool:
        """Says that this process can evaluate; what it needs was imported."""
        return True

    def evaluate(self, job: TrialJob) -> Finished:
        """Gives the outcome of a job; a failure of any kind is a status of its measurement."""
        started = time.perf_counter()
        self._is_cached = False
        try:
            with self._unpacked() as config:
                measurement = self._evaluate(job, config)
        except (
            Exception
        ) as error:  # the boundary of a worker: a bug must not take the campaign down
            measurement = _unknown(error)
        seconds = time.perf_counter() - started
        return Finished(job, measurement, seconds, "image" if self._is_cached else None)

    def _evaluate(self, job: TrialJob, unpacked: ConvertConfig) -> Measurement:
        if not self._has_the_compiler:
            where = Path(helia_aot.__file__).parent
            reason = f"a worker has another compiler than the campaign, in {where}"
            return Measurement(status="rig_bad", stage="convert", reason=reason)
        context = self._context
        started = time.perf_counter()
        try:
            with deadline(job.deadlines.convert_s):
                config = unpacked if job.holds_budget else without_budget(unpacked)
                conversion = convert(config, plan=job.plan)
        except BudgetError as error:
            return _does_not_fit(error)
        except LateError:
            reason = f"the conversion did not end within {job.deadlines.convert_s:g} s"
            return _with_deadline(
                Measurement(status="unknown", stage="convert", reason=reason), job
            )
        convert_seconds = time.perf_counter() - started
        settings = replace(
            context.settings,
            timeout_s=job.deadlines.run_s,
            build_timeout_s=job.deadlines.build_s,
        )
        try:
            measurement = self._measure(
                conversion, settings, uses_cache=context.uses_cache and job.may_use_cache
            )
        except RunnerError as error:
            return Measurement(status="rig_bad", stage="build", reason=str(error))
        measurement = measurement.model_copy(
            update={
                "stage_seconds": {"convert": convert_seconds, **measurement.stage_seconds},
                "storage_bytes": dict(conversion.storage_bytes),
            }
        )
        if not job.may_differ:
            measurement = check_outputs(measurement, job.expected_outputs_sha256)
        if context.accuracy is not None and measurement.status == "ok":
            measurement = self._judged(measurement, conversion, settings, job)
        return _with_deadline(measurement, job)

    def _judged(
        self,
        measurement: Measurement,
        conversion: Conversion,
        settings: MeasureSettings,
        job: TrialJob,
    ) -> Measurement:
        """Gives the measurement with its errors; a plan whose outputs are no numbers is bad."""
        accuracy, samples = self._context.accuracy, self._context.samples
        assert accuracy is not None
        assert samples is not None
        if self._baseline_outputs is None:
            with self._unpacked() as config:
                auto = convert(without_budget(config))
            found = self._outputs(auto, settings, samples)
            if isinstance(found, Measurement):
                return found
            self._baseline_outputs = found
        outputs = self._baseline_outputs
        if job.may_differ:
            found = self._outputs(conversion, settings, samples)
            if isinstance(found, Measurement):
                return found
            outputs = found
        reference = samples.outputs or self._baseline_outputs
        errors = judge(accuracy, outputs, reference, self._baseline_outputs, samples.labels)
        if not errors:
            reason = "an output is no number, or infinite"
            return measurement.model_copy(
                update={"status": "plan_bad", "stage": "compare", "reason": reason}
            )
        return measurement.model_copy(update={"errors": errors})

    def _outputs(
        self, conversion: Conversion, settings: MeasureSettings, samples: Samples
    ) -> list[Outputs] | Measurement:
        """Gives what a module computes for every sample, or the first measurement that is not good."""
        assert self._runner is not None
        once = replace(settings, warmups=0, repeats=1, per_operator=False)
        outputs = []
        for stimulus in samples.stimuli:
            result = self._runner.measure(conversion, stimulus, once)
            if result.measurement.status != "ok":
                return result.measurement
            outputs.append(result.outputs)
        return outputs

    @contextmanager
    def _unpacked(self) -> Iterator[ConvertConfig]:
        """Gives the conversion with paths that are good here, while the block lasts."""
        with TemporaryDirectory(prefix="helia-search-") as folder:
            yield Shipment(self._context.config, self._context.files).unpack(Path(folder))

    def _measure(
        self, conversion: Conversion, settings: MeasureSettings, *, uses_cache: bool
    ) -> Measurement:
        if self._runner is None:
            self._runner = self._context.create_runner(conversion.platform)
        stimulus = self._context.stimulus
        if not uses_cache:
            return self._runner.measure(conversion, stimulus, settings).measurement
        cache = MeasurementCache.shared()
        key = partial(
            image_cache_key,
            model_sha256=conversion.plan.model.sha256,
            stimulus_sha256=outputs_sha256(stimulus.inputs),
            runner=self._runner.identity(),
            settings=settings,
        )

        def find(image_sha256: str) -> Measurement | None:
            found = cache.read(key(image_sha256=image_sha256))
            self._is_cached = found is not None
            return found

        settings = replace(settings, find_image=find)
        measurement = self._runner.measure(conversion, stimulus, settings).measurement
        if not self._is_cached and measurement.image_sha256 is not None:
            with suppress(CacheError):  # the campaign reports it, when it keeps the plan
                cache.write(key(image_sha256=measurement.image_sha256), measurement)
        return measurement


def without_budget(config: ConvertConfig) -> ConvertConfig:
    """Gives the configuration without the limits of ``optimization.budget``; memories keep theirs."""
    settings = config.optimization.model_copy(update={"budget": {}})
    return config.model_copy(update={"optimization": settings})


def check_outputs(measurement: Measurement, expected_sha256: str | None) -> Measurement:
    """Gives the measurement, or a bad plan when its outputs differ in any bit from the expected."""
    if measurement.status != "ok" or expected_sha256 is None:
        return measurement
    if measurement.outputs_sha256 == expected_sha256:
        return measurement
    return measurement.model_copy(
        update={
            "status": "plan_bad",
            "stage": "compare",
            "reason": "the outputs differ from those of the baseline",
            "evidence": {**measurement.evidence, "expected_outputs_sha256": expected_sha256},
        }
    )


def _with_deadline(measurement: Measurement, job: TrialJob) -> Measurement:
    """Gives the measurement; a failure says which deadline its stage had."""
    deadline_s = job.deadlines.of(measurement.stage)
    if measurement.status == "ok" or deadline_s is None:
        return measurement
    evidence = {**measurement.evidence, "deadline_s": deadline_s}
    return measurement.model_copy(update={"evidence": evidence})


def _does_not_fit(error: BudgetError) -> Measurement:
    return Measurement(
        status="plan_bad",
        stage="convert",
        reason=error.summary,
        evidence={
            "problems": [str(problem) for problem in error.problems],
            OVERFLOW: dict(error.overflow),
        },
    )


def _unknown(error: Exception) -> Measurement:
    reason = str(error) if isinstance(error, HeliaError) else f"{type(error).__name__}: {error}"
    return Measurement(status="unknown", stage="convert", reason=reason or type(error).__name__)
