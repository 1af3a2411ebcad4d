# SPDX-License-Identifier: Apache-2.0
"""Real models from conversion to modelled cycles, against their recorded outputs."""

from __future__ import annotations

import numpy as np
import pytest
from golden import SUPPORTED, golden_samples

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from runners.base import MeasureSettings
from runners.measurement import MeasurementResult, Stimulus
from runners.simulator.simulator import SimulatorRunner

pytestmark = pytest.mark.usefixtures("tools")

ONCE = MeasureSettings(warmups=0, repeats=1, per_operator=False)


def converted(models_dir, name: str, platform: str) -> Conversion:
    config = {"model": {"path": models_dir / f"{name}.tflite"}, "platform": {"name": platform}}
    return convert(ConvertConfig.model_validate(config))


def check_samples(
    conversion: Conversion, models_dir, name: str, samples: int, settings: MeasureSettings
) -> list[MeasurementResult]:
    runner = SimulatorRunner(conversion.platform)
    module = conversion.module
    recorded = golden_samples(models_dir, name, len(module.inputs), len(module.outputs))
    results = []
    for inputs, outputs in recorded[:samples]:
        result = runner.measure(conversion, Stimulus(tuple(inputs)), settings)
        assert result.measurement.status == "ok", result.measurement
        for got, expected in zip(result.outputs, outputs, strict=True):
            np.testing.assert_array_equal(got, expected)
        results.append(result)
    return results


@pytest.mark.parametrize("name", SUPPORTED)
def test_m55_computes_the_recorded_outputs(name, models_dir):
    conversion = converted(models_dir, name, "apollo510_evb")
    check_samples(conversion, models_dir, name, 1, ONCE)


@pytest.mark.parametrize(
    "name",
    ["kws_ref_model", "ad01_int8", "hello_world_int8", "test_conv_model", "nnid", "mww_hey_jarvis"],
)
def test_m4_computes_the_recorded_outputs(name, models_dir):
    conversion = converted(models_dir, name, "apollo4p_evb")
    check_samples(conversion, models_dir, name, 1, ONCE)


def test_operators_add_up_to_the_whole(models_dir):
    conversion = converted(models_dir, "kws_ref_model", "apollo510_evb")
    settings = MeasureSettings(warmups=2, repeats=2)
    results = check_samples(conversion, models_dir, "kws_ref_model", 3, settings)
    assert len({result.measurement.image_sha256 for result in results}) == 1
    for result in results:
        measurement = result.measurement
        assert measurement.cycles[0] == measurement.cycles[1]  # caches are warm
        assert measurement.operator_sum_cycles <= measurement.instrumented_cycles
        assert measurement.operator_sum_cycles > 0.99 * measurement.instrumented_cycles
        assert abs(measurement.instrumented_cycles - measurement.best_cycles) < (
            0.01 * measurement.best_cycles
        )
        ids = [operator.id for operator in measurement.operator_cycles]
        assert ids == [operator.id for operator in conversion.module.operators]


def test_sizes_agree_with_the_memory_plan(models_dir):
    conversion = converted(models_dir, "kws_ref_model", "apollo510_evb")
    (result,) = check_samples(conversion, models_dir, "kws_ref_model", 1, ONCE)
    planned = sum(arena.used_bytes for arena in conversion.memory_plan.arenas)
    dtcm = result.measurement.sections["dtcm"]
    assert planned <= dtcm.total_bytes < planned + 1024
    assert result.measurement.ram_bytes == dtcm.total_bytes
    mram = result.measurement.sections["mram"]
    assert result.measurement.flash_bytes == mram.total_bytes + dtcm.data_bytes


def test_budgets_mean_the_same_before_and_after_measuring(models_dir):
    names = ("ram_bytes", "flash_bytes", "constant_bytes", "dtcm_bytes", "mram_bytes")
    staged = {"memory": "mram", "constant_destination_memory": "dtcm"}
    config = {
        "model": {"path": models_dir / "kws_ref_model.tflite"},
        "memory": {"tensors": [{"type": "constant", "attributes": staged}]},
        "optimization": {"budget": dict.fromkeys(names, 1e9)},
    }
    conversion = convert(ConvertConfig.model_validate(config))
    known = {use.budget.name: use.used_bytes for use in conversion.budget}
    (result,) = check_samples(conversion, models_dir, "kws_ref_model", 1, ONCE)
    measured = result.measurement
    # The rest is code and what the C library needs.
    assert known["ram_bytes"] <= measured.ram_bytes < known["ram_bytes"] + 1024
    assert known["dtcm_bytes"] <= measured.sections["dtcm"].total_bytes
    code_bytes = sum(sections.text_bytes for sections in measured.sections.values())
    assert known["flash_bytes"] + measured.code_bytes <= measured.flash_bytes
    assert measured.flash_bytes < known["flash_bytes"] + code_bytes + 8192
