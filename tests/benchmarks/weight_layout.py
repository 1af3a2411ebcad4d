# SPDX-License-Identifier: Apache-2.0
"""Standard against packed float weights: modelled cycles and bytes, float32 and float16, Cortex-M55 in TCM.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/weight_layout.py

``weight_layout`` is no knob: where packing does not pay, the heuristic (at least 4 rows share the weights, and the outputs fill
one group of lanes) leaves the standard layout, and where it does, it wins by far and costs what rounds the
outputs up to whole groups. The table shows both sides of the rule. In float16 the layout belongs to ``accumulation``, as
the additions of the packed one are others. Outputs are checked in the same runs. Modelled cycles are no silicon
measurements.
"""

from __future__ import annotations

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
from kernel_rows import TOLERANCE, Row  # noqa: E402
from kernels import measure  # noqa: E402

from helia_aot.operators.floating import FLOAT16, FLOAT32, FloatType, packing_reason  # noqa: E402
from helia_aot.operators.spec import Target  # noqa: E402

M55 = Target(mve=True, dsp=True, fp16=True)
DEPTH = 64
SHAPES = [(rows, outputs) for outputs in (3, 8, 10, 32) for rows in (1, 2, 3, 4, 8, 64)]


def row_of(kind: FloatType, rows: int, outputs: int, *, packed: bool) -> Row:
    """A fully connected layer with one of the layouts."""
    case, expected = linear_case(kind.suffix, rows, DEPTH, outputs, packed=packed)
    macs = rows * DEPTH * outputs
    dtype = np.float16 if kind is FLOAT16 else np.float32
    note = "packed" if packed else "standard"
    name = f"{rows}x{DEPTH}->{outputs}"
    return Row(name, case, expected, macs, dtype, TOLERANCE[kind.suffix], note)


def main() -> None:
    """Prints the table."""
    table = Table(title=f"fully connected layers, {DEPTH} inputs, Cortex-M55 (timing model)")
    for column in ("type", "rows", "outputs", "standard", "packed", "standard/packed",
                   "more weight bytes", "the rule takes"):  # fmt: skip
        table.add_column(column, justify="left" if column == "type" else "right")
    for kind in (FLOAT32, FLOAT16):
        pairs = [
            [row_of(kind, *shape, packed=packed) for packed in (False, True)] for shape in SHAPES
        ]
        windows = measure([row for pair in pairs for row in pair])
        for index, (rows, outputs) in enumerate(SHAPES):
            standard, packed = (window.cycles for window in windows[2 * index : 2 * index + 2])
            sizes = [row.case.tensors[1].nbytes for row in pairs[index]]
            taken = "standard" if packing_reason(kind, rows, outputs, M55) else "packed"
            table.add_row(
                kind.suffix,
                f"{rows}",
                f"{outputs}",
                f"{standard:,}",
                f"{packed:,}",
                f"{standard / packed:.2f}",
                f"{sizes[1] - sizes[0]:,}",
                taken,
            )
        table.add_section()
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
