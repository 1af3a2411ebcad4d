# SPDX-License-Identifier: Apache-2.0
"""Evaluations in this process, one after another: ``ray: {workers: 0}``.

No worker can be given up here, so a job's deadline does not apply; the runner's own deadline of a
run does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from optimizer.evaluate import Evaluator, Finished, TrialContext, TrialJob


class SerialExecutor:
    """Runs each job when its result is waited for."""

    def __init__(self, context: TrialContext) -> None:
        self._evaluator = Evaluator(context)
        self._jobs: deque[TrialJob] = deque()

    @property
    def workers(self) -> int:
        """Always 1."""
        return 1

    def submit(self, job: TrialJob) -> None:
        """Keeps the job for the next :meth:`wait`."""
        self._jobs.append(job)

    def wait(self, timeout_s: float) -> list[Finished]:  # noqa: ARG002
        """Runs the next job and gives its outcome; empty when there is none."""
        if not self._jobs:
            return []
        return [replace(self._evaluator.evaluate(self._jobs.popleft()), worker=0)]

    def close(self) -> None:
        """Forgets the jobs that did not run."""
        self._jobs.clear()
