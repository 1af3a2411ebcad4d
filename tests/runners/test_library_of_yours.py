# SPDX-License-Identifier: Apache-2.0
"""A kernel library of yours against the recorded outputs of models and TFLite Micro, in the simulator of both cores.

``HELIA_TEST_KERNELS=kernels.yaml pytest tests/runners/test_library_of_yours.py``, with a file of the form of ``runner.kernels``;
``--generated-cases 1000`` tries more layers. Models and layers that the library's dialect has no calls for are left out.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from golden import SUPPORTED, golden_samples
from library_layers import KINDS, Layers
from required import tflite_micro_runtime

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import UnsupportedModelError
from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.kernel_library import KernelLibrary
from runners.measure import random_stimulus
from runners.measurement import Stimulus
from runners.simulator.simulator import SimulatorRunner

pytestmark = pytest.mark.usefixtures("tools")
VARIABLE = "HELIA_TEST_KERNELS"
ONCE = MeasureSettings(warmups=0, per_operator=False)
CASES, BATCH = 100, 20
NEVER_REFUSED = ("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8")
"""Models that every dialect has all calls for."""

if VARIABLE not in os.environ:
    pytest.skip(f"{VARIABLE} names no kernel library", allow_module_level=True)


@pytest.fixture(scope="module")
def library() -> KernelLibrary:
    path = Path(os.environ[VARIABLE])
    return KernelLibrary.model_validate(yaml.safe_load(path.read_text("utf-8"))).beside(path.parent)


@pytest.fixture(scope="module", params=["apollo510_evb", "apollo4p_evb"])
def runner(request: pytest.FixtureRequest, library: KernelLibrary) -> SimulatorRunner:
    return SimulatorRunner(load_platform(request.param), kernels=library)


def converted(path: Path, runner: SimulatorRunner, library: KernelLibrary) -> Conversion:
    module = {"kernels": "external", "dialect": library.dialect}
    config = {"model": {"path": path}, "platform": {"name": runner.platform.name}, "module": module}
    return convert(ConvertConfig.model_validate(config))


@pytest.mark.parametrize("name", SUPPORTED)
def test_models_give_the_recorded_outputs(runner, library, models_dir, name):
    try:
        conversion = converted(models_dir / f"{name}.tflite", runner, library)
    except UnsupportedModelError as error:
        if name in NEVER_REFUSED:
            raise
        pytest.skip(error.summary)
    counts = len(conversion.module.inputs), len(conversion.module.outputs)
    inputs, expected = golden_samples(models_dir, name, *counts)[0]
    result = runner.measure(conversion, Stimulus(tuple(inputs)), ONCE)
    assert result.measurement.status == "ok", result.measurement.reason
    for got, wanted in zip(result.outputs, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_layers_equal_tflite_micro(runner, library, generated_cases, tmp_path, dtype):
    for first in range(0, generated_cases or CASES, BATCH):
        layers = Layers(first, dtype)
        for number in range(BATCH):
            layers.add(tuple(KINDS)[number % len(KINDS)])
        path = tmp_path / "layers.tflite"
        path.write_bytes(layers.build())
        conversion = converted(path, runner, library)
        stimulus = random_stimulus(conversion.module.inputs, first)
        result = runner.measure(conversion, stimulus, ONCE)
        assert result.measurement.status == "ok", (result.measurement.reason, layers.names)
        expected = micro_outputs(path.read_bytes(), stimulus, BATCH)
        pairs = zip(layers.names, result.outputs, expected, strict=True)
        assert [name for name, got, wanted in pairs if not np.array_equal(got, wanted)] == []


def micro_outputs(model: bytes, stimulus: Stimulus, count: int) -> list[np.ndarray]:
    """Gives what TFLite Micro computes."""
    interpreter = tflite_micro_runtime().Interpreter.from_bytes(model, arena_size=1 << 22)
    for position, array in enumerate(stimulus.inputs):
        interpreter.set_input(array, position)
    interpreter.invoke()
    return [np.array(interpreter.get_output(index)) for index in range(count)]
