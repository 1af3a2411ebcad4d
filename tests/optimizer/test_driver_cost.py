# SPDX-License-Identifier: Apache-2.0
"""What the driver keeps so that a trial costs the same after any number of trials.

``tests/benchmarks/driver.py`` measures it; here the counts are compared with the whole ledger.
"""

from __future__ import annotations

import random
from pathlib import Path

from synthetic_campaign import TableExecutor, from_table, search_in

from optimizer.evaluate import TrialJob
from results.records import RepeatRecord, TrialRecord, known_plans
from results.standing import Standing
from runners.measurement import Measurement


def test_counts_equal_those_of_the_whole_ledger(tmp_path: Path) -> None:
    moments = random.Random(5)

    def evaluate(job: TrialJob) -> Measurement:
        kind = moments.choice(["ok", "ok", "ok", "plan_bad", "rig_bad", "unknown"])
        if job.number == 0 or kind == "ok":
            return from_table(job)
        return Measurement(status=kind, stage="run", reason="by chance")  # type: ignore[arg-type]

    _, entries = search_in(
        tmp_path, operators=5, trials=25, sampler="random", executor=TableExecutor(evaluate)
    )
    standing = Standing()
    for count, entry in enumerate(entries, 1):
        standing.add(entry)
        lines = entries[:count]
        trials = [line for line in lines if isinstance(line, TrialRecord)]
        good = [record.measurement.best_cycles for record in trials if record.is_good]
        assert standing.known == known_plans(lines)
        assert standing.seen_plans == sum(r.in_space for r in known_plans(lines).values())
        assert standing.repeats == sum(isinstance(line, RepeatRecord) for line in lines)
        assert standing.best_cycles == standing.best_in_space == min(good)
        assert standing.search_trials == sum(r.role == "search" and r.is_conclusive for r in trials)
        assert standing.failures.total() == sum(not record.is_good for record in trials)
        first_best = next(
            number
            for number, r in enumerate(trials)
            if r.is_good and r.measurement.best_cycles == min(good)
        )
        since = [r for r in trials[first_best + 1 :] if r.role == "search" and r.is_conclusive]
        assert standing.trials_without_gain == len(since)
