# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from synthetic_campaign import synthetic_plan, synthetic_report

from helia_aot.config.convert import OperatorOptimization, OperatorRule
from search_spaces.build import SpaceSettings, build_space
from search_spaces.errors import SpaceError


def pin(kernel: str | None, *, type: str = "*", id: str | None = None) -> OperatorRule:
    return OperatorRule(type=type, id=id, optimization=OperatorOptimization(kernel=kernel))


def test_every_applicable_knob_varies() -> None:
    plan = synthetic_plan(4)
    space = build_space(plan, synthetic_report(plan))
    assert [dimension.name for dimension in space.dimensions] == [
        f"kernel@0:conv{index}" for index in range(4)
    ]
    assert space.dimensions[0].choices == ("specialized", "generic")
    assert space.baseline["kernel@0:conv0"] == "specialized"


def test_a_knob_that_is_not_applicable_is_dropped_with_the_reason() -> None:
    plan = synthetic_plan(3)
    space = build_space(plan, synthetic_report(plan, not_applicable=[1]))
    assert space.size == 4
    assert [(item.operator_id, item.reason) for item in space.dropped] == [
        ("0:conv1", "not applicable: no direct entry")
    ]


def test_a_choice_of_the_configuration_does_not_vary() -> None:
    plan = synthetic_plan(3, explicit=[0])
    space = build_space(plan, synthetic_report(plan))
    assert space.size == 4
    assert "explicitly" in space.dropped[0].reason


def test_only_the_knobs_asked_for_vary() -> None:
    plan = synthetic_plan(3)
    space = build_space(plan, synthetic_report(plan), SpaceSettings(knobs=["accumulation"]))
    assert space.size == 1
    assert len(space.dropped) == 3


def test_values_that_change_numerics_are_left_out() -> None:
    plan = synthetic_plan(1)
    report = synthetic_report(plan)
    operator = report.operators[0]
    approximate = [
        item.model_copy(update={"approximate": item.value == "generic"})
        for item in operator.alternatives["kernel"]
    ]
    report.operators[0] = operator.model_copy(update={"alternatives": {"kernel": approximate}})
    space = build_space(plan, report)
    assert space.size == 1
    assert "numerics" in space.dropped[0].reason


def test_a_pin_fixes_a_knob_for_every_plan() -> None:
    plan = synthetic_plan(4)
    space = build_space(
        plan, synthetic_report(plan), SpaceSettings(pins=[pin("generic", type="conv_2d")])
    )
    assert space.size == 4
    assert [(item.operator_id, item.value) for item in space.pinned] == [
        ("0:conv0", "generic"),
        ("0:conv2", "generic"),
    ]
    assert len(space.choices(space.baseline)) == 4


def test_the_more_specific_pin_wins() -> None:
    plan = synthetic_plan(2)
    pins = [pin("specialized", id="0:conv0"), pin("generic")]
    space = build_space(plan, synthetic_report(plan), SpaceSettings(pins=pins))
    assert [item.value for item in space.pinned] == ["specialized", "generic"]


def test_a_pin_to_auto_keeps_what_auto_chooses() -> None:
    plan = synthetic_plan(2)
    space = build_space(
        plan, synthetic_report(plan), SpaceSettings(pins=[pin("auto", id="0:conv0")])
    )
    assert space.pinned[0].value == "specialized"


def test_every_wrong_pin_and_knob_is_named() -> None:
    plan = synthetic_plan(3, explicit=[1])
    pins = [
        pin("generic", id="nowhere"),
        pin(None, id="0:conv0"),
        pin("generic", id="0:conv1"),
        pin("generic", id="0:conv2"),
    ]
    report = synthetic_report(plan, not_applicable=[2])
    with pytest.raises(SpaceError) as caught:
        build_space(plan, report, SpaceSettings(knobs=["kernels"], pins=pins))
    assert [problem.where for problem in caught.value.problems] == [
        "space.knobs",
        "space.pins[0]",
        "space.pins[1]",
        "space.pins[2]",
        "space.pins[3]",
    ]


def test_an_excluded_value_is_not_searched() -> None:
    plan = synthetic_plan(4)
    report = synthetic_report(plan)
    rules = [pin("generic", type="depthwise_conv_2d"), pin("generic", id="0:conv0")]
    space = build_space(plan, report, SpaceSettings(exclude=rules))
    assert [dimension.operator_id for dimension in space.dimensions] == ["0:conv2"]
    assert {item.reason for item in space.dropped} == {"space.exclude leaves one value"}


def test_an_excluded_value_leaves_the_others() -> None:
    plan = synthetic_plan(1)
    report = synthetic_report(plan)
    operator = report.operators[0]
    both = operator.alternatives["kernel"]
    third = both[1].model_copy(update={"value": "third"})
    report.operators[0] = operator.model_copy(update={"alternatives": {"kernel": [*both, third]}})
    assert build_space(plan, report).dimensions[0].choices == ("specialized", "generic", "third")
    space = build_space(plan, report, SpaceSettings(exclude=[pin("generic")]))
    assert space.dimensions[0].choices == ("specialized", "third")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (pin("generic", type="SOFTMAX"), "matches no operator"),
        (pin(None, type="CONV_2D"), "sets no knob"),
        (pin("auto"), "no value that could be searched"),
        (pin("specialized"), "is what auto chooses"),
    ],
)
def test_an_exclusion_that_cannot_be_is_an_error(rule: OperatorRule, reason: str) -> None:
    plan = synthetic_plan(2)
    with pytest.raises(SpaceError) as caught:
        build_space(plan, synthetic_report(plan), SpaceSettings(exclude=[rule]))
    assert any(reason in problem.reason for problem in caught.value.problems)
    assert all(problem.where == "space.exclude[0]" for problem in caught.value.problems)
