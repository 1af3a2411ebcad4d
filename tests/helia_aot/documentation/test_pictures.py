# SPDX-License-Identifier: Apache-2.0
"""Sizes for people, and bars that add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.documentation.pictures import BarPicture, memory_picture, size_text, static_picture


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (507904, "496.0 KiB"), (4194304, "4.00 MiB")],
)
def test_sizes_are_short(size: int, text: str) -> None:
    assert size_text(size) == text


def widths(picture: BarPicture) -> float:
    return sum(float(box.width.removesuffix("%")) for box in picture.boxes)


def test_a_memory_shows_its_arenas_and_limits(digits_model: Path) -> None:
    plan = convert(ConvertConfig.model_validate({"model": {"path": digits_model}})).memory_plan
    used = plan.memory_bytes("dtcm")
    full = memory_picture("dtcm", used, plan, {"budget": used / 2, "constraint": 2 * used})
    assert widths(full) == pytest.approx(100, abs=0.01)
    assert [box.kind for box in full.boxes] == ["scratch", "constant"]
    assert [mark.at for mark in full.marks] == ["50.000%", "100.000%"]
    assert widths(memory_picture("sram", 1000, plan, {})) == 0


def test_slots_of_an_arena_follow_one_another(digits_model: Path) -> None:
    plan = convert(ConvertConfig.model_validate({"model": {"path": digits_model}})).memory_plan
    arena = next(arena for arena in plan.arenas if arena.role == "constant")
    picture = static_picture(arena, plan, {})
    edges = [float(box.x.removesuffix("%")) for box in picture.boxes]
    assert edges == sorted(edges)
    assert widths(picture) <= 100.05
    shown = {
        tensor_id for box in picture.boxes for tensor_id in box.text.split(": ")[0].split(", ")
    }
    constants = {p.id for p in plan.allocations.values() if p.role == "constant"}
    assert shown == constants
