# SPDX-License-Identifier: Apache-2.0
"""A campaign from its configuration to the written plan: convert, measure, search, verify, write.

The folder of a campaign holds ``ledger.jsonl`` (the truth), ``space.json``, ``<prefix>_plan.json``
and ``evidence.json``. Any process that runs the same configuration on the same folder continues
where the last one stopped.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from helia_aot.api import Conversion, convert
from helia_aot.errors import InvariantError, Problem
from helia_aot.optimization.knobs import KERNEL
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.report import OptimizationReport
from helia_aot.optimization.write import dump_json
from optimizer.cached_executor import CachedExecutor
from optimizer.compiler import compiler_sha256
from optimizer.config import CampaignConfig
from optimizer.errors import CampaignError
from optimizer.evaluate import RunnerFactory, TrialContext
from optimizer.executor import DeferredExecutor, Executor, ExecutorFactory
from optimizer.identity import campaign_identity, module_sha256, settings_without_locations
from optimizer.measurement_cache import MeasurementCache
from optimizer.profile import Profile, record_outcomes
from optimizer.progress import Progress
from optimizer.reproduce import reproduce_command
from optimizer.search import Search, SearchLimits
from optimizer.serial_executor import SerialExecutor
from optimizer.verdict import compare, finalists
from results.evidence import (
    EVIDENCE_NAME,
    Comparison,
    Evidence,
    Optimality,
    Rebuild,
    measured_plan,
    search_facts,
    text_sha256,
)
from results.files import write_atomically
from results.ledger import LEDGER_NAME, Ledger, set_aside
from results.records import CampaignIdentity, TrialRecord, known_plans
from results.summary import CampaignSummary, build_summary
from runners.base import MeasureSettings
from runners.measure import random_stimulus
from runners.measurement import Measurement
from runners.registry import create_runner
from search_spaces.build import build_space
from search_spaces.plans import apply, plan_key
from search_spaces.space import SPACE_NAME, Choice, SearchSpace


@dataclass(frozen=True)
class _Verdict:
    plan: OptimizationPlan
    winner: TrialRecord
    comparisons: tuple[Comparison, ...]
    is_auto: bool
    text: str


def run_campaign(
    config: CampaignConfig,
    *,
    progress: Progress,
    fresh: bool = False,
    create_executor: ExecutorFactory | None = None,
    runner_factory: RunnerFactory | None = None,
) -> CampaignSummary:
    """Runs a campaign to its end, or continues one, and writes its plan.

    Args:
        config: The campaign.
        progress: Is told what happens.
        fresh: Whether to set an existing ledger aside and begin again.
        create_executor: Starts what runs the evaluations; by default as ``config.ray`` says.
        runner_factory: Makes the runner; by default the one that ``config.runner`` names.

    Returns:
        The summary; the files are written.

    Raises:
        CampaignError: The campaign cannot be continued (each change is named), the baseline cannot
            be measured, the rig fails, or a file cannot be written.
        HeliaError: What the conversion of the baseline or the runner raises.
    """
    auto = convert(config.convert)
    space = build_space(
        auto.plan,
        auto.report,
        knobs=config.space.knobs,
        pins=config.space.pins,
        exclude=config.space.exclude,
    )
    create = runner_factory or partial(
        create_runner,
        config.runner.name,
        clock_mhz=config.runner.clock_mhz,
        boards=config.runner.boards,
        kernels=config.runner.kernels,
    )
    context = TrialContext(
        config=config.convert,
        stimulus=random_stimulus(auto.module.inputs),
        settings=MeasureSettings(
            warmups=config.runner.warmups,
            repeats=config.runner.repeats,
            timeout_s=config.runner.timeout_s,
        ),
        create_runner=create,
        compiler_sha256=compiler_sha256(),
        uses_cache=config.measurement_cache,
    )
    runner = create(auto.platform)
    identity = campaign_identity(
        config,
        baseline=auto.plan,
        space=space,
        runner=runner.identity(),
        stimulus=context.stimulus,
    )
    folder = _make_folder(config.out_path)
    ledger_path = folder / LEDGER_NAME
    if fresh and (kept := set_aside(ledger_path)):
        progress.note(f"starting again; the old ledger is kept as {kept}")
    with Ledger.open(ledger_path, identity) as ledger:
        _report_opening(ledger, space, progress)
        write_atomically(folder / SPACE_NAME, space.to_json())
        start = create_executor or partial(start_executor, config, slots=runner.slots())
        with closing(DeferredExecutor(partial(start, context))) as executor:
            search = Search(
                space,
                auto.plan,
                executor=_with_cache(config, executor, identity, progress),
                ledger=ledger,
                progress=progress,
            )
            return _run(config, auto, space, ledger, search)


def _with_cache(
    config: CampaignConfig, executor: Executor, identity: CampaignIdentity, progress: Progress
) -> Executor:
    if not config.measurement_cache:
        return executor
    cache = MeasurementCache.shared()
    return CachedExecutor(executor, cache=cache, identity=identity, progress=progress)


def start_executor(
    config: CampaignConfig, context: TrialContext, *, slots: int | None = None
) -> Executor:
    """Starts what ``config.ray`` asks for; Ray is imported only when it is used.

    Args:
        config: The campaign.
        context: What the evaluations share.
        slots: Most evaluations that the runner can do side by side; None for no limit.
    """
    if config.ray.workers == 0:
        return SerialExecutor(context)
    try:
        from optimizer.ray_executor import RayExecutor
    except ModuleNotFoundError as error:
        raise CampaignError(
            "Ray is not installed, so evaluations cannot run on workers.",
            [Problem("ray", str(error))],
            next_step="pip install 'helia-search[search]', or run in this process with --workers 0",
        ) from error
    workers = None if config.ray.workers == "auto" else config.ray.workers
    if slots is not None and config.ray.address is None:
        workers = min(workers or len(os.sched_getaffinity(0)), slots)
    return RayExecutor(context, workers=workers, address=config.ray.address)


def all_generic(plan: OptimizationPlan, report: OptimizationReport) -> OptimizationPlan | None:
    """Gives the plan in which every operator calls the general entry; None when none can choose."""
    generic = next(value for value in KERNEL.values if value != KERNEL.default)
    choices = [
        Choice(operator_id=operator.id, knob=KERNEL.name, value=generic)
        for operator in report.operators
        if any(
            item.value == generic and item.applicable
            for item in operator.alternatives.get(KERNEL.name, ())
        )
    ]
    return apply(plan, choices) if choices else None


def _run(
    config: CampaignConfig, auto: Conversion, space: SearchSpace, ledger: Ledger, search: Search
) -> CampaignSummary:
    baseline = search.measure_baseline()
    generic = all_generic(auto.plan, auto.report)
    reference = _reference(search, baseline, generic)
    limits = SearchLimits(
        trials=config.search.trials,
        timeout_s=config.search.timeout_s,
        gap=config.search.gap,
        no_gain=config.search.no_gain,
    )
    stop_reason = search.run(sampler=config.search.sampler, seed=config.search.seed, limits=limits)
    verdict = _decide(auto.plan, space, ledger, search, baseline)
    written = _final_conversion(config, verdict.plan)
    folder = config.out_path
    plan_path = folder / f"{config.convert.module.prefix}_plan.json"
    plan_text = dump_json(written.plan)
    evidence = Evidence(
        plan_file=plan_path.name,
        plan_sha256=text_sha256(plan_text),
        plan_key=plan_key(written.plan),
        is_auto=verdict.is_auto,
        verdict=verdict.text,
        identity=ledger.identity,
        baseline=measured_plan(baseline),
        reference=None if reference is None else measured_plan(reference),
        winner=measured_plan(verdict.winner),
        comparisons=verdict.comparisons,
        search=search_facts(ledger.entries, space, stop_reason),
        optimality=_optimality(space, ledger, verdict.winner),
        rebuild=Rebuild(
            convert=settings_without_locations(config.convert),
            runner=config.runner.model_dump(mode="json"),
            module_sha256=module_sha256(written.module),
        ),
        space=space,
    )
    evidence_path = folder / EVIDENCE_NAME
    write_atomically(evidence_path, evidence.to_json())
    write_atomically(plan_path, plan_text)  # last: where a plan is, its evidence is too
    return build_summary(
        evidence,
        plan_path=str(plan_path),
        evidence_path=str(evidence_path),
        reproduce=reproduce_command(
            config.convert, plan_path=plan_path, module_path=folder / "module"
        ),
    )


def _optimality(space: SearchSpace, ledger: Ledger, winner: TrialRecord) -> Optimality | None:
    outcomes = record_outcomes(known_plans(ledger.entries).values())
    return Profile(space, outcomes).optimality(winner.measurement.best_cycles)


def _reference(
    search: Search, baseline: TrialRecord, generic: OptimizationPlan | None
) -> TrialRecord | None:
    if generic is None:
        return None
    if plan_key(generic) == baseline.plan_key:
        return baseline
    return search.measure_reference(generic)


def _decide(
    auto_plan: OptimizationPlan,
    space: SearchSpace,
    ledger: Ledger,
    search: Search,
    baseline: TrialRecord,
) -> _Verdict:
    """Verifies the finalists in turn; the first that is really faster wins, else ``auto`` does."""
    trials = [entry for entry in ledger.entries if isinstance(entry, TrialRecord)]
    comparisons: list[Comparison] = []
    for finalist in finalists(trials, baseline):
        plan = apply(auto_plan, space.choices(finalist.choices))
        comparisons.append(compare(finalist.plan_key, _repetition(search, auto_plan, plan)))
        if comparisons[-1].is_faster:
            return _Verdict(plan, finalist, tuple(comparisons), False, comparisons[-1].reason)
    text = "no measured plan is faster than auto"
    if comparisons:
        text = f"auto is kept: {comparisons[0].reason}"
    return _Verdict(auto_plan, baseline, tuple(comparisons), True, text)


def _repetition(
    search: Search, baseline: OptimizationPlan, finalist: OptimizationPlan
) -> Callable[[bool, int], Measurement]:
    key = plan_key(finalist)

    def measure(is_finalist: bool, slot: int) -> Measurement:
        plan = finalist if is_finalist else baseline
        return search.verify(plan, finalist=key, slot=slot).measurement

    return measure


def _final_conversion(config: CampaignConfig, plan: OptimizationPlan) -> Conversion:
    """Converts with the plan, and checks that converting with what comes out changes nothing.

    The last conversion is what a user does with the written plan, so its plan must be the same byte
    for byte. The first one completes the plan with what the compiler derives, e.g. placements.
    """
    complete = convert(config.convert, plan=plan)
    written = convert(config.convert, plan=complete.plan)
    again = convert(config.convert, plan=written.plan)
    if written.module.files != again.module.files:
        raise InvariantError("Converting with the written plan does not give the same module.")
    return written


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CampaignError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            next_step="give another folder with --out",
        ) from error
    return folder


def _report_opening(ledger: Ledger, space: SearchSpace, progress: Progress) -> None:
    plans = "1 plan" if space.size == 1 else f"{space.size:,} plans"
    progress.note(
        f"{plans}: {len(space.dimensions)} choices vary, {len(space.pinned)} are pinned, "
        f"{len(space.dropped)} are fixed (see {SPACE_NAME})"
    )
    if not space.dimensions:
        reasons = sorted({dropped.reason for dropped in space.dropped})
        progress.note(f"nothing can be chosen: {'; '.join(reasons) or 'no operator has a knob'}")
    if ledger.recovered_bytes:
        progress.note(f"a torn last line of {ledger.recovered_bytes} bytes was cut off the ledger")
    if ledger.entries:
        progress.note(f"continuing a campaign with {len(ledger.entries)} ledger entries")
