# SPDX-License-Identifier: Apache-2.0
"""How a campaign's summary looks in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from results.summary import CampaignSummary


def summary_parts(summary: CampaignSummary) -> Iterator[RenderableType]:
    """Gives the summary, one paragraph or table after the other."""
    yield Text(f"{summary.campaign} on {summary.platform}", "bold")
    yield _cycles(summary)
    if summary.changes:
        yield _changes(summary)
    yield Text(f"verdict: {summary.verdict}")
    yield Text(_search(summary))
    for failure in summary.search.failures:
        yield Text(
            f"failed: {failure.count} x {failure.status} at {failure.stage}: {failure.reason}",
            "yellow",
        )
    if summary.next_step:
        yield Text(f"next: {summary.next_step}")
    written = "the auto plan" if summary.is_auto else "the best plan"
    yield Text(f"{written} is in {summary.plan_path}, the evidence in {summary.evidence_path}")
    yield Text(f"reproduce:\n  {summary.reproduce}")


def _cycles(summary: CampaignSummary) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("plan")
    table.add_column(summary.counts, justify="right")
    table.add_column("best is", justify="right")
    table.add_row(
        "baseline (auto)", f"{summary.baseline_cycles:,}", f"{summary.gain_over_auto:.4f}x"
    )
    if summary.generic_cycles is not None and summary.gain_over_generic is not None:
        table.add_row(
            "all generic", f"{summary.generic_cycles:,}", f"{summary.gain_over_generic:.4f}x"
        )
    name = "best (auto itself)" if summary.is_auto else "best"
    table.add_row(name, f"{summary.best_cycles:,}", "")
    return table


def _changes(summary: CampaignSummary) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("operator", "type", "knob", "auto", "best"):
        table.add_column(name, overflow="fold")
    for name in ("auto cycles", "best cycles", "change"):
        table.add_column(name, justify="right")
    for change in summary.changes:
        before, after = change.cycles_before, change.cycles_after
        relative = f"{(after - before) / before:+.1%}" if before and after is not None else ""
        table.add_row(
            Text(change.operator_id),
            change.op_type,
            change.knob,
            change.before,
            change.after,
            "" if before is None else f"{before:,}",
            "" if after is None else f"{after:,}",
            relative,
        )
    return table


def _search(summary: CampaignSummary) -> str:
    search = summary.search
    why = {
        "trials": "the number of trials was reached",
        "exhausted": "every plan was measured",
        "repeating": "the sampler had only known plans to propose",
        "timeout": "the time was over",
    }[search.stop_reason]
    return (
        f"searched: {search.plans_measured:,} of {search.space_size:,} plans measured, "
        f"{search.trials} trials, {search.repeats} repeats; {why}"
    )
