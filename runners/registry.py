# SPDX-License-Identifier: Apache-2.0
"""The runners by name. A runner's module is imported when it is asked for, not before."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from runners.base import Runner
from runners.errors import RunnerError
from runners.kernel_library import KernelLibrary

if TYPE_CHECKING:
    from helia_aot.platforms.schema import Platform

RUNNERS = MappingProxyType(
    {
        "device": "runners.device.device:DeviceRunner",
        "simulator": "runners.simulator.simulator:SimulatorRunner",
    }
)
"""Runner name -> ``module:class``; the class takes ``(platform, *, clock_mhz=None, kernels=None)``, and
``boards`` if it is one of :data:`NEED_BOARDS`."""

NEED_BOARDS = frozenset({"device"})
"""Runners that measure on the boards of a board file."""


def create_runner(
    name: str,
    platform: Platform,
    *,
    clock_mhz: int | None = None,
    boards: Path | None = None,
    kernels: KernelLibrary | None = None,
) -> Runner:
    """Gives a runner for a platform.

    Args:
        name: A key of :data:`RUNNERS`.
        platform: What the measured modules are converted for.
        clock_mhz: One of the platform's speeds; None takes the runner's own choice.
        boards: The board file of a runner that needs one.
        kernels: A kernel library to link in place of the bundled one.

    Raises:
        RunnerError: If the name is unknown, or the runner cannot serve the platform or the clock.
    """
    if name not in RUNNERS:
        raise RunnerError(
            f"there is no runner named '{name}'",
            next_step=f"use one of: {', '.join(sorted(RUNNERS))}",
        )
    module_name, class_name = RUNNERS[name].split(":")
    runner_class: Callable[..., Runner] = getattr(import_module(module_name), class_name)
    if name not in NEED_BOARDS:
        return runner_class(platform, clock_mhz=clock_mhz, kernels=kernels)
    if boards is None:
        raise RunnerError(
            f"the runner {name} needs a board file",
            next_step="name it with runner.boards; see docs/boards.md",
        )
    return runner_class(platform, clock_mhz=clock_mhz, boards=boards, kernels=kernels)
