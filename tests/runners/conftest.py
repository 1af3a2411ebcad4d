# SPDX-License-Identifier: Apache-2.0
"""Tools and runners for the tests of the runners."""

from __future__ import annotations

import pytest
from required import missing

from helia_aot.platforms.registry import load_platform
from runners.simulator.simulator import SimulatorRunner
from runners.toolchain import check_tools


@pytest.fixture(scope="session")
def tools() -> None:
    """Skips where a tool of the simulator is missing, and says which."""
    problems = check_tools()
    if problems:
        missing("; ".join(str(problem) for problem in problems))


@pytest.fixture(scope="session", params=["apollo510_evb", "apollo4p_evb"])
def runner(request: pytest.FixtureRequest, tools: None) -> SimulatorRunner:  # noqa: ARG001
    """A simulator of each core."""
    return SimulatorRunner(load_platform(request.param))
