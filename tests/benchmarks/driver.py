# SPDX-License-Identifier: Apache-2.0
"""What one trial costs the process that proposes, records and decides, and whether that grows with the trials.

The real loop and a real ledger on the disk; what a target would count is looked up. Milliseconds of this process on the
processor, told apart: what the sampler takes for a proposal (that of Optuna, or ours for ``profile``), and what all the
rest of a trial takes. Run it from the repository's root::

    .venv/bin/python tests/benchmarks/driver.py [--samplers NAME=TRIALS ...] [--operators N] [--out FILE]
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import ClassVar, cast
from unittest.mock import patch

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from synthetic_campaign import SilentProgress, TableExecutor, search_in  # noqa: E402

from optimizer.evaluate import Finished, TrialJob  # noqa: E402
from optimizer.progress import CampaignState  # noqa: E402
from optimizer.samplers import SamplerName  # noqa: E402
from optimizer.study import CampaignStudy  # noqa: E402

NEVER = 10**9
"""Known plans in a row after which a sampler that repeats itself ends a campaign; here none does."""

NO_GAP = -1.0
"""A gap that no plan has: it is looked at after every build, and never ends the search."""

BLOCKS = 5
"""Parts of a campaign that are reported one by one."""

DEFAULT = ("random=10000", "tpe=10000", "nsga2=10000", "profile=10000")


class _TimedStudy(CampaignStudy):
    """Adds up what proposals take, the stopping rule of ``profile`` included."""

    asked: ClassVar[int] = 0
    asked_s: ClassVar[float] = 0.0

    def ask(self, number: int) -> dict[str, str]:
        _TimedStudy.asked += 1
        started = time.process_time()
        choices = super().ask(number)
        _TimedStudy.asked_s += time.process_time() - started
        return choices

    def gap(self, best_cycles: int) -> float | None:
        started = time.process_time()
        found = super().gap(best_cycles)
        _TimedStudy.asked_s += time.process_time() - started
        return found


class _Clock(TableExecutor):
    """Notes when each job comes, and what proposals took until then; looking it up is no cost of the driver."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[tuple[int, float, float]] = []
        self._looked_up_s = 0.0

    def submit(self, job: TrialJob) -> None:
        own_s = time.process_time() - self._looked_up_s
        self.notes.append((_TimedStudy.asked, own_s, _TimedStudy.asked_s))
        super().submit(job)

    def wait(self, timeout_s: float) -> list[Finished]:
        started = time.process_time()
        finished = super().wait(timeout_s)
        self._looked_up_s += time.process_time() - started
        return finished


class _Quiet(SilentProgress):
    def update(self, state: CampaignState) -> None:
        del state


def costs_ms(sampler: SamplerName, trials: int, operators: int) -> tuple[list[float], list[float]]:
    """Gives for every trial the milliseconds of a proposal and of all the rest of it.

    A sampler that proposes known plans has several proposals for one trial; their mean is given.
    """
    clock = _Clock()
    with (
        tempfile.TemporaryDirectory() as folder,
        patch("optimizer.search.CampaignStudy", _TimedStudy),
    ):
        search_in(
            Path(folder),
            operators=operators,
            executor=clock,
            sampler=sampler,
            trials=trials,
            progress=_Quiet(),
            gap=NO_GAP if sampler == "profile" else None,
        )
    asked, rest = [], []
    for before, after in itertools.pairwise(clock.notes[1:]):  # without the baseline
        proposals, own_s, asked_s = (one - two for one, two in zip(after, before, strict=True))
        asked.append(1000 * asked_s / proposals)
        rest.append(1000 * (own_s - asked_s) / proposals)
    return asked, rest


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--samplers", nargs="+", default=DEFAULT, metavar="NAME=TRIALS")
    parser.add_argument("--operators", type=int, default=20)
    parser.add_argument("--out", type=Path, help="where to write the table too")
    arguments = parser.parse_args()
    table = Table(
        title=f"processor milliseconds for one trial, {arguments.operators} operators: median of each fifth of a campaign"
    )
    for name in ("sampler", "trials", "part"):
        table.add_column(name)
    for name in (*(f"fifth {index + 1}" for index in range(BLOCKS)), "last/first"):
        table.add_column(name, justify="right")
    for text in arguments.samplers:
        sampler, _, trials = text.partition("=")
        asked, rest = costs_ms(cast("SamplerName", sampler), int(trials), arguments.operators)
        for part, costs in (("proposal", asked), ("the rest", rest)):
            size = len(costs) // BLOCKS
            medians = [
                statistics.median(costs[index * size : (index + 1) * size])
                for index in range(BLOCKS)
            ]
            cells = [f"{median:.2f}" for median in medians]
            count = f"{len(costs) + 1:,}"
            table.add_row(sampler, count, part, *cells, f"{medians[-1] / medians[0]:.2f}")
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console = Console(width=140, record=True)
    console.print(table)
    console.print(f"largest resident memory of all of them: {memory_mb:.0f} MB")
    if arguments.out:
        command = f"# tests/benchmarks/driver.py --samplers {' '.join(arguments.samplers)}\n"
        arguments.out.write_text(command + console.export_text(), "utf-8")


if __name__ == "__main__":
    main()
