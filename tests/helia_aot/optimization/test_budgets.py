# SPDX-License-Identifier: Apache-2.0
"""The registry of budgets and everything that is made from it."""

from __future__ import annotations

import jsonschema
import pytest
from pydantic import ValidationError

from helia_aot.config.convert import OptimizationConfig
from helia_aot.optimization.budgets import (
    BUDGETS,
    budget_help,
    budget_names,
    budget_of,
    closest_name,
    may_be_budget,
)
from helia_aot.optimization.plan import PlanOptimization

MEMORIES = ("dtcm", "mram")


def limits(**budget: object) -> dict[str, float]:
    return OptimizationConfig.model_validate({"budget": budget}).budget


def test_every_name_ends_with_its_unit_or_has_its_own() -> None:
    units = {"bytes": "_bytes", "us": "_us", "uJ": "_uj"}
    for budget in BUDGETS.values():
        assert budget.name.endswith(units.get(budget.unit, budget.name))


def test_memories_of_the_target_are_budgets() -> None:
    assert budget_names(MEMORIES)[:2] == ("dtcm_bytes", "mram_bytes")
    for name in budget_names(MEMORIES):
        budget = budget_of(name, MEMORIES)
        assert budget is not None
        assert (budget.name, may_be_budget(name)) == (name, True)
    assert budget_of("itcm_bytes", MEMORIES) is None
    assert budget_of("dtcm", MEMORIES) is None


@pytest.mark.parametrize(
    ("wrong", "near"), [("dctm_bytes", "dtcm_bytes"), ("cycle", "cycles"), ("zzz", None)]
)
def test_nearest_name(wrong: str, near: str | None) -> None:
    assert closest_name(wrong, MEMORIES) == near


def test_names_take_any_letter_case_and_values_any_number() -> None:
    assert limits(DTCM_bytes="1000", cycles=2) == {"dtcm_bytes": 1000.0, "cycles": 2.0}


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "many", None, [1]])
def test_limits_are_positive_numbers(value: object) -> None:
    with pytest.raises(ValidationError):
        limits(cycles=value)
    settings = {"goal": "size", "allow_approximate": False, "budget": {"cycles": value}}
    if not isinstance(value, bool | str):
        with pytest.raises(ValidationError):
            PlanOptimization.model_validate(settings)


def test_a_name_that_differs_in_letter_case_alone_is_told() -> None:
    with pytest.raises(ValidationError, match="cycles is given more than once"):
        limits(cycles=1, CYCLES=2)


def test_a_name_that_no_target_has_is_refused() -> None:
    with pytest.raises(ValidationError, match="did you mean latency_us"):
        limits(latency=1)


@pytest.mark.parametrize("model", [OptimizationConfig, PlanOptimization])
def test_schema_lists_every_budget_with_its_meaning(
    model: type[OptimizationConfig] | type[PlanOptimization],
) -> None:
    schema = model.model_json_schema()["properties"]["budget"]
    assert set(schema["properties"]) == set(BUDGETS)
    for name, budget in BUDGETS.items():
        assert budget.text in schema["properties"][name]["description"]
        assert budget.enforced_by in schema["properties"][name]["description"]
    jsonschema.validate({"dtcm_bytes": 1, "cycles": 2.5}, schema)
    for wrong in ({"cycles": 0}, {"latency": 1}, {"dtcm_bytes": "1"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_help_names_unit_meaning_and_enforcer() -> None:
    text = budget_help()
    for budget in BUDGETS.values():
        assert f"{budget.name}: {budget.text}" in text
    assert "<memory>_bytes: " in text
    assert "in output units, enforced by search" in text
