# SPDX-License-Identifier: Apache-2.0
"""``evidence.json``: why a plan was written; beside the plan, which stays free of measurements.

Two campaigns with equal inputs, run one trial at a time on a deterministic runner, differ in the
fields that are called ``seconds``, ``stage_seconds`` or ``cache_hits`` alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import JsonValue, ValidationError

from helia_aot.config.base import StrictModel
from results.errors import CampaignError
from results.records import CampaignIdentity, Entry, RepeatRecord, Role, TrialRecord
from runners.measurement import Measurement
from search_spaces.space import SearchSpace

EVIDENCE_SCHEMA_VERSION: Literal[1] = 1

EVIDENCE_NAME: Final = "evidence.json"


class Confirmation(StrictModel):
    """Cycles of both plans of a comparison on another worker."""

    finalist_cycles: int
    baseline_cycles: int


class Comparison(StrictModel):
    """The repetitions that decide whether a finalist replaces the baseline.

    Attributes:
        plan_key: The finalist.
        finalist_cycles: Cycles of each repetition of the finalist.
        baseline_cycles: Cycles of each repetition of the baseline between them.
        is_faster: Whether the finalist wins.
        reason: Why, in one sentence.
        confirmation: What another worker counted; None where there was none or it failed.
    """

    plan_key: str
    finalist_cycles: tuple[int, ...]
    baseline_cycles: tuple[int, ...]
    is_faster: bool
    reason: str
    confirmation: Confirmation | None = None


class FailureClass(StrictModel):
    """Evaluations that failed in the same way.

    Attributes:
        status: Status of the measurements.
        stage: Where they ended.
        reason: Their reason.
        count: How many there were.
    """

    status: str
    stage: str
    reason: str
    count: int


class MeasuredPlan(StrictModel):
    """One plan with its measurement.

    Attributes:
        role: Why it was measured.
        plan_key: SHA-256 over its choices.
        choices: The value of each dimension of the space; empty for a plan outside it.
        seconds: Wall-clock seconds of the evaluation.
        measurement: The outcome.
    """

    role: Role
    plan_key: str
    choices: dict[str, str]
    seconds: float
    measurement: Measurement


class SearchFacts(StrictModel):
    """What the search did.

    Attributes:
        space_size: Number of plans in the space.
        plans_measured: Different plans of the space with a settled outcome.
        trials: Conclusive search trials.
        cache_hits: Evaluations of any role that the measurement cache answered, before building or
            before running.
        repeats: Proposals answered from the ledger.
        late_proposals: Measured plans that were drawn by chance, because the sampler was late.
        stop_reason: ``trials``, ``exhausted``, ``repeating`` (proposals of known plans only),
            ``timeout``, ``gap`` or ``no_gain``.
        failures: Failed evaluations by class.
    """

    space_size: int
    plans_measured: int
    trials: int
    cache_hits: int = 0
    repeats: int
    late_proposals: int = 0
    stop_reason: str
    failures: tuple[FailureClass, ...]


class BuildCheck(StrictModel):
    """How well the sum of parts, known from the other builds, predicts one build.

    Attributes:
        measured_cycles: Cycles of the whole.
        predicted_cycles: Sum of the operators' cycles in the other builds, and the overhead.
        error: Measured over predicted, less 1.
    """

    measured_cycles: int
    predicted_cycles: float
    error: float


class Optimality(StrictModel):
    """How far the written plan may be from the best that the alternatives can do.

    Attributes:
        bound_cycles: Cycles that no plan of the space is expected to come below; an estimate from
            the builds, and exact when all plans were measured.
        gap: Cycles of the written plan over the bound, less 1; at least 0.
        error_cycles: How far the sum may be off for a fast plan, as far as the builds tell; the bound allows for it.
        is_exhaustive: Whether every plan of the space was measured.
        checks: One for each build that the other builds predict, in the order of measuring.
    """

    bound_cycles: float
    gap: float
    error_cycles: float
    is_exhaustive: bool
    checks: tuple[BuildCheck, ...]

    @property
    def largest_error(self) -> float:
        """The largest relative error of a prediction, without its sign; 0 when there is none."""
        return max((abs(check.error) for check in self.checks), default=0.0)


class BudgetRow(StrictModel):
    """One limit of the campaign.

    Attributes:
        name: The quantity.
        unit: Its unit.
        limit: The upper limit.
        baseline: What the plan that ``auto`` chooses takes; None where it is not known.
        winner: What the written plan takes.
        refused: Evaluations of plans that were above it, those that conversion refused included.
    """

    name: str
    unit: str
    limit: float
    baseline: float | None
    winner: float | None
    refused: int


class FrontPoint(StrictModel):
    """One plan of the Pareto front: no measured plan is better in one objective and worse in none.

    Attributes:
        plan_key: SHA-256 over its choices.
        values: Its objectives by name.
        choices: The value of each dimension of the space.
        plan_file: The plan as written beside the evidence; None for the plan that ``auto`` chooses.
        is_written: Whether it is the plan of the verdict.
    """

    plan_key: str
    values: dict[str, float]
    choices: dict[str, str]
    plan_file: str | None = None
    is_written: bool = False


class OperatorRow(StrictModel):
    """One operator with ``auto`` and with the written plan.

    Attributes:
        operator_id: The operator.
        op_type: Its TFLite name; empty where nothing of it could vary.
        baseline_entry: Kernel entry with ``auto``.
        winner_entry: Kernel entry with the written plan.
        baseline_cycles: Cycles with ``auto``.
        winner_cycles: Cycles with the written plan.
        changes: Choices that differ, as ``knob: before -> after``.
    """

    operator_id: str
    op_type: str
    baseline_entry: str | None
    winner_entry: str | None
    baseline_cycles: int
    winner_cycles: int
    changes: tuple[str, ...] = ()


class Rebuild(StrictModel):
    """What building and measuring the plan again takes, besides the model.

    Attributes:
        convert: Settings of the conversion, without locations of files.
        runner: Settings of the runner.
        module_sha256: SHA-256 over the files of the generated module.
        accuracy: How errors were judged, the file of samples by its name alone; None where they were not.
    """

    convert: dict[str, JsonValue]
    runner: dict[str, JsonValue]
    module_sha256: str
    accuracy: dict[str, JsonValue] | None = None


class Evidence(StrictModel):
    """Everything behind a written plan."""

    schema_version: Literal[1] = EVIDENCE_SCHEMA_VERSION
    plan_file: str
    plan_sha256: str
    plan_key: str
    is_auto: bool
    verdict: str
    identity: CampaignIdentity
    baseline: MeasuredPlan
    reference: MeasuredPlan | None
    winner: MeasuredPlan
    comparisons: tuple[Comparison, ...]
    search: SearchFacts
    optimality: Optimality | None = None
    budget: tuple[BudgetRow, ...] = ()
    front: tuple[FrontPoint, ...] = ()
    operators: tuple[OperatorRow, ...] = ()
    rebuild: Rebuild | None = None
    space: SearchSpace

    def to_json(self) -> str:
        """Gives the canonical JSON text, with a trailing newline."""
        return self.model_dump_json(indent=2) + "\n"


def read_evidence(folder: Path) -> Evidence:
    """Reads what a finished campaign left in its folder.

    Raises:
        CampaignError: There is none, or it is damaged or of another version.
    """
    path = folder / EVIDENCE_NAME
    try:
        return Evidence.model_validate_json(path.read_text("utf-8"))
    except OSError as error:
        raise CampaignError(
            f"{path} cannot be read: {error.strerror}.",
            next_step="give the folder of a finished campaign; helia-search status shows how far "
            "one is",
        ) from error
    except (UnicodeDecodeError, ValidationError) as error:
        raise CampaignError(f"{path} is damaged, or of another version.") from error


def operator_rows(
    baseline: MeasuredPlan, winner: MeasuredPlan, space: SearchSpace
) -> tuple[OperatorRow, ...]:
    """Gives every operator with ``auto`` and with the written plan, in execution order."""
    after = {item.id: item for item in winner.measurement.operator_cycles}
    types: dict[str, str] = {}
    changes: dict[str, list[str]] = {}
    for item in space.dimensions:
        value = winner.choices.get(item.name, item.baseline)
        for member in item.members:
            types.setdefault(member, "" if item.operators else item.op_type)
            if value != item.baseline:
                text = f"{item.knob}: {item.baseline} -> {value}"
                changes.setdefault(member, []).append(text)
    types |= {item.operator_id: item.op_type for item in space.pinned}
    types |= {item.operator_id: item.op_type for item in space.dropped}
    return tuple(
        OperatorRow(
            operator_id=before.id,
            op_type=types.get(before.id, ""),
            baseline_entry=before.entry,
            winner_entry=after[before.id].entry,
            baseline_cycles=before.cycles,
            winner_cycles=after[before.id].cycles,
            changes=tuple(changes.get(before.id, ())),
        )
        for before in baseline.measurement.operator_cycles
        if before.id in after
    )


def measured_plan(record: TrialRecord) -> MeasuredPlan:
    """Gives the part of a ledger line that evidence keeps."""
    return MeasuredPlan(
        role=record.role,
        plan_key=record.plan_key,
        choices=record.choices,
        seconds=record.seconds,
        measurement=record.measurement,
    )


def failure_classes(entries: Sequence[Entry]) -> tuple[FailureClass, ...]:
    """Counts the failed evaluations by status, stage and reason; the most frequent first."""
    counts = Counter(
        (entry.measurement.status, str(entry.measurement.stage), entry.measurement.reason)
        for entry in entries
        if isinstance(entry, TrialRecord) and entry.measurement.status != "ok"
    )
    return tuple(
        FailureClass(status=status, stage=stage, reason=reason, count=count)
        for (status, stage, reason), count in sorted(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
    )


def search_facts(entries: Sequence[Entry], space: SearchSpace, stop_reason: str) -> SearchFacts:
    """Gives what the search did, counted from the ledger."""
    trials = [entry for entry in entries if isinstance(entry, TrialRecord)]
    return SearchFacts(
        space_size=space.size,
        plans_measured=len(
            {record.plan_key for record in trials if record.in_space and record.is_settled}
        ),
        trials=sum(record.role == "search" and record.is_conclusive for record in trials),
        cache_hits=sum(record.cache is not None for record in trials),
        repeats=sum(isinstance(entry, RepeatRecord) for entry in entries),
        late_proposals=sum(record.late is not None for record in trials),
        stop_reason=stop_reason,
        failures=failure_classes(entries),
    )


def text_sha256(text: str) -> str:
    """Gives the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()
