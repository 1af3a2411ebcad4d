# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from helia_aot.platforms.registry import load_platform, platform_names
from runners.errors import RunnerError
from runners.layout import (
    Region,
    plan_layout,
    render_linker_script,
    render_placement_header,
)
from runners.simulator.machines import machine_layout

BOARDS = [name for name in platform_names() if load_platform(name).simulator]


@pytest.mark.parametrize("name", BOARDS)
def test_every_platform_has_room_on_its_machine(name):
    platform = load_platform(name)
    layout = machine_layout(platform)
    assert {region.name: region.size_bytes for region in layout.memories} == platform.memory_sizes
    stack_memory = next(r for r in layout.memories if r.end == layout.stack.origin)
    assert platform.memories[stack_memory.name].tcm


def test_platform_without_simulator_is_refused():
    with pytest.raises(RunnerError, match="no simulator"):
        machine_layout(load_platform("host"))


def test_memory_larger_than_the_machine_is_refused():
    platform = load_platform("apollo510_evb", {"memories": {"dtcm": 524288}})
    with pytest.raises(RunnerError, match="lacks RAM"):
        machine_layout(platform)


def test_overlapping_regions_are_refused():
    platform = load_platform("apollo4p_evb")
    origins = dict.fromkeys(platform.memories, 0x2000_0000)
    with pytest.raises(ValueError, match="overlap"):
        plan_layout(
            platform,
            origins=origins,
            code="mram",
            harness=Region("HARNESS", 0x6000_0000, 4096),
            reset_address=0,
        )


def test_vectors_get_a_region_where_no_memory_starts():
    platform = load_platform("apollo4p_evb")
    layout = plan_layout(
        platform,
        origins={"dtcm": 0x2000_0000, "sram": 0x2100_0000, "mram": 0x1000},
        code="mram",
        harness=Region("HARNESS", 0x6000_0000, 4096),
        reset_address=0,
    )
    assert layout.vectors == "BOOT"
    assert "BOOT (rwx) : ORIGIN = 0x00000000, LENGTH = 64" in render_linker_script(layout)


def test_placement_macros_follow_the_memories():
    header = render_placement_header("net", machine_layout(load_platform("apollo510_evb")))
    assert '#define NET_PUT_IN_DTCM __attribute__((section(".bss.helia.dtcm")))' in header
    assert '#define NET_PUT_IN_DTCM_INIT __attribute__((section(".data.helia.dtcm")))' in header
    assert '#define NET_PUT_IN_MRAM_INIT __attribute__((section(".rodata.helia.mram")))' in header
    assert '#define NET_PUT_IN_ITCM_CODE __attribute__((section(".text.helia.itcm")))' in header
    assert "NET_PUT_IN_DTCM_CODE" not in header  # it cannot hold code
    assert "PSRAM" not in header
