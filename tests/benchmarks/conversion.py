# SPDX-License-Identifier: Apache-2.0
"""Seconds and memory of conversions: a 4 MB mobile network of our own making, and KWS where its model is at hand.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/conversion.py [MODEL.tflite ...]

Each figure comes from a process of its own. *First* is the first conversion in a process that has loaded the compiler,
*warm* the best of the next ones, *peak* the largest resident memory of the process, interpreter and libraries included.
The times of whole commands include starting Python.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from tflite_models import ModelBuilder  # noqa: E402

MODELS: Final = REPOSITORY.parent / "shared" / "models"
KWS: Final = MODELS / "kws_ref_model.tflite"
PLATFORM: Final = "apollo510_evb"
RULES: Final = [{"type": "constant", "attributes": {"memory": "mram"}}]
"""Constants stay in flash, where those of the large model fit."""
REPEATS: Final = 3
BLOCKS: Final = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1),
    (512, 1), (1024, 2), (1024, 1),
)  # fmt: skip
"""Channels and stride of each depthwise separable block: the widths of the first MobileNet."""


def mobile_network() -> bytes:
    """Makes an int8 classifier of 128x128 images with 3.8 million weights."""
    rng = np.random.default_rng(4)
    model = ModelBuilder()

    def weights(*shape: int) -> np.ndarray:
        return rng.integers(-127, 128, shape).astype(np.int8)

    def scales(channels: int) -> list[float]:
        return [float(s) for s in rng.uniform(0.001, 0.01, channels)]

    def bias(channels: int) -> np.ndarray:
        return rng.integers(-3000, 3000, channels).astype(np.int32)

    after = {"scale": 0.03, "zero_point": -128, "activation": "relu6"}
    image = model.tensor((1, 128, 128, 3), scale=1 / 128, zero_point=0, name="image")
    y = model.conv_2d(
        image, weights(32, 3, 3, 3), bias(32), filter_scale=scales(32), stride=(2, 2), **after
    )
    depth = 32
    for channels, stride in BLOCKS:
        y = model.depthwise_conv_2d(
            y, weights(1, 3, 3, depth), bias(depth), filter_scale=scales(depth),
            stride=(stride, stride), **after,
        )  # fmt: skip
        y = model.conv_2d(
            y,
            weights(channels, 1, 1, depth),
            bias(channels),
            filter_scale=scales(channels),
            **after,
        )
        depth = channels
    size = model.tensors[y].shape[1]
    y = model.average_pool_2d(y, kernel=(size, size))
    y = model.reshape(y, (1, depth))
    y = model.fully_connected(
        y, weights(600, depth), bias(600), filter_scale=0.002, scale=0.1, zero_point=3
    )
    return model.build(inputs=[image], outputs=[model.softmax(y)])


def convert_here(path: Path) -> None:
    """Converts and writes a model a few times in this process and prints the figures as JSON."""
    from helia_aot.api import convert, write_module
    from helia_aot.config.convert import ConvertConfig

    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(1 + REPEATS):
            start = time.perf_counter()
            config = {
                "model": {"path": path},
                "platform": {"name": PLATFORM},
                "memory": {"tensors": RULES},
            }
            conversion = convert(ConvertConfig.model_validate(config))
            write_module(conversion, Path(folder) / str(repeat))
            seconds.append(time.perf_counter() - start)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.write(
        json.dumps({"first": seconds[0], "warm": min(seconds[1:]), "peak": peak_kib * 1024 / 1e6})
    )


def command_seconds(*arguments: str) -> float:
    """Gives the best wall-clock seconds of a whole command."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        command = [sys.executable, "-m", "helia_aot", *arguments]
        subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        convert_here(arguments.one)
        return
    table = Table(title="Conversions and the writing of their modules")
    for name in ("model", "MB", "first s", "warm s", "peak MB", "whole command s"):
        table.add_column(name, justify="left" if name == "model" else "right")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "mobile_network.tflite"
        made.write_bytes(mobile_network())
        paths = arguments.models or [made, *([KWS] if KWS.exists() else [])]
        for path in paths:
            one = subprocess.run(
                [sys.executable, __file__, "--one", str(path)], check=True, capture_output=True
            )
            figures = json.loads(one.stdout)
            whole = command_seconds(
                "convert",
                str(path),
                "--module.path",
                folder,
                "--force",
                "--verbose",
                "0",
                "--platform.name",
                PLATFORM,
                "--memory.tensors",
                json.dumps(RULES),
            )
            table.add_row(
                path.stem, f"{path.stat().st_size / 1e6:.2f}", f"{figures['first']:.2f}",
                f"{figures['warm']:.2f}", f"{figures['peak']:.0f}", f"{whole:.2f}",
            )  # fmt: skip
    console = Console(width=100)
    console.print(table)
    console.print(f"helia-aot --help: {command_seconds('--help'):.2f} s")


if __name__ == "__main__":
    main()
