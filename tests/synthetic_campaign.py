# SPDX-License-Identifier: Apache-2.0
"""A made-up model with a known cost for every plan, and a runner's stand-in that charges it.

The search, its ledger and its verdict are real; only what would come from a target is computed here.
"""

from __future__ import annotations

import hashlib
import itertools
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from helia_aot.optimization.measurements import measurements_for
from helia_aot.optimization.plan import (
    Generator,
    KnobChoice,
    KnobSource,
    ModelIdentity,
    OptimizationPlan,
    PlanOperator,
    PlanOptimization,
    PlatformIdentity,
)
from helia_aot.optimization.report import Alternative, OptimizationReport, ReportOperator
from optimizer.evaluate import Finished, TrialJob
from optimizer.progress import CampaignState
from optimizer.samplers import SamplerName
from optimizer.search import Search, SearchLimits, StopReason
from results.ledger import LEDGER_NAME, Ledger
from results.records import CampaignIdentity, Entry
from runners.measurement import Measurement, OperatorCycles, RunnerIdentity
from search_spaces.build import build_space
from search_spaces.plans import apply, plan_key
from search_spaces.space import SearchSpace

RUNNER = RunnerIdentity(
    runner="synthetic",
    runner_version="1",
    timing_model="a table",
    counts="modelled cycles",
    platform="apollo510_evb",
    core="cortex-m55",
    clock_mhz=96,
    toolchain="none",
    toolchain_digest="0" * 64,
    compiler_flags={},
    kernel_library="none",
    emulator=None,
)


def synthetic_plan(operators: int, *, explicit: Sequence[int] = ()) -> OptimizationPlan:
    """Gives a plan of convolutions that all use ``specialized``, and one ADD without a knob."""
    convolutions = [
        PlanOperator(
            id=f"0:conv{index}",
            id_source="tensor_name",
            index=index,
            node_id=str(index),
            op_type="DEPTHWISE_CONV_2D" if index % 2 else "CONV_2D",
            knobs={
                "kernel": KnobChoice(
                    value="specialized",
                    requested="specialized" if index in explicit else "auto",
                    resolved_by="explicit" if index in explicit else "auto_table",
                    source=KnobSource(kind="model" if index in explicit else "default", rule=None),
                    approximate=False,
                )
            },
        )
        for index in range(operators)
    ]
    add = PlanOperator(
        id="0:add", id_source="tensor_name", index=operators, node_id="add", op_type="ADD"
    )
    return OptimizationPlan(
        schema_version=1,
        generator=Generator(helia_aot="0", ns_cmsis_nn="7.37.0"),
        model=ModelIdentity(file="m.tflite", sha256="a" * 64, subgraph=0),
        module_prefix="aot",
        platform=PlatformIdentity(
            name="apollo510_evb", core="cortex-m55", capabilities=["dsp", "mve"], fp16=True
        ),
        optimization=PlanOptimization(goal="balanced", allow_approximate=False),
        operators=[*convolutions, add],
    )


def synthetic_report(
    plan: OptimizationPlan, *, not_applicable: Sequence[int] = ()
) -> OptimizationReport:
    """Gives the report of a synthetic plan: each value of ``kernel`` is an alternative."""
    operators = [
        ReportOperator(
            id=operator.id,
            op_type=operator.op_type,
            entry="arm_convolve_s8" if operator.knobs else "arm_elementwise_add_s8",
            macs=100,
            mac_share=0.0,
            shapes={"inputs": [[1]], "outputs": [[1]]},
            alternatives={
                knob: [
                    Alternative(
                        value=value,
                        chosen=value == choice.value,
                        applicable=operator.index not in not_applicable,
                        reason="no direct entry" if operator.index in not_applicable else "",
                        entry="arm_convolve_s8",
                        approximate=False,
                    )
                    for value in ("specialized", "generic")
                ]
                for knob, choice in operator.knobs.items()
            },
        )
        for operator in plan.operators
    ]
    return OptimizationReport(
        schema_version=1,
        plan_file="aot_plan.json",
        total_macs=1000,
        operators=operators,
        measurements=measurements_for("apollo510_evb", "cortex-m55"),
        constant_placement=None,
        hints=[],
    )


def synthetic_space(
    operators: int,
) -> tuple[OptimizationPlan, SearchSpace]:
    """Gives a baseline plan and its space of ``2 ** operators`` plans."""
    plan = synthetic_plan(operators)
    return plan, build_space(plan, synthetic_report(plan))


