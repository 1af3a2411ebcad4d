# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from helia_aot.optimization.knobs import KNOBS
from helia_aot.optimization.measurements import SETTINGS, all_measurements, measurements_for


def test_every_setting_has_an_entry_on_any_target() -> None:
    found = measurements_for("host", "host")
    assert found == {setting: [] for setting in SETTINGS}


def test_records_belong_to_known_settings_and_values() -> None:
    for record in all_measurements():
        assert record.setting in SETTINGS
        if record.setting in KNOBS:
            assert record.value in KNOBS[record.setting].values


def test_published_gains_of_the_apollo510() -> None:
    found = measurements_for("apollo510_evb", "cortex-m55")
    assert [record.gain for record in found["accumulation"]] == [3.22]
    gains = [record.gain for record in found["constant_destination_memory"]]
    assert gains == [2.70, 1.28, 1.22, 1.0]
    assert found["kernel"] == []


def test_same_core_on_another_target_has_no_records() -> None:
    found = measurements_for("apollo510b_evb", "cortex-m55")
    assert not any(found.values())
