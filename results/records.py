# SPDX-License-Identifier: Apache-2.0
"""The lines of a ledger as typed, versioned models.

Adding an optional field keeps ``LEDGER_SCHEMA_VERSION``; renaming or removing one, or changing what
one means, increments it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, model_validator

from helia_aot.config.base import StrictModel
from runners.measurement import Measurement, RunnerIdentity

LEDGER_SCHEMA_VERSION: Literal[1] = 1

Role = Literal["baseline", "reference", "search", "verify"]
"""``baseline``: the plan that ``auto`` chooses. ``reference``: the all-generic plan.
``search``: a sampler's proposal. ``verify``: a repetition that decides on the winner."""


class CampaignIdentity(StrictModel):
    """Everything that makes measurements of one ledger comparable and its proposals repeatable.

    Attributes:
        campaign: Name of the campaign.
        model_sha256: SHA-256 of the model file.
        subgraph: Subgraph that is converted.
        config_sha256: SHA-256 over the compiler's and the measurement's settings, file locations
            left out.
        baseline_plan_key: SHA-256 over the choices of the plan that ``auto`` chooses.
        space_sha256: Digest of the search space.
        compiler: Name, version and digest of the compiler.
        runner: What measures.
        stimulus_sha256: SHA-256 over the model inputs that every trial runs on.
        sampler: Name of the sampler.
        seed: Seed of the sampler.
        objectives: The quantities that are minimised, the first one decides.
        budget: Upper limits by quantity.
    """

    campaign: str
    model_sha256: str
    subgraph: int
    config_sha256: str
    baseline_plan_key: str
    space_sha256: str
    compiler: str
    runner: RunnerIdentity
    stimulus_sha256: str
    sampler: str
    seed: int
    objectives: tuple[str, ...] = ("cycles",)
    budget: dict[str, float] = Field(default_factory=dict)


class CampaignHeader(StrictModel):
    """The first line of a ledger."""

    kind: Literal["campaign"] = "campaign"
    schema_version: Literal[1] = LEDGER_SCHEMA_VERSION
    identity: CampaignIdentity


class TrialRecord(StrictModel):
    """One finished evaluation of one plan.

    Attributes:
        kind: Tells the lines of a ledger apart.
        role: Why it was measured.
        ask: Number of the sampler's proposal, from 0; exactly for ``search``.
        plan_key: SHA-256 over the plan's choices.
        in_space: Whether the plan is a point of the search space.
        choices: The value of each dimension by dimension name; empty for a plan outside the space.
        slot: Position in the comparison that decides on a winner, from 0; exactly for ``verify``.
        finalist: Plan key that the comparison is about; exactly for ``verify``.
        late: What was done in place of the sampler's proposal when that was late; None when it was not.
        attempts: Evaluations that it took, the discarded ones of a bad rig included; at least 1.
        seconds: Wall-clock seconds of the last attempt, those of the measurement itself only where
            it was made anew.
        cache: How the measurement cache knew it: by the ``plan``, before building, or by the
            ``image``, before running; None for a new measurement.
        worker: Number of the worker that evaluated it; None where none did.
        measurement: The outcome.
    """

    kind: Literal["trial"] = "trial"
    role: Role
    ask: int | None = Field(None, ge=0)
    plan_key: str = Field(..., pattern="^[0-9a-f]{64}$")
    in_space: bool
    choices: dict[str, str]
    slot: int | None = Field(None, ge=0)
    finalist: str | None = None
    late: str | None = None
    attempts: int = Field(1, ge=1)
    seconds: float = Field(..., ge=0)
    cache: Literal["plan", "image"] | None = None
    worker: int | None = Field(None, ge=0)
    measurement: Measurement

    @model_validator(mode="after")
    def _fields_follow_the_role(self) -> TrialRecord:
        if (self.ask is not None) != (self.role == "search"):
            raise ValueError("ask is set exactly for role 'search'")
        is_verify = self.role == "verify"
        if (self.slot is not None) != is_verify or (self.finalist is not None) != is_verify:
            raise ValueError("slot and finalist are set exactly for role 'verify'")
        return self

    @property
    def is_conclusive(self) -> bool:
        """Whether the outcome is a property of the plan: measured, or bad on any rig."""
        return self.measurement.status in ("ok", "plan_bad")

    @property
    def is_good(self) -> bool:
        """Whether it was measured."""
        return self.measurement.status == "ok"

    @property
    def is_settled(self) -> bool:
        """Whether the plan needs no other evaluation: conclusive, or unknown after its retries."""
        return self.measurement.status != "rig_bad"


class RepeatRecord(StrictModel):
    """A sampler's proposal that was answered from an earlier record of the same plan.

    Attributes:
        kind: Tells the lines of a ledger apart.
        ask: Number of the sampler's proposal, from 0.
        plan_key: The plan that was proposed again.
    """

    kind: Literal["repeat"] = "repeat"
    ask: int = Field(..., ge=0)
    plan_key: str = Field(..., pattern="^[0-9a-f]{64}$")


Entry = TrialRecord | RepeatRecord
"""Any line of a ledger after the first."""

ENTRY_ADAPTER: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])
"""Reads one line after the first."""


def board_baselines(entries: Iterable[Entry]) -> dict[str, int]:
    """Gives the cycles of the campaign's baseline on each board, in the order of first use; the first one counts."""
    found: dict[str, int] = {}
    key = ""
    for entry in entries:
        if not isinstance(entry, TrialRecord) or not entry.is_good:
            continue
        key = key or (entry.plan_key if entry.role == "baseline" else "")
        board = entry.measurement.board
        if board is not None and entry.plan_key == key:
            found.setdefault(board, entry.measurement.best_cycles)
    return found


def known_plans(entries: Iterable[Entry]) -> dict[str, TrialRecord]:
    """Gives the record that answers for each plan: the first settled one, ``verify`` left out."""
    known: dict[str, TrialRecord] = {}
    for entry in entries:
        if isinstance(entry, TrialRecord) and entry.role != "verify" and entry.is_settled:
            known.setdefault(entry.plan_key, entry)
    return known
