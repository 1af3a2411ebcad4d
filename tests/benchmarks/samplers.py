# SPDX-License-Identifier: Apache-2.0
"""How many builds each sampler needs, on recorded spaces, without building anything.

Every seed names the alternatives of a space anew (the baseline becomes an arbitrary plan), so that no
sampler gains from a good start. Run it from the repository's root::

    .venv/bin/python tests/benchmarks/samplers.py [--spaces NAME ...] [--samplers NAME ...] [--seeds N] [--json FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from recorded_spaces import RecordedSpace, Scenario, builds_to, load, names, replay_to_the_best  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402

from optimizer.samplers import SAMPLERS, SamplerName  # noqa: E402

SCENARIOS = (
    Scenario("as recorded"),
    Scenario("coupling 1 %", coupling=0.01),
    Scenario("coupling 5 %", coupling=0.05),
    Scenario("coupling 15 %", coupling=0.15),
    Scenario("noise 0.5 %", noise=0.005),
    Scenario("budget", has_limit=True),
    Scenario("budget, coupling 5 %", has_limit=True, coupling=0.05),
    Scenario("10 % rig faults", faults=0.1),
)
MAX_BUILDS = 40
"""Builds of one campaign, baseline and reference included."""

CHECKPOINTS = (3, 4, 6, 8, 12, 20, MAX_BUILDS)
"""Numbers of builds after which the samplers are compared."""


@dataclass(frozen=True)
class Row:
    """What one sampler needs on one space.

    Attributes:
        median: Builds until the best plan measured is within 1 % of the space's best; one over the
            limit if never.
        worst: The same of the worst seed.
        missed: Seeds that never came there.
        best_after: Median of the best plan's cycles over the space's best, by number of builds.
    """

    space: str
    scenario: str
    sampler: SamplerName
    seeds: int
    median: float
    worst: int
    missed: int
    best_after: dict[int, float]


def measure(recorded: RecordedSpace, scenario: Scenario, sampler: SamplerName, seeds: int) -> Row:
    """Runs one sampler for some seeds."""
    counts = []
    ratios: dict[int, list[float]] = {builds: [] for builds in CHECKPOINTS}
    gap = 0.005 if sampler == "profile" else None  # it ends by itself; what it has then counts
    for seed in range(seeds):
        result = replay_to_the_best(
            recorded, scenario, sampler, seed=seed, trials=MAX_BUILDS - 2, gap=gap
        )
        counts.append(builds_to(result, 0.01) or MAX_BUILDS + 1)
        for builds, values in ratios.items():
            values.append(result.best[min(builds, len(result.best)) - 1] / result.exhaustive)
    return Row(
        recorded.name,
        scenario.name,
        sampler,
        seeds,
        statistics.median(counts),
        max(counts),
        counts.count(MAX_BUILDS + 1),
        {builds: round(statistics.median(values), 6) for builds, values in ratios.items()},
    )


def worse_than_others(rows: Sequence[Row]) -> list[str]:
    """Names where the median of another sampler's best plan is better than that of ``profile``."""
    found = []
    for row in rows:
        for other in rows:
            if (other.space, other.scenario) != (row.space, row.scenario):
                continue
            if row.sampler != "profile" or other.sampler == "profile":
                continue
            found += [
                f"{row.space}, {row.scenario}: {other.sampler} after {builds} builds"
                for builds, ratio in row.best_after.items()
                if ratio > other.best_after[builds]
            ]
    return found


def _count(builds: float) -> str:
    return f">{MAX_BUILDS}" if builds > MAX_BUILDS else f"{builds:g}"


def show(rows: Sequence[Row]) -> None:
    """Prints the table of some rows, one line for each space and scenario."""
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        groups.setdefault((row.space, row.scenario), {})[row.sampler] = row
    samplers = [name for name in SAMPLERS if any(name in group for group in groups.values())]
    table = Table(
        title="builds to within 1 % of the exhaustive best, baseline and reference included: median / worst (seeds)"
    )
    for column in ("space", "scenario", *samplers):
        table.add_column(column, justify="left" if column in ("space", "scenario") else "right")
    for (space, scenario), group in groups.items():
        cells = [
            f"{_count(group[name].median)} / {_count(group[name].worst)} ({group[name].seeds})"
            if name in group
            else ""
            for name in samplers
        ]
        table.add_row(space, scenario, *cells)
    console = Console(width=150)
    console.print(table)
    if "gp" not in samplers and importlib.util.find_spec("torch") is None:
        console.print("gp: not run, PyTorch is not installed", highlight=False)
    worse = worse_than_others(rows)
    console.print(
        f"places where another sampler's median best is better than profile's, at {CHECKPOINTS} builds: "
        + ("; ".join(worse) or "none"),
        highlight=False,
    )


def read_rows(paths: Sequence[Path]) -> list[Row]:
    """Reads what ``--json`` wrote; a later file goes over an earlier one."""
    found: dict[tuple[str, str, str], Row] = {}
    for path in paths:
        for entry in json.loads(path.read_text("utf-8")):
            best = {int(builds): ratio for builds, ratio in entry["best_after"].items()}
            row = Row(**{**entry, "best_after": best})
            found[row.space, row.scenario, row.sampler] = row
    return list(found.values())


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--spaces", nargs="+", default=names(), choices=names())
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=list(SAMPLERS))
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--json", type=Path, help="where to write the rows")
    parser.add_argument("--show", nargs="+", type=Path, help="print rows of such files and end")
    arguments = parser.parse_args()
    if arguments.show:
        show(read_rows(arguments.show))
        return
    has_torch = importlib.util.find_spec("torch") is not None
    samplers = [name for name in arguments.samplers if name != "gp" or has_torch]
    work = [(s, c, n) for s in map(load, arguments.spaces) for c in SCENARIOS for n in samplers]
    rows: list[Row] = []
    for space, scenario, name in track(work, console=Console(stderr=True)):
        rows.append(measure(space, scenario, name, arguments.seeds))
        if arguments.json:
            content = [vars(row) for row in rows]
            arguments.json.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    show(rows)


if __name__ == "__main__":
    main()
