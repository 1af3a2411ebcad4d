# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.errors import RunnerError
from runners.registry import NEED_BOARDS, RUNNERS, create_runner


@pytest.mark.parametrize("name", sorted(set(RUNNERS) - NEED_BOARDS))
@pytest.mark.usefixtures("tools")
def test_identity_names_the_runner(name):
    assert create_runner(name, load_platform("apollo510_evb")).identity().runner == name


def test_unknown_runner_lists_the_known_ones():
    with pytest.raises(RunnerError, match="use one of: device, simulator"):
        create_runner("crystal_ball", load_platform("apollo510_evb"))


def test_device_without_a_board_file_is_an_error():
    with pytest.raises(RunnerError, match="needs a board file"):
        create_runner("device", load_platform("apollo510_evb"))


@pytest.mark.parametrize("change", [{"warmups": -1}, {"repeats": 0}, {"timeout_s": 0}])
def test_impossible_settings_are_refused(change):
    with pytest.raises(ValueError, match="impossible"):
        MeasureSettings(**change)
