# SPDX-License-Identifier: Apache-2.0
"""Tables against computing: modelled cycles and flash of the operators that have both, by platform.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/activation_lut.py

int8 HARD_SWISH reads a table of 256 bytes or computes (``use_lut``); int16 RSQRT has a table of 64 KB for each operator or
one of 128 KB for all (``lut_mode``). These are attributes and no knobs: the table of HARD_SWISH wins in cycles and in flash, at every
size and on both cores, so that a search had nothing to decide; one table for all saves flash from the third RSQRT
on. Outputs of both are compared in the same runs. Modelled cycles are no silicon measurements.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from tflite_models import ModelBuilder  # noqa: E402

from helia_aot.api import convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from runners.base import MeasureSettings  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.registry import create_runner  # noqa: E402

CASES = (
    ("HARD_SWISH", "int8", "use_lut", ("true", "false")),
    ("RSQRT", "int16", "lut_mode", ("per_op", "universal")),
)
SIZES = (16, 256, 4096)
PLATFORMS = ("apollo510_evb", "apollo4p_evb")


def model(op_type: str, dtype: str, size: int) -> bytes:
    """One operator over a vector."""
    builder = ModelBuilder()
    x = builder.tensor(
        (1, size), dtype=dtype, scale=0.05, zero_point=-128 if dtype == "int8" else 0
    )
    y = builder.tensor((1, size), dtype=dtype, scale=0.05)
    builder.operator(op_type, [x], [y])
    return builder.build(inputs=[x], outputs=[y])


def main() -> None:
    """Prints the table."""
    table = Table(title="tables and computing (timing model, not silicon)")
    for name in (
        "operator",
        "platform",
        "elements",
        "attribute",
        "cycles",
        "per element",
        "flash bytes",
    ):
        table.add_column(
            name, justify="left" if name in ("operator", "platform", "attribute") else "right"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        for op_type, dtype, attribute, values in CASES:
            for platform in PLATFORMS:
                for size in SIZES:
                    path.write_bytes(model(op_type, dtype, size))
                    outputs = []
                    for value in values:
                        tree = {
                            "model": {"path": path},
                            "platform": {"name": platform},
                            "operators": [{"type": op_type, "attributes": {attribute: value}}],
                        }
                        conversion = convert(ConvertConfig.model_validate(tree))
                        runner = create_runner("simulator", conversion.platform)
                        stimulus = random_stimulus(conversion.module.inputs)
                        if op_type == "RSQRT":  # of positive numbers
                            stimulus.inputs[0][...] = np.abs(stimulus.inputs[0]) // 2 + 1
                        result = runner.measure(conversion, stimulus, MeasureSettings())
                        measured = result.measurement
                        if measured.status != "ok":
                            raise SystemExit(f"{op_type}: {measured.reason}")
                        outputs.append(result.outputs[0])
                        table.add_row(
                            f"{op_type} {dtype}",
                            platform,
                            f"{size:,}",
                            f"{attribute}: {value}",
                            f"{measured.best_cycles:,}",
                            f"{measured.best_cycles / size:.2f}",
                            f"{measured.flash_bytes:,}",
                        )
                    if not np.array_equal(*outputs):
                        raise SystemExit(f"{op_type}: the outputs differ")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
