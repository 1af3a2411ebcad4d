# SPDX-License-Identifier: Apache-2.0
"""Modelled cycles of single kernels on the layers of the MLPerf Tiny models and on a grid of shapes.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/kernels.py [--core cortex-m55 | cortex-m4] [WORD ...]

With words, only rows whose layer or entry holds one of them are run. Everything is in tightly coupled memory. Every output is
compared with the oracle of the kernel tests. Cycles come from the simulator's timing model and are no silicon measurements.
``results/reference/kernels`` holds the output for both cores.

Columns:

- MACs/cycle, and its share of the core's peak. Cortex-M55: 8 (s8), 4 (s16, f16) and 2 (f32) multiply-accumulates a cycle, a
  vector instruction of 128 bits every second cycle. Cortex-M4: 2 (s8, s16: SMLAD each cycle; int8 operands must be widened
  first, which the peak leaves out) and 0.5 (f32: a multiplication and an addition, one cycle each).
- Memory: share of the memory bound, ``bytes that must move / bytes per cycle / cycles``. Bytes: every tensor of the call once,
  the output included. Bytes per cycle: 8 for the Cortex-M55 (64 bits of TCM), 4 for the Cortex-M4.
- First/this: cycles of the layer's first entry of that data type, the general one, over those of this one.
"""

from __future__ import annotations

import argparse
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernel_rows import Row, rows_of_type

# kernel_rows has put the repository and its test folders on the path.
from harness import TARGETS, Target, build, decode, run_command  # isort: skip

from runners.simulator.timing import (
    MemoryRegionTiming,
    TimingWindow,
    build_plugin,
    plugin_argument,
    read_timing,
    write_parameters,
)

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Core:
    """A core and its limits.

    Attributes:
        target: How the driver is built and run.
        regions: Its memories, all without wait; the cases lie in the last one and are read outside of the timed windows.
        peaks: Data type to multiply-accumulates a cycle at most.
        bytes_per_cycle: What a tightly coupled memory gives at most.
    """

    target: Target
    regions: tuple[MemoryRegionTiming, ...]
    peaks: Mapping[str, float]
    bytes_per_cycle: int


