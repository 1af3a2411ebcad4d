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
from optimizer.built_sizes import BuiltSizes, SizeSample
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


class _Code:
    """Made-up code: sources are paid once, and an operator's own file follows its choice."""

    def __init__(self, task: SearchTask) -> None:
        self._parts = task.footprint.code_parts
        self._sizes = {"arm_depthwise_conv_s8_opt": 1800, "arm_convolve_s8": 900}

    def sources(self, assignment: Assignment) -> dict[str, int]:
        chosen = set(enumerate(assignment))
        found = {
            source: self._sizes.get(source, 400)
            for source, users in self._parts.users.items()
            if not chosen.isdisjoint(users)
        }
        own = self._parts.own
        return {**found, **{o.source: 100 + 50 * o.variants[assignment[o.site]] for o in own}}

    def sample(self, assignment: Assignment) -> SizeSample:
        parts = self.sources(assignment)
        return SizeSample(assignment, {"code_bytes": 1000.0 + sum(parts.values())}, parts)


def _code_task(conversion: Conversion) -> tuple[SearchTask, _Code]:
    task = SearchTask(space_of(conversion, knobs=["kernel"]), budget={"code_bytes": 6000.0})
    return task, _Code(task)


def _draws(task: SearchTask, count: int) -> list[Assignment]:
    chance = random.Random(2)
    return [tuple(chance.randrange(2) for _ in task.sites) for _ in range(count)]


def _built(task: SearchTask, samples: list[SizeSample]) -> BuiltSizes:
    built = task.footprint.built_sizes()
    for sample in samples:
        task.footprint.note(sample, built)
    return built


def test_code_of_a_source_is_paid_once(digits_model: Path) -> None:
    task, code = _code_task(converted(digits_model))
    draws = _draws(task, 24)
    # Two builds have every value of every operator, so that these tell every plan.
    some = [tuple(0 for _ in task.sites), tuple(1 for _ in task.sites)]
    (limit, *_) = task.footprint.limits(_built(task, [code.sample(item) for item in some]))
    for draw in draws:
        size = code.sample(draw).sizes["code_bytes"]
        assert limit.of(draw) - limit.most == pytest.approx(size - 6000.0, abs=1e-6)


@pytest.mark.parametrize("builds", [1, 2, 4, 24])
def test_sure_limits_leave_out_no_plan_that_fits(digits_model: Path, builds: int) -> None:
    task, code = _code_task(converted(digits_model))
    draws = _draws(task, 24)
    built = _built(task, [code.sample(draw) for draw in draws[:builds]])
    for draw in draws:
        if code.sample(draw).sizes["code_bytes"] <= 6000.0:
            assert holds(task.footprint.limits(built, surely=True), draw)


def test_code_that_was_too_large_is_left_out_wherever_tensors_lie(auto: Conversion) -> None:
    space = space_of(auto, knobs=["kernel", "constants"])
    task = SearchTask(space, budget={"code_bytes": 100.0})
    code = _Code(task)
    first = assignment_of(task.sites, space.baseline)
    built = _built(task, [code.sample(first)])
    moved = {
        d.name: d.choices[-1] if d.knob == "constants" else d.baseline for d in space.dimensions
    }
    other = assignment_of(task.sites, moved)
    assert other != first
    (limit,) = built.too_large("code_bytes", 100.0)
    assert not holds([limit], first)
    assert not holds([limit], other)
    assert built.too_large("code_bytes", 1e6) == []


def test_the_sources_of_the_compiler_are_those_of_the_image(auto: Conversion) -> None:
    """The parts of the space name the files that the module really has."""
    task = SearchTask(space_of(auto, knobs=["kernel", "code_specialization"]))
    parts = task.footprint.code_parts
    files = {Path(file.path).stem for file in auto.module.files if file.path.endswith(".c")}
    assert {item.source for item in parts.own} <= files
    baseline = set(enumerate(assignment_of(task.sites, task.space.baseline)))
    needed = {source for source, users in parts.users.items() if not users.isdisjoint(baseline)}
    assert needed <= files
    assert not (set(parts.users) - needed) & files
