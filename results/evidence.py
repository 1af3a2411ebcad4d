# SPDX-License-Identifier: Apache-2.0
"""``evidence.json``: why a plan was written; beside the plan, which stays free of measurements.

Two campaigns with equal inputs, run one trial at a time on a deterministic runner, differ in the
fields that are called ``seconds`` or ``stage_seconds`` alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from helia_aot.config.base import StrictModel
from results.records import CampaignIdentity, Entry, RepeatRecord, Role, TrialRecord
from runners.measurement import Measurement
from search_spaces.space import SearchSpace

EVIDENCE_SCHEMA_VERSION: Literal[1] = 1


class Comparison(StrictModel):
    """The repetitions that decide whether a finalist replaces the baseline.

    Attributes:
        plan_key: The finalist.
        finalist_cycles: Cycles of each repetition of the finalist.
        baseline_cycles: Cycles of each repetition of the baseline between them.
        is_faster: Whether the finalist wins.
        reason: Why, in one sentence.
    """

    plan_key: str
    finalist_cycles: tuple[int, ...]
    baseline_cycles: tuple[int, ...]
    is_faster: bool
    reason: str


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
        repeats: Proposals answered from the ledger.
        stop_reason: ``trials``, ``exhausted``, ``repeating`` (proposals of known plans only) or
            ``timeout``.
        failures: Failed evaluations by class.
    """

    space_size: int
    plans_measured: int
    trials: int
    repeats: int
    stop_reason: str
    failures: tuple[FailureClass, ...]


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
    space: SearchSpace

    def to_json(self) -> str:
        """Gives the canonical JSON text, with a trailing newline."""
        return self.model_dump_json(indent=2) + "\n"


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
        repeats=sum(isinstance(entry, RepeatRecord) for entry in entries),
        stop_reason=stop_reason,
        failures=failure_classes(entries),
    )


def text_sha256(text: str) -> str:
    """Gives the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()
