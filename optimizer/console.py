# SPDX-License-Identifier: Apache-2.0
"""How the results of a campaign, and of one measurement, look in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from results.summary import CampaignSummary
from runners.measure import MeasureReport, OutputComparison

_ID_COLUMNS = 44
"""Ids are tensor names and can be very long; ``--json`` has them whole."""


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
    table.add_column("operator", overflow="fold")
    for name in ("type", "knob", "auto", "best"):
        table.add_column(name, no_wrap=True)
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


def measure_parts(report: MeasureReport) -> Iterator[RenderableType]:
    """Gives one measurement, one paragraph or table after the other."""
    measurement = report.measurement
    yield Text(
        f"{report.conversion.config.model.path} on {report.conversion.platform.name}", "bold"
    )
    if measurement.status != "ok":
        yield Text(f"{measurement.status} at {measurement.stage}: {measurement.reason}", "bold red")
        return
    counts = "cycles" if measurement.identity is None else measurement.identity.counts
    yield Text(
        f"{measurement.best_cycles:,} {counts} (best of {len(measurement.cycles)}); "
        f"inputs: {report.stimulus}"
    )
    yield _operators(report, counts)
    yield Text(
        f"code {measurement.code_bytes:,} bytes, flash {measurement.flash_bytes:,} bytes, "
        f"RAM {measurement.ram_bytes:,} bytes"
    )
    for comparison in report.comparisons:
        yield _comparison(comparison)


def measure_as_json(report: MeasureReport) -> str:
    """Gives one measurement as JSON."""
    comparisons = [
        {
            "name": item.name,
            "equal": item.equal,
            "differing": item.differing,
            "size": item.size,
            "max_abs_difference": item.max_abs_difference,
        }
        for item in report.comparisons
    ]
    content = {
        "model": str(report.conversion.config.model.path),
        "platform": report.conversion.platform.name,
        "inputs": report.stimulus,
        "bit_exact": report.bit_exact,
        "comparisons": comparisons,
        "measurement": report.measurement.model_dump(mode="json"),
    }
    return json.dumps(content, indent=2)


def _operators(report: MeasureReport, counts: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("operator", no_wrap=True, overflow="ellipsis", max_width=_ID_COLUMNS)
    table.add_column("type", no_wrap=True)
    table.add_column("entry", overflow="fold")
    for name in ("MACs", counts, f"{counts}/MAC"):
        table.add_column(name, justify="right")
    facts = {operator.id: operator for operator in report.conversion.module.operators}
    for item in report.measurement.operator_cycles:
        operator = facts[item.id]
        per_mac = f"{item.cycles / operator.macs:.3f}" if operator.macs else ""
        table.add_row(
            Text(item.id),
            operator.op_type,
            item.entry or "",
            f"{operator.macs:,}" if operator.macs else "",
            f"{item.cycles:,}",
            per_mac,
        )
    return table


def _comparison(comparison: OutputComparison) -> Text:
    if comparison.equal:
        return Text(f"{comparison.name}: equal, {comparison.size} elements", "green")
    return Text(
        f"{comparison.name}: {comparison.differing} of {comparison.size} elements differ, "
        f"by up to {comparison.max_abs_difference:g}",
        "bold red",
    )
