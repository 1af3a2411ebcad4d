# SPDX-License-Identifier: Apache-2.0
"""Evaluations on Ray workers, on this machine or on a cluster. The only file that imports Ray.

Ray is plumbing here: one actor holds one slot (the custom resource ``helia_slot``) and evaluates
one job at a time. Nothing is retried by Ray. An actor that dies, or passes a job's deadline, is
replaced, and its job comes back as ``rig_bad``.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from dataclasses import dataclass
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

_OBJECT_STORE_BYTES: Final = 100 * 1024 * 1024
_REASON_CHARACTERS: Final = 300


@dataclass(frozen=True)
class _Busy:
    job: TrialJob
    slot: int
    started_s: float


class RayExecutor:
    """Runs jobs on Ray actors, one for each slot.

    Ray gives its references and actor handles no public type, hence ``Any`` here.

    Args:
        context: What the evaluations share.
        workers: Number of slots, at least 1; None takes all that the cluster has, or all cores of
            this machine.
        address: Address of a running cluster; None starts Ray on this machine and ends it on
            :meth:`close`.

    Raises:
        CampaignError: Ray cannot start, the cluster cannot be reached, or it has fewer slots than
            asked for.
    """

    def __init__(self, context: TrialContext, *, workers: int | None, address: str | None) -> None:
        local_workers = workers or len(os.sched_getaffinity(0))
        _connect(address, local_workers)
        try:
            self._workers = local_workers if address is None else _cluster_workers(address, workers)
            self._context = ray.put(context)
            self._actor_class = ray.remote(
                num_cpus=1, resources={SLOT: 1}, max_restarts=0, max_task_retries=0
            )(Evaluator)
            self._actors = [self._create_actor() for _ in range(self._workers)]
        except BaseException:
            ray.shutdown()
            raise
        self._idle = list(range(self._workers))
        self._busy: dict[Any, _Busy] = {}

    @property
    def workers(self) -> int:
        """Number of slots."""
        return self._workers

    def submit(self, job: TrialJob) -> None:
        """Starts a job on a free slot."""
        slot = self._idle.pop(0)
        reference = self._actors[slot].evaluate.remote(job)
        self._busy[reference] = _Busy(job, slot, time.monotonic())

    def wait(self, timeout_s: float) -> list[Finished]:
        """Gives the jobs that ended or passed their deadline."""
        if not self._busy:
            return []
        now = time.monotonic()
        next_deadline_s = min(busy.started_s + busy.job.deadline_s for busy in self._busy.values())
        ready, _ = ray.wait(
            list(self._busy),
            num_returns=1,
            timeout=max(0.0, min(timeout_s, next_deadline_s - now)),
        )
        if ready:
            # More may have ended in the same moment; take them in one go.
            ready, _ = ray.wait(list(self._busy), num_returns=len(self._busy), timeout=0)
        finished = [self._collect(reference) for reference in ready]
        finished += [self._give_up(reference) for reference in self._late()]
        return sorted(finished, key=lambda item: item.job.number)

    def close(self) -> None:
        """Ends the actors, and Ray itself where this executor started it."""
        if not ray.is_initialized():
            return
        for actor in self._actors:
            ray.kill(actor)
        self._busy.clear()
        ray.shutdown()

    def _create_actor(self) -> Any:
        return self._actor_class.remote(self._context)

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
            return self._replace(reference, f"the worker was lost: {_first_and_last_line(error)}")
        del self._busy[reference]
        self._idle.append(busy.slot)
        return finished

    def _give_up(self, reference: Any) -> Finished:
        deadline_s = self._busy[reference].job.deadline_s
        return self._replace(reference, f"no result within {deadline_s:.0f} s")

    def _replace(self, reference: Any, reason: str) -> Finished:
        busy = self._busy.pop(reference)
        with contextlib.suppress(RayError):
            ray.kill(self._actors[busy.slot])
        self._actors[busy.slot] = self._create_actor()
        self._idle.append(busy.slot)
        measurement = Measurement(status="rig_bad", stage="run", reason=reason)
        return Finished(busy.job, measurement, time.monotonic() - busy.started_s)


def _first_and_last_line(error: RayError) -> str:
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
