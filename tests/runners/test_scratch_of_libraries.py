# SPDX-License-Identifier: Apache-2.0
"""Scratch of kernels that come from an ns-cmsis-nn library: reserved by conversion, and asked for at init."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY
from library_layers import Layers
from required import tflite_micro_runtime

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.kernels.manifest import source_names, sources_for
from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.kernel_library import KernelLibrary
from runners.measure import random_stimulus
from runners.measurement import MeasurementResult
from runners.simulator.simulator import SimulatorRunner

pytestmark = pytest.mark.usefixtures("tools")
KERNELS = REPOSITORY / "helia_aot" / "kernels"
ONCE = MeasureSettings(warmups=0, per_operator=False)
QUESTIONS = [
    "arm_avgpool_s16",
    "arm_avgpool_s8",
    "arm_convolve_1_x_n_s8",
    "arm_convolve_1x1_s8_fast",
    "arm_convolve_s16",
    "arm_convolve_s8",
    "arm_depthwise_conv_s8_opt",
    "arm_fully_connected_s16",
    "arm_fully_connected_s8",
]


def a_model() -> bytes:
    """Two layers for each kind of buffer: those whose entry has a question, and those that are direct entries."""
    layers = Layers(seed=7)
    model, random = layers.model, np.random.default_rng(7)
    inputs, outputs = layers.inputs, layers.outputs

    def weights(*shape: int) -> np.ndarray:
        return random.integers(-127, 128, shape, dtype=np.int8)

    def given(*shape: int) -> int:
        inputs.append(model.tensor(shape, scale=0.05, zero_point=5))
        return inputs[-1]

    fields = {"filter_scale": 0.01, "scale": 0.1, "zero_point": -3}
    for shape, filters in (
        ((1, 6, 6, 3), (4, 3, 3, 3)),
        ((1, 5, 5, 5), (3, 3, 3, 5)),
        ((1, 4, 4, 16), (3, 3, 3, 16)),
        ((1, 4, 4, 6), (5, 1, 1, 6)),
        ((1, 1, 9, 4), (3, 1, 3, 4)),
        ((1, 3, 3, 4), (2, 3, 3, 4)),
    ):
        padding = "valid" if shape[1:3] == filters[1:3] else "same"
        outputs.append(
            model.conv_2d(given(*shape), weights(*filters), None, padding=padding, **fields)
        )
    for shape, kernel in (
        ((1, 6, 6, 15), (3, 3)),
        ((1, 4, 4, 16), (5, 3)),
        ((1, 5, 5, 64), (3, 3)),
    ):
        filters = weights(1, *kernel, shape[3])
        outputs.append(
            model.depthwise_conv_2d(
                given(*shape), filters, None, **{**fields, "filter_scale": [0.01] * shape[3]}
            )
        )
    outputs.append(model.average_pool_2d(given(1, 4, 4, 5), kernel=(2, 2)))
    layers.add("fully connected")
    layers.dtype = "int16"
    for kind in ("convolution", "fully connected", "pool", "pool", "pool"):
        layers.add(kind)
    return layers.build()


def conversion_of(folder: Path, platform: str, kernels: str, kernel: str = "auto") -> Conversion:
    path = folder / "model.tflite"
    path.write_bytes(a_model())
    config = {
        "model": {"path": path},
        "platform": {"name": platform},
        "module": {"kernels": kernels},
        "optimization": {"kernel": kernel},
    }
    return convert(ConvertConfig.model_validate(config))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled kernels that the model calls on either core, and every question about scratch."""
    folder = tmp_path_factory.mktemp("library")
    shutil.copytree(KERNELS / "include", folder / "include")
    (folder / "src").mkdir()
    entries = {
        operator.entry
        for platform in ("apollo510_evb", "apollo4p_evb")
        for kernel in ("specialized", "generic")
        for operator in conversion_of(folder, platform, "bundled", kernel).module.operators
        if operator.entry
    }
    questions = [name for name in source_names() if "get_buffer_sizes" in name]
    for name in (*sources_for(sorted(entries)), *questions):
        shutil.copy(KERNELS / "src" / name, folder / "src")
    return folder


def measured(conversion: Conversion, library: Path) -> MeasurementResult:
    kernels = KernelLibrary(
        dialect="ns-cmsis-nn", version="7.37.0", includes=[library / "include"], sources=[library]
    )
    runner = SimulatorRunner(load_platform(conversion.platform.name), kernels=kernels)
    return runner.measure(conversion, random_stimulus(conversion.module.inputs), ONCE)


@pytest.mark.parametrize("platform", ["apollo510_evb", "apollo4p_evb"])
def test_a_library_gets_the_scratch_that_it_asks_for(tmp_path, library, platform):
    conversion = conversion_of(tmp_path, platform, "external")
    interpreter = tflite_micro_runtime().Interpreter.from_bytes(a_model(), arena_size=1 << 20)
    for position, array in enumerate(random_stimulus(conversion.module.inputs).inputs):
        interpreter.set_input(array, position)
    interpreter.invoke()
    expected = [interpreter.get_output(i) for i in range(len(conversion.module.outputs))]
    for kernel in ("specialized", "generic") if platform == "apollo510_evb" else ("auto",):
        found = measured(conversion_of(tmp_path, platform, "external", kernel), library)
        assert found.measurement.status == "ok", found.measurement.reason
        for got, wanted in zip(found.outputs, expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("entry", QUESTIONS)
def test_a_library_that_asks_for_more_is_refused_at_init(tmp_path, library, entry):
    demanding = tmp_path / "library"
    shutil.copytree(library, demanding)
    name = f"{entry}_get_buffer_size"
    (source,) = [path for path in demanding.rglob("*.c") if f"int32_t {name}(" in path.read_text()]
    source.write_text(asking_for_more(source.read_text("utf-8"), name))
    conversion = conversion_of(tmp_path, "apollo510_evb", "external")
    measurement = measured(conversion, demanding).measurement
    assert (measurement.status, measurement.reason) == ("plan_bad", "init returned 15")
    header = next(file for file in conversion.module.files if file.path.endswith("_context.h"))
    assert "_status_kernel_buffer_undersized = 15" in header.text


def asking_for_more(text: str, name: str) -> str:
    """Gives a source with a function whose answer is a megabyte more."""
    start = text.index(f"int32_t {name}(")
    end = text.index("\n}", start)
    body = re.sub(r"return (.+?);", r"return (\1) + (1 << 20);", text[start:end])
    assert body != text[start:end]
    return text[:start] + body + text[end:]


def test_a_module_with_its_own_kernels_asks_nothing(tmp_path):
    module = conversion_of(tmp_path, "apollo510_evb", "bundled").module
    texts = [file.text for file in module.files if not file.path.startswith("kernels/")]
    assert not any("get_buffer_size" in text or "undersized = 15" in text for text in texts)
