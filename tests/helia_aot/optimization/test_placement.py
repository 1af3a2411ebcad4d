# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from pydantic import ValidationError

from helia_aot.config.convert import TensorRule
from helia_aot.errors import PlanError
from helia_aot.memory.plan import Memories, plan_memory
from helia_aot.memory.planners import Greedy
from helia_aot.memory.requests import TensorRequest
from helia_aot.optimization.placement import bind_to_plan, plan_tensors, tensor_problems
from helia_aot.optimization.plan import OptimizationPlan, PlanTensor, RuleRef

MEMORIES = ("dtcm", "sram", "mram")
STAGE = {"memory": "mram", "constant_destination_memory": "dtcm"}


def tensor(tensor_id: str = "1", **changes: object) -> PlanTensor:
    given = {"role": "constant", "memory": "dtcm", "source_memory": "dtcm", "set_by": "plan"}
    return PlanTensor.model_validate({"id": tensor_id, **given, **changes})


def rule(**content: object) -> TensorRule:
    return TensorRule.model_validate(content)


def plan_of(*tensors: PlanTensor) -> OptimizationPlan:
    return OptimizationPlan.model_construct(tensors=list(tensors))


def problems(plan: OptimizationPlan, *rules: TensorRule) -> list[str]:
    found = tensor_problems(plan, rules=rules, memories=MEMORIES, read_only={"mram"})
    return [f"{problem.where}: {problem.reason}" for problem in found]


REQUESTS = [
    TensorRequest("1", "constant", 16, data=bytes(16), memory="mram", destination_memory="dtcm"),
    TensorRequest("2", "constant", 16, data=bytes(range(16))),
    TensorRequest("0", "scratch", 32, memory="sram"),
    TensorRequest("op_scratch", "scratch", 32, memory="sram"),
    TensorRequest("9", "scratch", 32),
]
RULES = (
    rule(type="constant", id="1", attributes={"memory": "mram"}),
    rule(type="constant", id="1", attributes={"constant_destination_memory": "dtcm"}),
    rule(type="scratch", id="0", attributes={"memory": "sram"}),
)


def recorded(plan: OptimizationPlan | None = None) -> list[PlanTensor]:
    target = Memories(dict.fromkeys(MEMORIES, 1000), ("dtcm", "sram"), 16, frozenset({"mram"}))
    memory_plan = plan_memory(REQUESTS, target, Greedy())
    return plan_tensors(
        REQUESTS, memory_plan, rules=RULES, scratch_placement={"op_scratch"}, plan=plan
    )


def test_constants_and_placed_tensors_are_recorded_with_who_placed_them() -> None:
    staged = {"source_memory": "mram"}
    assert recorded() == [
        tensor("1", **staged, set_by="rule", rule=RuleRef(index=1, type="constant", id="1")),
        tensor("2", **staged, set_by="default"),  # shares the arena, so it is staged as well
        tensor(
            "0",
            role="scratch",
            memory="sram",
            source_memory="sram",
            set_by="rule",
            rule=RuleRef(index=2, type="scratch", id="0"),
        ),
        tensor(
            "op_scratch", role="scratch", memory="sram", source_memory="sram", set_by="attribute"
        ),
    ]


def test_tensors_of_an_input_plan_are_set_by_it() -> None:
    plan = plan_of(tensor("2", source_memory="mram"))
    assert [item.set_by for item in recorded(plan)] == ["rule", "plan", "rule", "attribute"]


def test_entries_bind_and_the_rest_keeps_its_rules() -> None:
    plan = plan_of(
        tensor("1", memory="sram", source_memory="sram"), tensor("2", source_memory="mram")
    )
    first, second, *rest = bind_to_plan(REQUESTS, plan, {})
    assert (first.memory, first.destination_memory) == ("sram", None)
    assert (second.memory, second.destination_memory) == ("mram", "dtcm")
    assert rest == REQUESTS[2:]
    assert bind_to_plan(REQUESTS, None, {}) == REQUESTS


def test_unknown_tensors_wrong_roles_and_attributes_are_listed() -> None:
    scratch = {"role": "scratch", "memory": "dtcm"}
    plan = plan_of(tensor("77"), tensor("0"), tensor("op_scratch", **scratch))
    with pytest.raises(PlanError) as caught:
        bind_to_plan(REQUESTS, plan, {"op_scratch": "sram"})
    assert [f"{problem.where}: {problem.reason}" for problem in caught.value.problems] == [
        "tensor 77: the plan places this constant tensor, the module has none",
        "tensor 0: is constant in the plan and scratch in the module",
        "tensor op_scratch: the plan places it in dtcm, but scratch_placement asks for sram",
    ]


def test_memories_that_do_not_exist_or_cannot_be_written_are_listed() -> None:
    plan = plan_of(
        tensor("1", memory="psram", source_memory="psram"),
        tensor("2", memory="mram", source_memory="sram"),
        tensor("3", role="scratch", memory="mram", source_memory="mram"),
        tensor("4", memory="mram", source_memory="sram"),
        tensor("4", memory="mram", source_memory="sram"),
    )
    assert problems(plan) == [
        "tensor 4: the plan lists this tensor 2 times",
        "tensor 1: the target has no memory 'psram'",
        "tensor 2: mram cannot be written to at run time",
        "tensor 3: mram cannot be written to at run time",
        "tensor 4: mram cannot be written to at run time",
        "tensor 4: mram cannot be written to at run time",
    ]


def test_cold_constants_may_stay_in_read_only_memory() -> None:
    assert problems(plan_of(tensor("1", memory="mram", source_memory="mram"))) == []


def test_constants_of_one_memory_come_from_one() -> None:
    plan = plan_of(tensor("1", source_memory="mram"), tensor("2", source_memory="sram"))
    (problem,) = problems(plan)
    assert "takes constants of dtcm from mram (tensor 1) and sram (tensor 2)" in problem


@pytest.mark.parametrize(
    ("place", "attributes", "asked"),
    [
        (("dtcm", "dtcm"), {"memory": "sram"}, "memory sram"),
        (("dtcm", "mram"), {"memory": "mram"}, "memory mram without a copy"),
        (("dtcm", "mram"), {"memory": "sram"}, "memory sram"),
        (("sram", "mram"), STAGE, "constant_destination_memory dtcm"),
        (("dtcm", "sram"), STAGE, "memory mram"),
        (("dtcm", "mram"), STAGE, None),
        (("mram", "mram"), {"memory": "mram"}, None),
        (("dtcm", "mram"), {"constant_destination_memory": "dtcm"}, None),
        (("mram", "mram"), {**STAGE, "constant_destination_memory": "unset"}, None),
        (
            ("dtcm", "mram"),
            {**STAGE, "constant_destination_memory": "unset"},
            "memory mram without a copy",
        ),
        (("dtcm", "dtcm"), {}, None),
    ],
)
def test_rules_that_ask_for_something_else_conflict(
    place: tuple[str, str], attributes: dict[str, str], asked: str | None
) -> None:
    plan = plan_of(tensor("1", memory=place[0], source_memory=place[1]))
    other = rule(type="scratch", attributes={"memory": "sram"})
    found = problems(plan, other, rule(type="constant", attributes=attributes))
    assert [text.rpartition("memory.tensors[1] asks for ")[2] for text in found] == (
        [asked] if asked else []
    )


def test_only_constants_are_staged() -> None:
    with pytest.raises(ValidationError, match="a scratch tensor has no source_memory"):
        tensor("1", role="scratch", source_memory="mram")
