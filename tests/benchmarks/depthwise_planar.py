# SPDX-License-Identifier: Apache-2.0
"""Whether the compiler calls the faster of the planar depthwise entry and the one for all shapes, in modelled cycles.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/depthwise_planar.py

One row for each shape that both entries take, on the Cortex-M55 with everything in TCM; the last column says where the
compiler's rule (``helia_aot.operators.depthwise.planar_pays``) calls the slower one. Cycles come from the simulator's
timing model and are no silicon measurements.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernel_rows import Layer, Row, s8_rows
from kernels import measure

# kernel_rows has put the repository on the path.
from helia_aot.operators.depthwise import (
    DIRECT_3X3,
    DIRECT_CHANNELWISE,
    DIRECT_PLANAR,
    planar_pays,
)
from helia_aot.operators.geometry import Window

CHANNELS = (4, 8, 12, 20, 24, 30, 40, 60, 72, 80)
SIZES = {
    (3, 3): ((4, 4), (8, 8), (16, 16)),
    (5, 5): ((4, 4), (8, 8), (16, 16)),
    (5, 1): ((5, 1), (8, 1), (32, 1), (128, 1)),
    (1, 3): ((1, 4), (1, 16), (1, 64)),
}


def layers() -> Iterator[Layer]:
    for kernel, channels in product(SIZES, CHANNELS):
        for size in SIZES[kernel]:
            name = f"{kernel[0]}x{kernel[1]}, {channels}, {size[0]}x{size[1]}"
            yield Layer(name, size, channels, channels, kernel, depthwise=True)


def rows_of(layer: Layer) -> list[Row]:
    """The planar entry and the other one; empty if the planar entry does not take the shape."""
    other = DIRECT_3X3 if layer.kernel == (3, 3) else DIRECT_CHANNELWISE
    rows = {row.case.entry: row for row in s8_rows(layer)}
    return [rows[DIRECT_PLANAR], rows[other]] if DIRECT_PLANAR in rows else []


def window_of(layer: Layer) -> Window:
    (height, width), (filter_h, filter_w) = layer.size, layer.kernel
    pad_h, pad_w = layer.shape.padding
    return Window(
        batches=1, in_h=height, in_w=width, filter_h=filter_h, filter_w=filter_w, stride_h=1, stride_w=1,
        dilation_h=1, dilation_w=1, out_h=height, out_w=width, pad_h=pad_h, pad_w=pad_w,
    )  # fmt: skip


def main() -> None:
    """Prints the table."""
    pairs = [(layer, rows) for layer in layers() if (rows := rows_of(layer))]
    windows = measure([row for _, rows in pairs for row in rows])
    table = Table(
        title="planar depthwise entry, cortex-m55, all in TCM: modelled cycles, not silicon"
    )
    for column in ("shape", "planar", "other", "other/planar", "called", "slower"):
        table.add_column(column, justify="right")
    for index, (layer, rows) in enumerate(pairs):
        planar, other = (window.cycles for window in windows[2 * index : 2 * index + 2])
        pays = planar_pays(window_of(layer), layer.cin, instead_of=rows[1].case.entry)
        loss = (planar / other if pays else other / planar) - 1
        table.add_row(
            layer.name,
            f"{planar:,}",
            f"{other:,}",
            f"{other / planar:.2f}",
            "planar" if pays else "other",
            f"{loss:.0%}" if loss > 0 else "",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
