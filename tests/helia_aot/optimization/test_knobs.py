# SPDX-License-Identifier: Apache-2.0
"""The registries hold what they must for everything that is made from them."""

from __future__ import annotations

import pytest

from helia_aot.config.convert import OperatorAttributes, OperatorOptimization, OptimizationConfig
from helia_aot.optimization.fixed import FIXED
from helia_aot.optimization.knobs import AUTO, GOALS, KNOBS, MODEL_KNOBS, Knob

EVERY = {**KNOBS, **MODEL_KNOBS}


@pytest.mark.parametrize("knob", EVERY.values(), ids=EVERY)
def test_knobs_are_whole(knob: Knob) -> None:
    assert EVERY[knob.name] is knob
    assert AUTO not in knob.values
    assert knob.default in knob.values
    assert knob.default not in knob.approximate
    assert knob.approximate <= set(knob.values)
    assert set(knob.value_texts) == set(knob.values)
    assert set(knob.auto_table) == set(GOALS)


@pytest.mark.parametrize("knob", EVERY.values(), ids=EVERY)
def test_auto_is_exact_unless_approximation_is_allowed(knob: Knob) -> None:
    for goal in GOALS:
        assert knob.auto_value(goal, allow_approximate=False) in set(knob.values) - knob.approximate
        assert knob.auto_value(goal, allow_approximate=True) in knob.values


def test_auto_table_is_the_published_one() -> None:
    table = {
        name: [
            knob.auto_value("latency", allow_approximate=True),
            *(knob.auto_value(goal, allow_approximate=False) for goal in GOALS),
        ]
        for name, knob in KNOBS.items()
    }
    assert GOALS == ("latency", "balanced", "size", "accuracy")
    assert table == {
        "accumulation": ["fast", "precise", "precise", "precise", "precise"],
        "kernel": ["specialized", "specialized", "specialized", "generic", "specialized"],
        "code_specialization": ["shared"] * 5,
    }


def test_knobs_can_be_set_for_the_model_and_for_operators() -> None:
    for section in (OptimizationConfig, OperatorOptimization):
        assert set(KNOBS) <= set(section.model_fields)


def test_fixed_choices_are_whole_and_no_knobs() -> None:
    assert set(FIXED).isdisjoint(EVERY)
    for name, kind in FIXED.items():
        assert kind.name == name
        assert set(kind.value_texts) == set(kind.values)
        assert (name in OperatorAttributes.model_fields) == kind.is_attribute


@pytest.mark.parametrize("value", [True, "true"])
def test_switches_are_booleans_in_yaml(value: object) -> None:
    assert OperatorAttributes.model_validate({"use_lut": value}).use_lut == "true"
