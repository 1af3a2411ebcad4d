# SPDX-License-Identifier: Apache-2.0
"""Modelled cycles and arena of small models with one transform off and on.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/transforms.py

Cycles come from the simulator's timing model and are no silicon measurements.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from tflite_models import ModelBuilder  # noqa: E402

from helia_aot.api import Conversion, convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from runners.base import MeasureSettings  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.registry import create_runner  # noqa: E402

PLATFORMS: Final = ("apollo510_evb", "apollo4p_evb")


def _weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(-127, 128, shape).astype(np.int8)


def _image(model: ModelBuilder, *shape: int) -> int:
    return model.tensor(shape, scale=0.05, zero_point=-3)


def identities() -> bytes:
    """A sum that is requantized to what it is, and its reversal of no dimension."""
    model = ModelBuilder()
    x = _image(model, 1, 32, 32, 16)
    total = model.add(x, x, scale=0.1, zero_point=1)
    same = model.tensor((1, 32, 32, 16), scale=0.1, zero_point=1)
    model.operator("QUANTIZE", [total], [same], ("QuantizeOptions", {}))
    moved = model.tensor((1, 32, 32, 16), scale=0.1, zero_point=1)
    order = model.constant(np.arange(4, dtype=np.int32))
    model.operator("TRANSPOSE", [same, order], [moved], ("TransposeOptions", {}))
    y = model.max_pool_2d(moved, kernel=(2, 2), stride=(2, 2))
    return model.build(inputs=[x], outputs=[y])


def padding() -> bytes:
    """The first layers of a mobile network: a PAD below and on the right, then steps of 2."""
    model = ModelBuilder()
    x = _image(model, 1, 48, 48, 16)
    amounts = model.constant(np.array([(0, 0), (0, 1), (0, 1), (0, 0)], np.int32))
    padded = _image(model, 1, 49, 49, 16)
    model.operator("PAD", [x, amounts], [padded], ("PadOptions", {}))
    y = model.conv_2d(
        padded, _weights(16, 3, 3, 16), None, filter_scale=0.004, scale=0.2, zero_point=2,
        stride=(2, 2), padding="valid",
    )  # fmt: skip
    return model.build(inputs=[x], outputs=[y])


def dilation() -> bytes:
    """A layer of a temporal network as frameworks write it: taps four samples apart, looking back only."""
    model = ModelBuilder()
    x = _image(model, 1, 1, 64, 32)
    block = model.constant(np.array([1, 4], np.int32))
    margins = [model.constant(np.array([(0, 0), ends], np.int32)) for ends in ((8, 0), (0, 0))]
    cut = _image(model, 4, 1, 18, 32)
    options = ("SpaceToBatchNDOptions", {})
    model.operator("SPACE_TO_BATCH_ND", [x, block, margins[0]], [cut], options)
    layer = model.depthwise_conv_2d(
        cut, _weights(1, 1, 3, 32), None, filter_scale=0.004, scale=0.2, zero_point=2,
        padding="valid",
    )  # fmt: skip
    y = model.tensor((1, 1, 64, 32), scale=0.2, zero_point=2)
    options = ("BatchToSpaceNDOptions", {})
    model.operator("BATCH_TO_SPACE_ND", [layer, block, margins[1]], [y], options)
    return model.build(inputs=[x], outputs=[y])


def activations() -> bytes:
    """The end of a residual block: ADD, then RELU."""
    model = ModelBuilder()
    x = _image(model, 1, 32, 32, 16)
    total = model.add(x, x, scale=0.1, zero_point=1)
    y = model.tensor((1, 32, 32, 16), scale=0.1, zero_point=1)
    model.operator("RELU", [total], [y])
    return model.build(inputs=[x], outputs=[y])


def depthwise() -> bytes:
    """The layer of the micro_speech example: 8 filters of 10x8 over one channel of 49x40."""
    model = ModelBuilder()
    y = model.depthwise_conv_2d(
        x := _image(model, 1, 49, 40, 1), _weights(1, 10, 8, 8), None, filter_scale=0.004,
        scale=0.2, zero_point=-128, stride=(2, 2), padding="same", activation="relu",
    )  # fmt: skip
    return model.build(inputs=[x], outputs=[y])


CASES: Final[Mapping[str, Callable[[], bytes]]] = {
    "remove_identities": identities,
    "fuse_dilation": dilation,
    "fuse_padding": padding,
    "depthwise_to_convolution": depthwise,
    "fuse_activations": activations,
}
"""The model that shows each transform."""


def conversion_of(path: Path, platform: str, transform: str, *, enabled: bool) -> Conversion:
    """Converts a model with a transform on or off."""
    return convert(
        ConvertConfig.model_validate(
            {
                "model": {"path": path},
                "platform": {"name": platform},
                "transforms": [{"name": transform, "enabled": enabled}],
            }
        )
    )


def main() -> None:
    """Prints the table."""
    table = Table(title="Transforms off and on: modelled cycles (timing model, not silicon)")
    for name in (
        "transform",
        "platform",
        "cycles off",
        "cycles on",
        "off/on",
        "arena off",
        "arena on",
    ):
        table.add_column(name, justify="right" if " " in name or "/" in name else "left")
    with tempfile.TemporaryDirectory() as folder:
        for transform, build in CASES.items():
            path = Path(folder) / f"{transform}.tflite"
            path.write_bytes(build())
            for platform in PLATFORMS:
                cycles, arenas, outputs = [], [], []
                for enabled in (False, True):
                    conversion = conversion_of(path, platform, transform, enabled=enabled)
                    runner = create_runner("simulator", conversion.platform)
                    stimulus = random_stimulus(conversion.module.inputs)
                    result = runner.measure(conversion, stimulus, MeasureSettings())
                    if result.measurement.status != "ok":
                        raise SystemExit(f"{transform}: {result.measurement.reason}")
                    cycles.append(result.measurement.best_cycles or 0)
                    arenas.append(
                        sum(
                            a.used_bytes
                            for a in conversion.memory_plan.arenas
                            if a.role == "scratch"
                        )
                    )
                    outputs.append(result.measurement.outputs_sha256)
                if outputs[0] != outputs[1]:
                    raise SystemExit(f"{transform} changes the output on {platform}")
                table.add_row(
                    transform, platform, *(f"{c:,}" for c in cycles),
                    f"{cycles[0] / cycles[1]:.2f}", *(f"{a:,}" for a in arenas),
                )  # fmt: skip
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
