# SPDX-License-Identifier: Apache-2.0
"""Kills campaigns many times at random moments: of the driver, in the middle of ledger writes, and of Ray workers.

Every campaign must end with the plan of an undisturbed one, and no finished evaluation may be lost. Run it from the
repository's root::

    .venv/bin/python tests/benchmarks/kills.py [--kills N] [--worker-kills N] [--seed N]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))

from kills import Tally, kill_drivers, kill_workers  # noqa: E402
from rich.console import Console  # noqa: E402

EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"


def main() -> None:
    """Prints what was killed and what was left."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=80, help="of the driver")
    parser.add_argument("--worker-kills", type=int, default=20, help="of Ray workers")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        kill_drivers(EXAMPLE, Path(folder), kills=arguments.kills, seed=arguments.seed, tally=tally)
        if arguments.worker_kills:
            kill_workers(
                EXAMPLE,
                Path(folder),
                kills=arguments.worker_kills,
                seed=arguments.seed,
                tally=tally,
            )
    console = Console(width=120)
    lines = [
        *(f"{count:4} kills: {kind}" for kind, count in tally.kills.items()),
        f"{tally.torn_lines:4} ledgers left with a torn last line",
        f"{tally.campaigns:4} campaigns ended, with {tally.finished} evaluations in their ledgers",
        f"{tally.lost:4} finished evaluations lost",
        f"{tally.other_plans:4} campaigns with another plan than the undisturbed one",
    ]
    console.print("\n".join(lines), highlight=False)
    if tally.lost or tally.other_plans:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
