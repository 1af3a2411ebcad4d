# SPDX-License-Identifier: Apache-2.0
"""A campaign on a Ray cluster of several nodes, one of which is lost on the way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from double_runner import PriceList
from price_campaign import run, trials_of
from ray.cluster_utils import Cluster
from synthetic_campaign import SilentProgress

from optimizer.errors import CampaignError
from optimizer.progress import CampaignState
from optimizer.ray_executor import SLOT
from results.evidence import read_evidence
from results.ledger import LEDGER_NAME

NODE = {"num_cpus": 1, "num_gpus": 0, "object_store_memory": 80 * 1024 * 1024}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A head without slots and two nodes with one each; on one machine, with nothing shared through Ray but objects."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
        started = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        started.add_node(**NODE, resources={SLOT: 1})
        started.add_node(**NODE, resources={SLOT: 1})
        started.wait_for_nodes()
        yield started
        started.shutdown()


class _LosesANode(SilentProgress):
    """Kills a node, its workers included, once both nodes have measured something."""

    def __init__(self, cluster: Cluster, ledger: Path) -> None:
        super().__init__()
        self._cluster = cluster
        self._ledger = ledger
        self.lost = False

    def update(self, state: CampaignState) -> None:
        super().update(state)
        if not self.lost and {record.worker for record in trials_of(self._ledger)} >= {0, 1}:
            self.lost = True
            self._cluster.remove_node(next(iter(self._cluster.worker_nodes)), allow_graceful=False)


def test_more_workers_than_slots_are_refused(
    cluster: Cluster, digits_model: Path, tmp_path: Path
) -> None:
    with pytest.raises(CampaignError, match="3 workers are asked for"):
        run(
            digits_model,
            tmp_path,
            PriceList(),
            SilentProgress(),
            address=cluster.address,
            workers=3,
        )


def test_losing_a_node_in_mid_campaign_ends_in_the_same_plan(
    cluster: Cluster, digits_model: Path, tmp_path: Path
) -> None:
    whole = run(digits_model, tmp_path / "whole", PriceList(), SilentProgress(), workers=0)
    model = tmp_path / "model.tflite"
    model.write_bytes(digits_model.read_bytes())
    ledger = tmp_path / "lost" / LEDGER_NAME
    progress = _LosesANode(cluster, ledger)
    summary = run(
        digits_model, tmp_path / "lost", PriceList(slow_s=0.1), progress, address=cluster.address
    )
    assert progress.lost
    assert summary.search.stop_reason == "exhausted"
    assert summary.best_cycles == whole.best_cycles
    plans = [(tmp_path / name / "aot_plan.json").read_bytes() for name in ("whole", "lost")]
    assert plans[0] == plans[1]
    records = trials_of(ledger)
    assert len({record.plan_key for record in records if record.role != "verify"}) == len(
        [record for record in records if record.role != "verify"]
    )
    (comparison,) = read_evidence(tmp_path / "lost").comparisons
    assert comparison.is_faster