def operator_cycles(plan: OptimizationPlan) -> list[OperatorCycles]:
    """Gives fixed cycles for each operator; ``generic`` is faster for about a third of them."""
    cycles = []
    for operator in plan.operators:
        digest = hashlib.sha256(operator.id.encode()).digest()
        base = 10_000 + int.from_bytes(digest[:2], "big")
        delta = int.from_bytes(digest[2:4], "big") // 16 - 1400
        is_generic = "kernel" in operator.knobs and operator.knobs["kernel"].value == "generic"
        cycles.append(
            OperatorCycles(id=operator.id, entry="entry", cycles=base + delta * is_generic)
        )
    return cycles


def table_measurement(plan: OptimizationPlan, *, noise: int = 0) -> Measurement:
    """Gives the outcome of a plan from the table."""
    operators = operator_cycles(plan)
    return Measurement(
        status="ok",
        cycles=[sum(operator.cycles for operator in operators) + noise],
        operator_cycles=operators,
        outputs_sha256="b" * 64,
        image_sha256=plan_key(plan),
        identity=RUNNER,
    )


def best_cycles(plan: OptimizationPlan, space: SearchSpace) -> int:
    """Gives the lowest cycles of all plans of a space, by trying them."""
    names = [dimension.name for dimension in space.dimensions]
    values = itertools.product(*(dimension.choices for dimension in space.dimensions))
    return min(
        table_measurement(
            apply(plan, space.choices(dict(zip(names, point, strict=True))))
        ).best_cycles
        for point in values
    )


Evaluate = Callable[[TrialJob], Measurement]


def from_table(job: TrialJob) -> Measurement:
    """Evaluates a job by the table."""
    assert job.plan is not None
    return table_measurement(job.plan)


class TableExecutor:
    """Follows the executor's protocol; jobs end in a shuffled order when there are several workers."""

    def __init__(
        self,
        evaluate: Evaluate = from_table,
        *,
        workers: int = 1,
        seed: int = 0,
        seconds: float = 0.0,
    ) -> None:
        self.jobs: list[TrialJob] = []
        self.evaluated = 0
        self._evaluate = evaluate
        self._workers = workers
        self._random = random.Random(seed)
        self._seconds = seconds

    @property
    def workers(self) -> int:
        return self._workers

    def submit(self, job: TrialJob) -> None:
        assert len(self.jobs) < self._workers
        self.jobs.append(job)

    def wait(self, timeout_s: float) -> list[Finished]:
        assert timeout_s > 0
        if not self.jobs:
            return []
        job = self.jobs.pop(self._random.randrange(len(self.jobs)))
        time.sleep(self._seconds)
        self.evaluated += 1
        return [Finished(job, self._evaluate(job), self._seconds)]

    def close(self) -> None:
        self.jobs.clear()


class SilentProgress:
    """Keeps what a campaign shows."""

    def __init__(self) -> None:
        self.states: list[CampaignState] = []
        self.notes: list[str] = []

    def update(self, state: CampaignState) -> None:
        self.states.append(state)

    def note(self, text: str) -> None:
        self.notes.append(text)


def synthetic_identity(
    space: SearchSpace, *, sampler: str = "tpe", seed: int = 0
) -> CampaignIdentity:
    """Gives the identity of a synthetic campaign."""
    return CampaignIdentity(
        campaign="synthetic",
        model_sha256="a" * 64,
        subgraph=0,
        config_sha256="c" * 64,
        baseline_plan_key="d" * 64,
        space_sha256=space.digest(),
        compiler="none",
        runner=RUNNER,
        stimulus_sha256="e" * 64,
        sampler=sampler,
        seed=seed,
    )


def search_in(
    folder: Path,
    *,
    operators: int = 6,
    executor: TableExecutor | None = None,
    sampler: SamplerName = "tpe",
    seed: int = 0,
    trials: int = 20,
    progress: SilentProgress | None = None,
    gap: float | None = None,
    no_gain: int | None = None,
) -> tuple[StopReason, tuple[Entry, ...]]:
    """Runs a synthetic campaign up to the verdict on the ledger in a folder; continues one that is there."""
    plan, space = synthetic_space(operators)
    identity = synthetic_identity(space, sampler=sampler, seed=seed)
    with Ledger.open(folder / LEDGER_NAME, identity) as ledger:
        search = Search(
            space,
            plan,
            executor=executor or TableExecutor(),
            ledger=ledger,
            progress=progress or SilentProgress(),
        )
        search.measure_baseline()
        limits = SearchLimits(trials=trials, timeout_s=None, gap=gap, no_gain=no_gain)
        stop = search.run(sampler=sampler, seed=seed, limits=limits)
        return stop, ledger.entries
