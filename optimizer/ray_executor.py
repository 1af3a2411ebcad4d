# SPDX-License-Identifier: Apache-2.0
"""Evaluations on Ray workers, on this machine or on a cluster. The only file that imports Ray.

Ray is plumbing here: one actor holds one slot (the custom resource ``helia_slot``) and evaluates
one job at a time. Actors hold no state that matters; what a campaign's evaluations share, the bytes
of the model included, reaches them through Ray's object store. Nothing is retried by Ray. An actor
that dies with its process or its node, or passes a job's deadline, is replaced, and its job comes
back as ``rig_bad``. Jobs wait here for an actor that is ready, so waiting is no part of a deadline
and a slot whose node is gone takes no job.

Ray ends the process that is connected to it when the node beside it is gone, or when it did not hear from
the head for a minute. So the campaign's own process never connects: :mod:`optimizer.ray_process` runs
this file as a program, and starts it again when the connection is lost.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from textwrap import shorten
from typing import Any, Final

# Read when Ray is imported: no usage report over the network, no warning about accelerators.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
from ray.exceptions import RayError

from helia_aot.errors import Problem
from optimizer.errors import CampaignError
from optimizer.evaluate import Evaluator, Finished, TrialContext, TrialJob
from runners.measurement import Measurement

SLOT: Final = "helia_slot"
"""The custom resource; a cluster node offers as many as it can run evaluations side by side."""

START_DEADLINE_S: Final = 180.0
"""How long jobs wait while no slot at all has a worker."""

MAX_FAILED_STARTS: Final = 3
"""Workers of one slot that may fail to start, one after another, before the slot is left alone."""

SIGN_OF_LIFE_S: Final = 10.0
"""How often the head is asked for a sign of life, and how long it may take to answer."""

_LISTEN_S: Final = 0.05
"""How long a job of another process waits until it is heard."""

_OBJECT_STORE_BYTES: Final = 100 * 1024 * 1024
_REASON_CHARACTERS: Final = 300


@dataclass
class _Slot:
    """A place for one worker. Ray gives its references and actors no public type, hence ``Any``.

    Attributes:
        actor: The worker; None when the slot is left alone.
        starting: Resolves when the worker is ready; None when it is.
        failed_starts: Workers that failed to start since the last one that did.
        running: The reference of the job that it has; None when it is idle.
    """

    actor: Any
    starting: Any
    failed_starts: int = 0
    running: Any = None

    @property
    def is_alive(self) -> bool:
        return self.actor is not None and self.starting is None


@dataclass(frozen=True)
class _Busy:
    job: TrialJob
    slot: int
    started_s: float


class LostHeadError(Exception):
    """The head of the cluster does not answer."""


class RayExecutor:
    """Runs jobs on Ray actors, one for each slot.

    Args:
        context: What the evaluations share.
        workers: Number of slots, at least 1; None takes all that the cluster has, or on this machine
            all that the runner has, or else all cores.
        address: Address of a running cluster; None starts Ray on this machine and ends it on
            :meth:`close`.
        runner_slots: Evaluations that the runner can do side by side on this machine whatever its
            cores, such as its boards; None for a runner that needs a core for each.

    Raises:
        CampaignError: Ray cannot start, the cluster cannot be reached, or there are fewer slots than
            asked for.
    """

    def __init__(
        self,
        context: TrialContext,
        *,
        workers: int | None,
        address: str | None,
        runner_slots: int | None = None,
    ) -> None:
        local_workers = local_worker_count(workers, runner_slots) if address is None else 0
        _connect(address, local_workers)
        try:
            self._workers = local_workers if address is None else _cluster_workers(address, workers)
            self._context = ray.put(context)
            self._actor_class = ray.remote(
                num_cpus=1, resources={SLOT: 1}, max_restarts=0, max_task_retries=0
            )(Evaluator)
            self._slots = [self._start() for _ in range(self._workers)]
        except BaseException:
            ray.shutdown()
            raise
        self._queue: deque[TrialJob] = deque()
        self._busy: dict[Any, _Busy] = {}
        self._alive_s = self._heard_s = time.monotonic()
        self._last_failure = "none became ready"

    @property
    def workers(self) -> int:
        """Number of slots."""
        return self._workers

    @property
    def is_busy(self) -> bool:
        """Whether a job waits or runs."""
        return bool(self._busy or self._queue)

    def submit(self, job: TrialJob) -> None:
        """Takes a job; it starts as soon as a worker is ready."""
        self._queue.append(job)
        self._dispatch()

    def wait(self, timeout_s: float) -> list[Finished]:
        """Gives the jobs that ended or passed their deadline.

        Raises:
            LostHeadError: The connection to Ray is lost; what was not finished must be started again
                elsewhere.
        """
        if not self.is_busy:
            return []
        try:
            finished = self._wait(timeout_s)
        except (RayError, ConnectionError) as error:
            raise LostHeadError(_first_and_last_line(error)) from error
        return sorted(finished, key=lambda item: item.job.number)

    def _wait(self, timeout_s: float) -> list[Finished]:
        now = time.monotonic()
        deadlines = [busy.started_s + busy.job.deadline_s for busy in self._busy.values()]
        references = [*self._busy, *(slot.starting for slot in self._slots if slot.starting)]
        left_s = max(0.0, min([timeout_s, *(deadline - now for deadline in deadlines)]))
        if references:
            ready, _ = ray.wait(references, num_returns=1, timeout=left_s)
            if ready:
                # More may have ended in the same moment; take them in one go.
                ready, _ = ray.wait(references, num_returns=len(references), timeout=0)
        else:
            ready = []
            time.sleep(min(left_s, 0.1))
        if not ready:
            self._ask_for_a_sign_of_life()
        finished = [self._collect(reference) for reference in ready if reference in self._busy]
        finished += [self._give_up(reference) for reference in self._late()]
        for slot in self._slots:
            if slot.starting is not None and slot.starting in ready:
                self._check_start(slot)
        self._dispatch()
        return finished + self._hopeless()

    def _ask_for_a_sign_of_life(self, *, now: bool = False) -> None:
        """Asks the head for its nodes, if it is time.

        Args:
            now: Whether it is time in any case, because something was lost.

        Raises:
            LostHeadError: It does not answer, or all nodes are gone.
        """
        if not now and time.monotonic() - self._heard_s < SIGN_OF_LIFE_S:
            return
        answers: list[list[dict[str, Any]]] = []

        def ask() -> None:
            with contextlib.suppress(Exception):  # whatever goes wrong there, it is no answer
                answers.append(ray.nodes())  # type: ignore[no-untyped-call]

        # A head that is gone lets the question wait for a minute.
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(SIGN_OF_LIFE_S)
        if not answers or not any(node["Alive"] for node in answers[0]):
            raise LostHeadError("the head of the cluster does not answer")
        self._heard_s = time.monotonic()

    def close(self) -> None:
        """Ends the actors, and Ray itself where this executor started it."""
        if not ray.is_initialized():
            return
        for slot in self._slots:
            self._kill(slot)
        self._busy.clear()
        self._queue.clear()
        ray.shutdown()

    def _start(self, failed_starts: int = 0) -> _Slot:
        actor: Any = self._actor_class.remote(self._context)
        return _Slot(actor, actor.ready.remote(), failed_starts)

    def _restart(self, number: int, failed_starts: int = 0) -> None:
        self._kill(self._slots[number])
        self._slots[number] = self._start(failed_starts)

    def _kill(self, slot: _Slot) -> None:
        if slot.actor is not None:
            with contextlib.suppress(RayError):
                ray.kill(slot.actor)

    def _check_start(self, slot: _Slot) -> None:
        try:
            ray.get([slot.starting])
        except RayError as error:
            self._ask_for_a_sign_of_life(now=True)
            self._last_failure = _first_and_last_line(error)
            number = self._slots.index(slot)
            if slot.failed_starts + 1 < MAX_FAILED_STARTS:
                self._restart(number, slot.failed_starts + 1)
            else:
                self._slots[number] = _Slot(None, None)
            return
        slot.starting = None
        slot.failed_starts = 0

    def _dispatch(self) -> None:
        """Starts waiting jobs on idle workers; one that all other slots lack is not waited for."""
        alive = [number for number, slot in enumerate(self._slots) if slot.is_alive]
        if alive:
            self._alive_s = time.monotonic()
        for job in list(self._queue):
            wanted = [number for number in alive if number not in job.avoid] or alive
            idle = [number for number in wanted if self._slots[number].running is None]
            if idle:
                self._queue.remove(job)
                self._run(job, idle[0])

    def _run(self, job: TrialJob, number: int) -> None:
        slot = self._slots[number]
        assert slot.actor is not None
        slot.running = slot.actor.evaluate.remote(job)
        self._busy[slot.running] = _Busy(job, number, time.monotonic())

    def _hopeless(self) -> list[Finished]:
        """Gives back all jobs that wait, when there has been no worker for too long."""
        is_starting = any(slot.starting is not None for slot in self._slots)
        waited_s = time.monotonic() - self._alive_s
        if not self._queue or any(slot.is_alive for slot in self._slots):
            return []
        if is_starting and waited_s < START_DEADLINE_S:
            return []
        reason = f"no worker could be started: {self._last_failure}"
        measurement = Measurement(status="rig_bad", stage="convert", reason=reason)
        jobs, self._queue = list(self._queue), deque()
        self._alive_s = time.monotonic()
        for number, slot in enumerate(self._slots):
            if slot.actor is None:
                self._restart(number)
        return [Finished(job, measurement, waited_s) for job in jobs]

    def _late(self) -> list[Any]:
        now = time.monotonic()
        return [
            reference
            for reference, busy in self._busy.items()
            if now - busy.started_s >= busy.job.deadline_s
        ]

    def _collect(self, reference: Any) -> Finished:
        busy = self._busy[reference]
        try:
            finished: Finished = ray.get(reference)
        except RayError as error:
            self._ask_for_a_sign_of_life(now=True)
            return self._replace(reference, f"the worker was lost: {_first_and_last_line(error)}")
        del self._busy[reference]
        self._slots[busy.slot].running = None
        return replace(finished, worker=busy.slot)

    def _give_up(self, reference: Any) -> Finished:
        deadline_s = self._busy[reference].job.deadline_s
        return self._replace(reference, f"no result within {deadline_s:.0f} s")

    def _replace(self, reference: Any, reason: str) -> Finished:
        busy = self._busy.pop(reference)
        self._restart(busy.slot)
        measurement = Measurement(
            status="rig_bad",
            stage="run",
            reason=reason,
            evidence={"deadline_s": busy.job.deadline_s},
        )
        seconds = time.monotonic() - busy.started_s
        return Finished(busy.job, measurement, seconds, worker=busy.slot)


def _first_and_last_line(error: Exception) -> str:
    """Gives what happened and, where Ray shows a worker's traceback, its exception."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ... ".join(dict.fromkeys([*lines[:1], *lines[-1:]])) or type(error).__name__
    return shorten(text, _REASON_CHARACTERS, placeholder=" ...")


