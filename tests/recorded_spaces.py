# SPDX-License-Identifier: Apache-2.0
"""Search spaces of which every plan was measured once, and an executor that replays them.

The files under ``results/reference/spaces`` are made by ``tests/benchmarks/record_spaces.py``.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from conftest import REPOSITORY
from pydantic import BaseModel, ConfigDict
from synthetic_campaign import SilentProgress, synthetic_identity

from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.storage import ModuleStorage, OperatorStorage, OperatorVariant
from optimizer.config import CampaignConfig
from optimizer.decision import decide
from optimizer.evaluate import Finished, TrialJob
from optimizer.profile import Profile, record_outcomes
from optimizer.samplers import SamplerName
from optimizer.search import Search, SearchLimits
from optimizer.task import SearchTask
from results.evidence import Optimality
from results.ledger import Ledger
from results.records import CampaignIdentity, Entry, TrialRecord, known_plans
from runners.measurement import Measurement, OperatorCycles, RunnerIdentity
from search_spaces.plans import apply
from search_spaces.space import SearchSpace

_ONE_WORKER = CampaignConfig.model_validate(
    {"convert": {"model": {"path": "none.tflite"}}, "ray": {"workers": 0}}
)

_COMMON_BYTES = 5000
"""Made-up code that every plan has."""

FOLDER = REPOSITORY / "results" / "reference" / "spaces"


Values = Mapping[str, Mapping[str, str]]
"""The value of each knob of each operator, by operator id and knob, in the order of a plan."""


def values_of(plan: OptimizationPlan) -> dict[str, dict[str, str]]:
    """Gives the values of a plan."""
    return {
        operator.id: {knob: choice.value for knob, choice in operator.knobs.items()}
        for operator in plan.operators
    }


class RecordedSpace(BaseModel):
    """A space and the cycles of all its plans, those of the space's dimensions in counting order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = 1
    name: str
    command: str
    compiler: str
    identity: RunnerIdentity
    space: SearchSpace
    baseline: OptimizationPlan
    operators: tuple[tuple[str, str], ...]
    """Id and type of each operator, in execution order."""
    cycles: tuple[int, ...]
    operator_cycles: tuple[tuple[int, ...], ...]

    @cached_property
    def best_cycles(self) -> int:
        return min(self.cycles)

    def points(self) -> Iterator[dict[str, str]]:
        """Gives all points; the last dimension varies fastest."""
        names = [dimension.name for dimension in self.space.dimensions]
        for values in itertools.product(*(d.choices for d in self.space.dimensions)):
            yield dict(zip(names, values, strict=True))

    def index(self, values: Values) -> int:
        """Gives the number of a plan of the space."""
        number = 0
        for dimension in self.space.dimensions:
            value = values[dimension.operator_id][dimension.knob]
            number = number * len(dimension.choices) + dimension.choices.index(value)
        return number

    def values_at(self, point: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Gives the values of the plan of a point."""
        values = values_of(self.baseline)
        for dimension in self.space.dimensions:
            values[dimension.operator_id][dimension.knob] = point[dimension.name]
        return values

    def to_json(self) -> str:
        """Gives the text: one line for each plan."""
        head = self.model_dump_json(exclude={"cycles", "operator_cycles"}, indent=1)
        rows = ",\n".join(str(list(row)) for row in self.operator_cycles)
        return (
            head.rstrip()[:-1].rstrip()
            + f',\n "cycles": {list(self.cycles)},\n "operator_cycles": [\n{rows}\n]\n}}\n'
        )


def load(name: str) -> RecordedSpace:
    return RecordedSpace.model_validate_json((FOLDER / f"{name}.json").read_text("utf-8"))


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


class Coupling:
    """Makes neighbours interact: an operator costs more or less depending on how the one before runs.

    Args:
        strength: Largest relative change of an operator's cycles, e.g. 0.05.
        seed: Which of the endless interactions.
    """

    def __init__(self, strength: float, seed: int) -> None:
        self._strength = strength
        self._seed = seed
        self._factors: dict[tuple[str, str, str], float] = {}

    def factor(self, operator_id: str, own: str, previous: str) -> float:
        key = (operator_id, own, previous)
        if key not in self._factors:
            digest = hashlib.sha256(repr((self._seed, *key)).encode()).digest()
            unit = int.from_bytes(digest[:8], "big") / 2**63 - 1
            self._factors[key] = 1 + self._strength * unit
        return self._factors[key]

    def apply(self, values: Values, cycles: Sequence[int]) -> list[int]:
        alternatives = ["/".join(knobs.values()) for knobs in values.values()]
        return [
            round(count * self.factor(operator_id, own, previous))
            for operator_id, own, previous, count in zip(
                values, alternatives, ["", *alternatives], cycles, strict=False
            )
        ]


class ByteLimit:
    """A made-up budget of code: kernel sources have sizes, are paid once, and about half of the plans are too big.

    Args:
        recorded: The space.
        seed: Which of the endless sizes; the limit lies at the middle of all plans, and lets the baseline in.
    """

    def __init__(self, recorded: RecordedSpace, seed: int) -> None:
        self._recorded = recorded
        self._seed = seed
        self._dimensions = recorded.space.dimensions
        self._names = [dimension.name for dimension in self._dimensions]
        sizes = sorted(self._bytes(point) for point in recorded.points())
        self.most = max(sizes[len(sizes) // 2], self._bytes(recorded.space.baseline))

    @property
    def space(self) -> SearchSpace:
        """The space, with the source that every alternative needs."""
        operators = tuple(
            OperatorStorage(
                operator_id=dimension.operator_id,
                index=index,
                scratch_id=f"scratch {index}",
                source=f"aot_{index}",
                variants=tuple(
                    OperatorVariant(
                        knobs={dimension.knob: value},
                        sources=(self._entry(index, value),),
                        constants={},
                        scratch_bytes=0,
                    )
                    for value in dimension.choices
                ),
                reads=(),
            )
            for index, dimension in enumerate(self._dimensions)
        )
        storage = ModuleStorage(
            alignment=16, memories=(), operators=operators, blocks=(), places={}, sources={}
        )
        return self._recorded.space.model_copy(update={"storage": storage})

    def code_bytes(self, values: Values) -> int:
        """Gives the bytes of all sources that a plan needs, and of what every plan has."""
        return _COMMON_BYTES + sum(self.source_bytes(values).values())

    def source_bytes(self, values: Values) -> dict[str, int]:
        """Gives the bytes of every source that a plan needs."""
        return self._sources([values[item.operator_id][item.knob] for item in self._dimensions])

    def _bytes(self, point: Mapping[str, str]) -> int:
        return _COMMON_BYTES + sum(self._sources([point[d] for d in self._names]).values())

    def _sources(self, values: Sequence[str]) -> dict[str, int]:
        entries = {self._entry(index, value) for index, value in enumerate(values)}
        return {entry: self._size(entry) for entry in sorted(entries)}

    def _entry(self, index: int, value: str) -> str:
        # Some operators of a type share their kernel, as real ones do.
        return f"{self._dimensions[index].op_type}_{value}_{index % 3}"

    @cache  # noqa: B019 (lives as long as one replay)
    def _size(self, entry: str) -> int:
        digest = hashlib.sha256(repr((self._seed, entry)).encode()).digest()
        return 200 + int.from_bytes(digest[:2], "big") % 4000


class ReplayTarget:
    """Evaluates a job by looking its plan up; coupling, noise and rig faults are added on request.

    Args:
        recorded: The space.
        coupling: Makes operators depend on each other; part of the truth.
        limit: Gives plans a size; those above the limit are measured, and break the budget.
        noise: Relative spread (uniform, plus or minus) of every count, anew for each evaluation.
        modes: Share by which every other evaluation, by chance, is slower as a whole.
        contrast: Share of the differences between plans that is left; a small one drowns in noise.
        faults: Share of the evaluations that are lost.
        seed: Of noise and faults.
    """

    def __init__(
        self,
        recorded: RecordedSpace,
        *,
        coupling: Coupling | None = None,
        limit: ByteLimit | None = None,
        noise: float = 0.0,
        modes: float = 0.0,
        contrast: float = 1.0,
        faults: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._recorded = recorded
        self._coupling = coupling
        self._limit = limit
        self._noise = noise
        self._modes = modes
        self._contrast = contrast
        self._faults = faults
        self._random = random.Random(seed)
        self._cache: dict[int, tuple[int, list[int]]] = {}

    def truth(self, values: Values) -> tuple[int, list[int]]:
        """Gives the cycles of the whole and of each operator, without noise."""
        index = self._recorded.index(values)
        if index not in self._cache:
            whole = self._recorded.cycles[index]
            operators = list(self._recorded.operator_cycles[index])
            if self._coupling is not None:
                coupled = self._coupling.apply(values, operators)
                whole += sum(coupled) - sum(operators)
                operators = coupled
            whole = self._flatter(whole, self._recorded.cycles[0])
            first = self._recorded.operator_cycles[0]
            operators = [self._flatter(*pair) for pair in zip(operators, first, strict=True)]
            self._cache[index] = (whole, operators)
        return self._cache[index]

    def __call__(self, job: TrialJob) -> Measurement:
        assert job.plan is not None
        if self._random.random() < self._faults:
            return Measurement(status="rig_bad", stage="run", reason="an injected fault")
        values = values_of(job.plan)
        whole, operators = self.truth(values)
        if self._noise or self._modes:
            slower = 1 + self._modes * self._random.randrange(2)
            operators = [round(count * slower * self._spread()) for count in operators]
            whole = round(whole * slower * self._spread())
        return Measurement(
            status="ok",
            cycles=[whole],
            operator_cycles=[
                OperatorCycles(id=operator_id, entry=None, cycles=count)
                for (operator_id, _), count in zip(self._recorded.operators, operators, strict=True)
            ],
            outputs_sha256="0" * 64,
            code_bytes=0 if self._limit is None else self._limit.code_bytes(values),
            source_code_bytes={} if self._limit is None else self._limit.source_bytes(values),
            identity=self._recorded.identity,
        )

    def fits(self, values: Values) -> bool:
        """Says whether a plan keeps to the limit."""
        return self._limit is None or self._limit.code_bytes(values) <= self._limit.most

    def _flatter(self, cycles: int, first: int) -> int:
        return round(first + self._contrast * (cycles - first))

    def _spread(self) -> float:
        return 1 + self._noise * self._random.uniform(-1, 1)


class ReplayExecutor:
    """Follows the executor's protocol with one worker and builds nothing."""

    def __init__(self, target: ReplayTarget) -> None:
        self._target = target
        self._jobs: list[TrialJob] = []

    @property
    def workers(self) -> int:
        return 1

    def submit(self, job: TrialJob) -> None:
        self._jobs.append(job)

    def wait(self, timeout_s: float) -> list[Finished]:
        assert timeout_s > 0
        jobs, self._jobs = self._jobs, []
        return [Finished(job, self._target(job), 0.0) for job in jobs]

    def close(self) -> None:
        self._jobs = []


@dataclass(frozen=True)
class Scenario:
    """How a replayed target differs from the recording."""

    name: str
    coupling: float = 0.0
    noise: float = 0.0
    modes: float = 0.0
    contrast: float = 1.0
    faults: float = 0.0
    has_limit: bool = False


@dataclass(frozen=True)
class Replay:
    """A replayed campaign.

    Attributes:
        best: True cycles of the best plan measured that fits, after each build; the first are the
            baseline and the reference, as in any campaign.
        exhaustive: True cycles of the best plan of the space that fits.
        stop: Why the search ended.
        optimality: What the campaign says about its best plan.
    """

    best: tuple[int, ...]
    exhaustive: int
    stop: str
    optimality: Optimality | None


class RenamedTarget(ReplayTarget):
    """Has the costs of each choice under other names, so that the baseline is an arbitrary plan."""

    def __init__(self, recorded: RecordedSpace, *, names_seed: int, **options: Any) -> None:
        super().__init__(recorded, **options)
        renaming = random.Random(names_seed)
        self._renamed = {
            (dimension.operator_id, dimension.knob): dict(
                zip(
                    dimension.choices,
                    renaming.sample(dimension.choices, len(dimension.choices)),
                    strict=True,
                )
            )
            for dimension in recorded.space.dimensions
        }

    def truth(self, values: Values) -> tuple[int, list[int]]:
        renamed = {}
        for operator_id, knobs in values.items():
            renamed[operator_id] = {
                knob: self._renamed.get((operator_id, knob), {}).get(value, value)
                for knob, value in knobs.items()
            }
        return super().truth(renamed)


def replay(
    recorded: RecordedSpace,
    scenario: Scenario,
    sampler: SamplerName,
    *,
    seed: int,
    trials: int,
    gap: float | None = None,
) -> Replay:
    """Searches a recorded space: the real loop, ledger and sampler over a replayed target."""
    target, ledger, search = _replayed(recorded, scenario, sampler, seed)
    limits = SearchLimits(trials=trials, timeout_s=None, gap=gap)
    stop = search.run(sampler=sampler, seed=seed, limits=limits)
    best = _best_so_far(recorded, target, ledger)
    outcomes = record_outcomes(known_plans(ledger.entries).values())
    optimality = Profile(recorded.space, outcomes).optimality(best[-1])
    return Replay(best, exhaustive_cycles(recorded, scenario, seed), stop, optimality)


class _FoundTheBestError(Exception):
    """There is nothing left to find."""


def replay_to_the_best(
    recorded: RecordedSpace,
    scenario: Scenario,
    sampler: SamplerName,
    *,
    seed: int,
    trials: int,
    gap: float | None = None,
) -> Replay:
    """Searches as :func:`replay` does, but ends when the best plan of the space was measured."""
    target, ledger, search = _replayed(recorded, scenario, sampler, seed)
    exhaustive = exhaustive_cycles(recorded, scenario, seed)
    limits = SearchLimits(trials=trials, timeout_s=None, gap=gap)

    def is_the_best(choices: Mapping[str, str]) -> bool:
        values = recorded.values_at(choices)
        return target.truth(values)[0] == exhaustive and target.fits(values)

    if _best_so_far(recorded, target, ledger)[-1] == exhaustive:
        return Replay(_best_so_far(recorded, target, ledger), exhaustive, "the best", None)
    ledger.end_when = is_the_best
    try:
        stop: str = search.run(sampler=sampler, seed=seed, limits=limits)
    except _FoundTheBestError:
        stop = "the best"
    return Replay(_best_so_far(recorded, target, ledger), exhaustive, stop, None)


def _best_so_far(
    recorded: RecordedSpace, target: RenamedTarget, ledger: MemoryLedger
) -> tuple[int, ...]:
    plans = [
        recorded.values_at(entry.choices)
        for entry in ledger.entries
        if isinstance(entry, TrialRecord) and entry.is_conclusive
    ]
    costs = [target.truth(plan)[0] if target.fits(plan) else math.inf for plan in plans]
    return tuple(int(cycles) for cycles in itertools.accumulate(costs, min))


@cache
def _exhaustive(recorded_name: str, scenario: Scenario, seed: int) -> int:
    recorded = load(recorded_name)
    target = _target(recorded, scenario, seed)
    every = map(recorded.values_at, recorded.points())
    return min(target.truth(plan)[0] for plan in every if target.fits(plan))


def exhaustive_cycles(recorded: RecordedSpace, scenario: Scenario, seed: int) -> int:
    """Gives the true cycles of the best plan of a replayed space that fits."""
    truth = replace(scenario, name="", noise=0.0, modes=0.0, faults=0.0)
    return _exhaustive(recorded.name, truth, seed)


def _target(recorded: RecordedSpace, scenario: Scenario, seed: int) -> RenamedTarget:
    return RenamedTarget(
        recorded,
        names_seed=seed,
        coupling=Coupling(scenario.coupling, seed) if scenario.coupling else None,
        limit=ByteLimit(recorded, seed) if scenario.has_limit else None,
        noise=scenario.noise,
        modes=scenario.modes,
        contrast=scenario.contrast,
        faults=scenario.faults,
        seed=seed,
    )


def _replayed(
    recorded: RecordedSpace, scenario: Scenario, sampler: SamplerName, seed: int
) -> tuple[RenamedTarget, MemoryLedger, Search]:
    """Gives a search of a recorded space whose baseline and reference are measured."""
    target = _target(recorded, scenario, seed)
    identity = synthetic_identity(recorded.space, sampler=sampler, seed=seed).model_copy(
        update={"runner": recorded.identity}
    )
    ledger = MemoryLedger(identity)
    task = SearchTask(recorded.space)
    if scenario.has_limit:
        limit = ByteLimit(recorded, seed)
        task = SearchTask(limit.space, budget={"code_bytes": limit.most})
    search = Search(
        task,
        recorded.baseline,
        executor=ReplayExecutor(target),
        ledger=ledger,
        progress=SilentProgress(),
    )
    search.measure_baseline()
    last = {dimension.name: dimension.choices[-1] for dimension in recorded.space.dimensions}
    search.measure_reference(apply(recorded.baseline, recorded.space.choices(last)))
    return target, ledger, search


@dataclass(frozen=True)
class Study:
    """The end of a replayed campaign, its verdict included.

    Attributes:
        baseline: True cycles of the plan that ``auto`` chooses.
        shipped: True cycles of the plan that is written.
        best: True cycles of the best plan of the space.
        is_auto: Whether the written plan is that of ``auto``.
    """

    baseline: int
    shipped: int
    best: int
    is_auto: bool


def study(
    recorded: RecordedSpace, scenario: Scenario, sampler: SamplerName, *, seed: int, trials: int
) -> Study:
    """Searches a recorded space and decides which plan is written, as a campaign does."""
    target, ledger, search = _replayed(recorded, scenario, sampler, seed)
    limits = SearchLimits(trials=trials, timeout_s=None, gap=0.005)
    search.run(sampler=sampler, seed=seed, limits=limits)
    verdict = decide(_ONE_WORKER, recorded.baseline, SearchTask(recorded.space), ledger, search)
    return Study(
        target.truth(values_of(recorded.baseline))[0],
        target.truth(values_of(verdict.plan))[0],
        exhaustive_cycles(recorded, scenario, seed),
        verdict.is_auto,
    )


def builds_to(result: Replay, share: float) -> int | None:
    """Gives the builds, baseline and reference included, until the best was within a share of the exhaustive best."""
    limit = (1 + share) * result.exhaustive
    return next((count for count, cycles in enumerate(result.best, 1) if cycles <= limit), None)


class MemoryLedger(Ledger):
    """A ledger that is not kept."""

    def __init__(self, identity: CampaignIdentity) -> None:
        super().__init__(Path("nowhere"), -1, identity=identity, entries=(), recovered_bytes=0)
        self.end_when: Callable[[Mapping[str, str]], bool] | None = None

    def append(self, entry: Entry) -> None:
        self._entries.append(entry)
        if self.end_when is None or not isinstance(entry, TrialRecord) or not entry.is_conclusive:
            return
        if self.end_when(entry.choices):
            raise _FoundTheBestError
