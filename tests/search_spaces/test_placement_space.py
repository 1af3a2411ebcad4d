# SPDX-License-Identifier: Apache-2.0
"""Where constants and scratch may be, who chooses together, and the plans that name every place."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from module_program import converted

from helia_aot.api import Conversion, convert, storage_of
from helia_aot.config.convert import MemoryConfig
from helia_aot.errors import BudgetError
from helia_aot.optimization.knobs import KNOBS
from search_spaces.build import SpaceSettings, build_space
from search_spaces.errors import SpaceError
from search_spaces.places import places_of
from search_spaces.plans import knob_key, plan_at, plan_key, point_of
from search_spaces.rules import GroupRule, SpaceRule
from search_spaces.space import SearchSpace

DTCM_BYTES = 16384


def limited(model: Path, size_bytes: int = DTCM_BYTES, **memory: Any) -> Conversion:
    constraint = {"name": "dtcm", "max_size": size_bytes}
    return converted(model, memory={"constraints": [constraint], **memory})


def space_of(conversion: Conversion, **settings: Any) -> SearchSpace:
    return build_space(
        conversion.plan,
        conversion.report,
        SpaceSettings(**settings),
        storage=storage_of(conversion),
    )


def rule(type: str = "*", id: str | None = None, **choices: Any) -> SpaceRule:
    return SpaceRule.model_validate({"type": type, "id": id, "optimization": choices})


@pytest.fixture(scope="module")
def auto(digits_model: Path) -> Conversion:
    return limited(digits_model)


@pytest.fixture(scope="module")
def whole(auto: Conversion) -> SearchSpace:
    return space_of(auto)


def test_places_of_each_operator_and_the_planner_vary(whole: SearchSpace) -> None:
    by_name = {item.name: item for item in whole.dimensions}
    assert by_name["constants@0:pw1"].choices == ("dtcm", "sram", "mram")
    assert by_name["scratch@0:pw1"].choices == ("dtcm", "sram")  # MRAM cannot be written to
    assert by_name["planner@*"].choices == ("greedy", "greedy_by_size", "hill_climb")
    assert "constants@0:residual" not in by_name  # an ADD has no constants
    assert whole.moves_tensors


def test_the_baseline_point_is_what_auto_does(auto: Conversion, whole: SearchSpace) -> None:
    plan = plan_at(auto.plan, whole, whole.baseline)
    named = convert(auto.config, plan=plan)
    assert named.module.constant_blobs == auto.module.constant_blobs
    assert named.memory_plan.allocations == auto.memory_plan.allocations
    assert point_of(auto.plan, whole, plan) == whole.baseline


def test_a_plan_of_the_space_is_reproduced_byte_for_byte(
    auto: Conversion, whole: SearchSpace
) -> None:
    chance = random.Random(1)
    fitting = 0
    overflow: list[float] = []
    for _ in range(12):
        point = {item.name: chance.choice(item.choices) for item in whole.dimensions}
        plan = plan_at(auto.plan, whole, point)
        try:
            first = convert(auto.config, plan=plan)
        except BudgetError as error:
            overflow.append(error.overflow["dtcm_bytes"])
            continue
        fitting += 1
        placed = {item.id: item.memory for item in first.plan.tensors}
        assert placed == {item.id: item.memory for item in plan.tensors}
        assert plan_key(first.plan) == plan_key(plan)
        assert first.plan.optimization.knobs["planner"].value == point["planner@*"]
        free = auto.config.model_copy(update={"memory": MemoryConfig()})
        again = convert(free, plan=first.plan)
        assert again.plan.tensors == first.plan.tensors
        assert again.memory_plan.allocations == first.memory_plan.allocations
        sources = [
            [f for f in c.module.files if f.path.endswith((".c", ".h"))] for c in (first, again)
        ]
        assert sources[0] == sources[1]
    assert fitting >= 6
    assert all(excess > 0 for excess in overflow)


def test_places_add_up_to_what_the_compiler_uses(auto: Conversion, whole: SearchSpace) -> None:
    storage = whole.storage
    assert storage is not None
    places = list(places_of(storage, {}, {}))
    assert {place.tensor_id for place in places} == set(auto.memory_plan.allocations)
    constants = sum(storage.slot_bytes(p.size_bytes) for p in places if p.role == "constant")
    assert constants == auto.storage_bytes["constant_bytes"]


def test_nothing_moves_where_everything_is_in_tightly_coupled_memory(digits_model: Path) -> None:
    conversion = converted(digits_model)
    space = space_of(conversion)
    assert not space.moves_tensors
    assert {item.knob for item in space.dimensions} <= set(KNOBS)
    reasons = {item.knob: item.reason for item in space.dropped}
    assert "tightly coupled" in reasons["constants"]
    assert "tightly coupled" in reasons["planner"]
    wanted = build_space(
        conversion.plan, conversion.report, storage=storage_of(conversion), saves_memory=True
    )
    assert wanted.moves_tensors


def test_a_memory_that_is_too_small_is_no_choice(digits_model: Path) -> None:
    space = space_of(limited(digits_model, 1500))
    by_name = {item.name: item for item in space.dimensions}
    assert by_name["constants@0:pw4"].choices == ("sram", "mram")
    assert "dtcm" in by_name["constants@0:pw1"].choices


def test_places_of_the_configuration_do_not_vary(digits_model: Path) -> None:
    conversion = limited(
        digits_model, tensors=[{"type": "constant", "attributes": {"memory": "sram"}}]
    )
    space = space_of(conversion)
    assert not any(item.knob == "constants" for item in space.dimensions)
    assert {i.reason for i in space.dropped if i.knob == "constants"} == {
        "the configuration places these tensors"
    }
    assert convert(conversion.config, plan=plan_at(conversion.plan, space, space.baseline))


def test_rules_pin_exclude_and_restrict_places(auto: Conversion) -> None:
    space = space_of(
        auto,
        knobs=["constants", "scratch"],
        pins=[rule("CONV_2D", constants="mram")],
        exclude=[rule(constants="mram")],
        restrict=[rule(scratch=["sram"]), rule(id="0:pw1", scratch=["dtcm", "sram"])],
    )
    by_name = {item.name: item for item in space.dimensions}
    assert by_name["constants@0:dw1_3x3"].choices == ("dtcm", "sram")
    assert by_name["scratch@0:pw1"].choices == ("dtcm", "sram")
    assert "scratch@0:pw3" not in by_name  # the baseline has it in SRAM, where it is left
    assert {item.value for item in space.pinned} == {"mram"}
    assert any(item.reason == "space.restrict leaves one value" for item in space.dropped)
    plan = plan_at(auto.plan, space, space.baseline)
    assert {item.memory for item in plan.tensors if item.id == "1"} <= {"mram", "dtcm"}


def test_every_wrong_rule_is_listed(auto: Conversion) -> None:
    with pytest.raises(SpaceError) as caught:
        space_of(
            auto,
            pins=[rule(constants=["dtcm", "sram"]), rule("ADD", constants="dtcm")],
            restrict=[rule(scratch="flash"), rule()],
            groups=[GroupRule(name="early", id="0:nowhere", knobs=["kernels"])],
        )
    text = str(caught.value)
    for part in (
        "several values",
        "matches no operator",
        "no value 'flash'",
        "sets no knob",
        "kernels",
    ):
        assert part in text


def test_operators_of_one_type_choose_together(auto: Conversion, whole: SearchSpace) -> None:
    space = space_of(auto, knobs=["kernel", "constants"], group="type")
    by_name = {item.name: item for item in space.dimensions}
    assert set(by_name["kernel@DEPTHWISE_CONV_2D"].members) == {
        f"0:{name}" for name in ("dw1_3x3", "dw3_3x3_s2", "dw4_3x3", "dw5_5x5")
    }
    assert space.size < whole.size
    point = {**space.baseline, "constants@DEPTHWISE_CONV_2D": "mram"}
    moved = {
        c.operator_id for c in space.choices(point) if (c.knob, c.value) == ("constants", "mram")
    }
    assert moved == set(by_name["constants@DEPTHWISE_CONV_2D"].members)
    assert SearchSpace.from_json(space.to_json()) == space


def test_a_group_of_ones_own_comes_first(auto: Conversion) -> None:
    group = GroupRule(name="early", id=["0:stem_3x3", "0:pw1"], knobs=["constants"])
    space = space_of(auto, group="shape", groups=[group])
    by_name = {item.name: item for item in space.dimensions}
    assert by_name["constants@early"].members == ("0:stem_3x3", "0:pw1")
    assert by_name["constants@early"].op_type == "CONV_2D"
    assert "scratch@0:pw1" in by_name


def test_the_key_counts_places_and_the_planner(auto: Conversion, whole: SearchSpace) -> None:
    points = [
        whole.baseline,
        {**whole.baseline, "planner@*": "greedy"},
        {**whole.baseline, "constants@0:pw1": "sram"},
    ]
    plans = [plan_at(auto.plan, whole, point) for point in points]
    assert len({plan_key(plan) for plan in plans}) == len(plans)
    assert len({knob_key(plan) for plan in plans}) == 1
