# SPDX-License-Identifier: Apache-2.0
"""``memory.constraints``: what a module may use of each memory, and what the report says is left for the application."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from module_program import converted

from helia_aot.api import Conversion, convert
from helia_aot.errors import BudgetError, ConfigError

DTCM_BYTES = 507904
SCRATCH, CONSTANTS = 12288, 13848


def constrained(model: Path, *constraints: dict[str, Any], **memory: Any) -> Conversion:
    return converted(model, memory={"constraints": list(constraints), **memory})


def memories(conversion: Conversion) -> dict[str, str]:
    return {arena.role: arena.memory for arena in conversion.memory_plan.arenas}


def test_the_report_states_the_dtcm_left_free(digits_model: Path) -> None:
    placement = constrained(digits_model).report.constant_placement
    assert placement is not None
    assert placement.dtcm_budget_bytes == DTCM_BYTES
    padded = SCRATCH + -(-CONSTANTS // 16) * 16
    assert placement.dtcm_free_bytes == DTCM_BYTES - padded
    assert placement.constant_bytes_in_tcm == CONSTANTS


def test_what_is_left_free_counts_within_the_constraint(digits_model: Path) -> None:
    limit = {"name": "dtcm", "max_size": 20000}
    placement = constrained(digits_model, limit).report.constant_placement
    assert placement is not None
    assert placement.dtcm_budget_bytes == 20000
    assert 0 <= placement.dtcm_free_bytes < 20000


@pytest.mark.parametrize("external", [False, True])
def test_a_constraint_bounds_arenas_and_sources(external: bool, digits_model: Path) -> None:
    limits = [{"name": "dtcm", "max_size": SCRATCH}, {"name": "mram", "max_size": CONSTANTS + 8}]
    rules = [
        {
            "type": "constant",
            "attributes": {"memory": "MRAM", "constant_destination_memory": "SRAM"},
        }
    ]
    conversion = constrained(digits_model, *limits, tensors=rules, allocate_arenas=not external)
    assert memories(conversion) == {"scratch": "dtcm", "constant": "sram"}
    limits[1]["max_size"] -= 1
    with pytest.raises(BudgetError, match=r"mram: needs 13856 bytes, 13855 are available"):
        constrained(digits_model, *limits, tensors=rules, allocate_arenas=not external)


def test_tensors_without_a_rule_leave_a_memory_that_is_too_small(digits_model: Path) -> None:
    conversion = constrained(digits_model, {"name": "DTCM", "max_size": SCRATCH - 1})
    assert {a.memory for a in conversion.memory_plan.arenas} <= {"dtcm", "sram"}
    assert conversion.memory_plan.memory_bytes("dtcm") < SCRATCH


def test_zero_keeps_the_module_out(digits_model: Path) -> None:
    conversion = constrained(digits_model, {"name": "dtcm", "max_size": 0})
    assert set(memories(conversion).values()) == {"sram"}
    placement = conversion.report.constant_placement
    assert placement is not None
    assert (placement.dtcm_budget_bytes, placement.dtcm_free_bytes) == (0, 0)


def test_a_constraint_without_size_is_the_whole_memory(digits_model: Path) -> None:
    plain, same = constrained(digits_model), constrained(digits_model, {"name": "dtcm"})
    assert same.residency == plain.residency


def test_constraints_that_do_not_fit_the_target_are_all_named(digits_model: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        constrained(digits_model, {"name": "flash"}, {"name": "dtcm", "max_size": DTCM_BYTES + 1})
    first, second = (problem.where for problem in caught.value.problems)
    assert first.startswith("memory.constraints[0]")
    assert second.startswith("memory.constraints[1]")


def test_scratch_capacity_is_what_is_left_of_the_constraint(digits_model: Path) -> None:
    conversion = constrained(digits_model, {"name": "dtcm", "max_size": 40000})
    (scratch,) = conversion.residency["arenas"]["scratch"]
    assert scratch["total_size"] == 40000 - 13856


@pytest.mark.parametrize("planner", ["greedy", "greedy_by_size", "hill_climb"])
@pytest.mark.parametrize("limit_bytes", [8000, 12000, 16000, 20000, CONSTANTS + SCRATCH + 16])
def test_a_plan_reproduces_what_a_constraint_moved(
    limit_bytes: int, planner: str, digits_model: Path
) -> None:
    limit = {"name": "dtcm", "max_size": limit_bytes}
    first = constrained(digits_model, limit, planner=planner)
    again = convert(constrained(digits_model, planner=planner).config, plan=first.plan)
    assert again.memory_plan.allocations == first.memory_plan.allocations
    built = [
        [file for file in item.module.files if not file.path.endswith((".json", ".html"))]
        for item in (first, again)
    ]
    assert built[0] == built[1]
    recorded = {tensor.role for tensor in first.plan.tensors}
    assert recorded == {"constant"} | ({"scratch"} if limit_bytes <= 20000 else set())
