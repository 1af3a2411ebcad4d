# SPDX-License-Identifier: Apache-2.0
"""How long one warm trial takes: convert, build, simulate; alone and with two workers side by side.

Run it from the repository's root on a quiet machine::

    .venv/bin/python tests/benchmarks/trials.py [MODEL.tflite] [--repeats N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from helia_aot.api import convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from runners.base import MeasureSettings  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.registry import create_runner  # noqa: E402

EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"


def trials(path: Path, repeats: int) -> list[dict[str, float]]:
    """Gives the seconds of each stage of warm trials; every other one has the other kernels."""
    configs = [
        ConvertConfig.model_validate({"model": {"path": path}, "optimization": {"kernel": kernel}})
        for kernel in ("specialized", "generic")
    ]
    runner = create_runner("simulator", convert(configs[0]).platform)
    rows = []
    for index in range(-2, repeats):
        started = time.perf_counter()
        conversion = convert(configs[index % 2])
        converted = time.perf_counter()
        stimulus = random_stimulus(conversion.module.inputs)
        measurement = runner.measure(conversion, stimulus, MeasureSettings()).measurement
        if measurement.status != "ok":
            raise SystemExit(measurement.reason)
        row = {"convert": converted - started, **measurement.stage_seconds}
        row["whole trial"] = time.perf_counter() - started
        if index >= 0:  # the first two fill the caches
            rows.append(row)
    return rows


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", nargs="?", type=Path, default=EXAMPLE)
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    alone = trials(arguments.model, arguments.repeats)
    started = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        pairs = list(pool.map(trials, [arguments.model] * 2, [arguments.repeats] * 2))
    elapsed = time.perf_counter() - started
    table = Table(
        title=f"{arguments.model.name}: seconds of a warm trial (median of {arguments.repeats})"
    )
    for name in ("stage", "alone", "two workers", "two/alone"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    for stage in alone[0]:
        one = statistics.median(row[stage] for row in alone)
        two = statistics.median(row[stage] for rows in pairs for row in rows)
        table.add_row(stage, f"{one:.3f}", f"{two:.3f}", f"{two / one:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"two workers together: {2 * (arguments.repeats + 2) / elapsed:.2f} trials/s, start-up included"
    )


if __name__ == "__main__":
    main()
