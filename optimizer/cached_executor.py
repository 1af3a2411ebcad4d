# SPDX-License-Identifier: Apache-2.0
"""Answers jobs from the measurement cache before another executor builds anything."""

from __future__ import annotations

from helia_aot.optimization.plan import OptimizationPlan
from optimizer.evaluate import Finished, TrialJob, check_outputs
from optimizer.executor import Executor
from optimizer.measurement_cache import CacheError, MeasurementCache, plan_cache_key
from optimizer.progress import Progress
from results.records import CampaignIdentity
from search_spaces.plans import plan_key


class CachedExecutor:
    """Follows the executor's protocol; gives what is known at once, and keeps what is new.

    Args:
        executor: Evaluates what is not known.
        cache: What is known.
        identity: The campaign; only what its runner measured is kept.
        progress: Is told once when nothing can be kept.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        cache: MeasurementCache,
        identity: CampaignIdentity,
        progress: Progress,
    ) -> None:
        self._executor = executor
        self._cache = cache
        self._identity = identity
        self._progress = progress
        self._known: list[Finished] = []
        self._can_write = True

    @property
    def workers(self) -> int:
        """How many jobs can run at the same time."""
        return self._executor.workers

    def submit(self, job: TrialJob) -> None:
        """Looks the job up, or starts it."""
        found = None
        if job.may_use_cache and job.plan is not None:
            found = self._cache.read(self._key(job.plan))
        if found is None:
            self._executor.submit(job)
        else:
            measurement = check_outputs(found, job.expected_outputs_sha256)
            self._known.append(Finished(job, measurement, 0.0, "plan"))

    def wait(self, timeout_s: float) -> list[Finished]:
        """Gives the jobs that were known or else ended."""
        if self._known:
            known, self._known = self._known, []
            return known
        finished = self._executor.wait(timeout_s)
        for item in finished:
            self._keep(item)
        return finished

    def close(self) -> None:
        """Ends the other executor."""
        self._known.clear()
        self._executor.close()

    def _keep(self, finished: Finished) -> None:
        plan, measurement = finished.job.plan, finished.measurement
        if plan is None or not self._can_write or measurement.identity != self._identity.runner:
            return
        try:
            self._cache.write(self._key(plan), measurement)
        except CacheError as error:
            self._progress.note(f"{error.summary} New measurements are not shared.")
            self._can_write = False

    def _key(self, plan: OptimizationPlan) -> str:
        return plan_cache_key(self._identity, plan_key(plan))
