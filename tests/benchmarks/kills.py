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
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))

from kills import Tally, kill_drivers, kill_workers  # noqa: E402

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
    started_s = time.monotonic()
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
    for kind, count in tally.kills.items():
        print(f"{count:4} kills: {kind}")
    print(f"{tally.torn_lines:4} ledgers left with a torn last line")
    print(
        f"{tally.campaigns:4} campaigns ended, with {tally.finished} evaluations in their ledgers"
    )
    print(f"{tally.lost:4} finished evaluations lost")
    print(f"{tally.other_plans:4} campaigns with another plan than the undisturbed one")
    print(f"{time.monotonic() - started_s:.0f} s", file=sys.stderr)
    if tally.lost or tally.other_plans:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
