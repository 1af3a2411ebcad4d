# SPDX-License-Identifier: Apache-2.0
"""What one trial costs the process that proposes, records and decides, and whether that grows with the trials.

The real loop and a real ledger on the disk; what a target would count is looked up. Run it from the repository's root::

    .venv/bin/python tests/benchmarks/driver.py [--samplers NAME=TRIALS ...] [--operators N]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from synthetic_campaign import SilentProgress, TableExecutor, search_in  # noqa: E402

from optimizer.evaluate import Finished, TrialJob  # noqa: E402
from optimizer.progress import CampaignState  # noqa: E402

BLOCKS = 5
"""Parts of a campaign that are reported one by one."""

DEFAULT = ("random=10000", "tpe=1000", "profile=1000")


class _Clock(TableExecutor):
    """Notes when each job comes and how long looking it up takes, which is no cost of the driver."""

    def __init__(self) -> None:
        super().__init__()
        self.submitted_s: list[float] = []
        self.looked_up_s: list[float] = []

    def submit(self, job: TrialJob) -> None:
        self.submitted_s.append(time.perf_counter())
        super().submit(job)

    def wait(self, timeout_s: float) -> list[Finished]:
        started = time.perf_counter()
        finished = super().wait(timeout_s)
        self.looked_up_s.append(time.perf_counter() - started)
        return finished


class _Quiet(SilentProgress):
    def update(self, state: CampaignState) -> None:
        del state


def costs_ms(sampler: str, trials: int, operators: int) -> list[float]:
    """Gives the milliseconds of every trial."""
    clock = _Clock()
    with tempfile.TemporaryDirectory() as folder:
        search_in(
            Path(folder),
            operators=operators,
            executor=clock,
            sampler=sampler,  # type: ignore[arg-type]
            trials=trials,
            progress=_Quiet(),
        )
    starts = clock.submitted_s[1:]  # without the baseline
    waits = clock.looked_up_s[1:]
    return [
        1000 * (after - before - wait)
        for before, after, wait in zip(starts, starts[1:], waits, strict=False)
    ]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--samplers", nargs="+", default=DEFAULT, metavar="NAME=TRIALS")
    parser.add_argument("--operators", type=int, default=20)
    arguments = parser.parse_args()
    table = Table(
        title=f"driver's milliseconds for one trial, {arguments.operators} operators: median of each fifth of a campaign"
    )
    table.add_column("sampler")
    for name in ("trials", *(f"fifth {index + 1}" for index in range(BLOCKS)), "last/first"):
        table.add_column(name, justify="right")
    for text in arguments.samplers:
        sampler, _, trials = text.partition("=")
        costs = costs_ms(sampler, int(trials), arguments.operators)
        size = len(costs) // BLOCKS
        medians = [
            statistics.median(costs[index * size : (index + 1) * size]) for index in range(BLOCKS)
        ]
        cells = [f"{median:.2f}" for median in medians]
        table.add_row(sampler, f"{len(costs) + 1:,}", *cells, f"{medians[-1] / medians[0]:.2f}")
    console = Console(width=140)
    console.print(table)
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(f"largest resident memory of all of them: {memory_mb:.0f} MB")


if __name__ == "__main__":
    main()