def _connect(address: str | None, workers: int) -> None:
    quiet: dict[str, Any] = {
        "logging_level": logging.ERROR,
        "log_to_driver": False,
        "configure_logging": True,
    }
    try:
        if address is not None:
            _knock(address)
            ray.init(address=address, **quiet)
            return
        ray.init(
            address="local",
            num_cpus=workers,
            num_gpus=0,
            resources={SLOT: workers},
            object_store_memory=_OBJECT_STORE_BYTES,
            include_dashboard=False,
            **quiet,
        )
    except (RayError, ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = "on this machine" if address is None else f"at {address}"
        raise CampaignError(
            f"Ray cannot be used {where}.",
            [Problem("ray", str(error))],
            next_step="run without Ray: --workers 0",
        ) from error


def _knock(address: str) -> None:
    """Finds out at once that nothing listens at an address, where Ray would try for half a minute.

    Raises:
        OSError: Nothing does.
    """
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:  # neither "auto" nor a path or ray://...
        socket.create_connection((host, int(port)), timeout=SIGN_OF_LIFE_S).close()


def local_worker_count(workers: int | None, runner_slots: int | None) -> int:
    """Gives how many workers start on this machine: what is asked for, at most the runner's slots.

    Args:
        workers: What is asked for; None for all.
        runner_slots: As of :class:`RayExecutor`.

    Raises:
        CampaignError: The runner needs a core for each evaluation, and there are fewer cores.
    """
    if runner_slots is not None:
        return min(workers or runner_slots, runner_slots)
    cores = len(os.sched_getaffinity(0))
    if workers is not None and workers > cores:
        raise CampaignError(
            f"{workers} workers are asked for, but this process may use {cores} cores.",
            next_step="lower --workers; auto takes all cores",
        )
    return workers or cores


def _cluster_workers(address: str, workers: int | None) -> int:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    slots = int(resources.get(SLOT, 0))
    if slots == 0:
        raise CampaignError(
            f"The Ray cluster at {address} offers no {SLOT!r} resource.",
            next_step="start each node with "
            f"ray start --resources='{{\"{SLOT}\": <evaluations side by side>}}' ...",
        )
    if workers is not None and workers > slots:
        raise CampaignError(
            f"{workers} workers are asked for, but the Ray cluster at {address} has {slots} slots.",
            next_step="lower --workers, or offer more slots",
        )
    return workers or slots


def serve(connection: Connection) -> None:
    """Runs the jobs of another process, until that process closes the connection or the one to Ray is lost.

    The first message is the arguments of :class:`RayExecutor`, every other one a job. Answers are the
    number of slots; then lists of :class:`Finished`, an empty one now and then as a sign of life. An
    exception says that Ray cannot be used, or is lost.

    Args:
        connection: To the other process.
    """
    try:
        context, arguments = connection.recv()
        executor = RayExecutor(context, **arguments)
    except CampaignError as error:
        connection.send((error.summary, list(error.problems), error.next_step))
        return
    try:
        connection.send(executor.workers)
        sent_s = time.monotonic()
        while True:
            while connection.poll(0.0 if executor.is_busy else 1.0):
                executor.submit(connection.recv())
            finished = executor.wait(timeout_s=_LISTEN_S)
            if finished or time.monotonic() - sent_s > SIGN_OF_LIFE_S:
                connection.send(finished)
                sent_s = time.monotonic()
    except LostHeadError as error:
        connection.send(("The connection to Ray is lost.", [Problem("ray", str(error))], None))
    except (EOFError, BrokenPipeError):
        pass  # the other process has closed the connection, or is gone
    finally:
        executor.close()


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
