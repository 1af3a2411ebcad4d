# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions over one channel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_models import ModelBuilder
from transform_checks import check_outputs, converted, ids, op_types, random_inputs


def layers(channels: int) -> tuple[ModelBuilder, int, list[int]]:
    rng = np.random.default_rng(5)
    model = ModelBuilder()
    x = model.tensor((1, 9, 7, channels), scale=0.05, zero_point=-9)
    outputs = []
    for per_channel in (True, False):
        filters = rng.integers(-127, 128, (1, 3, 2, 8)).astype(np.int8)
        bias = rng.integers(-900, 900, 8).astype(np.int32)
        scales = rng.uniform(0.002, 0.01, 8).tolist() if per_channel else 0.004
        outputs.append(
            model.depthwise_conv_2d(
                x, filters, bias, filter_scale=scales, scale=0.1, zero_point=4, stride=(2, 1),
                activation="relu", name=f"layer{len(outputs)}",
            )
        )  # fmt: skip
    return model, x, outputs


@pytest.mark.parametrize("off", [[], ["depthwise_to_convolution"]])
def test_one_channel_is_a_convolution(off: list[str], tmp_path: Path) -> None:
    model, x, outputs = layers(1)
    data = model.build(inputs=[x], outputs=outputs)
    conversion = converted(data, tmp_path, off)
    kind = "DEPTHWISE_CONV_2D" if off else "CONV_2D"
    assert op_types(conversion) == [kind, kind]
    assert ids(conversion) == ["0:layer0", "0:layer1"]
    check_outputs(data, conversion, random_inputs(model, [x]), tmp_path)


def test_several_channels_stay(tmp_path: Path) -> None:
    model, x, outputs = layers(2)
    conversion = converted(model.build(inputs=[x], outputs=outputs), tmp_path)
    assert op_types(conversion) == ["DEPTHWISE_CONV_2D"] * 2
