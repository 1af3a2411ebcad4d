# SPDX-License-Identifier: Apache-2.0
"""The loop of a campaign: ask, evaluate, write to the ledger, tell. It knows no compiler.

Everything that it decides follows from the ledger, so a process that starts on the ledger of a
killed one goes on where that one stopped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from helia_aot.errors import InvariantError, Problem
from helia_aot.optimization.plan import OptimizationPlan
from optimizer.deadlines import Deadlines, after_baseline
from optimizer.errors import CampaignError, RigError
from optimizer.evaluate import Finished, TrialJob
from optimizer.executor import Executor
from optimizer.progress import CampaignState, Progress
from optimizer.samplers import SamplerName
from optimizer.study import CampaignStudy
from optimizer.task import SearchTask
from results.ledger import Ledger
from results.records import Entry, RepeatRecord, Role, TrialRecord, board_baselines
from results.standing import Standing
from runners.measurement import Measurement
from search_spaces.plans import approximations, plan_at, plan_key, point_of
from search_spaces.space import SearchSpace

MAX_REPEATS: Final = 20
"""Proposals of known plans in a row after which a sampler has nothing new to say."""

MAX_ATTEMPTS: Final[Mapping[str, int]] = {"rig_bad": 3, "unknown": 2}
"""Evaluations of one proposal, by the status that leads to another one."""

MAX_LOST_IN_A_ROW: Final = 5
"""Evaluations in a row without a conclusive result, after which the rig is at fault."""

StopReason = Literal["trials", "exhausted", "repeating", "timeout", "gap", "no_gain"]


@dataclass(frozen=True)
class SearchLimits:
    """When the search ends.

    Attributes:
        trials: Conclusive search trials, at least 1; repeats and rig faults do not count.
        timeout_s: Seconds for the search in this process, None for no limit; running trials are
            finished.
        gap: The ``profile`` sampler ends when the best plan is within this share of the bound;
            None for never.
        no_gain: Conclusive search trials in a row without a better plan; None for no limit.
    """

    trials: int
    timeout_s: float | None
    gap: float | None = None
    no_gain: int | None = None


@dataclass(frozen=True)
class Item:
    """One evaluation that the loop has asked for.

    Attributes:
        role: Why.
        plan: The plan to measure.
        choices: Its point of the space by dimension name; None when it is outside the space.
        ask: Number of the proposal, for role ``search``.
        slot: Position in the verdict's comparison, for role ``verify``.
        finalist: Plan key that the comparison is about, for role ``verify``.
        avoid: Workers that should not measure it.
        board: Board that a further baseline is asked of; None for everything else.
        late: What was done in place of a proposal that was late; None for one that was not.
    """

    role: Role
    plan: OptimizationPlan
    choices: Mapping[str, str] | None = None
    ask: int | None = None
    slot: int | None = None
    finalist: str | None = None
    avoid: frozenset[int] = frozenset()
    board: str | None = None
    late: str | None = None


class Search:
    """Measures plans of one campaign.

    Args:
        task: The space, with objectives and limits where there are any; the baseline plan belongs to
            it unless pins move it out.
        baseline: The plan that ``auto`` chooses.
        executor: Runs the evaluations.
        ledger: Receives every result; its lines are replayed first. Its identity names the runner
            that must have measured a result for it to count.
        progress: Is told about every event.
    """

    def __init__(
        self,
        task: SearchSpace | SearchTask,
        baseline: OptimizationPlan,
        *,
        executor: Executor,
        ledger: Ledger,
        progress: Progress,
    ) -> None:
        self._task = task if isinstance(task, SearchTask) else SearchTask(task)
        self._space = self._task.space
        self._baseline = baseline
        self._executor = executor
        self._ledger = ledger
        self._progress = progress
        self._standing = Standing(ledger.entries, value=self._task.value)
        self._boards = board_baselines(ledger.entries)
        self._asked_boards: set[str] = set()
        self._unrated: list[tuple[Item, Finished, int]] = []
        self._running: dict[int, tuple[Item, int]] = {}
        self._next_job = 0
        self._lost_in_a_row = 0
        self._finished_here = 0
        self._total = 0
        self._stage = "baseline"
        self._expected_sha256: str | None = None
        self._deadlines = Deadlines()
        self._known_gap: tuple[int, float | None] = (-1, None)

    def measure(self, item: Item) -> TrialRecord:
        """Gives the record of one evaluation, from the ledger or else by running it."""
        found = self._standing.find(
            item.role, plan_key(item.plan), slot=item.slot, finalist=item.finalist
        )
        if found is not None:
            return found
        self._submit(item, avoid=item.avoid)
        while True:
            for record in self._collect():
                if record.role == item.role:  # else the baseline on the board that was taken
                    return record

    def measure_baseline(self, *, run_s: float = Deadlines.run_s) -> TrialRecord:
        """Gives the baseline's record; its outputs are what every other plan must compute.

        Args:
            run_s: Deadline of any run on the target, seconds; what else may take how long follows
                from the baseline.

        Raises:
            CampaignError: The baseline cannot be measured, so nothing can be compared with it.
        """
        self._show()
        self._deadlines = Deadlines(run_s=run_s)
        record = self.measure(Item("baseline", self._baseline, self._point(self._baseline)))
        measurement = record.measurement
        if measurement.status != "ok":
            raise CampaignError(
                "The plan that auto chooses cannot be measured; there is nothing to compare with.",
                [Problem(f"{measurement.status} at {measurement.stage}", measurement.reason)],
                next_step="try helia-search measure; helia-search doctor checks the tools",
            )
        self._expected_sha256 = measurement.outputs_sha256
        self._deadlines = after_baseline(measurement.stage_seconds, run_s=run_s)
        return record

    def measure_reference(self, plan: OptimizationPlan) -> TrialRecord:
        """Gives the record of a plan to compare with; its failure is no error."""
        self._stage = "reference"
        self._show()
        return self.measure(Item("reference", plan, self._point(plan)))

    def verify(
        self,
        plan: OptimizationPlan,
        *,
        finalist: str,
        slot: int,
        avoid: frozenset[int] = frozenset(),
    ) -> TrialRecord:
        """Gives one repetition for the comparison that decides on a finalist.

        Args:
            plan: What is measured.
            finalist: Plan key that the comparison is about.
            slot: Position in the comparison, from 0.
            avoid: Workers that should not measure it.
        """
        self._stage = "verify"
        self._show()
        return self.measure(Item("verify", plan, slot=slot, finalist=finalist, avoid=avoid))

    @property
    def workers(self) -> int:
        """How many evaluations can run side by side; starts the executor."""
        return self._executor.workers

    def run(
        self,
        *,
        sampler: SamplerName,
        seed: int,
        limits: SearchLimits,
        guess: Mapping[str, str] | None = None,
    ) -> StopReason:
        """Proposes and measures plans until a limit is met; may be called on a finished ledger.

        Args:
            sampler: Who proposes.
            seed: Of the proposals.
            limits: When it ends.
            guess: The point that is proposed first; None leaves that to the sampler.

        With one worker the proposals depend on the seed and the ledger alone. With several they
        also depend on the order in which evaluations end.

        Raises:
            RigError: Evaluations fail again and again for reasons that lie outside the plans.
        """
        self._stage = "search"
        standing = self._standing
        self._total = min(
            limits.trials, self._space.size - standing.seen_plans + standing.search_trials
        )
        if sampler != "profile":
            limits = replace(limits, gap=None)
        study = CampaignStudy(
            self._space,
            sampler=sampler,
            seed=seed,
            objectives=self._task.objectives,
            budget=self._task.budget,
        )
        next_ask = study.replay(self._ledger.entries)
        if next_ask == 0 and guess is not None and self._is_new(guess):
            study.guess(guess)
        riders: dict[str, list[int]] = {}
        repeats_in_a_row = standing.trailing_repeats
        started_s = time.monotonic()
        self._finished_here = 0
        while True:
            self._show()
            stop = self._stop_reason(limits, study, repeats_in_a_row, started_s)
            if stop is not None and not self._running:
                return stop
            if stop is None and self._has_room(limits):
                is_new = self._propose(study, next_ask, riders)
                repeats_in_a_row = 0 if is_new else repeats_in_a_row + 1
                next_ask += 1
                continue
            for record in self._collect():
                if record.role == "baseline":
                    continue
                self._tell(study, record, riders.pop(record.plan_key, []))
                repeats_in_a_row = 0

    def _is_new(self, choices: Mapping[str, str]) -> bool:
        plan = plan_at(self._baseline, self._space, choices)
        return plan_key(plan) not in self._standing.known

    def _propose(self, study: CampaignStudy, ask: int, riders: dict[str, list[int]]) -> bool:
        """Asks once; starts a new plan and says so, or answers a repeat."""
        choices = study.ask(ask)
        if ask in study.late:
            self._progress.note(f"proposal {ask} is {study.late[ask]}")
        plan = plan_at(self._baseline, self._space, choices)
        key = plan_key(plan)
        if known := self._standing.known.get(key):
            self._append(RepeatRecord(ask=ask, plan_key=key))
            study.tell(ask, known.measurement)
            return False
        out = [item for item, _ in self._running.values()]
        out += [item for item, _, _ in self._unrated]
        if any(plan_key(item.plan) == key for item in out):
            riders.setdefault(key, []).append(ask)
            return False
        self._submit(Item("search", plan, choices, ask=ask, late=study.late.get(ask)))
        return True

    def _tell(self, study: CampaignStudy, record: TrialRecord, riders: list[int]) -> None:
        if record.ask is None:
            raise InvariantError("Something else than a proposal ran during the search.")
        study.tell(record.ask, record.measurement)
        for ask in riders:
            if record.is_settled:
                self._append(RepeatRecord(ask=ask, plan_key=record.plan_key))
            study.tell(ask, record.measurement)

    def _stop_reason(
        self, limits: SearchLimits, study: CampaignStudy, repeats_in_a_row: int, started_s: float
    ) -> StopReason | None:
        standing = self._standing
        elapsed_s = time.monotonic() - started_s
        if standing.seen_plans >= self._space.size:
            return "exhausted"
        if standing.search_trials >= limits.trials:
            return "trials"
        if limits.timeout_s is not None and elapsed_s >= limits.timeout_s:
            return "timeout"
        if limits.no_gain is not None and standing.trials_without_gain >= limits.no_gain:
            return "no_gain"
        if limits.gap is not None and self._gap(study) <= limits.gap:
            return "gap"
        return "repeating" if repeats_in_a_row >= MAX_REPEATS else None

    def _gap(self, study: CampaignStudy) -> float:
        """Gives how far the best plan may be from the best of the space; infinity when not known."""
        seen = self._standing.seen_plans
        if self._known_gap[0] != seen:
            best = self._standing.best_cycles_in_space
            self._known_gap = (seen, None if best is None else study.gap(best))
        gap = self._known_gap[1]
        return math.inf if gap is None else gap

    def _has_room(self, limits: SearchLimits) -> bool:
        out = len(self._running)
        return (
            out < self._executor.workers
            and self._standing.search_trials + out < limits.trials
            and self._standing.seen_plans + out < self._space.size
        )

    def _submit(self, item: Item, attempt: int = 1, avoid: frozenset[int] = frozenset()) -> None:
        job = TrialJob(
            self._next_job,
            item.plan,
            self._expected_sha256,
            self._deadlines.total_s,
            # Repetitions for the verdict and baselines of further boards are measured, whatever is known.
            may_use_cache=item.role != "verify" and item.board is None,
            holds_budget=item.role == "search",
            deadlines=self._deadlines,
            avoid=avoid,
            may_differ=self._task.judges_errors
            and approximations(item.plan) != approximations(self._baseline),
        )
        self._next_job += 1
        self._running[job.number] = (item, attempt)
        self._executor.submit(job)

    def _collect(self) -> list[TrialRecord]:
        """Waits for evaluations and writes those that are decided; starts others again."""
        records = []
        for finished in self._executor.wait(timeout_s=1.0):
            item, attempt = self._running.pop(finished.job.number)
            measurement = self._trusted(finished.measurement)
            if attempt < MAX_ATTEMPTS.get(measurement.status, 1):
                self._progress.note(
                    f"{measurement.status}: {measurement.reason}; trying again "
                    f"({attempt + 1} of {MAX_ATTEMPTS[measurement.status]})"
                )
                # A baseline that is asked of one board can be measured nowhere else.
                failed_on: set[int] = set()
                if finished.worker is not None and item.board is None:
                    failed_on.add(finished.worker)
                self._submit(item, attempt + 1, finished.job.avoid | failed_on)
                continue
            finished = replace(finished, measurement=measurement)
            if self._lacks_baseline(item, measurement):
                self._ask_for_baseline(finished)
                self._unrated.append((item, finished, attempt))
                continue
            records.append(self._write(item, finished, attempt))
            held = [entry for entry in self._unrated if entry[1].measurement.board == item.board]
            self._unrated = [entry for entry in self._unrated if entry not in held]
            records += [self._write(*entry) for entry in held]
        return records

    def _lacks_baseline(self, item: Item, measurement: Measurement) -> bool:
        """Says whether a plan was measured on a board that the baseline is still to be asked of."""
        is_baseline = plan_key(item.plan) == plan_key(self._baseline)
        board = measurement.board
        if is_baseline or measurement.status != "ok" or board is None or board in self._boards:
            return False
        # Those that wait for the same baseline are not to ask again; asked once in vain, a board has no ratio.
        return board not in self._asked_boards or any(
            held.measurement.board == board for _, held, _ in self._unrated
        )

    def _ask_for_baseline(self, finished: Finished) -> None:
        """Starts the baseline on the worker that just finished, which keeps to its board."""
        board = finished.measurement.board
        assert board is not None
        if board in self._asked_boards:
            return
        self._asked_boards.add(board)
        others: Iterable[int] = () if finished.worker is None else range(self._executor.workers)
        item = Item("baseline", self._baseline, self._point(self._baseline), board=board)
        self._submit(item, avoid=frozenset(others) - {finished.worker or 0})

    def _rated(self, item: Item, measurement: Measurement) -> Measurement:
        """Gives a measurement with its ratio to the baseline on the same board, where that is known."""
        board = measurement.board
        if measurement.status != "ok" or board is None:
            return measurement
        if plan_key(item.plan) == plan_key(self._baseline):
            self._boards.setdefault(board, measurement.best_cycles)
        if board not in self._boards:
            return measurement
        ratio = measurement.best_cycles / max(1, self._boards[board])
        first = next(iter(self._boards.values()))
        return measurement.model_copy(update={"baseline_ratio": ratio, "baseline_cycles": first})

    def _trusted(self, measurement: Measurement) -> Measurement:
        """Refuses a result that something else than the campaign's runner measured."""
        if measurement.identity is None or measurement.identity == self._ledger.identity.runner:
            return measurement
        return Measurement(
            status="rig_bad",
            stage="result",
            reason="a worker has another runner or toolchain than this campaign",
            evidence={"identity": measurement.identity.model_dump(mode="json")},
            identity=measurement.identity,
        )

    def _write(self, item: Item, finished: Finished, attempts: int) -> TrialRecord:
        measurement = self._rated(item, finished.measurement)
        record = TrialRecord(
            role=item.role,
            ask=item.ask,
            plan_key=plan_key(item.plan),
            in_space=item.choices is not None,
            choices=dict(item.choices or {}),
            slot=item.slot,
            finalist=item.finalist,
            late=item.late,
            attempts=attempts,
            seconds=finished.seconds,
            cache=finished.cache,
            worker=finished.worker,
            measurement=measurement,
        )
        self._check_image(record)
        self._append(record)
        self._finished_here += finished.cache != "plan"
        self._lost_in_a_row = 0 if record.is_conclusive else self._lost_in_a_row + 1
        if self._lost_in_a_row >= MAX_LOST_IN_A_ROW:
            raise RigError(
                f"{self._lost_in_a_row} evaluations in a row gave no result.",
                [Problem(f"{measurement.status} at {measurement.stage}", measurement.reason)],
                next_step="helia-search doctor checks the tools; the same command continues",
            )
        return record

    def _check_image(self, record: TrialRecord) -> None:
        """Refuses a measurement whose image is not the one that the same plan had before.

        Raises:
            RigError: Compiler or toolchain changed while the campaign ran, so old results do not hold.
        """
        before = self._standing.known.get(record.plan_key)
        if before is None:
            return
        images = {before.measurement.image_sha256, record.measurement.image_sha256} - {None}
        if len(images) > 1:
            raise RigError(
                "The same plan was built to another image than before: the compiler or the "
                "toolchain changed while the campaign ran.",
                next_step="start again with --fresh (the old ledger is kept under another name); add "
                "--no-cache if an earlier result came from the measurement cache",
            )

    def _point(self, plan: OptimizationPlan) -> dict[str, str] | None:
        """Gives a plan's point of the space; None when it is outside."""
        return point_of(self._baseline, self._space, plan)

    def _append(self, entry: Entry) -> None:
        self._ledger.append(entry)
        self._standing.add(entry)

    def _show(self) -> None:
        standing = self._standing
        self._progress.update(
            CampaignState(
                stage=self._stage,
                trials=standing.search_trials,
                total=self._total,
                best_cycles=standing.best_cycles,
                baseline_cycles=standing.baseline_cycles,
                failures=dict(standing.failures),
                repeats=standing.repeats,
                finished_here=self._finished_here if self._stage == "search" else 0,
            )
        )
