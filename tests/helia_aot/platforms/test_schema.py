# SPDX-License-Identifier: Apache-2.0
"""A target that contradicts itself is refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from helia_aot.platforms.registry import load_platform
from helia_aot.platforms.schema import Platform


def apollo510(**changes: object) -> Platform:
    values: dict[str, Any] = load_platform("apollo510_evb").model_dump()
    for key, value in changes.items():
        *sections, leaf = key.split("__")
        inner = values
        for section in sections:
            inner = inner[section]
        inner[leaf] = value
    return Platform.model_validate(values)


def test_capabilities_are_sorted_and_unique() -> None:
    assert apollo510(capabilities=["mve", "dsp", "mve"]).capabilities == ["dsp", "mve"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"min_alignment": 12}, "not a power of two"),
        ({"preferred_memory_order": ["dtcm", "dtcm"]}, "names a memory twice"),
        ({"preferred_memory_order": ["ddr"]}, "no memory named ddr"),
        ({"simulator__code_memory": "flash"}, "no memory named flash"),
        ({"simulator__memories": {"dtcm": 0}}, "an address for every memory"),
        ({"simulator__line_fill_cycles": {"dtcm": 1}}, "just the memories that are not TCM"),
        ({"core": "cortex-m85"}, "'cortex-m55', 'cortex-m4' or 'host'"),
        ({"colour": "red"}, "Extra inputs are not permitted"),
    ],
)
def test_contradiction_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        apollo510(**changes)


def test_only_memories_known_to_start_at_zero_count_as_such() -> None:
    assert apollo510().memories_at_zero == {"itcm"}
    assert apollo510(memories__itcm__address=0x1000_0000).memories_at_zero == frozenset()
    assert apollo510(memories__itcm__address=None).memories_at_zero == frozenset()
