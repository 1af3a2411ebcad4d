# SPDX-License-Identifier: Apache-2.0
"""Published measurements of settings, for the target they were made on."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml
from pydantic import TypeAdapter

from helia_aot.optimization.report import SETTINGS, MeasurementRecord


@cache
def all_measurements() -> tuple[MeasurementRecord, ...]:
    """Gives every record, in the order of the data file."""
    text = files("helia_aot.optimization").joinpath("measurements.yaml").read_text("utf-8")
    return tuple(TypeAdapter(list[MeasurementRecord]).validate_python(yaml.safe_load(text)))


def measurements_for(target: str, core: str) -> dict[str, list[MeasurementRecord]]:
    """Gives the records measured on a target and its core, with an entry for every setting.

    A figure from another target is never given, even if the core is the same.
    """
    return {
        setting: [
            record
            for record in all_measurements()
            if (record.setting, record.target, record.core) == (setting, target, core)
        ]
        for setting in SETTINGS
    }