CORES = {
    "cortex-m55": Core(
        TARGETS["m55"],
        (
            MemoryRegionTiming("itcm", 0x00000000, MEGABYTE // 2, "tcm"),
            MemoryRegionTiming("dtcm", 0x20000000, MEGABYTE // 2, "tcm"),
            MemoryRegionTiming("cases", 0x60000000, 256 * MEGABYTE, "tcm"),
        ),
        {"s8": 8, "s16": 4, "f16": 4, "f32": 2},
        8,
    ),
    "cortex-m4": Core(
        replace(
            TARGETS["m4"],
            flags=(*TARGETS["m4"].flags, "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
        ),
        (
            MemoryRegionTiming("code", 0x00000000, 4 * MEGABYTE, "tcm"),
            MemoryRegionTiming("data", 0x20000000, 4 * MEGABYTE, "tcm"),
            MemoryRegionTiming("cases", 0x21000000, 16 * MEGABYTE, "tcm"),
        ),
        {"s8": 2, "s16": 2, "f32": 0.5},
        4,
    ),
}
LARGEST_STREAM_BYTES = 12 * MEGABYTE
"""Cases of one emulator start; the memory that they are loaded into is larger."""


def marker_address(program: Path) -> int:
    listing = subprocess.run(
        ["arm-none-eabi-nm", str(program)], check=True, capture_output=True, text=True
    ).stdout
    return int(re.search(r"^(\w+) \w helia_markers$", listing, re.MULTILINE)[1], 16)


def batches(rows: Sequence[Row]) -> list[list[Row]]:
    """Cuts the rows into runs of the emulator."""
    made: list[list[Row]] = [[]]
    size = 0
    for row in rows:
        bytes_of_row = len(row.case.encode())
        if made[-1] and size + bytes_of_row > LARGEST_STREAM_BYTES:
            made.append([])
            size = 0
        made[-1].append(row)
        size += bytes_of_row
    return made


def measure(rows: Sequence[Row], core: Core = CORES["cortex-m55"]) -> list[TimingWindow]:
    """Each row's first call, after its output was checked."""
    return [window for batch in batches(rows) if batch for window in _measure(batch, core)]


def _measure(rows: Sequence[Row], core: Core) -> list[TimingWindow]:
    markers = 2 + 2 * len(rows)
    program = build(core.target, [f"-DDRIVER_MARKERS={markers}"])
    core_name = next(name for name, known in CORES.items() if known is core)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stream = struct.pack("<i", len(rows)) + b"".join(row.case.encode() for row in rows)
        (folder / "cases.bin").write_bytes(stream)
        write_parameters(folder / "params.txt", core_name, core.regions)
        so = build_plugin(Path(tempfile.gettempdir()) / "helia-kernel-benchmark")
        report = folder / "timing.json"
        argument = plugin_argument(
            so, folder / "params.txt", report, marker_address(program), markers
        )
        command = run_command(core.target, program, ["-plugin", argument])
        subprocess.run(command, cwd=folder, check=True)
        outcomes = decode((folder / "results.bin").read_bytes(), len(rows))
        timing = read_timing(report)
    for row, outcome in zip(rows, outcomes, strict=True):
        accepted = outcome.status == 0 and row.accepts(outcome.array(row.dtype))
        if outcome.problems or not accepted:
            raise SystemExit(f"{row.layer} {row.case.entry}: wrong output {outcome.problems}")
    if timing.unknown_instructions:
        note = f"{timing.unknown_instructions} instructions unknown to the timing model"
        Console(stderr=True).print(note, timing.unknown_encodings)
    # The driver clears its markers first, which also counts as events: take the last window of each pair.
    return [timing.windows(2 + 2 * i, 3 + 2 * i)[-1] for i in range(len(rows))]


def table_of(title: str, rows: Sequence[Row], core: Core) -> Table:
    table = Table(title=title)
    for column in ("layer", "entry", "cycles", "instructions", "MACs/cycle", "of peak", "memory", "cycles/output", "first/this"):  # fmt: skip
        left = column in ("layer", "entry")
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    first: dict[str, int] = {}
    for row, window in zip(rows, measure(rows, core), strict=True):
        cycles = window.cycles
        reached = row.macs / cycles
        # The bytes of a copy have no type of their own, and no multiplications.
        peak = core.peaks.get(row.data_type, 0)
        table.add_row(
            row.layer,
            f"{row.case.entry} {row.note}".rstrip(),
            f"{cycles:,}",
            f"{window.instructions:,}",
            f"{reached:.2f}" if row.macs else "-",
            f"{reached / peak:.0%}" if row.macs else "-",
            f"{row.moved_bytes / core.bytes_per_cycle / cycles:.0%}",
            f"{cycles / row.expected.size:.2f}",
            f"{first.setdefault(row.layer, cycles) / cycles:.2f}",
        )
    return table


def main() -> None:
    """Prints the command and a table for each data type."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--core", choices=list(CORES), default="cortex-m55")
    arguments = parser.parse_args()
    core = CORES[arguments.core]
    console = Console(width=160)
    command = " ".join(["--core", arguments.core, *arguments.words])
    console.print(
        f"$ .venv/bin/python tests/benchmarks/kernels.py {command}", markup=False, highlight=False
    )
    for suffix in core.peaks:
        rows = [
            row
            for row in rows_of_type(suffix)
            if not arguments.words
            or any(word in f"{row.layer} {row.case.entry}" for word in arguments.words)
        ]
        if rows:
            title = f"{suffix} kernels, {arguments.core}, all in TCM: modelled cycles, not silicon"
            console.print(table_of(title, rows, core))


if __name__ == "__main__":
    main()
