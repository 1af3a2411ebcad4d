# SPDX-License-Identifier: Apache-2.0
"""Biases of fewer bits than the layer's own, which TFLite Micro widens and LiteRT refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from differential import Programs
from random_operators import Case
from tflite_models import PADDINGS, ModelBuilder


def test_transpose_convolution_takes_biases_of_16_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    model = ModelBuilder()
    own = {"dtype": "int16", "zero_point": 0}
    x = model.tensor((1, 3, 4, 5), scale=0.001, **own)
    filters = model.constant(
        rng.integers(-127, 128, (6, 3, 3, 5)).astype(np.int8), scale=rng.uniform(0.001, 0.01, 6)
    )
    bias = model.constant(rng.integers(-30000, 30000, 6).astype(np.int16), scale=[1e-6] * 6)
    shape = (1, 6, 8, 6)
    y = model.tensor(shape, scale=0.003, **own)
    fields = {"Padding": PADDINGS["same"], "StrideH": 2, "StrideW": 2}
    inputs = [model.constant(np.array(shape, np.int32)), filters, x, bias]
    model.operator("TRANSPOSE_CONV", inputs, [y], ("TransposeConvOptions", fields))
    limits = ((-32768.0, 32767.0),)
    case = Case(
        "TRANSPOSE_CONV int16", "model", "host", model, (x,), (y,), limits, 2, None, ("LiteRT",)
    )
    assert Programs(tmp_path).failure(case) == ""
