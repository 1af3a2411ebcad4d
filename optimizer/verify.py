# SPDX-License-Identifier: Apache-2.0
"""Whether a written plan still does what its evidence says: rebuild, compare hashes, measure again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from helia_aot.api import Conversion, convert
from helia_aot.config.base import StrictModel
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.read import read_plan
from helia_aot.version import __version__
from optimizer.accuracy import AccuracyConfig, Outputs, Samples, judge, load_samples
from optimizer.compiler import compiler_sha256
from optimizer.config import RunnerConfig
from optimizer.errors import CampaignError
from optimizer.evaluate import RunnerFactory, without_budget
from optimizer.identity import inputs_sha256, module_sha256
from optimizer.quantities import counts_time, excesses, fits
from optimizer.reproduce import rebuilt_config
from optimizer.verdict import compare
from results.evidence import Comparison, Evidence, Rebuild, read_evidence, text_sha256
from results.ledger import identity_changes
from runners.base import MeasureSettings, Runner
from runners.measure import random_stimulus
from runners.measurement import Measurement
from runners.registry import create_runner
from search_spaces.plans import knob_key, plan_key


class VerifyCheck(StrictModel):
    """One part of the claim.

    Attributes:
        name: What was looked at.
        status: ``ok``; ``failed``; or ``differs``: another compiler or toolchain explains it, so it
            does not count.
        detail: What was found.
    """

    name: str
    status: Literal["ok", "differs", "failed"]
    detail: str


class VerifyReport(StrictModel):
    """What verifying a plan found.

    Attributes:
        plan: The plan file.
        holds: Whether no check failed.
        checks: The checks, in order.
        baseline_cycles: Cycles of ``auto`` now; None for a plan that is ``auto`` itself.
        plan_cycles: Cycles of the plan now; None if it could not be measured.
    """

    plan: str
    holds: bool
    checks: tuple[VerifyCheck, ...]
    baseline_cycles: int | None
    plan_cycles: int | None


def verify_plan(
    plan_path: Path, *, model_path: Path | None = None, runner_factory: RunnerFactory | None = None
) -> VerifyReport:
    """Checks a written plan against the evidence beside it.

    Args:
        plan_path: The plan of a campaign, with ``evidence.json`` in the same folder.
        model_path: The model; None looks for the plan's file name beside the plan and in the current
            folder.
        runner_factory: Makes the runner; by default the one that the evidence names.

    Raises:
        CampaignError: Evidence or model is missing or damaged.
        PlanError: The plan is missing or damaged.
        HeliaError: What converting with the plan raises: another model, an unknown operator or value.
    """
    plan = read_plan(plan_path)  # first, so that a mistyped path is named as it is
    evidence = read_evidence(plan_path.parent)
    return _Verification(plan_path, plan, evidence, model_path, runner_factory).report()


class _Verification:
    def __init__(
        self,
        plan_path: Path,
        plan: OptimizationPlan,
        evidence: Evidence,
        model_path: Path | None,
        runner_factory: RunnerFactory | None,
    ) -> None:
        if evidence.rebuild is None:
            raise CampaignError(
                "The evidence does not say how the plan was built.",
                next_step="run the campaign again; older evidence cannot be verified",
            )
        self._evidence = evidence
        self._rebuild = evidence.rebuild
        self._plan_path = plan_path
        self._plan = plan
        model = model_path or _find_model(plan_path, self._plan.model.file)
        self._config = rebuilt_config(self._rebuild, model)
        settings = RunnerConfig.model_validate(self._rebuild.runner)
        self._settings = MeasureSettings(
            warmups=settings.warmups, repeats=settings.repeats, timeout_s=settings.timeout_s
        )
        self._create = runner_factory or partial(
            create_runner,
            settings.name,
            clock_mhz=settings.clock_mhz,
            boards=settings.boards,
            kernels=settings.kernels,
        )
        self._accuracy = _accuracy(self._rebuild, plan_path)
        self._checks: list[VerifyCheck] = []

    def report(self) -> VerifyReport:
        conversion = convert(self._config, plan=self._plan)
        runner = self._create(conversion.platform)
        same_compiler = self._check_compiler()
        same_runner = self._check_runner(runner)
        self._check_texts(conversion, same_compiler=same_compiler)
        comparison, measurement = self._measure(conversion, runner)
        if measurement.status != "ok":
            self._add("measurement", "failed", measurement.reason)
        else:
            self._check_measurement(measurement, comparison, is_same=same_compiler and same_runner)
        return VerifyReport(
            plan=str(self._plan_path),
            holds=all(check.status != "failed" for check in self._checks),
            checks=tuple(self._checks),
            baseline_cycles=min(comparison.baseline_cycles, default=None) if comparison else None,
            plan_cycles=measurement.best_cycles if measurement.status == "ok" else None,
        )

    def _add(self, name: str, status: Literal["ok", "differs", "failed"], detail: str) -> None:
        self._checks.append(VerifyCheck(name=name, status=status, detail=detail))

    def _equal(self, name: str, now: str | None, then: str | None, *, must: bool) -> None:
        if now == then:
            self._add(name, "ok", f"{(now or 'none')[:16]}, as in the evidence")
        else:
            detail = f"is {(now or 'none')[:16]}, was {(then or 'none')[:16]}"
            self._add(name, "failed" if must else "differs", detail)

    def _check_compiler(self) -> bool:
        now = f"helia-aot {__version__} {compiler_sha256()}"
        is_same = now == self._evidence.identity.compiler
        detail = "the same" if is_same else f"was {self._evidence.identity.compiler[:32]}"
        self._add("compiler", "ok" if is_same else "differs", detail)
        return is_same

    def _check_runner(self, runner: Runner) -> bool:
        before = self._evidence.identity
        changes = identity_changes(before, before.model_copy(update={"runner": runner.identity()}))
        detail = "; ".join(map(str, changes)) or "the same"
        self._add("runner and toolchain", "differs" if changes else "ok", detail)
        return not changes

    def _check_texts(self, conversion: Conversion, *, same_compiler: bool) -> None:
        text = self._plan_path.read_text("utf-8")
        self._equal("plan file", text_sha256(text), self._evidence.plan_sha256, must=True)
        # Evidence of older releases has the key of the knobs alone.
        keys = (plan_key(self._plan), knob_key(self._plan))
        key = self._evidence.plan_key if self._evidence.plan_key in keys else keys[0]
        self._equal("choices", key, self._evidence.plan_key, must=True)
        module = module_sha256(conversion.module)
        self._equal("module", module, self._rebuild.module_sha256, must=same_compiler)

    def _measure(
        self, conversion: Conversion, runner: Runner
    ) -> tuple[Comparison | None, Measurement]:
        """Measures the plan; against ``auto`` in turns, unless it is the same plan."""
        auto = convert(without_budget(self._config))
        stimulus = random_stimulus(conversion.module.inputs)
        module = conversion.module
        samples = (
            load_samples(self._accuracy, module.inputs, module.outputs) if self._accuracy else None
        )
        self._equal(
            "stimulus",
            inputs_sha256(stimulus, samples),
            self._evidence.identity.stimulus_sha256,
            must=True,
        )
        plans: list[Measurement] = []

        def measure(is_plan: bool, slot: int) -> Measurement:  # noqa: ARG001
            chosen = conversion if is_plan else auto
            found = runner.measure(chosen, stimulus, self._settings).measurement
            found = found.model_copy(update={"storage_bytes": dict(chosen.storage_bytes)})
            if is_plan:
                plans.append(found)
            return found

        comparison = None
        if not self._evidence.is_auto and self._claims_speed:
            comparison = compare(self._evidence.plan_key, measure)
        measurement = plans[-1] if plans else measure(True, 0)
        if samples is not None and measurement.status == "ok":
            measurement = self._judged(measurement, (auto, conversion), runner, samples)
        return comparison, measurement

    def _judged(
        self,
        measurement: Measurement,
        pair: tuple[Conversion, Conversion],
        runner: Runner,
        samples: Samples,
    ) -> Measurement:
        """Gives the measurement with the errors of the plan, as the campaign judged them."""
        assert self._accuracy is not None
        once = replace(self._settings, warmups=0, repeats=1, per_operator=False)
        found: list[list[Outputs]] = []
        for conversion in pair:
            results = [runner.measure(conversion, item, once) for item in samples.stimuli]
            failed = [r.measurement for r in results if r.measurement.status != "ok"]
            if failed:
                return failed[0]
            found.append([result.outputs for result in results])
        auto, plan = found
        errors = judge(self._accuracy, plan, samples.outputs or auto, auto, samples.labels)
        return measurement.model_copy(update={"errors": errors})

    def _check_measurement(
        self, measurement: Measurement, comparison: Comparison | None, *, is_same: bool
    ) -> None:
        winner = self._evidence.winner.measurement
        self._equal("image", measurement.image_sha256, winner.image_sha256, must=is_same)
        self._equal("outputs", measurement.outputs_sha256, winner.outputs_sha256, must=True)
        now, then, noise = measurement.best_cycles, winner.best_cycles, self._noise(comparison)
        detail = f"{now:,}, was {then:,} (noise {noise:,})"
        if abs(now - then) <= noise:
            self._add("cycles", "ok", detail)
        else:
            self._add("cycles", "failed" if is_same else "differs", detail)
        self._check_limits(measurement)
        if comparison is None:
            claims = (
                "is that of auto" if self._evidence.is_auto else "was not chosen for its cycles"
            )
            self._add("claim", "ok", f"the plan {claims}, and claims no gain")
            return
        detail = comparison.reason
        if comparison.is_faster:
            detail = f"{min(comparison.baseline_cycles) / now:.4f}x of auto; {detail}"
        self._add("faster than auto", "ok" if comparison.is_faster else "failed", detail)

    @property
    def _claims_speed(self) -> bool:
        """Whether the plan was written for being faster than an ``auto`` that keeps to the limits."""
        identity = self._evidence.identity
        is_fit = fits(self._evidence.baseline.measurement, identity.budget)
        return is_fit and counts_time(identity.objectives[0])

    def _check_limits(self, measurement: Measurement) -> None:
        budget = self._evidence.identity.budget
        if not budget:
            return
        above = [name for name, excess in excesses(measurement, budget).items() if excess > 0]
        is_fit = fits(measurement, budget)
        names = ", ".join(above or budget)
        detail = f"within {names}" if is_fit else f"above {names}"
        self._add("limits", "ok" if is_fit else "failed", detail)

    def _noise(self, now: Comparison | None) -> int:
        """Gives the largest spread of the repetitions, in the campaign and now."""
        then = [
            item
            for item in self._evidence.comparisons
            if item.plan_key in (self._evidence.winner.plan_key, self._evidence.plan_key)
        ]
        cycles = [
            repetitions
            for item in (*then, now)
            if item is not None
            for repetitions in (item.finalist_cycles, item.baseline_cycles)
        ]
        return max((max(values) - min(values) for values in cycles if values), default=0)


def _accuracy(rebuild: Rebuild, plan_path: Path) -> AccuracyConfig | None:
    if rebuild.accuracy is None:
        return None
    tree = dict(rebuild.accuracy)
    name = tree.get("samples")
    if isinstance(name, str):
        beside = plan_path.parent / name
        tree["samples"] = str(beside if beside.is_file() else Path(name))
    return AccuracyConfig.model_validate(tree)


def _find_model(plan_path: Path, name: str) -> Path:
    for folder in (plan_path.parent, Path()):
        if (folder / name).is_file():
            return folder / name
    raise CampaignError(
        f"The model {name} is neither beside the plan nor in the current folder.",
        next_step="give it with --model",
    )
