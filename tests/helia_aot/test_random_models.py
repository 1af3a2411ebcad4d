# SPDX-License-Identifier: Apache-2.0
"""Small random models against the real TFLite Micro interpreter, through the whole compiler."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from host_module import build_module, run_program
from micro_reference import micro_outputs
from tflite_models import ModelBuilder

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig

RNG_SEED = 20261129


def weights(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(-127, 128, shape, dtype=np.int8)


def bias(rng: np.random.Generator, channels: int) -> np.ndarray:
    return rng.integers(-3000, 3000, channels, dtype=np.int32)


def scales(rng: np.random.Generator, channels: int) -> list[float]:
    return [float(np.float32(s)) for s in rng.uniform(0.002, 0.02, channels)]


def build_model(seed: int) -> tuple[bytes, tuple[int, ...]]:
    """Makes a model that uses every supported operator, of shapes and quantizations that the seed picks."""
    rng = np.random.default_rng(RNG_SEED + seed)
    height, width = (int(v) for v in rng.integers(5, 12, 2))
    channels = int(rng.choice([1, 2, 3, 4, 7, 16]))
    wide = int(rng.choice([4, 8, 12, 20, 33, 64]))
    model = ModelBuilder()
    shape = (1, height, width, channels)
    x = model.tensor(shape, scale=0.05, zero_point=int(rng.integers(-128, 128)), name="image")
    padding = str(rng.choice(["same", "valid"]))
    conv = model.conv_2d(
        x, weights(rng, (wide, 3, 3, channels)), bias(rng, wide),
        filter_scale=scales(rng, wide), scale=0.1, zero_point=int(rng.integers(-128, 128)),
        padding=padding, stride=(1, int(rng.integers(1, 3))),
        activation=str(rng.choice(["none", "relu", "relu6"])), name="conv",
    )  # fmt: skip
    depthwise = model.depthwise_conv_2d(
        conv, weights(rng, (1, 3, 3, wide)), bias(rng, wide), filter_scale=scales(rng, wide),
        scale=0.09, zero_point=-5, padding="same", name="depthwise",
    )  # fmt: skip
    pointwise = model.conv_2d(
        depthwise, weights(rng, (wide, 1, 1, wide)), None, filter_scale=0.004, scale=0.08,
        zero_point=3, padding="same", name="pointwise",
    )  # fmt: skip
    added = model.add(depthwise, pointwise, scale=0.12, zero_point=-7, name="added")
    pooled = model.max_pool_2d(added, kernel=(2, 2), stride=(1, 1), padding="same", name="pooled")
    averaged = model.average_pool_2d(
        pooled, kernel=(2, 3), stride=(2, 1), padding="same", name="averaged"
    )
    count = int(np.prod(model.tensors[averaged].shape))
    flat = model.reshape(averaged, (1, count), name="flat")
    dense = model.fully_connected(
        flat, weights(rng, (11, count)), bias(rng, 11), filter_scale=0.003, scale=0.3,
        zero_point=9, name="dense",
    )  # fmt: skip
    probabilities = model.softmax(dense, name="probabilities")
    return model.build(inputs=[x], outputs=[probabilities, averaged]), shape


@pytest.mark.parametrize("platform", ["apollo510_evb", "host"])
@pytest.mark.parametrize("seed", range(6))
def test_outputs_equal_tflite_micro(seed: int, platform: str, tmp_path: Path) -> None:
    model, shape = build_model(seed)
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    config = ConvertConfig.model_validate(
        {"model": {"path": path}, "platform": {"name": platform}, "module": {"prefix": "rnd"}}
    )
    conversion = convert(config)
    program = build_module(conversion, tmp_path)
    rng = np.random.default_rng(seed)
    for low, high in ((-128, 128), (-128, -127), (127, 128)):
        image = rng.integers(low, high, shape, dtype=np.int8)
        got = run_program(program, conversion, [image])
        for ours, theirs in zip(got, micro_outputs(model, image), strict=True):
            np.testing.assert_array_equal(ours, theirs)
