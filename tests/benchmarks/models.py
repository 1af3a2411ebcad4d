# SPDX-License-Identifier: Apache-2.0
"""Modelled cycles of whole models: ``auto`` against all-``generic``, with outputs checked in the same runs.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/models.py [MODEL.tflite ...] [--platform NAME]

Without models it takes the example model and, where they lie beside the repository, the development models. Cycles come
from the simulator's timing model and are no silicon measurements; figures published for silicon stand beside them for
the four MLPerf Tiny models.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from golden import SUPPORTED, golden_samples  # noqa: E402

from helia_aot.api import convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from runners.base import MeasureSettings, Runner  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.measurement import Stimulus  # noqa: E402
from runners.registry import create_runner  # noqa: E402

MODELS = REPOSITORY.parent / "shared" / "models"
EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"
# Published for an Apollo510 board at 96 MHz with everything in TCM: 18.535, 65.470, 45.862 and 0.663 ms.
SILICON_CYCLES = {
    "kws_ref_model": 1_779_360,
    "vww_96_int8": 6_285_120,
    "pretrainedResnet_quant": 4_402_752,
    "ad01_int8": 63_648,
}


def measure(path: Path, platform: str, runner: Runner, kernel: str | None) -> tuple[int, int, str]:
    """Gives modelled cycles, MACs, and how the outputs compare with the golden ones."""
    config = ConvertConfig.model_validate(
        {
            "model": {"path": path},
            "platform": {"name": platform},
            "optimization": {"kernel": kernel},
        }
    )
    conversion = convert(config)
    module = conversion.module
    golden = path.parent / f"{path.stem}.golden.npz"
    samples = golden_samples(path.parent, path.stem, len(module.inputs)) if golden.exists() else []
    stimuli = [Stimulus(tuple(inputs)) for inputs, _ in samples] or [random_stimulus(module.inputs)]
    cycles, equal = 0, 0
    for index, stimulus in enumerate(stimuli):
        result = runner.measure(conversion, stimulus, MeasureSettings())
        if result.measurement.status != "ok":
            raise SystemExit(f"{path.name}: {result.measurement.reason}")
        cycles = cycles or result.measurement.best_cycles or 0
        if samples:
            pairs = zip(result.outputs, samples[index][1], strict=True)
            equal += all(np.array_equal(got, wanted) for got, wanted in pairs)
    verdict = f"{equal} of {len(samples)}" if samples else "-"
    return cycles, conversion.report.total_macs, verdict


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--platform", default="apollo510_evb")
    arguments = parser.parse_args()
    paths = arguments.models or [EXAMPLE, *(MODELS / f"{name}.tflite" for name in SUPPORTED)]
    probe = ConvertConfig.model_validate(
        {"model": {"path": EXAMPLE}, "platform": {"name": arguments.platform}}
    )
    runner = create_runner("simulator", convert(probe).platform)
    table = Table(title=f"Modelled cycles on {arguments.platform} (timing model, not silicon)")
    for name in ("model", "MACs", "auto", "generic", "generic/auto", "MACs/cycle", "golden outputs",
                 "published silicon", "modelled/published"):  # fmt: skip
        table.add_column(name, justify="left" if name == "model" else "right")
    for path in paths:
        if not path.exists():
            continue
        auto, macs, verdict = measure(path, arguments.platform, runner, None)
        generic, _, generic_verdict = measure(path, arguments.platform, runner, "generic")
        silicon = SILICON_CYCLES.get(path.stem) if arguments.platform == "apollo510_evb" else None
        table.add_row(
            path.stem,
            f"{macs:,}",
            f"{auto:,}",
            f"{generic:,}",
            f"{generic / auto:.2f}",
            f"{macs / auto:.2f}",
            verdict if verdict == generic_verdict else f"{verdict} / {generic_verdict}",
            f"{silicon:,}" if silicon else "-",
            f"{auto / silicon:.2f}" if silicon else "-",
        )
    console = Console(width=150)
    console.print(table)


if __name__ == "__main__":
    main()
