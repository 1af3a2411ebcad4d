# SPDX-License-Identifier: Apache-2.0
"""The HTML report of a finished campaign, from its folder alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from helia_aot.optimization.read import read_plan
from optimizer.profile import Profile, record_outcomes
from optimizer.reproduce import rebuilt_config, reproduce_command
from optimizer.task import SearchTask
from results.errors import CampaignError
from results.evidence import EVIDENCE_NAME, Evidence, read_evidence
from results.files import write_atomically
from results.ledger import LEDGER_NAME, read_ledger
from results.records import Entry
from results.report_page import REPORT_NAME, measured_plans, report_page
from results.summary import build_summary

MAX_BOUNDS: Final = 40
"""How often the bound is fitted for the picture of a long campaign; each fit reads all builds before it."""


def write_report(folder: Path) -> Path:
    """Writes ``report.html`` into the folder of a finished campaign.

    The page names no folder of this machine: its command is for a folder that holds plan and model.

    Args:
        folder: The folder.

    Returns:
        The file; equal campaigns give equal text but for seconds.

    Raises:
        CampaignError: There is no evidence or no ledger, one is damaged, or the file cannot be written.
        PlanError: The written plan cannot be read.
    """
    evidence = read_evidence(folder)
    content = read_ledger(folder / LEDGER_NAME)
    if content is None:
        raise CampaignError(
            f"{folder} holds no ledger.", next_step="give the folder of a finished campaign (out)"
        )
    entries = content[1]
    summary = build_summary(
        evidence,
        plan_path=evidence.plan_file,
        evidence_path=EVIDENCE_NAME,
        reproduce=_reproduce(folder, evidence),
    )
    path = folder / REPORT_NAME
    bounds = fitted_bounds(evidence, entries)
    write_atomically(path, report_page(evidence, entries, summary, bounds))
    return path


def _reproduce(folder: Path, evidence: Evidence) -> str:
    model = Path(read_plan(folder / evidence.plan_file).model.file)
    if evidence.rebuild is None:
        return f"helia-aot convert --model.path {model} --optimization.plan {evidence.plan_file}"
    config = rebuilt_config(evidence.rebuild, model)
    plan_path = Path(evidence.plan_file)
    return reproduce_command(config, plan_path=plan_path, module_path=Path("module"))


def fitted_bounds(evidence: Evidence, entries: tuple[Entry, ...]) -> list[float | None]:
    """Gives the fitted bound after each measured plan; None where the builds do not tell, or between the plans
    of a long campaign that are looked at.
    """
    plans = measured_plans(entries)
    task = SearchTask(evidence.space, budget={row.name: row.limit for row in evidence.budget})
    step = max(1, -(-len(plans) // MAX_BOUNDS))
    bounds: list[float | None] = []
    for count, _ in enumerate(plans, 1):
        if count % step and count != len(plans):
            bounds.append(None)
            continue
        known = [record for record in plans[:count] if record.in_space]
        best = min((record.measurement.best_cycles for record in known), default=None)
        found = None if best is None else Profile(task, record_outcomes(known)).optimality(best)
        bounds.append(found.bound_cycles if found is not None else None)
    return bounds
