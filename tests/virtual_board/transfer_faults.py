# SPDX-License-Identifier: Apache-2.0
"""Runs one session after another, each with an error at another transfer, and prints how each ended.

A process of its own, since pyOCD looks for probes when it is imported::

    transfer_faults.py <job.json> <bench file> <folder> <last position> <step>
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from runners.device.job import DUMP_NAME, read_job
from runners.device.session import BoardSession

ERRORS = (
    "TransferTimeoutError",
    "TransferFaultError",
    "TransferProtocolError",
    "TransferError",
    "ProbeError",
    "ProbeDisconnected",
)


def main() -> None:
    job_path, bench_path, folder, last, step = sys.argv[1:]
    job = read_job(Path(job_path).read_text("utf-8"))
    bench = json.loads(Path(bench_path).read_text("utf-8"))
    (name,) = bench
    dump = Path(folder, DUMP_NAME)
    endings = []
    for index, position in enumerate(range(0, int(last) + 1, int(step))):
        bench[name]["faults"] = {
            "error": ERRORS[index % len(ERRORS)],
            "error_at": position,
            "sessions": "all",
        }
        Path(bench_path).write_text(json.dumps(bench), "utf-8")
        dump.unlink(missing_ok=True)
        report = BoardSession(job, Path(folder)).run()
        outputs = dump.read_bytes()[job.image.result_bytes :].hex() if dump.exists() else None
        endings.append(
            [report.outcome, report.stage, outputs, report.facts.get("hardware_breakpoints")]
        )
    sys.stdout.write(json.dumps(endings))


if __name__ == "__main__":
    main()
