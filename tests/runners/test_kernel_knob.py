# SPDX-License-Identifier: Apache-2.0
"""What the ``kernel`` knob changes in a linked image: entries and code size, never outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from module_program import converted

from helia_aot.api import Conversion
from runners.base import MeasureSettings
from runners.build import Builder
from runners.measure import random_stimulus
from runners.simulator.machines import machine_layout
from runners.simulator.simulator import SimulatorRunner
from runners.toolchain import find_arm_compiler

pytestmark = pytest.mark.usefixtures("tools")

ONCE = MeasureSettings(warmups=0, repeats=1, per_operator=False)


def both(model: Path) -> tuple[Conversion, Conversion]:
    """Converts a model with ``specialized`` and with ``generic``."""
    specialized, generic = (
        converted(model, optimization={"kernel": value}) for value in ("specialized", "generic")
    )
    return specialized, generic


def test_both_values_give_identical_output(digits_model: Path) -> None:
    outputs = []
    for conversion in both(digits_model):
        stimulus = random_stimulus(conversion.module.inputs)
        result = SimulatorRunner(conversion.platform).measure(conversion, stimulus, ONCE)
        assert result.measurement.status == "ok", result.measurement
        outputs.append(result.outputs[0])
    np.testing.assert_array_equal(*outputs)


@pytest.mark.parametrize(
    ("model", "is_smaller_specialized"),
    [
        ("str_ww_ref_model", True),
        ("kws_ref_model", False),
        ("vww_96_int8", False),
        ("pretrainedResnet_quant", False),
    ],
)
def test_which_value_links_smaller_depends_on_the_model(
    model: str, is_smaller_specialized: bool, models_dir: Path, tmp_path: Path
) -> None:
    """Published for another library: keyword spotting 1928 B smaller, the last two 6520 and 2652 B larger."""
    code_bytes = []
    for conversion in both(models_dir / f"{model}.tflite"):
        layout = machine_layout(conversion.platform)
        core = conversion.platform.core
        builder = Builder(find_arm_compiler(), core, layout, "done_semihosting.c")
        folder = tmp_path / str(len(code_bytes))
        folder.mkdir()
        image = builder.build(conversion.module, folder).image
        code_bytes.append(sum(section.text_bytes for section in image.sections.values()))
    specialized, generic = code_bytes
    assert (specialized < generic) == is_smaller_specialized
