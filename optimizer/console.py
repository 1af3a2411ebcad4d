# SPDX-License-Identifier: Apache-2.0
"""How the results of a campaign, and of one measurement, look in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from optimizer.caches import CacheReport
from optimizer.status import CampaignStatus
from optimizer.verify import VerifyReport
from results.comparison import CampaignComparison, Difference
from results.evidence import FailureClass, Optimality
from results.summary import CampaignSummary
from runners.measure import MeasureReport, OutputComparison
from search_spaces.space import plan_count

_ID_COLUMNS = 44
"""Ids are tensor names and can be very long; ``--json`` has them whole."""


def summary_parts(summary: CampaignSummary) -> Iterator[RenderableType]:
    """Gives the summary, one paragraph or table after the other."""
    yield Text(f"{summary.campaign} on {summary.platform}", "bold")
    yield _cycles(summary)
    if summary.changes:
        yield _changes(summary)
    if summary.budget:
        yield _budget(summary)
    if summary.front:
        yield _front(summary)
    yield Text(f"verdict: {summary.verdict}")
    if summary.optimality is not None:
        yield Text(_optimality(summary.optimality))
    yield Text(_search(summary))
    for failure in summary.search.failures:
        yield Text(_failure(failure), "yellow")
    if summary.next_step:
        yield Text(f"next: {summary.next_step}")
    written = "the auto plan" if summary.is_auto else "the best plan"
    yield Text(f"{written} is in {summary.plan_path}, the evidence in {summary.evidence_path}")
    if summary.report_path:
        yield Text(f"a page about it: {summary.report_path}")
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
    table.add_column("operator", no_wrap=True, overflow="ellipsis", max_width=_ID_COLUMNS)
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


def _budget(summary: CampaignSummary) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("limit")
    for name in ("at most", "auto", "written", "plans refused"):
        table.add_column(name, justify="right")
    for row in summary.budget:
        values = [_number(value) for value in (row.limit, row.baseline, row.winner)]
        is_over = row.baseline is not None and row.baseline > row.limit
        auto = Text(values[1], "bold red" if is_over else "")
        table.add_row(row.name, values[0], auto, values[2], f"{row.refused}")
    return table


def _front(summary: CampaignSummary) -> Table:
    table = Table(box=None, pad_edge=False, title="Pareto front", title_justify="left")
    for name in summary.front[0].values:
        table.add_column(name, justify="right")
    table.add_column("plan")
    for point in summary.front:
        mark = " (the written plan)" if point.is_written else ""
        values = [_number(value) for value in point.values.values()]
        table.add_row(*values, f"{point.plan_file or 'auto'}{mark}")
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "not known"
    return f"{int(value):,}" if value.is_integer() else f"{value:,.2f}"


def _search(summary: CampaignSummary) -> str:
    search = summary.search
    why = {
        "trials": "the number of trials was reached",
        "exhausted": "every plan was measured",
        "repeating": "the sampler had only known plans to propose",
        "timeout": "the time was over",
        "gap": "the plan is as close to the best as search.gap asks for",
        "no_gain": "search.no_gain plans in a row were not better",
    }[search.stop_reason]
    return (
        f"searched: {search.plans_measured:,} of {plan_count(search.space_size)} plans measured, "
        f"{search.trials} trials, {search.repeats} repeats"
        + (f", {search.cache_hits} from the measurement cache" if search.cache_hits else "")
        + f"; {why}"
    )


def _optimality(optimality: Optimality) -> str:
    if optimality.is_exhaustive:
        return f"within {optimality.gap:.2%} of the best: every plan was measured"
    checks = len(optimality.checks)
    return (
        f"within {optimality.gap:.2%} of the best these alternatives can do: no plan is expected "
        f"below {optimality.bound_cycles:,.0f} (fitted sum of operators; it was off by at most "
        f"{optimality.largest_error:.2%} for the {checks} builds that others predict)"
    )


def status_parts(status: CampaignStatus) -> Iterator[RenderableType]:
    """Gives the status of a campaign."""
    yield Text(f"{status.campaign} on {status.platform}: {status.state}", "bold")
    of = "" if status.space_size is None else f" of {plan_count(status.space_size)}"
    yield Text(
        f"{status.plans_measured:,}{of} plans measured by {status.sampler}, {status.trials} trials, "
        f"{status.repeats} repeats, {status.cache_hits} from the measurement cache, "
        f"{status.seconds:,.1f} s of evaluations"
    )
    if status.best_cycles is not None and status.baseline_cycles is not None:
        yield Text(
            f"best {status.best_cycles:,} {status.counts} so far, auto {status.baseline_cycles:,} "
            f"({status.baseline_cycles / max(1, status.best_cycles):.4f}x)"
        )
    if status.best_ratio is not None:
        boards = ", ".join(f"{name} {cycles:,}" for name, cycles in status.boards.items())
        yield Text(f"best over auto on its own board {status.best_ratio:.4f}; auto on {boards}")
    if status.optimality is not None:
        yield Text(_optimality(status.optimality))
    for failure in status.failures:
        yield Text(_failure(failure), "yellow")
    if status.state == "stopped":
        yield Text("the command that began it continues")


def verify_parts(report: VerifyReport) -> Iterator[RenderableType]:
    """Gives what verifying a plan found; the verdict first."""
    verdict = "the claim holds" if report.holds else "the claim does NOT hold"
    yield Text(f"{report.plan}: {verdict}", "bold green" if report.holds else "bold red")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("", overflow="fold")
    styles = {"ok": "green", "differs": "yellow", "failed": "bold red"}
    for check in report.checks:
        table.add_row(Text(check.status, styles[check.status]), check.name, Text(check.detail))
    yield table


def comparison_parts(found: CampaignComparison) -> Iterator[RenderableType]:
    """Gives two campaigns side by side."""
    table = Table(box=None, pad_edge=False)
    for name in ("campaign", "cycles", "gap"):
        table.add_column(name, justify="left" if name == "campaign" else "right")
    rows = (
        (found.first, found.first_cycles, found.first_gap),
        (found.second, found.second_cycles, found.second_gap),
    )
    for name, cycles, gap in rows:
        table.add_row(name, f"{cycles:,}", "not known" if gap is None else f"{gap:.2%}")
    yield table
    if found.is_comparable:
        yield Text(f"the second is {found.ratio:.4f}x of the first (above 1: faster)")
    else:
        yield Text("the cycles cannot be compared: model, runner or stimulus differ", "bold red")
    for title, differences in (
        ("settings", found.identity),
        ("choices of the written plans", found.choices),
    ):
        if differences:
            yield _differences(title, differences)
    if not found.choices:
        yield Text("both wrote the same choices")


def _differences(title: str, differences: Sequence[Difference]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(title, overflow="fold")
    for name in ("first", "second"):
        table.add_column(name, overflow="fold")
    for name in ("first cycles", "second cycles"):
        table.add_column(name, justify="right")
    for item in differences:
        cycles = ["" if n is None else f"{n:,}" for n in (item.first_cycles, item.second_cycles)]
        table.add_row(Text(item.name), item.first or "-", item.second or "-", *cycles)
    return table


def cache_parts(reports: Sequence[CacheReport]) -> Iterator[RenderableType]:
    """Gives what the caches take."""
    table = Table(box=None, pad_edge=False)
    table.add_column("cache", no_wrap=True)
    for name in ("entries", "MB", "limit MB", "removed", "removed MB"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("folder", overflow="fold")
    for report in reports:
        table.add_row(
            report.name,
            f"{report.entries:,}",
            f"{report.size_bytes / 2**20:,.1f}",
            f"{report.limit_bytes / 2**20:,.0f}",
            f"{report.removed_entries:,}",
            f"{report.removed_bytes / 2**20:,.1f}",
            Text(report.directory),
        )
    yield table


def _failure(failure: FailureClass) -> str:
    return f"failed: {failure.count} x {failure.status} at {failure.stage}: {failure.reason}"


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
