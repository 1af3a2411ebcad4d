# SPDX-License-Identifier: Apache-2.0
"""Modules for CMSIS-NN: against a stand-in with its calls, over the bundled kernels, in the simulator."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import REPOSITORY
from micro_reference import micro_outputs
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import UnsupportedModelError
from helia_aot.kernels.manifest import public_symbols, source_names, sources_for
from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.errors import RunnerError
from runners.kernel_library import KernelLibrary
from runners.measure import random_stimulus
from runners.simulator.simulator import SimulatorRunner

KERNELS = REPOSITORY / "helia_aot" / "kernels"
STAND_IN = REPOSITORY / "tests" / "cmsis_nn_library"
FORWARDED = (
    "arm_add_s8",
    "arm_avgpool_s8",
    "arm_convolve_s16",
    "arm_convolve_s8",
    "arm_depthwise_conv_s8",
    "arm_fully_connected_per_channel_s8",
    "arm_fully_connected_s8",
    "arm_max_pool_s8",
    "arm_mul_s8",
    "arm_softmax_s8",
)


def a_model() -> bytes:
    """Layers with padding, strides, groups, point and odd filters, both kinds of fully connected, pools, ADD, MUL, SOFTMAX."""
    random, m = np.random.default_rng(5), ModelBuilder()

    def weights(*shape: int) -> np.ndarray:
        return random.integers(-127, 128, shape, dtype=np.int8)

    def bias(channels: int) -> np.ndarray:
        return random.integers(-2000, 2000, channels, dtype=np.int32)

    def fields(channels: int) -> dict[str, Any]:
        scales = (0.002 + 0.001 * np.arange(channels) / channels).tolist()
        return {"filter_scale": scales, "scale": 0.09, "zero_point": -7}

    x = m.tensor((1, 9, 9, 3), scale=0.05, zero_point=11)
    y = m.conv_2d(x, weights(8, 3, 3, 3), bias(8), stride=(2, 2), activation="relu6", **fields(8))
    z = m.depthwise_conv_2d(y, weights(1, 3, 3, 8), bias(8), **fields(8))
    y = m.add(y, z, scale=0.11, zero_point=3)
    z = m.depthwise_conv_2d(y, weights(1, 5, 3, 8), None, **fields(8))
    product = m.tensor(m.tensors[z].shape, scale=0.2, zero_point=1)
    m.operator("MUL", [y, z], [product], ("MulOptions", {}))
    y = m.conv_2d(product, weights(6, 1, 1, 8), bias(6), **fields(6))
    y = m.conv_2d(y, weights(4, 3, 3, 3), bias(4), **fields(4))
    y = m.max_pool_2d(y, kernel=(2, 2), padding="same")
    y = m.average_pool_2d(y, kernel=(2, 2))
    y = m.fully_connected(y, weights(7, 64), bias(7), **fields(7))
    y = m.fully_connected(y, weights(5, 7), None, filter_scale=0.01, scale=0.2, zero_point=4)
    return m.build(inputs=[x], outputs=[m.softmax(y)])


def conversion_of(model: bytes, folder: Path, platform: str, **fields: Any) -> Conversion:
    path = folder / "model.tflite"
    path.write_bytes(model)
    module = {"kernels": "external", "dialect": "cmsis-nn"}
    return convert(
        ConvertConfig.model_validate(
            {"model": {"path": path}, "module": module, "platform": {"name": platform}, **fields}
        )
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in with the bundled kernels below it under another prefix, portable bodies as they compile quickest."""
    folder = tmp_path_factory.mktemp("library")
    shutil.copytree(STAND_IN, folder, dirs_exist_ok=True)
    shutil.copytree(KERNELS / "include", folder / "Source" / "own" / "include")
    (folder / "Source" / "own" / "src").mkdir()
    for name in sources_for(FORWARDED):
        shutil.copy(KERNELS / "src" / name, folder / "Source" / "own" / "src")
    renames = [f"#define {name} own_{name}" for name in public_symbols(source_names())]
    lines = ["#ifndef OWN", "#define OWN", "#define HELIA_NN_PORTABLE", *renames, "#endif", ""]
    symbols = folder / "Source" / "own" / "include" / "helia_nn_symbols.h"
    symbols.write_text("\n".join(lines))
    return folder


def runner_of(folder: Path, platform: str) -> SimulatorRunner:
    library = KernelLibrary(
        dialect="cmsis-nn",
        version="7.0.0",
        includes=[folder / "Include"],
        sources=[folder / "Source"],
    )
    return SimulatorRunner(load_platform(platform), kernels=library)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("platform", ["apollo510_evb", "apollo4p_evb"])
def test_outputs_are_those_of_tflite_micro(tmp_path, library, platform):
    model = a_model()
    conversion = conversion_of(model, tmp_path, platform)
    stimulus = random_stimulus(conversion.module.inputs)
    runner = runner_of(library, platform)
    result = runner.measure(conversion, stimulus, MeasureSettings(per_operator=True))
    assert result.measurement.status == "ok", result.measurement.reason
    np.testing.assert_array_equal(result.outputs[0], micro_outputs(model, stimulus.inputs[0], 1)[0])
    assert np.unique(result.outputs[0]).size > 2
    entries = {operator.entry for operator in result.measurement.operator_cycles}
    assert {"arm_convolve_wrapper_s8", "arm_convolve_s8", "arm_elementwise_mul_s8"} <= entries
    assert runner.identity().kernel_library.startswith("external cmsis-nn 7.0.0 ")


