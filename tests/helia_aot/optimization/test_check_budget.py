# SPDX-License-Identifier: Apache-2.0
"""Budgets against conversions: figures, the error, and what the plan carries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import BudgetError, ConfigError
from helia_aot.optimization.budgets import BUDGETS
from helia_aot.optimization.check_budget import budget_uses

STAGED = [
    {
        "type": "constant",
        "attributes": {"memory": "mram", "constant_destination_memory": "dtcm"},
    }
]
PLENTY = 10.0**9


@pytest.fixture
def converted(digits_model: Path) -> Any:
    def run(budget: dict[str, float], **memory: object) -> Conversion:
        sections = {"memory": memory, "optimization": {"budget": budget}}
        return convert(ConvertConfig.model_validate({"model": {"path": digits_model}, **sections}))

    return run


def figures(conversion: Conversion) -> dict[str, int | None]:
    return {use.budget.name: use.used_bytes for use in conversion.budget}


def arena_bytes(conversion: Conversion, role: str) -> int:
    return sum(a.used_bytes for a in conversion.memory_plan.arenas if a.role == role)


def test_figures_of_cold_constants_in_tcm(converted: Any) -> None:
    names = ("dtcm_bytes", "mram_bytes", "sram_bytes", *BUDGETS)
    conversion = converted(dict.fromkeys(names, PLENTY))
    used = figures(conversion)
    scratch, constants = (arena_bytes(conversion, role) for role in ("scratch", "constant"))
    constants = -(-constants // 16) * 16
    assert used["arena_bytes"] == scratch
    assert used["constant_bytes"] == used["flash_bytes"] == constants
    assert used["dtcm_bytes"] == used["ram_bytes"] == scratch + constants
    assert (used["mram_bytes"], used["sram_bytes"]) == (0, 0)
    search_only = [name for name in BUDGETS if BUDGETS[name].enforced_by == "search"]
    assert {name for name in used if used[name] is None} == set(search_only)


def test_a_staged_constant_counts_in_both_memories(converted: Any) -> None:
    names = ("dtcm_bytes", "mram_bytes", "ram_bytes", "flash_bytes", "constant_bytes")
    used = figures(converted(dict.fromkeys(names, PLENTY), tensors=STAGED))
    assert used["mram_bytes"] == used["flash_bytes"] == used["constant_bytes"]
    assert used["dtcm_bytes"] == used["ram_bytes"]
    assert used["dtcm_bytes"] > used["mram_bytes"]


def test_constants_that_stay_in_mram_take_no_ram(converted: Any) -> None:
    cold = [{"type": "constant", "attributes": {"memory": "mram"}}]
    used = figures(converted(dict.fromkeys(("ram_bytes", "arena_bytes"), PLENTY), tensors=cold))
    assert used["ram_bytes"] == used["arena_bytes"]


def test_a_limit_that_is_just_met_is_met(converted: Any) -> None:
    used = figures(converted(dict.fromkeys(("dtcm_bytes", "flash_bytes"), PLENTY)))
    converted(used)
    for name in used:
        with pytest.raises(BudgetError, match=f"optimization.budget.{name}: needs"):
            converted({**used, name: used[name] - 1})


def test_one_error_has_every_exceeded_limit(converted: Any) -> None:
    budget = {"dtcm_bytes": 1000, "ram_bytes": 2000, "flash_bytes": 3000, "sram_bytes": 1}
    with pytest.raises(BudgetError) as caught:
        converted({**budget, "arena_bytes": 100, "constant_bytes": 50, "cycles": 1})
    problems = {problem.where: problem for problem in caught.value.problems}
    exceeded = ("dtcm_bytes", "ram_bytes", "flash_bytes", "arena_bytes", "constant_bytes")
    assert set(problems) == {f"optimization.budget.{name}" for name in exceeded}
    assert "1,000 bytes are allowed" in problems["optimization.budget.dtcm_bytes"].reason
    for problem in problems.values():
        largest = problem.reason.partition("; largest: ")[2]
        sizes = [int(part.split(" ")[-1].replace(",", "")) for part in largest[:-1].split("), ")]
        assert 1 <= len(sizes) <= 5
        assert sizes == sorted(sizes, reverse=True)
        assert ", or allow " in problem.next_step
    assert "at least" in problems["optimization.budget.ram_bytes"].reason
    assert "memory.constraints" in problems["optimization.budget.dtcm_bytes"].next_step
    assert "keep constants in mram" in problems["optimization.budget.ram_bytes"].next_step


def test_the_advice_for_ram_works(converted: Any) -> None:
    rule = [{"type": "constant", "attributes": {"memory": "mram"}}]
    used = figures(converted({"ram_bytes": PLENTY}))["ram_bytes"]
    with pytest.raises(BudgetError):
        converted({"ram_bytes": used - 1})
    converted({"ram_bytes": used - 1}, tensors=rule)


def test_a_memory_that_the_target_does_not_have_is_told(converted: Any) -> None:
    with pytest.raises(ConfigError, match="has no memory 'psram'"):
        converted({"psram_bytes": 1})


def test_the_plan_carries_all_limits_and_brings_them_back(
    converted: Any, digits_model: Path
) -> None:
    first = converted({"cycles": 5.0, "dtcm_bytes": PLENTY})
    assert first.plan.optimization.budget == {"cycles": 5.0, "dtcm_bytes": PLENTY}
    plain = ConvertConfig.model_validate({"model": {"path": digits_model}})
    again = convert(plain, plan=first.plan)
    assert again.plan.optimization.budget == first.plan.optimization.budget
    assert convert(plain, plan=again.plan).plan == again.plan
    tighter = ConvertConfig.model_validate(
        {"model": {"path": digits_model}, "optimization": {"budget": {"dtcm_bytes": 100}}}
    )
    with pytest.raises(BudgetError, match="dtcm_bytes"):
        convert(tighter, plan=first.plan)


def test_without_budgets_nothing_is_said(converted: Any) -> None:
    conversion = converted({})
    assert (conversion.budget, conversion.plan.optimization.budget) == ((), {})
    assert budget_uses({}, conversion.memory_plan, {"dtcm": True}) == ()
