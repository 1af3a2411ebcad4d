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
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, cast
from unittest.mock import patch

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from synthetic_campaign import SilentProgress, TableExecutor, search_in  # noqa: E402

from optimizer.evaluate import Finished  # noqa: E402
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


class _Enough(Exception):
    """So many proposals were made as are wanted."""


class _TimedStudy(CampaignStudy):
    """Notes when each proposal begins, and what proposals took until then, the stopping rule of ``profile`` included."""

    most: ClassVar[int]
    notes: ClassVar[list[tuple[float, float]]]
    asked_s: ClassVar[float]
    looked_up_s: ClassVar[float]

    @classmethod
    def begin(cls, most: int) -> None:
        cls.most, cls.notes, cls.asked_s, cls.looked_up_s = most, [], 0.0, 0.0

    def ask(self, number: int) -> dict[str, str]:
        started = time.process_time()
        _TimedStudy.notes.append((started - _TimedStudy.looked_up_s, _TimedStudy.asked_s))
        if len(_TimedStudy.notes) > _TimedStudy.most:
            raise _Enough
        choices = super().ask(number)
        _TimedStudy.asked_s += time.process_time() - started
        return choices

    def gap(self, best_cycles: int) -> float | None:
        started = time.process_time()
        found = super().gap(best_cycles)
        _TimedStudy.asked_s += time.process_time() - started
        return found


class _Clock(TableExecutor):
    """Notes how long looking outcomes up takes, which is no cost of the driver."""

    def wait(self, timeout_s: float) -> list[Finished]:
        started = time.process_time()
        finished = super().wait(timeout_s)
        _TimedStudy.looked_up_s += time.process_time() - started
        return finished


class _Quiet(SilentProgress):
    def update(self, state: CampaignState) -> None:
        del state


def costs_ms(sampler: SamplerName, trials: int, operators: int) -> tuple[list[float], list[float]]:
    """Gives for every trial the milliseconds of its proposal, and of all the rest of it.

    A proposal of a plan that is known is a trial too: for the sampler, the study and the ledger.
    """
    _TimedStudy.begin(trials)
    with (
        tempfile.TemporaryDirectory() as folder,
        patch("optimizer.search.CampaignStudy", _TimedStudy),
        patch("optimizer.search.MAX_REPEATS", NEVER),
        suppress(_Enough),
    ):
        search_in(
            Path(folder),
            operators=operators,
            executor=_Clock(),
            sampler=sampler,
            trials=NEVER,
            progress=_Quiet(),
            gap=NO_GAP if sampler == "profile" else None,
        )
    asked, rest = [], []
    for (before_s, asked_before_s), (after_s, asked_after_s) in itertools.pairwise(
        _TimedStudy.notes
    ):
        asked.append(1000 * (asked_after_s - asked_before_s))
        rest.append(1000 * (after_s - before_s) - asked[-1])
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
            count = f"{len(costs):,}"
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
