# SPDX-License-Identifier: Apache-2.0
"""A campaign from its configuration to the written plan: convert, measure, search, verify, write.

The folder of a campaign holds ``ledger.jsonl`` (the truth), ``space.json``, ``<prefix>_plan.json``
and ``evidence.json``. Any process that runs the same configuration on the same folder continues
where the last one stopped.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from helia_aot.api import Conversion, convert, storage_of
from helia_aot.errors import InvariantError, Problem
from helia_aot.optimization.knobs import KERNEL, PLANNER
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.report import OptimizationReport
from helia_aot.optimization.write import dump_json
from optimizer.accuracy import load_samples
from optimizer.cached_executor import CachedExecutor
from optimizer.compiler import compiler_sha256
from optimizer.config import CampaignConfig
from optimizer.decision import Verdict, decide
from optimizer.errors import CampaignError
from optimizer.evaluate import RunnerFactory, TrialContext, without_budget
from optimizer.executor import DeferredExecutor, Executor, ExecutorFactory
from optimizer.front import budget_rows, pareto_front
from optimizer.identity import (
    campaign_identity,
    inputs_sha256,
    module_sha256,
    rebuild_settings,
)
from optimizer.measurement_cache import MeasurementCache, plan_cache_key
from optimizer.operator_memory import (
    GUESS_NAME,
    OperatorMemory,
    Signatures,
    guess_to_json,
    read_guess,
)
from optimizer.profile import Profile, record_outcomes
from optimizer.progress import Progress
from optimizer.quantities import missing_quantities
from optimizer.ray_process import RayProcess
from optimizer.report import write_report
from optimizer.reproduce import reproduce_command
from optimizer.search import Search, SearchLimits
from optimizer.serial_executor import SerialExecutor
from optimizer.shipment import pack
from optimizer.task import SearchTask
from results.evidence import (
    EVIDENCE_NAME,
    Evidence,
    FrontPoint,
    Optimality,
    Rebuild,
    measured_plan,
    operator_rows,
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
from search_spaces.build import SpaceSettings, build_space
from search_spaces.plans import apply, plan_at, plan_key
from search_spaces.rules import SPACE_KNOBS
from search_spaces.space import SPACE_NAME, Choice, SearchSpace, plan_count


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
    limited = config.limited_convert
    auto = convert(without_budget(limited))
    space = build_space(
        auto.plan,
        auto.report,
        _space_settings(config),
        storage=storage_of(auto),
        saves_memory=config.saves_memory,
    )
    task = SearchTask(
        space,
        tuple(config.objectives),
        config.all_limits,
        judges_errors=config.accuracy is not None,
    )
    samples = (
        load_samples(config.accuracy, auto.module.inputs, auto.module.outputs)
        if config.accuracy
        else None
    )
    create = runner_factory or partial(
        create_runner,
        config.runner.name,
        clock_mhz=config.runner.clock_mhz,
        boards=config.runner.boards,
        kernels=config.runner.kernels,
    )
    context = TrialContext(
        config=limited,
        files=pack(limited).files,
        stimulus=random_stimulus(auto.module.inputs),
        settings=MeasureSettings(
            warmups=config.runner.warmups,
            repeats=config.runner.repeats,
            timeout_s=config.runner.timeout_s,
        ),
        create_runner=create,
        compiler_sha256=compiler_sha256(),
        uses_cache=config.measurement_cache,
        accuracy=config.accuracy,
        samples=samples,
    )
    runner = create(auto.platform)
    identity = campaign_identity(
        config,
        baseline=auto.plan,
        space=space,
        runner=runner.identity(),
        inputs_sha256=inputs_sha256(context.stimulus, samples),
    )
    folder = _make_folder(config.out_path)
    ledger_path = folder / LEDGER_NAME
    if fresh and (kept := set_aside(ledger_path)):
        progress.note(f"starting again; the old ledger is kept as {kept}")
    with Ledger.open(ledger_path, identity) as ledger:
        _report_opening(ledger, space, progress)
        write_atomically(folder / SPACE_NAME, space.to_json())
        start = create_executor or partial(
            start_executor, config, slots=runner.slots(), note=progress.note
        )
        with closing(DeferredExecutor(partial(start, context))) as executor:
            search = Search(
                task,
                _baseline(auto, space),
                executor=_with_cache(config, executor, identity, progress),
                ledger=ledger,
                progress=progress,
            )
            return _run(config, auto, task, ledger, search)


def _space_settings(config: CampaignConfig) -> SpaceSettings:
    """Gives the settings of the space; options that the configuration sets bind their planner."""
    settings = config.space_settings
    if not config.convert.memory.planner_options.model_fields_set:
        return settings
    knobs = SPACE_KNOBS if settings.knobs is None else settings.knobs
    return replace(settings, knobs=[name for name in knobs if name != PLANNER.name])


def _baseline(auto: Conversion, space: SearchSpace) -> OptimizationPlan:
    """Gives the plan of ``auto`` as a point of the space, so that a proposal of it is no other plan.

    Raises:
        InvariantError: Naming the memory of every tensor gives another module than ``auto``.
    """
    if not space.moves_tensors or any(item.value != item.baseline for item in space.pinned):
        return auto.plan
    plan = plan_at(auto.plan, space, space.baseline)
    named = convert(auto.config, plan=plan)
    if named.module.constant_blobs != auto.module.constant_blobs or (
        named.memory_plan.allocations != auto.memory_plan.allocations
    ):
        raise InvariantError("The plan that auto chooses cannot be written with its placements.")
    return plan


def _first_guess(
    config: CampaignConfig,
    space: SearchSpace,
    ledger: Ledger,
    signatures: Signatures,
    baseline: OptimizationPlan,
) -> dict[str, str] | None:
    """Gives where a ``profile`` campaign begins; a campaign that goes on keeps the guess it had.

    A campaign whose baseline is in the measurement cache was run before: without a guess it proposes
    the same plans, and finds them all there.
    """
    path = config.out_path / GUESS_NAME
    if config.search.sampler != "profile" or not config.measurement_cache:
        return None
    if not ledger.entries:
        key = plan_cache_key(ledger.identity, plan_key(baseline))
        is_known = MeasurementCache.shared().read(key) is not None
        guess = None if is_known else OperatorMemory.shared().first_guess(space, signatures)
        write_atomically(path, guess_to_json(guess))
    return read_guess(path, space)


def _with_cache(
    config: CampaignConfig, executor: Executor, identity: CampaignIdentity, progress: Progress
) -> Executor:
    if not config.measurement_cache:
        return executor
    cache = MeasurementCache.shared()
    return CachedExecutor(executor, cache=cache, identity=identity, progress=progress)


def start_executor(
    config: CampaignConfig,
    context: TrialContext,
    *,
    slots: int | None = None,
    note: Callable[[str], None] = lambda _: None,
) -> Executor:
    """Starts what ``config.ray`` asks for; Ray itself is imported in a child process only.

    Args:
        config: The campaign.
        context: What the evaluations share.
        slots: Evaluations that the runner can do side by side, as its ``slots``; None for no limit of its own.
        note: Is told what happens to the executor.
    """
    if config.ray.workers == 0:
        return SerialExecutor(context)
    if importlib.util.find_spec("ray") is None:
        raise CampaignError(
            "Ray is not installed, so evaluations cannot run on workers.",
            [Problem("ray", "the package ray is not installed")],
            next_step="pip install 'helia-search[search]', or run in this process with --workers 0",
        )
    workers = None if config.ray.workers == "auto" else config.ray.workers
    return RayProcess(
        context, workers=workers, address=config.ray.address, runner_slots=slots, note=note
    )


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
    config: CampaignConfig, auto: Conversion, task: SearchTask, ledger: Ledger, search: Search
) -> CampaignSummary:
    space = task.space
    signatures = Signatures.of(
        auto.plan, auto.report, config=config.convert, runner=ledger.identity.runner
    )
    baseline_plan = _baseline(auto, space)
    guess = _first_guess(config, space, ledger, signatures, baseline_plan)
    baseline = search.measure_baseline(run_s=config.runner.timeout_s)
    _check_quantities(config, baseline.measurement)
    generic = all_generic(auto.plan, auto.report)
    reference = _reference(search, baseline, generic)
    limits = SearchLimits(
        trials=config.search.trials,
        timeout_s=config.search.timeout_s,
        gap=config.search.gap,
        no_gain=config.search.no_gain,
    )
    stop_reason = search.run(
        sampler=config.search.sampler, seed=config.search.seed, limits=limits, guess=guess
    )
    if config.measurement_cache:
        OperatorMemory.shared().remember(known_plans(ledger.entries).values(), space, signatures)
    verdict = decide(config, baseline_plan, task, ledger, search)
    written = _final_conversion(config, verdict.plan)
    folder = config.out_path
    plan_path = folder / f"{config.convert.module.prefix}_plan.json"
    plan_text = dump_json(written.plan)
    winner = measured_plan(verdict.winner)
    evidence = Evidence(
        plan_file=plan_path.name,
        plan_sha256=text_sha256(plan_text),
        plan_key=plan_key(written.plan),
        is_auto=verdict.is_auto,
        verdict=verdict.text,
        identity=ledger.identity,
        baseline=measured_plan(baseline),
        reference=None if reference is None else measured_plan(reference),
        winner=winner,
        comparisons=verdict.comparisons,
        search=search_facts(ledger.entries, space, stop_reason),
        optimality=_optimality(task, ledger, verdict.winner),
        budget=budget_rows(task, ledger.entries, baseline.measurement, winner.measurement),
        front=_write_front(config, auto.plan, task, ledger, verdict),
        operators=operator_rows(measured_plan(baseline), winner, space),
        rebuild=Rebuild(
            convert=rebuild_settings(config.limited_convert),
            runner=config.runner.model_dump(mode="json"),
            module_sha256=module_sha256(written.module),
            accuracy=None if config.accuracy is None else config.accuracy.without_folder(),
        ),
        space=space,
    )
    evidence_path = folder / EVIDENCE_NAME
    write_atomically(evidence_path, evidence.to_json())
    write_atomically(plan_path, plan_text)  # last: where a plan is, its evidence is too
    report_path = write_report(folder)
    return build_summary(
        evidence,
        plan_path=str(plan_path),
        evidence_path=str(evidence_path),
        report_path=str(report_path),
        reproduce=reproduce_command(
            config.convert, plan_path=plan_path, module_path=folder / "module"
        ),
    )


def _check_quantities(config: CampaignConfig, baseline: Measurement) -> None:
    """Refuses objectives and limits that the runner does not measure.

    Raises:
        CampaignError: At least one is not measured; all are listed.
    """
    asked = {name: f"budget.{name}" for name in config.all_limits}
    asked |= dict.fromkeys(config.objectives, "objectives")
    runner = "the runner" if baseline.identity is None else f"runner {baseline.identity.runner!r}"
    if missing := missing_quantities(baseline, asked):
        raise CampaignError(
            "The campaign asks for what its runner does not measure.",
            [Problem(key, f"{runner} gives no {name}") for name, key in missing.items()],
            next_step="remove it, or use another runner",
        )


def _write_front(
    config: CampaignConfig,
    auto_plan: OptimizationPlan,
    task: SearchTask,
    ledger: Ledger,
    verdict: Verdict,
) -> tuple[FrontPoint, ...]:
    """Writes the plan of every point of the Pareto front and gives the points."""
    points = []
    stem = f"{config.convert.module.prefix}_front_"
    for old in config.out_path.glob(f"{stem}*_plan.json"):
        old.unlink()
    for number, point in enumerate(pareto_front(task, ledger.entries)):
        name = f"{stem}{number}_plan.json"
        plan = plan_at(auto_plan, task.space, point.choices)
        written = _final_conversion(config, plan)
        write_atomically(config.out_path / name, dump_json(written.plan))
        is_written = point.plan_key == verdict.winner.plan_key
        points.append(point.model_copy(update={"plan_file": name, "is_written": is_written}))
    return tuple(points)


def _optimality(task: SearchTask, ledger: Ledger, winner: TrialRecord) -> Optimality | None:
    outcomes = record_outcomes(known_plans(ledger.entries).values())
    return Profile(task, outcomes).optimality(round(winner.measurement.comparable_cycles))


def _reference(
    search: Search, baseline: TrialRecord, generic: OptimizationPlan | None
) -> TrialRecord | None:
    if generic is None:
        return None
    if plan_key(generic) == baseline.plan_key:
        return baseline
    return search.measure_reference(generic)


def _final_conversion(config: CampaignConfig, plan: OptimizationPlan) -> Conversion:
    """Converts with the plan, and checks that converting with what comes out changes nothing.

    The last conversion is what a user does with the written plan, so its plan must be the same byte
    for byte. The first one completes the plan with what the compiler derives, e.g. placements; the
    last one has the user's own limits on memories, which a plan that names every place does not need.
    """
    limited = config.limited_convert
    complete = convert(limited, plan=plan)
    written = convert(limited, plan=complete.plan)
    again = convert(config.convert, plan=written.plan)
    if _built_files(written) != _built_files(again) or written.plan != again.plan:
        raise InvariantError("Converting with the written plan does not give the same module.")
    return written


def _built_files(conversion: Conversion) -> list[tuple[str, str]]:
    """Gives the files that are compiled; reports state the limits, which may differ."""
    return [
        (file.path, file.text)
        for file in conversion.module.files
        if PurePosixPath(file.path).suffix not in (".json", ".html")
    ]


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
    plans = "1 plan" if space.size == 1 else f"{plan_count(space.size)} plans"
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
