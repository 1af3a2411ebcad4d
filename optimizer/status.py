# SPDX-License-Identifier: Apache-2.0
"""Where a campaign is, from its folder alone; a running campaign is not disturbed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from helia_aot.config.base import StrictModel
from helia_aot.errors import HeliaError
from optimizer.profile import Profile, record_outcomes
from optimizer.quantities import fits
from optimizer.task import SearchTask
from results.errors import CampaignError
from results.evidence import (
    EVIDENCE_NAME,
    FailureClass,
    Optimality,
    failure_classes,
    read_evidence,
)
from results.ledger import LEDGER_NAME, is_held, read_ledger
from results.records import Entry, RepeatRecord, TrialRecord, board_baselines, known_plans
from search_spaces.space import SPACE_NAME, SearchSpace


class CampaignStatus(StrictModel):
    """What a ledger says at this moment.

    Attributes:
        campaign: Name of the campaign.
        platform: Platform that is measured.
        counts: What cycles mean, ``modelled cycles`` for a simulator.
        sampler: Who proposes plans.
        state: ``running``: a process holds the ledger. ``finished``: the evidence is of this
            ledger. ``stopped``: neither; the same command continues.
        space_size: Plans in the space; None when the space cannot be read.
        plans_measured: Different plans of the space with a settled outcome.
        trials: Conclusive search trials.
        repeats: Proposals answered from the ledger.
        cache_hits: Evaluations answered by the measurement cache.
        seconds: Wall-clock seconds of all evaluations.
        baseline_cycles: Cycles of ``auto``; None before it is measured.
        best_cycles: Lowest cycles of a plan of the space, compared over the baselines where there are boards.
        best_ratio: Those over the baseline's on the same board; None for a runner without boards.
        boards: Cycles of ``auto`` on each board.
        optimality: How far that plan may be from the best; None while the builds do not tell.
        failures: Failed evaluations by class.
    """

    campaign: str
    platform: str
    counts: str
    sampler: str
    state: Literal["running", "finished", "stopped"]
    space_size: int | None
    plans_measured: int
    trials: int
    repeats: int
    cache_hits: int
    seconds: float
    baseline_cycles: int | None
    best_cycles: int | None
    best_ratio: float | None = None
    boards: dict[str, int] = Field(default_factory=dict)
    optimality: Optimality | None
    failures: tuple[FailureClass, ...]


def campaign_status(folder: Path) -> CampaignStatus:
    """Gives the status of the campaign in a folder.

    Raises:
        CampaignError: There is no ledger, or it is damaged.
    """
    path = folder / LEDGER_NAME
    content = read_ledger(path)
    if content is None:
        raise CampaignError(
            f"{folder} holds no campaign.", next_step="give the folder of a campaign (out)"
        )
    header, entries = content
    trials = [entry for entry in entries if isinstance(entry, TrialRecord)]
    known = [record for record in known_plans(entries).values() if record.in_space]
    identity = header.identity
    good = [record for record in known if fits(record.measurement, identity.budget)]
    best = min((r.measurement for r in good), key=lambda m: m.comparable_cycles, default=None)
    baseline = [
        record.measurement.best_cycles
        for record in trials
        if record.role == "baseline" and record.measurement.status == "ok"
    ]
    space = _space(folder)
    return CampaignStatus(
        campaign=header.identity.campaign,
        platform=header.identity.runner.platform,
        counts=header.identity.runner.counts,
        sampler=header.identity.sampler,
        state=_state(folder, entries),
        space_size=None if space is None else space.size,
        plans_measured=len(known),
        trials=sum(record.role == "search" and record.is_conclusive for record in trials),
        repeats=sum(isinstance(entry, RepeatRecord) for entry in entries),
        cache_hits=sum(record.cache is not None for record in trials),
        seconds=round(sum(record.seconds for record in trials), 3),
        baseline_cycles=baseline[0] if baseline else None,
        best_cycles=None if best is None else best.best_cycles,
        best_ratio=None if best is None else best.baseline_ratio,
        optimality=None
        if space is None or best is None
        else Profile(
            SearchTask(space, identity.objectives, identity.budget), record_outcomes(known)
        ).optimality(round(best.comparable_cycles)),
        boards=board_baselines(trials),
        failures=failure_classes(entries),
    )


def _space(folder: Path) -> SearchSpace | None:
    try:
        return SearchSpace.from_json((folder / SPACE_NAME).read_text("utf-8"))
    except (OSError, HeliaError):
        return None  # a campaign that was killed early has none yet


def _state(folder: Path, entries: tuple[Entry, ...]) -> Literal["running", "finished", "stopped"]:
    if is_held(folder / LEDGER_NAME):
        return "running"
    if not (folder / EVIDENCE_NAME).exists():
        return "stopped"
    facts = read_evidence(folder).search
    trials = sum(
        isinstance(entry, TrialRecord) and entry.role == "search" and entry.is_conclusive
        for entry in entries
    )
    return "finished" if facts.trials == trials else "stopped"
