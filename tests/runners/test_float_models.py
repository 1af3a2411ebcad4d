# SPDX-License-Identifier: Apache-2.0
"""Float models on emulated cores: their own kernel bodies against the recorded outputs."""

from __future__ import annotations

import numpy as np
import pytest
from golden import DYNAMIC_RANGE, FLOAT_TOLERANCE, float_error, golden_samples

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from runners.base import MeasureSettings
from runners.measurement import Stimulus
from runners.simulator.simulator import SimulatorRunner

pytestmark = pytest.mark.usefixtures("tools")

ONCE = MeasureSettings(warmups=0, repeats=1, per_operator=False)
KWS = "kws_ref_model_float32"
HALF_TOLERANCE = 0.02
"""The dynamic-range error of the recorded outputs, and half precision."""


def outputs(models_dir, name: str, platform: str, precision: str, **optimization: str):
    config = {
        "model": {"path": models_dir / f"{name}.tflite", "precision": precision},
        "platform": {"name": platform},
        "optimization": optimization,
    }
    conversion = convert(ConvertConfig.model_validate(config))
    module = conversion.module
    inputs, wanted = golden_samples(models_dir, name, len(module.inputs), len(module.outputs))[0]
    stimulus = [a.astype(t.dtype) for a, t in zip(inputs, module.inputs, strict=True)]
    runner = SimulatorRunner(conversion.platform)
    result = runner.measure(conversion, Stimulus(tuple(stimulus)), ONCE)
    assert result.measurement.status == "ok", result.measurement
    assert "unmodelled_instructions" not in result.measurement.evidence
    return result, wanted


@pytest.mark.parametrize(
    ("name", "platform", "tolerance"),
    [
        ("hello_world_float", "apollo4p_evb", FLOAT_TOLERANCE),
        ("ad01_fp32", "apollo510_evb", FLOAT_TOLERANCE),
        ("pretrainedResnet", "apollo510_evb", FLOAT_TOLERANCE),
        ("trained_lstm", "apollo510_evb", FLOAT_TOLERANCE),
        (KWS, "apollo510_evb", DYNAMIC_RANGE[KWS]),
    ],
)
def test_float32(name, platform, tolerance, models_dir) -> None:
    result, wanted = outputs(models_dir, name, platform, "model")
    assert result.outputs[0].dtype == np.float32
    assert float_error(result.outputs[0], wanted[0]) < tolerance


@pytest.mark.parametrize("accumulation", ["precise", "fast"])
def test_float16(accumulation, models_dir) -> None:
    result, wanted = outputs(models_dir, KWS, "apollo510_evb", "float16", accumulation=accumulation)
    assert result.outputs[0].dtype == np.float16
    assert float_error(result.outputs[0], wanted[0]) < HALF_TOLERANCE
