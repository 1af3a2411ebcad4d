# SPDX-License-Identifier: Apache-2.0
"""Evaluations on Ray from a process that Ray cannot end.

Ray ends a process that lost its cluster. So the connection is held by a child process
(:func:`optimizer.ray_executor.serve`), and the campaign's own process keeps study, ledger and the jobs
that are out. When the child says that the connection is lost, ends, or falls silent, another one is
started, for at most :data:`RECONNECT_S`, and the jobs that are out are given to it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from typing import IO, Any, Final

from helia_aot.errors import Problem
from optimizer.errors import CampaignError
from optimizer.evaluate import Finished, TrialContext, TrialJob

RECONNECT_S: Final = 300.0
"""How long it is tried to connect again, before a campaign ends."""

MAX_PAUSE_S: Final = 20.0
"""Longest pause between two attempts to connect; the first is 1 s, and each is twice the one before."""

CONNECT_S: Final = 180.0
"""How long one attempt may take."""

SILENCE_S: Final = 60.0
"""How long a child may say nothing before it is given up."""

_END_S: Final = 20.0


class _LostError(Exception):
    """The child cannot be used any more."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True)
class _Child:
    process: subprocess.Popen[bytes]
    connection: Connection
    errors: IO[bytes]

    def receive(self, timeout_s: float) -> Any:
        """Gives the next message; None when none came in time.

        Raises:
            _LostError: The child has ended.
            CampaignError: The child says that Ray cannot be used, or is lost.
        """
        try:
            message = self.connection.recv() if self.connection.poll(timeout_s) else None
        except (EOFError, ConnectionError):
            raise _LostError(Problem("ray", self._last_words())) from None
        if isinstance(message, tuple):
            summary, problems, next_step = message
            raise CampaignError(summary, problems, next_step=next_step)
        return message

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_END_S)
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        last = f": {lines[-1].strip()}" if lines else ""
        return f"the process that is connected to Ray has ended{last}"

    def end(self) -> None:
        self.connection.close()
        try:
            self.process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()


class RayProcess:
    """Follows the executor's protocol; runs jobs on Ray through a child process.

    Args:
        context: What the evaluations share; must be picklable.
        workers: As of :class:`optimizer.ray_executor.RayExecutor`.
        address: As there.
        runner_slots: As there.
        note: Is told when the connection was lost and made again.

    Raises:
        CampaignError: As there.
    """

    def __init__(
        self,
        context: TrialContext,
        *,
        workers: int | None,
        address: str | None,
        runner_slots: int | None = None,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._context = context
        self._arguments = {"address": address, "runner_slots": runner_slots}
        self._is_local = address is None
        self._note = note
        self._out: dict[int, TrialJob] = {}
        try:
            self._child, self._workers = self._start(workers)
        except _LostError as error:
            raise CampaignError("Ray cannot be used.", [error.problem]) from error
        self._asked = workers
        self._heard_s = time.monotonic()

    def _start(self, workers: int | None) -> tuple[_Child, int]:
        """Starts a child and gives it and the slots that it has."""
        ours, theirs = Pipe()
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "optimizer.ray_executor", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[theirs.fileno()],
                # What interrupts the campaign must not interrupt the child, which ends with the connection.
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": _python_path()},
            )
        child = _Child(process, ours, errors)
        try:
            with contextlib.suppress(BrokenPipeError):  # why is told when it is listened to
                ours.send((self._context, {**self._arguments, "workers": workers}))
            found = child.receive(CONNECT_S)
            if found is None:
                raise _LostError(Problem("ray", f"no connection within {CONNECT_S:.0f} s"))
        except BaseException:
            process.kill()
            child.end()
            raise
        return child, int(found)

    @property
    def workers(self) -> int:
        """Number of slots, those of the first connection."""
        return self._workers

    def submit(self, job: TrialJob) -> None:
        """Takes a job; it starts as soon as a worker is ready."""
        self._out[job.number] = job
        with contextlib.suppress(OSError):  # the next wait notices, and sends it again
            self._child.connection.send(job)

    def wait(self, timeout_s: float) -> list[Finished]:
        """Gives the jobs that ended or passed their deadline.

        Raises:
            CampaignError: The connection to Ray is lost and could not be made again in time.
        """
        ends_s = time.monotonic() + timeout_s
        finished: list[Finished] = []
        while self._out and not finished and (left_s := ends_s - time.monotonic()) > 0:
            try:
                finished = self._receive(left_s)
            except _LostError as error:
                self._connect_again(error.problem)
            except CampaignError as error:
                self._connect_again(Problem("ray", "; ".join(map(str, error.problems))))
        return sorted(finished, key=lambda item: item.job.number)

    def _receive(self, timeout_s: float) -> list[Finished]:
        message = self._child.receive(timeout_s)
        now_s = time.monotonic()
        if message is None:
            if now_s - self._heard_s > SILENCE_S:
                raise _LostError(Problem("ray", f"nothing was heard for {SILENCE_S:.0f} s"))
            return []
        self._heard_s = now_s
        # A job that was given to two children counts once.
        return [item for item in message if self._out.pop(item.job.number, None) is not None]

    def _connect_again(self, reason: Problem) -> None:
        """Starts another child and gives it the jobs that are out.

        Raises:
            CampaignError: It did not succeed within :data:`RECONNECT_S`.
        """
        self._note(f"the connection to Ray is lost ({reason.reason}); connecting again")
        self._child.process.kill()
        self._child.end()
        lost_s, pause_s = time.monotonic(), 1.0
        while True:
            try:
                # A cluster that starts again may have fewer nodes at first.
                self._child, _ = self._start(self._asked if self._is_local else None)
                break
            except (CampaignError, _LostError) as failure:
                waited_s = time.monotonic() - lost_s
                if waited_s + pause_s > RECONNECT_S:
                    why = failure.problems if isinstance(failure, CampaignError) else []
                    raise CampaignError(
                        f"The connection to Ray is lost, and could not be made again in {waited_s:.0f} s.",
                        [reason, *why],
                        next_step="nothing that was measured is lost: the same command continues",
                    ) from failure
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, MAX_PAUSE_S)
        self._heard_s = time.monotonic()
        self._note(f"connected to Ray again; {len(self._out)} evaluations begin anew")
        for number in sorted(self._out):
            self.submit(self._out[number])

    def close(self) -> None:
        """Ends the child, and Ray itself where it was started here; closing twice is allowed."""
        if not self._child.connection.closed:
            self._child.end()
        self._out.clear()


def _python_path() -> str:
    """Gives where this process finds modules, and where its children are told to find some."""
    told = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(filter(None, dict.fromkeys([*sys.path, *told])))
