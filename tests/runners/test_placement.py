# SPDX-License-Identifier: Apache-2.0
"""Where constants, scratch buffers and code are in the simulated image, and what that changes: cycles, never outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden import golden_samples
from module_program import STAGED, converted

from helia_aot.api import Conversion
from runners.base import MeasureSettings
from runners.build import Builder
from runners.errors import RunnerError
from runners.measure import random_stimulus
from runners.measurement import MeasurementResult, Stimulus
from runners.simulator.machines import machine_layout
from runners.simulator.simulator import SimulatorRunner
from runners.toolchain import find_arm_compiler

pytestmark = pytest.mark.usefixtures("tools")

WARM = MeasureSettings(warmups=1, repeats=1, per_operator=False)


def cold(memory: str) -> list[dict[str, Any]]:
    return [{"type": "constant", "attributes": {"memory": memory}}]


def measured(conversion: Conversion, inputs: list[np.ndarray] | None = None) -> MeasurementResult:
    runner = SimulatorRunner(conversion.platform)
    stimulus = Stimulus(tuple(inputs)) if inputs else random_stimulus(conversion.module.inputs)
    result = runner.measure(conversion, stimulus, WARM)
    assert result.measurement.status == "ok", result.measurement
    return result


def test_staging_wins_where_weights_are_read_once_a_run(models_dir: Path) -> None:
    model = models_dir / "ad01_int8.tflite"
    inputs, expected = golden_samples(models_dir, "ad01_int8", 1)[0]
    cycles = {}
    for name, rules in {"mram": cold("mram"), "sram": cold("sram"), "staged": STAGED}.items():
        result = measured(converted(model, memory={"tensors": rules}), inputs)
        np.testing.assert_array_equal(result.outputs[0], expected[0])
        cycles[name] = result.measurement.best_cycles or 0
    assert cycles["staged"] < cycles["sram"] < cycles["mram"]
    assert cycles["sram"] > 2 * cycles["staged"]  # published for a board: 2.70


def test_staging_changes_little_where_activations_dominate(models_dir: Path) -> None:
    model = models_dir / "kws_ref_model.tflite"
    cycles = [
        measured(converted(model, memory={"tensors": rules})).measurement.best_cycles or 0
        for rules in (cold("sram"), STAGED)
    ]
    assert cycles[0] == pytest.approx(cycles[1], rel=0.01)  # published for a board: within 1%


def test_a_staged_constant_takes_both_memories(digits_model: Path) -> None:
    conversion = converted(digits_model, memory={"tensors": STAGED})
    sections = measured(conversion).measurement.sections
    (arena,) = [a for a in conversion.memory_plan.arenas if a.role == "constant"]
    scratch = next(a for a in conversion.memory_plan.arenas if a.role == "scratch")
    assert sections["mram"].rodata_bytes >= arena.used_bytes
    assert sections["dtcm"].data_bytes == 0
    planned = arena.used_bytes + scratch.used_bytes
    assert planned <= sections["dtcm"].bss_bytes < planned + 1024


def test_several_memories_at_once_compute_the_same(digits_model: Path) -> None:
    rules = [
        *cold("mram"),
        {"type": "constant", "id": ["16", "12"], "attributes": {"memory": "MRAM", "constant_destination_memory": "DTCM"}},
        {"type": "constant", "id": "8", "attributes": {"memory": "MRAM", "constant_destination_memory": "ITCM"}},
        {"type": "constant", "id": "4", "attributes": {"memory": "SRAM"}},
        {"type": "scratch", "attributes": {"memory": "ITCM"}},
    ]  # fmt: skip
    mixed = converted(digits_model, memory={"tensors": rules})
    assert len([a for a in mixed.memory_plan.arenas if a.role == "constant"]) == 4
    plain = measured(converted(digits_model))
    np.testing.assert_array_equal(measured(mixed).outputs[0], plain.outputs[0])


def test_placed_code_runs_from_its_memory(digits_model: Path, tmp_path: Path) -> None:
    rules = [{"attributes": {"code_placement": "ITCM"}}]
    placed = converted(digits_model, operators=rules)
    layout = machine_layout(placed.platform)
    core = placed.platform.core
    builder = Builder(find_arm_compiler(), core, layout, "done_semihosting.c")
    image = builder.build(placed.module, tmp_path).image
    functions = {address: name for address, name in image.functions if name.startswith("m_")}
    in_itcm = {n for address, n in functions.items() if layout.memory_at(address) == "itcm"}
    assert in_itcm == {f"m_{op.op_type.lower()}_{op.node_id}_run" for op in placed.module.operators}
    assert image.sections["itcm"].text_bytes > 0
    plain, moved = measured(converted(digits_model)), measured(placed)
    np.testing.assert_array_equal(moved.outputs[0], plain.outputs[0])
    assert moved.measurement.code_bytes >= plain.measurement.code_bytes


@pytest.mark.parametrize("setting", ["allocate_arenas", "auto_hydrate_constants"])
def test_modules_that_need_an_application_are_not_measured(
    setting: str, digits_model: Path
) -> None:
    conversion = converted(digits_model, memory={setting: False, "tensors": STAGED})
    runner = SimulatorRunner(conversion.platform)
    with pytest.raises(RunnerError, match=f"set memory.{setting} to true"):
        runner.measure(conversion, random_stimulus(conversion.module.inputs), WARM)
