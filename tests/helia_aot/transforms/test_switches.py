# SPDX-License-Identifier: Apache-2.0
"""What switching a transform off does to a conversion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tflite_models import ACTIVATIONS, ModelBuilder
from transform_checks import converted, ids, op_types

from helia_aot.api import convert
from helia_aot.errors import PlanError, UnsupportedModelError


def half_weights() -> bytes:
    """A layer whose float16 weights are dequantized when the model runs."""
    model = ModelBuilder()
    x = model.tensor((1, 1, 1, 4), dtype="float32")
    weights = model.constant(np.ones((3, 1, 1, 4), np.float16))
    real = model.tensor((3, 1, 1, 4), dtype="float32")
    model.operator("DEQUANTIZE", [weights], [real], ("DequantizeOptions", {}))
    y = model.tensor((1, 1, 1, 3), dtype="float32")
    options = {"FusedActivationFunction": ACTIVATIONS["none"], "StrideH": 1, "StrideW": 1}
    model.operator("CONV_2D", [x, real], [y], ("Conv2DOptions", options))
    return model.build(inputs=[x], outputs=[y])


def test_what_needs_the_transform_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert op_types(converted(half_weights(), tmp_path)) == ["CONV_2D"]
    with pytest.raises(UnsupportedModelError, match="CONV_2D: filter is computed"):
        converted(half_weights(), tmp_path, ["fold_dequantize"])


def test_a_plan_belongs_to_the_transforms_that_it_was_made_with(tmp_path: Path) -> None:
    model = ModelBuilder()
    x = model.tensor((1, 8), scale=0.1, zero_point=3)
    total = model.add(x, x, scale=0.2, zero_point=1, name="total")
    y = model.tensor((1, 8), scale=0.2, zero_point=1, name="clamped")
    model.operator("RELU", [total], [y])
    data = model.build(inputs=[x], outputs=[y])
    fused, apart = converted(data, tmp_path), converted(data, tmp_path, ["fuse_activations"])
    assert (ids(fused), ids(apart)) == (["0:clamped"], ["0:total", "0:clamped"])
    with pytest.raises(PlanError, match="0:total: the model has this operator, the plan has not"):
        convert(apart.config, plan=fused.plan)
