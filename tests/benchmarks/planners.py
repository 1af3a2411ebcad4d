# SPDX-License-Identifier: Apache-2.0
"""Arena bytes and planning time of every planner on every model: what the default planner is chosen by.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/planners.py [MODEL.tflite ...] [--platform NAME]

Without models it takes the example model and, where they lie beside the repository, the development models that convert.
``arena`` is the sum of the scratch arenas, ``peak`` the payload bytes live at once, which no plan can go below. Times are
the median of several runs of planning and verifying, and of the whole conversion.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from golden import SUPPORTED  # noqa: E402

from helia_aot import pipeline  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from helia_aot.memory.planners import PLANNERS  # noqa: E402

MODELS = REPOSITORY.parent / "shared" / "models"
EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"
RUNS = 5


def timed(function: Callable[..., Any], times_ms: list[float]) -> Callable[..., Any]:
    """Gives the function with its run times noted."""

    def run(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = function(*args, **kwargs)
        times_ms.append((time.perf_counter() - start) * 1e3)
        return result

    return run


def measure(path: Path, platform: str, planner: str) -> tuple[int, int, float, float]:
    """Gives arena bytes, peak bytes, planning time and conversion time in milliseconds."""
    config = ConvertConfig.model_validate(
        {"model": {"path": path}, "platform": {"name": platform}, "memory": {"planner": planner}}
    )
    planning: list[float] = []
    whole: list[float] = []
    with mock.patch.object(pipeline, "plan_memory", timed(pipeline.plan_memory, planning)):
        for _ in range(RUNS):
            conversion = timed(pipeline.run_pipeline, whole)(config)
    arenas = [arena for arena in conversion.memory_plan.arenas if arena.role == "scratch"]
    return (
        sum(arena.used_bytes for arena in arenas),
        sum(arena.peak_live_bytes for arena in arenas),
        statistics.median(planning),
        statistics.median(whole),
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--platform", default="apollo510_evb")
    arguments = parser.parse_args()
    paths = arguments.models or [EXAMPLE, *(MODELS / f"{name}.tflite" for name in SUPPORTED)]
    table = Table(title=f"Scratch arenas on {arguments.platform}")
    for heading in ("model", "planner", "arena bytes", "peak live", "planning ms", "conversion ms"):
        table.add_column(heading, justify="left" if heading in ("model", "planner") else "right")
    for path in (path for path in paths if path.exists()):
        measure(path, arguments.platform, "greedy")  # warm
        for planner in PLANNERS:
            arena, peak, planning_ms, whole_ms = measure(path, arguments.platform, planner)
            table.add_row(
                path.stem,
                planner,
                f"{arena:,}",
                f"{peak:,}",
                f"{planning_ms:.2f}",
                f"{whole_ms:.0f}",
            )
        table.add_section()
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
