# SPDX-License-Identifier: Apache-2.0
"""How long each stage of an evaluation may take: long at first, then by what the baseline took.

Proposing and recording happen in the campaign's own process. A proposal that is late is made by chance
instead (:meth:`optimizer.study.CampaignStudy.ask`), a record that is late ends the campaign
(:data:`results.ledger.RECORD_S`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

FACTOR: Final = 10.0
"""Deadline of a stage as a multiple of what it took for the baseline."""

START_S: Final = 60.0
"""What an evaluation may take besides its stages: making the runner, moving data."""


PROPOSE_S: Final = 120.0
"""What a proposal, or a look at the gap, may take; usually it is a fraction of a second."""

SOLVER_S: Final = 30.0
"""What one linear programme of a proposal may take."""


class LateError(Exception):
    """A stage of this process passed its deadline."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises :class:`LateError` in the block after some seconds.

    Only where signals can be had, in the main thread; elsewhere the deadline of the job holds. A call
    into a library is interrupted when it returns.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(number: int, frame: object) -> None:  # noqa: ARG001
        raise LateError(f"it did not end within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Deadlines:
    """Seconds that the stages may take, each above 0; the defaults are for the baseline itself.

    Attributes:
        convert_s: The conversion.
        build_s: Compiling and linking; the floor covers a cold object cache on another machine.
        run_s: The run on the target.
    """

    convert_s: float = 120.0
    build_s: float = 300.0
    run_s: float = 60.0

    @property
    def total_s(self) -> float:
        """Deadline of an evaluation as a whole, after which its worker is given up."""
        return START_S + self.convert_s + self.build_s + self.run_s

    def of(self, stage: str | None) -> float | None:
        """Gives the deadline that a failed stage of a measurement had; None for one without."""
        return {
            "convert": self.convert_s,
            "build": self.build_s,
            "link": self.build_s,
            "run": self.run_s,
        }.get(stage or "")


FLOOR: Final = Deadlines(convert_s=20.0, build_s=120.0, run_s=10.0)
"""Lowest deadlines: a busy machine must not look like a dead one."""


def after_baseline(stage_seconds: Mapping[str, float], *, run_s: float) -> Deadlines:
    """Gives the deadlines of the plans that follow the baseline.

    Args:
        stage_seconds: What the baseline's stages took; one that is missing keeps its first deadline.
        run_s: The user's deadline of a run, which is never exceeded.
    """
    first = Deadlines(run_s=run_s)

    def adapted(name: str, floor_s: float, most_s: float) -> float:
        took_s = stage_seconds.get(name)
        return most_s if took_s is None else max(floor_s, FACTOR * took_s)

    return Deadlines(
        convert_s=adapted("convert", FLOOR.convert_s, first.convert_s),
        build_s=adapted("build", FLOOR.build_s, first.build_s),
        run_s=min(run_s, adapted("run", FLOOR.run_s, run_s)),
    )