@pytest.mark.usefixtures("tools")
def test_a_library_that_wants_more_scratch_is_refused_at_init(tmp_path, library):
    source = library / "Source" / "forward.c"
    larger = tmp_path / "library"
    shutil.copytree(library, larger)
    (larger / "Source" / "forward.c").write_text(
        "#define LARGER_BUFFERS 64\n" + source.read_text("utf-8")
    )
    conversion = conversion_of(a_model(), tmp_path, "apollo510_evb")
    stimulus = random_stimulus(conversion.module.inputs)
    runner = runner_of(larger, "apollo510_evb")
    measurement = runner.measure(conversion, stimulus, MeasureSettings()).measurement
    assert measurement.status == "plan_bad"
    assert "15" in measurement.reason, measurement


@pytest.mark.usefixtures("tools")
def test_dialects_do_not_meet(tmp_path, library):
    shutil.copytree(KERNELS / "include", tmp_path / "Include")
    shutil.copytree(STAND_IN / "Source", tmp_path / "Source")
    with pytest.raises(RunnerError, match="does not have the calls of CMSIS-NN"):
        runner_of(tmp_path, "apollo510_evb")
    module = {"kernels": "external"}
    other = conversion_of(a_model(), tmp_path, "apollo510_evb", module=module)
    with pytest.raises(RunnerError, match=r"module\.dialect"):
        runner_of(library, "apollo510_evb").measure(
            other, random_stimulus(other.module.inputs), MeasureSettings()
        )


@pytest.mark.parametrize(
    ("platform", "stride", "entry"),
    [
        ("apollo510_evb", (1, 2), "arm_convolve_s8"),
        ("apollo510_evb", (2, 1), "arm_convolve_wrapper_s8"),
        ("apollo4p_evb", (1, 2), "arm_convolve_wrapper_s8"),
    ],
)
def test_the_vector_kernel_for_one_row_is_not_called_with_strides(
    tmp_path, platform, stride, entry
):
    """Release 7.0.0 gives wrong numbers for this shape, or fails."""
    m = ModelBuilder()
    x = m.tensor((1, 1, 7, 16), scale=0.1, zero_point=0)
    filters = np.ones((6, 1, 4, 16), np.int8)
    y = m.conv_2d(x, filters, None, stride=stride, filter_scale=0.01, scale=0.2, zero_point=0)
    conversion = conversion_of(m.build(inputs=[x], outputs=[y]), tmp_path, platform)
    assert [operator.entry for operator in conversion.module.operators] == [entry]


@pytest.mark.parametrize(
    ("first", "second", "is_taken"),
    [
        ((1, 3, 4, 5), (1, 3, 1, 1), False),
        ((2, 1, 4, 1), (1, 3, 1, 1), False),
        ((1, 3, 1, 1), (1, 3, 4, 5), False),
        ((1, 3, 4, 5), (1, 1, 1, 1), True),
        ((1, 3, 4, 5), (1, 3, 1, 5), True),
        ((1, 3, 1, 5), (1, 3, 1, 1), True),
    ],
)
def test_extrema_whose_broadcasting_cmsis_nn_gets_wrong_are_refused(
    tmp_path, first, second, is_taken
):
    m = ModelBuilder()
    x, y = (m.tensor(shape, scale=0.1, zero_point=0) for shape in (first, second))
    z = m.tensor(np.broadcast_shapes(first, second), scale=0.1, zero_point=0)
    m.operator("MAXIMUM", [x, y], [z])
    model = m.build(inputs=[x, y], outputs=[z])
    if is_taken:
        (operator,) = conversion_of(model, tmp_path, "apollo510_evb").module.operators
        assert operator.entry == "arm_maximum_s8"
    else:
        with pytest.raises(UnsupportedModelError) as caught:
            conversion_of(model, tmp_path, "apollo510_evb")
        (problem,) = caught.value.problems
        assert "broadcasts one number along each row" in problem.reason


def test_what_cmsis_nn_lacks_comes_at_once(tmp_path):
    m = ModelBuilder()
    x = m.tensor((1, 4, 4, 3), scale=0.1, zero_point=0)
    y = m.add(
        x, m.tensor((1, 1, 1, 3), scale=0.1, data=np.ones(3, np.int8)), scale=0.2, zero_point=0
    )
    z = m.tensor((1, 4, 4, 3), scale=1 / 256, zero_point=-128)
    m.operator("LOGISTIC", [y], [z])
    with pytest.raises(UnsupportedModelError, match="CMSIS-NN") as caught:
        conversion_of(m.build(inputs=[x], outputs=[z]), tmp_path, "apollo510_evb")
    reasons = [problem.reason for problem in caught.value.problems]
    assert reasons[0] == "broadcasts, and arm_elementwise_add_s8 takes equal shapes only"
    assert reasons[1].endswith("which CMSIS-NN does not have")
    assert caught.value.next_step == "Set module.kernels to bundled."


def test_knobs_that_cmsis_nn_lacks_are_not_applicable(tmp_path):
    conversion = conversion_of(a_model(), tmp_path, "apollo510_evb")
    alternatives = [
        (name, alternative)
        for operator in conversion.report.operators
        for name, found in operator.alternatives.items()
        for alternative in found
    ]
    assert {name for name, _ in alternatives} == {"kernel", "code_specialization"}
    assert not any(alternative.applicable for _, alternative in alternatives)
    reasons = {alternative.reason for _, alternative in alternatives}
    assert "CMSIS-NN has no direct entries; both values call arm_convolve_wrapper_s8" in reasons
    assert "module.kernels: external has no kernel sources to inline" in reasons
