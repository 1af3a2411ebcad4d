# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from runners.measurement import Measurement, MemorySections, OperatorCycles, outputs_sha256

OK = {"status": "ok", "cycles": [12, 10], "outputs_sha256": "00"}


def test_survives_json():
    measurement = Measurement(
        **OK,
        operator_cycles=[OperatorCycles(id="0:y", entry=None, cycles=3)],
        sections={"dtcm": MemorySections(data_bytes=4)},
        evidence={"overflow_bytes": {"dtcm": 7}},
    )
    assert Measurement.model_validate_json(measurement.model_dump_json()) == measurement


def test_best_is_the_smallest_run():
    assert Measurement(**OK).best_cycles == 10


@pytest.mark.parametrize(
    "change",
    [
        {"cycles": []},
        {"outputs_sha256": None},
        {"stage": "run"},
        {"status": "plan_bad"},
        {"status": "plan_bad", "stage": "run"},
        {"surprise": 1},
    ],
)
def test_refuses_what_contradicts_itself(change):
    with pytest.raises(ValidationError):
        Measurement(**{**OK, **change})


def test_outputs_digest_is_over_little_endian_bytes_in_order():
    small, big = np.array([1, 2], "<i2"), np.array([1, 2], ">i2")
    assert outputs_sha256([small]) == outputs_sha256([big])
    assert outputs_sha256([small, big[::-1]]) != outputs_sha256([big[::-1], small])
