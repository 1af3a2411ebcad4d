# SPDX-License-Identifier: Apache-2.0
"""A thousand simulated campaigns on noisy targets, verdict included: is a plan slower than ``auto`` ever written?

Recorded spaces are replayed with an arbitrary baseline, with noise from small to larger than any gain, and with timings
that have two modes. Run it from the repository's root::

    .venv/bin/python tests/benchmarks/studies.py [--studies N]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from recorded_spaces import Study  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402
from simulated_studies import SCENARIOS, TRIALS, simulated  # noqa: E402


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=1000)
    arguments = parser.parse_args()
    ends: dict[str, list[Study]] = {scenario.name: [] for scenario in SCENARIOS}
    found = track(
        simulated(arguments.studies), total=arguments.studies, console=Console(stderr=True)
    )
    for scenario, end in found:
        ends[scenario.name].append(end)
    table = Table(title=f"{arguments.studies} simulated campaigns of {TRIALS} trials at most")
    for name in ("scenario", "campaigns", "auto written", "faster", "slower", "median gain"):
        table.add_column(name, justify="left" if name == "scenario" else "right")
    for name, group in ends.items():
        gains = sorted(item.baseline / item.shipped for item in group)
        table.add_row(
            name,
            str(len(group)),
            str(sum(item.is_auto for item in group)),
            str(sum(item.shipped < item.baseline for item in group)),
            str(sum(item.shipped > item.baseline for item in group)),
            f"{gains[len(gains) // 2]:.4f}x" if gains else "",
        )
    console = Console(width=120)
    console.print(table)
    slower = sum(item.shipped > item.baseline for group in ends.values() for item in group)
    console.print(f"plans slower than auto that were written: {slower}")
    if slower:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
