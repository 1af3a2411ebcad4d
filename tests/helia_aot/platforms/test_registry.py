# SPDX-License-Identifier: Apache-2.0
"""The targets that ship, and what a configuration may change about them."""

from __future__ import annotations

from itertools import combinations

import pytest

from helia_aot.config.convert import PlatformConfig
from helia_aot.errors import ConfigError
from helia_aot.platforms.registry import load_platform, platform_names

NAMES = platform_names()


def test_names_are_sorted_and_hold_the_main_targets() -> None:
    assert list(NAMES) == sorted(NAMES)
    assert {"apollo510_evb", "apollo4p_evb", "host"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_target_loads_under_its_own_name(name: str) -> None:
    platform = load_platform(name)
    assert platform.name == name
    assert platform.description.endswith(".")
    assert platform.speeds_mhz == sorted(platform.speeds_mhz)


@pytest.mark.parametrize("name", NAMES)
def test_vector_extension_and_fp16_belong_to_the_m55(name: str) -> None:
    platform = load_platform(name)
    is_m55 = platform.core == "cortex-m55"
    assert ("mve" in platform.capabilities, platform.fp16) == (is_m55, is_m55)


@pytest.mark.parametrize("name", NAMES)
def test_first_choice_of_memory_can_be_written(name: str) -> None:
    platform = load_platform(name)
    assert platform.memories[platform.preferred_memory_order[0]].volatile


def test_apollo510_has_the_published_memories() -> None:
    platform = load_platform("apollo510_evb")
    assert platform.memory_sizes == {
        "dtcm": 507904,
        "itcm": 262144,
        "sram": 3145728,
        "mram": 4194304,
    }
    assert platform.tcm_memories == ("dtcm", "itcm")
    assert not platform.memories["mram"].volatile
    assert platform.capabilities == ["dsp", "mve"]


# RAM of the machines as the QEMU monitor's `info mtree -f` lists it: first and last address.
MACHINE_RAM = {
    "mps3-an547": [
        (0x00000000, 0x0007FFFF),
        (0x01000000, 0x011FFFFF),
        (0x20000000, 0x2007FFFF),
        (0x21000000, 0x213FFFFF),
        (0x60000000, 0xDFFFFFFF),
    ],
    "mps2-an386": [
        (0x00000000, 0x003FFFFF),
        (0x20000000, 0x203FFFFF),
        (0x21000000, 0x21FFFFFF),
    ],
}


@pytest.mark.parametrize("name", [name for name in NAMES if load_platform(name).simulator])
def test_simulated_memories_lie_apart_in_ram(name: str) -> None:
    platform = load_platform(name)
    assert platform.simulator is not None
    ram = MACHINE_RAM[platform.simulator.machine]
    ranges = [
        (origin, origin + platform.memories[memory].size_bytes - 1)
        for memory, origin in platform.simulator.memories.items()
    ]
    for first, last in ranges:
        assert any(low <= first and last <= high for low, high in ram), hex(first)
    for (first, last), (other_first, other_last) in combinations(ranges, 2):
        assert last < other_first or other_last < first
    assert platform.memories[platform.simulator.code_memory].executable


def test_name_takes_any_letter_case() -> None:
    assert load_platform("Apollo510_EVB").name == "apollo510_evb"


@pytest.mark.parametrize(
    ("name", "advice"),
    [("apolo510_evb", "did you mean apollo510_evb?"), ("zzz", "known: apollo330mp_evb, ")],
)
def test_unknown_name_is_told_with_the_nearest(name: str, advice: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_platform(name)
    assert caught.value.problems[0].where == "platform.name"
    assert caught.value.problems[0].next_step.startswith(advice)


def test_overrides_replace_what_they_name() -> None:
    platform = load_platform(
        "apollo510_evb",
        PlatformConfig.model_validate(
            {
                "speeds_mhz": [192],
                "memories": {"DTCM": 1024},
                "capabilities": ["dsp"],
                "preferred_memory_order": ["SRAM"],
                "min_alignment": 32,
            }
        ),
    )
    assert platform.speeds_mhz == [192]
    assert (platform.memory_sizes["dtcm"], platform.memory_sizes["sram"]) == (1024, 3145728)
    assert (platform.capabilities, platform.fp16) == (["dsp"], False)
    assert (platform.preferred_memory_order, platform.min_alignment) == (["sram"], 32)


def test_overrides_leave_the_built_in_target_alone() -> None:
    load_platform("host", {"memories": {"sram": 1}})
    assert load_platform("host").memory_sizes == {"sram": 67108864}


def test_overrides_that_do_not_fit_are_told_together() -> None:
    overrides = {
        "memories": {"psram": 1},
        "preferred_memory_order": ["dtcm", "ddr", "dtcm"],
        "min_alignment": 24,
        "capabilities": ["mve"],
    }
    with pytest.raises(ConfigError) as caught:
        load_platform("apollo4p_evb", overrides)
    assert [problem.where for problem in caught.value.problems] == [
        "platform.memories.psram",
        "platform.preferred_memory_order[1]",
        "platform.preferred_memory_order",
        "platform.min_alignment",
        "platform.capabilities",
    ]
    assert caught.value.problems[0].next_step == "it has dtcm, sram, mram"
