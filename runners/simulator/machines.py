# SPDX-License-Identifier: Apache-2.0
"""The QEMU machines that stand in for boards, and how an image is laid out on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from helia_aot.errors import Problem
from runners.errors import RunnerError
from runners.layout import ImageLayout, Region, plan_layout

if TYPE_CHECKING:
    from helia_aot.platforms.schema import Platform

_MIB = 1024 * 1024


@dataclass(frozen=True)
class Machine:
    """A QEMU machine. Ranges as its monitor's ``info mtree -f`` shows them.

    Attributes:
        core: Core that it has.
        ram: Ranges of memory.
        harness: Range for stimulus, outputs and result, which no platform uses.
        reset_address: Where the core reads its vector table.
    """

    core: str
    ram: tuple[Region, ...]
    harness: Region
    reset_address: int = 0


MACHINES: Mapping[str, Machine] = MappingProxyType(
    {
        "mps3-an547": Machine(
            core="cortex-m55",
            ram=(
                Region("itcm", 0x0000_0000, 512 * 1024),
                Region("sram", 0x0100_0000, 2 * _MIB),
                Region("dtcm", 0x2000_0000, 512 * 1024),
                Region("isram", 0x2100_0000, 4 * _MIB),
                Region("ddr", 0x6000_0000, 256 * _MIB),
            ),
            harness=Region("HARNESS", 0x6F00_0000, 16 * _MIB),
        ),
        "mps2-an386": Machine(
            core="cortex-m4",
            ram=(
                Region("ssram1", 0x0000_0000, 4 * _MIB),
                Region("ssram23", 0x2000_0000, 4 * _MIB),
                Region("psram", 0x2100_0000, 16 * _MIB),
            ),
            harness=Region("HARNESS", 0x2180_0000, 8 * _MIB),
        ),
    }
)


def machine_layout(platform: Platform) -> ImageLayout:
    """Gives the layout of images that stand for a platform on its machine.

    Raises:
        RunnerError: If the platform has no machine, or a memory does not lie in the machine's RAM.
    """
    target = platform.simulator
    if target is None:
        raise RunnerError(
            f"the platform {platform.name} has no simulator",
            next_step="choose a Cortex-M platform; see 'helia-aot platforms list'",
        )
    if target.machine not in MACHINES:
        raise RunnerError(
            f"the simulator has no machine {target.machine}", next_step=f"use {', '.join(MACHINES)}"
        )
    machine = MACHINES[target.machine]
    try:
        layout = plan_layout(
            platform,
            origins=dict(target.memories),
            code=target.code_memory,
            harness=machine.harness,
            reset_address=machine.reset_address,
        )
    except ValueError as error:
        raise RunnerError(f"the simulator of {platform.name} has no room: {error}") from error
    problems = [
        Problem(
            f"platform.memories.{region.name}",
            f"{target.machine} lacks RAM for {region.size_bytes} bytes at 0x{region.origin:08x}",
            "lower its size",
        )
        for region in layout.regions
        if not any(ram.origin <= region.origin and region.end <= ram.end for ram in machine.ram)
    ]
    if problems:
        raise RunnerError(f"the simulator cannot hold the memories of {platform.name}", problems)
    return layout
