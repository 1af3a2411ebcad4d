# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from device_bench import make_bench
from hand_module import SIZE, expected_output, hand_conversion

from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.device.device import DeviceRunner
from runners.measurement import Stimulus

X = np.random.default_rng(3).integers(-128, 128, (1, SIZE), dtype=np.int8)
SETTINGS = MeasureSettings(warmups=2, repeats=3, timeout_s=5)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("platform", ["apollo510_evb", "apollo4p_evb"])
def test_measures(tmp_path, monkeypatch, platform):
    bench = make_bench(tmp_path, monkeypatch, {"a": platform})
    runner = DeviceRunner(load_platform(platform), boards=bench.boards)
    result = runner.measure(hand_conversion(load_platform(platform)), Stimulus((X,)), SETTINGS)
    print(result.measurement.model_dump_json(indent=1))
    assert result.measurement.status == "ok"
    np.testing.assert_array_equal(result.outputs[0], expected_output(X))
