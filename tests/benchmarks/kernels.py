# SPDX-License-Identifier: Apache-2.0
"""Modelled cycles of single kernels on layers of the MLPerf Tiny models, Cortex-M55 with everything in TCM.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/kernels.py [WORD ...]

With words, only rows whose layer or entry holds one of them are run. Every output is compared with the oracle of the
kernel tests. The ratio column is the layer's first entry (the general one) over this one. Cycles come from the
simulator's timing model and are no silicon measurements.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests"), str(REPOSITORY / "tests" / "kernels")]

from conv_cases import ConvShape, conv_case, same, valid  # noqa: E402
from flt_cases import DTYPE, Conv  # noqa: E402
from flt_cases import conv_case as float_conv_case  # noqa: E402
from flt_cases import depthwise_case as float_depthwise_case  # noqa: E402
from flt_cases import linear_case as float_linear_case  # noqa: E402
from harness import TARGETS, Case, build, decode, run_command  # noqa: E402
from test_depthwise_conv_s8 import depthwise_case, plain, takes  # noqa: E402
from test_fully_connected_s8 import Linear, linear_case  # noqa: E402

from helia_aot.kernels.manifest import scratch_bytes  # noqa: E402
from runners.simulator.timing import (  # noqa: E402
    CacheGeometry,
    MemoryRegionTiming,
    build_plugin,
    plugin_argument,
    read_timing,
    write_parameters,
)

TARGET = TARGETS["m55"]
REGIONS = [
    MemoryRegionTiming("itcm", 0x00000000, 512 * 1024, "tcm"),
    MemoryRegionTiming("dtcm", 0x20000000, 512 * 1024, "tcm"),
    # Only the test cases are here, read outside of the timed windows.
    MemoryRegionTiming(
        "ddr", 0x60000000, 256 * 1024 * 1024, "cached", read_fill_cycles=13, write_fill_cycles=13
    ),
]
CACHE = CacheGeometry(65536, 4, 32)


@dataclass(frozen=True)
class Row:
    """One measurement: a layer by one entry."""

    layer: str
    case: Case
    expected: np.ndarray
    macs: int
    dtype: type = np.int8
    tolerance: float = 0.0
    note: str = ""

    def accepts(self, output: np.ndarray) -> bool:
        """Whether an output is the expected one, float32 within the tolerance (of the largest magnitude)."""
        error = np.abs(output.astype(np.float64) - self.expected.reshape(-1)).max()
        return bool(error <= self.tolerance * np.abs(self.expected).max())


def conv(layer: str, shape: ConvShape, *entries: str) -> Iterator[Row]:
    for entry in entries:
        name = f"arm_convolve_{entry}"
        height, width = shape.kernel
        scratch = scratch_bytes(
            name, kernel_height=height, kernel_width=width, input_channels=shape.cin
        )
        case, expected = conv_case(name, shape, scratch)
        yield Row(layer, case, expected, expected.size * shape.depth)


def depthwise(layer: str, shape: ConvShape) -> Iterator[Row]:
    shape = plain(shape)
    for suffix in ("", "_3x3", "_3x3_c64_s1", "_planar", "_channelwise"):
        entry = f"arm_depthwise_conv_s8_opt{suffix}"
        if takes(entry, shape):
            case, expected = depthwise_case(entry, shape)
            yield Row(layer, case, expected, expected.size * shape.kernel[0] * shape.kernel[1])


def linear(layer: str, inputs: int, outputs: int) -> Iterator[Row]:
    case, expected = linear_case(Linear(1, inputs, outputs), per_channel=False)
    yield Row(layer, case, expected, inputs * outputs)


def floating(layer: str, shape: Conv, *, depthwise: bool = False) -> Iterator[Row]:
    """A layer in both float types; matrix products with the standard and the packed weight layout."""
    entry = "arm_convolve_1x1_nhwc" if shape.kernel == (1, 1) else "arm_convolve_nhwc"
    taps = shape.kernel[0] * shape.kernel[1]
    for suffix in ("f32", "f16"):
        for packed in (False,) if depthwise else (False, True):
            case, expected = (
                float_depthwise_case(suffix, shape)
                if depthwise
                else float_conv_case(entry, suffix, shape, packed=packed)
            )
            macs = expected.size * taps * (1 if depthwise else shape.cin)
            tolerance = 1e-5 if suffix == "f32" else 0.0
            note = "packed" if packed else ""
            yield Row(f"{layer}, {suffix}", case, expected, macs, DTYPE[suffix], tolerance, note)


def float_linear(layer: str, inputs: int, outputs: int) -> Iterator[Row]:
    for suffix in ("f32", "f16"):
        case, expected = float_linear_case(suffix, 1, inputs, outputs, packed=False)
        tolerance = 1e-5 if suffix == "f32" else 0.0
        yield Row(f"{layer}, {suffix}", case, expected, inputs * outputs, DTYPE[suffix], tolerance)


def float_rows() -> Iterator[Row]:
    square = {"kernel": (3, 3), "padding": (1, 1)}
    yield from floating("1x1, 32->32, 1x256", Conv(size=(1, 256), cin=32, cout=32))
    yield from floating("1x1, 64->64, 25x5", Conv(size=(25, 5), cin=64, cout=64))
    yield from floating("1x1, 128->128, 6x6", Conv(size=(6, 6), cin=128, cout=128))
    yield from floating("3x3, 3->16, 16x16", Conv(size=(16, 16), cin=3, cout=16, **square))
    yield from floating("3x3, 16->16, 16x16", Conv(size=(16, 16), cin=16, cout=16, **square))
    yield from floating(
        "dw 3x3, 64, 25x5", Conv(size=(25, 5), cin=64, cout=64, **square), depthwise=True
    )
    yield from floating(
        "dw 3x3, 32, s2, 24x24",
        Conv(size=(24, 24), cin=32, cout=32, stride=(2, 2), **square),
        depthwise=True,
    )
    yield from float_linear("fc, 640->128", 640, 128)


def all_rows() -> Iterator[Row]:
    yield from int8_rows()
    yield from float_rows()


def int8_rows() -> Iterator[Row]:
    square = {"kernel": (3, 3)}
    half = {"kernel": (3, 3), "stride": (2, 2)}
    yield from conv(
        "KWS 10x4, 1->64, s2",
        same(size=(49, 10), cin=1, cout=64, kernel=(10, 4), stride=(2, 2)),
        "s8",
        "s8_small_cin",
    )
    yield from conv(
        "VWW 3x3, 3->8, s2", same(size=(96, 96), cin=3, cout=8, **half), "s8", "s8_small_cin"
    )
    yield from conv(
        "IC 3x3, 3->16", same(size=(32, 32), cin=3, cout=16, **square), "s8", "s8_small_cin"
    )
    yield from conv(
        "IC 3x3, 16->16", same(size=(32, 32), cin=16, cout=16, **square), "s8", "s8_3x3_c16_s1"
    )
    yield from conv("IC 3x3, 16->32, s2", same(size=(32, 32), cin=16, cout=32, **half), "s8")
    yield from conv("IC 3x3, 32->32", same(size=(16, 16), cin=32, cout=32, **square), "s8")
    yield from conv("IC 3x3, 64->64", same(size=(8, 8), cin=64, cout=64, **square), "s8")
    yield from conv(
        "IC 1x1, 16->32, s2", same(size=(32, 32), cin=16, cout=32, stride=(2, 2)), "s8", "1x1_s8"
    )
    for model, size, cin, cout in [
        ("KWS", (25, 5), 64, 64),
        ("VWW", (48, 48), 8, 16),
        ("VWW", (24, 24), 16, 32),
        ("VWW", (24, 24), 32, 32),
        ("VWW", (6, 6), 128, 128),
        ("VWW", (3, 3), 256, 256),
    ]:
        layer = f"{model} 1x1, {cin}->{cout}, {size[0]}x{size[1]}"
        yield from conv(layer, same(size=size, cin=cin, cout=cout), "s8", "1x1_s8_fast")
    yield from depthwise("KWS dw 3x3, 64", same(size=(25, 5), cin=64, cout=64, **square))
    yield from depthwise("VWW dw 3x3, 8, 48x48", same(size=(48, 48), cin=8, cout=8, **square))
    yield from depthwise("VWW dw 3x3, 16, s2, 48x48", same(size=(48, 48), cin=16, cout=16, **half))
    yield from depthwise("VWW dw 3x3, 128, 6x6", same(size=(6, 6), cin=128, cout=128, **square))
    yield from depthwise("VWW dw 3x3, 32, 24x24", same(size=(24, 24), cin=32, cout=32, **square))
    yield from depthwise("VWW dw 3x3, 32, s2, 24x24", same(size=(24, 24), cin=32, cout=32, **half))
    yield from depthwise("VWW dw 3x3, 64, 12x12", same(size=(12, 12), cin=64, cout=64, **square))
    yield from depthwise("VWW dw 3x3, 64, s2, 12x12", same(size=(12, 12), cin=64, cout=64, **half))
    yield from depthwise("VWW dw 3x3, 128, s2, 6x6", same(size=(6, 6), cin=128, cout=128, **half))
    yield from depthwise("VWW dw 3x3, 256, 3x3", same(size=(3, 3), cin=256, cout=256, **square))
    for rows, channels, taps in [(30, 40, 3), (28, 128, 5), (24, 128, 10), (15, 128, 15)]:
        yield from depthwise(
            f"Streaming dw {taps}x1, {channels}, {rows}x1",
            valid(size=(rows, 1), cin=channels, cout=channels, kernel=(taps, 1)),
        )
    for inputs, outputs in [(640, 128), (128, 128), (128, 8), (8, 128), (128, 640)]:
        yield from linear(f"AD fc, {inputs}->{outputs}", inputs, outputs)


def marker_address(program: Path) -> int:
    listing = subprocess.run(
        ["arm-none-eabi-nm", str(program)], check=True, capture_output=True, text=True
    ).stdout
    return int(re.search(r"^(\w+) \w helia_markers$", listing, re.MULTILINE)[1], 16)


def measure(rows: list[Row]) -> list[int]:
    """Modelled cycles of each row's first call, after its output was checked."""
    markers = 2 + 2 * len(rows)
    program = build(TARGET, [f"-DDRIVER_MARKERS={markers}"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stream = struct.pack("<i", len(rows)) + b"".join(row.case.encode() for row in rows)
        (folder / "cases.bin").write_bytes(stream)
        write_parameters(
            folder / "params.txt", "cortex-m55", REGIONS, data_cache=CACHE, code_cache=CACHE
        )
        so = build_plugin(Path(tempfile.gettempdir()) / "helia-kernel-benchmark")
        report = folder / "timing.json"
        argument = plugin_argument(
            so, folder / "params.txt", report, marker_address(program), markers
        )
        subprocess.run(run_command(TARGET, program, ["-plugin", argument]), cwd=folder, check=True)
        outcomes = decode((folder / "results.bin").read_bytes(), len(rows))
        timing = read_timing(report)
    for row, outcome in zip(rows, outcomes, strict=True):
        accepted = row.accepts(outcome.array(row.dtype))
        if outcome.status != 0 or outcome.problems or not accepted:
            raise SystemExit(f"{row.layer} {row.case.entry}: wrong output {outcome.problems}")
    if timing.unknown_instructions:
        note = f"{timing.unknown_instructions} instructions unknown to the timing model"
        Console(stderr=True).print(note)
    # The driver clears its markers first, which also counts as events: take the last window of each pair.
    return [timing.windows(2 + 2 * i, 3 + 2 * i)[-1].cycles for i in range(len(rows))]


def main() -> None:
    words = sys.argv[1:]
    rows = [
        row
        for row in all_rows()
        if not words or any(w in f"{row.layer} {row.case.entry}" for w in words)
    ]
    table = Table(
        title="Modelled cycles of kernels, Cortex-M55, all in TCM (timing model, not silicon)"
    )
    for column in ("layer", "entry", "cycles", "MACs/cycle", "cycles/output", "general/this"):
        table.add_column(
            column, justify="left" if column in ("layer", "entry") else "right", no_wrap=True
        )
    general: dict[str, int] = {}
    for row, cycles in zip(rows, measure(rows), strict=True):
        first = general.setdefault(row.layer, cycles)
        table.add_row(
            row.layer,
            f"{row.case.entry} {row.note}".rstrip(),
            f"{cycles:,}",
            f"{row.macs / cycles:.2f}",
            f"{cycles / row.expected.size:.2f}",
            f"{first / cycles:.2f}",
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
