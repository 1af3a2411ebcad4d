# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster of one node with one slot that starts and stops as lines of its standard input say.

Answers each ``start`` and ``stop`` with a line: the address of the cluster, or ``stopped``.
"""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster

from optimizer.ray_executor import SLOT

NODE = {
    "num_cpus": 1,
    "num_gpus": 0,
    "object_store_memory": 80 * 1024 * 1024,
    "include_dashboard": False,
    "resources": {SLOT: 1},
}


def main() -> None:
    """Obeys until the input ends; the port is the argument."""
    cluster = None
    for line in sys.stdin:
        if line.strip() == "start":
            port = int(sys.argv[1])
            cluster = Cluster(
                initialize_head=True, head_node_args={**NODE, "gcs_server_port": port}
            )
            answer = cluster.address
        else:
            assert cluster is not None
            cluster.shutdown()
            cluster, answer = None, "stopped"
        sys.stdout.write(f"answer {answer}\n")
        sys.stdout.flush()
    if cluster is not None:
        cluster.shutdown()


if __name__ == "__main__":
    main()
