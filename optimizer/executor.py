# SPDX-License-Identifier: Apache-2.0
"""What runs evaluations: the protocol that the campaign's loop knows, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from optimizer.evaluate import Finished, TrialContext, TrialJob


class Executor(Protocol):
    """Runs jobs of one campaign on some workers.

    An executor never retries and never loses a job: each submitted job comes back once, as a
    measurement with status ``rig_bad`` when its worker died or passed the deadline. Workers have
    numbers from 0; a job that comes alone goes to the lowest one that it does not avoid.
    """

    @property
    def workers(self) -> int:
        """How many jobs can run at the same time, at least 1."""
        ...

    def submit(self, job: TrialJob) -> None:
        """Starts a job; only while fewer than ``workers`` jobs are out."""
        ...

    def wait(self, timeout_s: float) -> list[Finished]:
        """Gives the jobs that ended, by rising number; empty if none did within the time."""
        ...

    def close(self) -> None:
        """Ends all workers; jobs that are out are given up. Closing twice is allowed."""
        ...


ExecutorFactory = Callable[[TrialContext], Executor]
"""Starts an executor for a campaign."""


class DeferredExecutor:
    """Starts another executor at the first job; a campaign with nothing to measure starts none."""

    def __init__(self, start: Callable[[], Executor]) -> None:
        self._start = start
        self._started: Executor | None = None

    @property
    def workers(self) -> int:
        """How many jobs can run at the same time; starts the executor."""
        return self._executor().workers

    def submit(self, job: TrialJob) -> None:
        """Starts a job."""
        self._executor().submit(job)

    def wait(self, timeout_s: float) -> list[Finished]:
        """Gives the jobs that ended; none when nothing was started."""
        return [] if self._started is None else self._started.wait(timeout_s)

    def close(self) -> None:
        """Ends the executor, if one was started."""
        if self._started is not None:
            self._started.close()

    def _executor(self) -> Executor:
        if self._started is None:
            self._started = self._start()
        return self._started
