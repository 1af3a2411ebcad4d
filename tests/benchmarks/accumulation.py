# SPDX-License-Identifier: Apache-2.0
"""What ``accumulation`` costs and saves: errors against double precision and modelled cycles, FP16, Cortex-M55 in TCM.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/accumulation.py [--trials N]

Each layer runs with both values of the knob on the same random inputs, in the emulator; the outputs are checked bit by bit
against the documented order of additions, so the errors are those of the definition. Weights are scaled by 1/sqrt(depth), so
that outputs are of the size of the inputs, which are normal with variance 1. Cycles come from the simulator's timing model and
are no silicon measurements; for the first layer the publisher of the knob states 3.22x and errors of 0.0156 and 0.0059
on an Apollo510 (its inputs are not known).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(REPOSITORY / "tests" / folder) for folder in ("", "kernels", "benchmarks")
]  # fmt: skip
sys.path.insert(0, str(REPOSITORY))

from flt_cases import linear_case  # noqa: E402
from kernel_rows import Row  # noqa: E402
from kernels import measure  # noqa: E402

LAYERS = [
    # rows, depth, outputs; the first is the layer that the knob's published figures are about
    ("1x1, 1x256, 32->32", 256, 32, 32),
    ("1x1, 25x5, 64->64 (KWS)", 125, 64, 64),
    ("1x1, 6x6, 128->128 (VWW)", 36, 128, 128),
    ("1x1, 3x3, 256->256 (VWW)", 9, 256, 256),
    ("fc, 4 rows, 640->128", 4, 640, 128),
]


def rows_of(name: str, rows: int, depth: int, outputs: int, seed: int) -> list[Row]:
    """The layer with ``precise`` and with ``fast``."""
    found = []
    for packed in (False, True):
        case, expected = linear_case("f16", rows, depth, outputs, packed=packed, seed=seed)
        note = "fast" if packed else "precise"
        found.append(Row(name, case, expected, rows * depth * outputs, np.float16, 0.0, note))
    return found


def exact(rows: int, depth: int, outputs: int, seed: int) -> np.ndarray:
    """The layer in double precision, from the same float16 inputs."""
    case, _ = linear_case("f16", rows, depth, outputs, packed=False, seed=seed)
    x, weights, bias = (tensor.astype(np.float64) for tensor in case.tensors)
    return x @ weights.T + bias


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=4, help="random inputs for each layer")
    trials = parser.parse_args().trials
    table = Table(title="accumulation: precise and fast, FP16, Cortex-M55 (timing model)")
    for column in ("layer", "value", "cycles", "MACs/cycle", "max |error|", "rms error", "speed"):
        table.add_column(column, justify="left" if column in ("layer", "value") else "right")
    for name, *shape in LAYERS:
        pairs = [rows_of(name, *shape, seed=seed) for seed in range(trials)]
        windows = measure([row for pair in pairs for row in pair])
        cycles = [window.cycles for window in windows]
        for value in (0, 1):
            errors = np.stack(
                [
                    pairs[seed][value].expected.astype(np.float64) - exact(*shape, seed=seed)
                    for seed in range(trials)
                ]
            )
            row = pairs[0][value]
            table.add_row(
                name,
                row.note,
                f"{cycles[value]:,}",
                f"{row.macs / cycles[value]:.2f}",
                f"{np.abs(errors).max():.4f}",
                f"{np.sqrt((errors**2).mean()):.5f}",
                f"{cycles[0] / cycles[value]:.2f}x",
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
