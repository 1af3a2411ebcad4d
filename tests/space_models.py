# SPDX-License-Identifier: Apache-2.0
"""Small models whose whole search space is measured once; the weights are pseudo-random and fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from tflite_models import ModelBuilder


class _Layers:
    """Adds layers with pseudo-random weights, each after the other."""

    def __init__(self, seed: int, shape: tuple[int, int, int]) -> None:
        self.builder = ModelBuilder()
        self._random = np.random.default_rng(seed)
        self.input = self.builder.tensor((1, *shape), scale=0.02, zero_point=-3, name="input")
        self.last = self.input

    def _weights(self, shape: tuple[int, ...], channels: int) -> tuple[np.ndarray, np.ndarray]:
        filters = self._random.integers(-127, 128, shape, dtype=np.int8)
        return filters, self._random.integers(-500, 500, channels, dtype=np.int32)

    def conv(
        self, name: str, channels: int, size: tuple[int, int] = (3, 3), stride: int = 1
    ) -> None:
        c_in = self.builder.tensors[self.last].shape[3]
        filters, bias = self._weights((channels, *size, c_in), channels)
        self.last = self.builder.conv_2d(
            self.last,
            filters,
            bias,
            filter_scale=[0.003] * channels,
            scale=0.05,
            zero_point=2,
            stride=(stride, stride),
            activation="relu",
            name=name,
        )

    def depthwise(self, name: str, size: tuple[int, int] = (3, 3), stride: int = 1) -> None:
        channels = self.builder.tensors[self.last].shape[3]
        filters, bias = self._weights((1, *size, channels), channels)
        self.last = self.builder.depthwise_conv_2d(
            self.last,
            filters,
            bias,
            filter_scale=[0.003] * channels,
            scale=0.04,
            zero_point=-1,
            stride=(stride, stride),
            activation="relu",
            name=name,
        )

    def build(self) -> bytes:
        return self.builder.build(inputs=[self.input], outputs=[self.last])


def cascade() -> bytes:
    """Gives convolutions and depthwise layers of many shapes: 7 choices, 128 plans."""
    layers = _Layers(1, (12, 12, 3))
    layers.conv("stem_3x3_c3", 16)
    layers.conv("conv_3x3_c16", 16)
    layers.depthwise("dw_3x3_c16")
    layers.conv("pw_c20", 20, (1, 1))
    layers.depthwise("dw_3x3_c20")
    layers.depthwise("dw_5x5_c20_s2", (5, 5), stride=2)
    layers.conv("pw_c64", 64, (1, 1))
    layers.depthwise("dw_3x3_c64")
    layers.conv("pw_c16", 16, (1, 1))
    layers.conv("conv_3x3_c16_again", 8)
    return layers.build()


def tiny() -> bytes:
    """Gives layers so small that setting up costs as much as computing: 5 choices, 32 plans."""
    layers = _Layers(2, (5, 5, 1))
    layers.conv("stem_2x2_c1", 4, (2, 2))
    layers.depthwise("dw_3x3_c4")
    layers.conv("pw_c16", 16, (1, 1))
    layers.conv("conv_3x3_c16", 4)
    layers.depthwise("dw_2x2_c4", (2, 2))
    layers.conv("pw_c32", 32, (1, 1))
    layers.depthwise("dw_3x3_c32_s2", stride=2)
    return layers.build()


def two_rates() -> bytes:
    """Gives a layer that reads 80 KB of weights once, and one that reads 72 KB at every pixel.

    The first fills a small tightly coupled memory in the order of the operators, where it gains little;
    the second does not stay in a data cache of 64 KB.
    """
    layers = _Layers(3, (6, 6, 64))
    builder, channels = layers.builder, 128
    features = builder.tensor((1, 1, 1, 640), scale=0.02, zero_point=-3, name="features")
    image, layers.last = layers.last, features
    layers.conv("read_once", channels, (1, 1))
    once, layers.last = layers.last, image
    layers.conv("read_often", channels)
    total = builder.add(layers.last, once, scale=0.05, zero_point=1, name="sum")
    return builder.build(inputs=[features, image], outputs=[total])


SPACE_MODELS: Mapping[str, Callable[[], bytes]] = MappingProxyType(
    {"cascade": cascade, "tiny": tiny}
)
"""Name -> the model's bytes."""
