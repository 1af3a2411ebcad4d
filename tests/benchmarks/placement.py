# SPDX-License-Identifier: Apache-2.0
"""Modelled cycles of whole models by where their constants are: cold in MRAM, cold in SRAM, staged from MRAM to DTCM.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/placement.py [MODEL.tflite ...]

Without models it takes the four MLPerf Tiny models that lie beside the repository, and the example model. Cycles come
from the simulator's timing model at 96 MHz and are no silicon measurements. Published for an Apollo510 board: staging in
DTCM instead of reading from SRAM makes AD 2.70 times faster and changes KWS, VWW and IC by at most 1%.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from golden import golden_samples  # noqa: E402

from helia_aot.api import convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from runners.base import MeasureSettings  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.measurement import Stimulus  # noqa: E402
from runners.simulator.simulator import SimulatorRunner  # noqa: E402

MODELS = REPOSITORY.parent / "shared" / "models"
EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"
NAMES = ("ad01_int8", "kws_ref_model", "vww_96_int8", "pretrainedResnet_quant")
PLACEMENTS: dict[str, dict[str, str]] = {
    "MRAM": {"memory": "MRAM"},
    "SRAM": {"memory": "SRAM"},
    "MRAM to DTCM": {"memory": "MRAM", "constant_destination_memory": "DTCM"},
}


def measure(path: Path, attributes: dict[str, Any]) -> tuple[int, int, tuple[np.ndarray, ...]]:
    """Gives modelled cycles, bytes of constants, and the outputs, checked where golden ones exist."""
    rules = [{"type": "constant", "attributes": attributes}]
    conversion = convert(
        ConvertConfig.model_validate({"model": {"path": path}, "memory": {"tensors": rules}})
    )
    module = conversion.module
    golden = None
    stimulus = random_stimulus(module.inputs)
    if (path.parent / f"{path.stem}.golden.npz").exists():
        inputs, golden = golden_samples(path.parent, path.stem, len(module.inputs))[0]
        stimulus = Stimulus(tuple(inputs))
    settings = MeasureSettings(warmups=1, repeats=1, per_operator=False)
    result = SimulatorRunner(conversion.platform).measure(conversion, stimulus, settings)
    if result.measurement.status != "ok":
        raise SystemExit(f"{path.name}: {result.measurement.reason}")
    if golden is not None:
        for got, wanted in zip(result.outputs, golden, strict=True):
            np.testing.assert_array_equal(got, wanted)
    size = sum(len(blob.data) for blob in module.constant_blobs)
    return result.measurement.best_cycles or 0, size, result.outputs


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path)
    arguments = parser.parse_args()
    paths = arguments.models or [*(MODELS / f"{name}.tflite" for name in NAMES), EXAMPLE]
    table = Table(title="Modelled cycles on apollo510_evb at 96 MHz (timing model, not silicon)")
    table.add_column("model")
    for heading in ("constants, bytes", *PLACEMENTS, "MRAM / staged", "SRAM / staged"):
        table.add_column(heading, justify="right")
    for path in (path for path in paths if path.exists()):
        found = {name: measure(path, attributes) for name, attributes in PLACEMENTS.items()}
        outputs = [outputs for _, _, outputs in found.values()]
        assert all(
            np.array_equal(a, b) for o in outputs for a, b in zip(o, outputs[0], strict=True)
        )
        mram, sram, staged = (cycles for cycles, _, _ in found.values())
        size = next(size for _, size, _ in found.values())
        row = [f"{size:,}", *(f"{cycles:,}" for cycles in (mram, sram, staged))]
        table.add_row(path.stem, *row, f"{mram / staged:.2f}", f"{sram / staged:.2f}")
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
