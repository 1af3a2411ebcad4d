# SPDX-License-Identifier: Apache-2.0
"""The knapsacks of the exact choice against what the compiler really needs."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from module_program import converted

from helia_aot.api import Conversion, convert, storage_of
from helia_aot.errors import BudgetError
from optimizer.additive import assignment_of
from optimizer.assignment import Assignment, Limit
from optimizer.footprint import SizeSample
from optimizer.task import SearchTask
from search_spaces.build import SpaceSettings, build_space
from search_spaces.plans import plan_at
from search_spaces.space import SearchSpace

DTCM_BYTES = 16384


@pytest.fixture(scope="module")
def auto(digits_model: Path) -> Conversion:
    limit = {"name": "dtcm", "max_size": DTCM_BYTES}
    return converted(digits_model, memory={"constraints": [limit]})


def space_of(conversion: Conversion, **settings: object) -> SearchSpace:
    return build_space(
        conversion.plan,
        conversion.report,
        SpaceSettings(**settings),  # type: ignore[arg-type]
        storage=storage_of(conversion),
    )


def holds(limits: list[Limit], assignment: Assignment) -> bool:
    return all(limit.of(assignment) <= limit.most + 1e-6 for limit in limits)


@pytest.mark.parametrize("group", ["operator", "type"])
def test_what_the_compiler_accepts_keeps_to_the_limits(auto: Conversion, group: str) -> None:
    space = space_of(auto, group=group)
    task = SearchTask(space)
    limits = task.footprint.limits()
    chance = random.Random(3)
    fitting = refused = 0
    for _ in range(25):
        point = {item.name: chance.choice(item.choices) for item in space.dimensions}
        assignment = assignment_of(task.sites, point)
        try:
            conversion = convert(auto.config, plan=plan_at(auto.plan, space, point))
        except BudgetError as error:
            refused += 1
            cut = task.footprint.cut("dtcm_bytes", assignment, error.overflow["dtcm_bytes"])
            assert not holds(limits, assignment) or (cut and not holds([cut], assignment))
            assert cut is None or holds([cut], assignment_of(task.sites, space.baseline))
            continue
        fitting += 1
        if group == "operator":  # with groups, the larger variant of an operator counts
            assert holds(limits, assignment)
            for memory in ("dtcm", "sram", "mram"):
                least = task.footprint.memory_bytes(memory, assignment)
                assert least <= conversion.storage_bytes[f"{memory}_bytes"]
    assert fitting
    assert refused


def test_constants_alone_are_told_exactly(auto: Conversion) -> None:
    space = space_of(auto, knobs=["constants"])
    task = SearchTask(space)
    chance = random.Random(5)
    for _ in range(5):
        point = {item.name: chance.choice(["sram", "mram"]) for item in space.dimensions}
        conversion = convert(auto.config, plan=plan_at(auto.plan, space, point))
        assignment = assignment_of(task.sites, point)
        assert (
            task.footprint.memory_bytes("mram", assignment)
            == conversion.storage_bytes["mram_bytes"]
        )


def test_a_limit_that_nothing_can_break_is_left_out(auto: Conversion) -> None:
    task = SearchTask(space_of(auto, knobs=["constants", "scratch"]))
    wide = SearchTask(task.space, budget={"dtcm_bytes": 1e9})
    assert len(wide.footprint.limits()) == len(task.footprint.limits())
    assert len(task.footprint.limits()) <= 16  # SRAM and MRAM are large enough for everything


def test_code_of_an_entry_is_paid_once(digits_model: Path) -> None:
    conversion = converted(digits_model)
    space = space_of(conversion, knobs=["kernel"])
    task = SearchTask(space, budget={"code_bytes": 6000.0})
    sizes = {"arm_depthwise_conv_s8_opt": 1800.0, "arm_convolve_s8": 900.0}

    def code(assignment: Assignment) -> float:
        entries = set()
        for site, index in zip(task.sites, assignment, strict=True):
            operator = next(o for o in conversion.report.operators if o.id == site.operator_id)
            value = site.alternatives[index][0]
            entries |= {a.entry for a in operator.alternatives["kernel"] if a.value == value}
        return 1000.0 + sum(sizes.get(entry, 400.0) for entry in entries)

    chance = random.Random(2)
    draws = [tuple(chance.randrange(2) for _ in task.sites) for _ in range(24)]
    samples = [SizeSample(draw, {"code_bytes": code(draw)}) for draw in draws]
    (limit,) = task.footprint.limits(samples)
    for draw in draws:
        assert limit.of(draw) - limit.most == pytest.approx(code(draw) - 6000.0, abs=1.0)
