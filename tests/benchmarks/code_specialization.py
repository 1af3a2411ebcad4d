# SPDX-License-Identifier: Apache-2.0
"""The trade-off of ``code_specialization``: modelled cycles and code of shared against inlined kernels.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/code_specialization.py [MODEL.tflite ...] [--platform NAME]

Without models it takes the example model and, where they lie beside the repository, the MLPerf Tiny models. The last
columns take the better value for each operator, by its own cycles: what a search starts from. Outputs of both
are compared in the same runs. Modelled cycles are no silicon measurements.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY)]

from helia_aot.api import convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from runners.base import MeasureSettings, Runner  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.registry import create_runner  # noqa: E402

MODELS = REPOSITORY.parent / "shared" / "models"
MLPERF_TINY = ("kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8")
EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"


@dataclass(frozen=True)
class Result:
    """One measured module: whole-model cycles, code bytes, cycles by operator, outputs."""

    cycles: int
    code_bytes: int
    operator_cycles: dict[str, int]
    outputs: tuple[np.ndarray, ...]


def measure(path: Path, runner: Runner, platform: str, inlined: list[str]) -> Result:
    """Measures a model with the operators of the given ids inlined."""
    config = ConvertConfig.model_validate(
        {
            "model": {"path": path},
            "platform": {"name": platform},
            "operators": [
                {"id": name, "optimization": {"code_specialization": "inlined"}} for name in inlined
            ],
        }
    )
    conversion = convert(config)
    stimulus = random_stimulus(conversion.module.inputs)
    result = runner.measure(conversion, stimulus, MeasureSettings())
    measured = result.measurement
    if measured.status != "ok":
        raise SystemExit(f"{path.name}: {measured.reason}")
    return Result(
        cycles=measured.best_cycles or 0,
        code_bytes=sum(section.text_bytes for section in measured.sections.values()),
        operator_cycles={item.id: item.cycles for item in measured.operator_cycles},
        outputs=tuple(result.outputs),
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--platform", default="apollo510_evb")
    arguments = parser.parse_args()
    paths = arguments.models or [EXAMPLE, *(MODELS / f"{name}.tflite" for name in MLPERF_TINY)]
    table = Table(title=f"Modelled cycles on {arguments.platform} (timing model, not silicon)")
    for name in ("model", "shared", "code bytes", "inlined", "code bytes", "shared/inlined",
                 "operators that gain", "these inlined", "code bytes", "shared/these"):  # fmt: skip
        table.add_column(name, justify="left" if name == "model" else "right")
    for path in (path for path in paths if path.exists()):
        config = {"model": {"path": path}, "platform": {"name": arguments.platform}}
        plain = convert(ConvertConfig.model_validate(config))
        runner = create_runner("simulator", plain.platform)
        every = [op.id for op in plain.plan.operators if "code_specialization" in op.knobs]
        shared = measure(path, runner, arguments.platform, [])
        inlined = measure(path, runner, arguments.platform, every)
        gain = [n for n in every if inlined.operator_cycles[n] < shared.operator_cycles[n]]
        best = measure(path, runner, arguments.platform, gain)
        for other in (inlined, best):
            for got, wanted in zip(other.outputs, shared.outputs, strict=True):
                if not np.array_equal(got, wanted):
                    raise SystemExit(f"{path.name}: inlined kernels change the output")
        table.add_row(
            path.stem,
            f"{shared.cycles:,}",
            f"{shared.code_bytes:,}",
            f"{inlined.cycles:,}",
            f"{inlined.code_bytes:,}",
            f"{shared.cycles / inlined.cycles:.3f}",
            f"{len(gain)} of {len(every)}",
            f"{best.cycles:,}",
            f"{best.code_bytes:,}",
            f"{shared.cycles / best.cycles:.3f}",
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
