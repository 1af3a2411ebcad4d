# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import yaml

from helia_aot.api import convert
from helia_aot.config.convert import ConvertConfig, TensorRule
from helia_aot.memory.layout import MemoryPlan
from helia_aot.memory.plan import Memories, plan_memory
from helia_aot.memory.planners import Greedy
from helia_aot.memory.requests import TensorRequest
from helia_aot.operators.spec import KnobDomain
from helia_aot.optimization.hints import build_hints, constant_placement
from helia_aot.optimization.measurements import measurements_for
from helia_aot.optimization.plan import (
    Generator,
    ModelIdentity,
    OptimizationPlan,
    PlanOptimization,
    PlanTensor,
    PlatformIdentity,
)
from helia_aot.optimization.report import Alternative, ConstantPlacement, Hint, ReportOperator

if TYPE_CHECKING:
    from conftest import Case

APOLLO = measurements_for("apollo510_evb", "cortex-m55")
_EMPTY = OptimizationPlan(
    schema_version=1,
    generator=Generator(helia_aot="0.1.0", ns_cmsis_nn="7.35.0"),
    model=ModelIdentity(file="kws.tflite", sha256="0" * 64, subgraph=0),
    module_prefix="aot",
    platform=PlatformIdentity(name="apollo510_evb", core="cortex-m55", capabilities=[], fp16=True),
    optimization=PlanOptimization(goal="balanced", allow_approximate=False),
    operators=[],
)
SIZES = {"dtcm": 1000, "sram": 2000, "mram": 2000}


def _report(case: Case) -> list[ReportOperator]:
    return [
        ReportOperator(
            id=operator.id.id,
            op_type=operator.op_type,
            entry=None,
            macs=macs,
            mac_share=macs / 100,
            shapes={},
            alternatives={
                name: [
                    Alternative(
                        value=value,
                        chosen=False,
                        applicable=domain.applicable,
                        reason=domain.reason,
                        entry=entry,
                        approximate=False,
                    )
                    for value, entry in domain.entries.items()
                ]
                for name, domain in operator.domains.items()
            },
        )
        for operator, macs in zip(case.operators, (25, 75, 0), strict=True)
    ]


def _hints(case: Case, **sections: object) -> list[Hint]:
    return build_hints(case.plan(**sections), _report(case), APOLLO, None)


@pytest.mark.parametrize("settings", [{"goal": "size"}, {"kernel": "generic"}])
def test_knob_hint_lists_the_operators_where_the_value_applies(
    case: Case, settings: dict[str, str]
) -> None:
    (hint,) = _hints(case, optimization=settings)
    assert (hint.setting, hint.current, hint.alternative) == ("kernel", "generic", "specialized")
    assert hint.operators == ["0:first"]
    assert hint.mac_share == 0.25
    assert hint.facts == {"approximate": False, "entries": ["arm_convolve_s8_small_cin"]}
    assert "1 operator with 25.0% of the MACs; exact" in hint.message
    assert "measured" not in hint.message


def test_following_a_knob_hint_silences_it(case: Case) -> None:
    (hint,) = _hints(case, optimization={"goal": "size"})
    settings = {"goal": "size"} | yaml.safe_load(hint.yaml)["optimization"]
    assert _hints(case, optimization=settings) == []


def test_operators_pinned_by_a_rule_are_left_out(case: Case) -> None:
    rules = [{"type": "CONV_2D", "optimization": {"kernel": "generic"}}]
    assert _hints(case, operators=rules) == []


def test_operators_of_an_input_plan_are_left_out(case: Case) -> None:
    plan = case.plan(case.plan(optimization={"kernel": "generic"}))
    assert build_hints(plan, _report(case), APOLLO, None) == []


def test_hint_of_an_approximate_value_says_so_and_quotes_the_measurement(case: Case) -> None:
    entries = {"precise": "arm_convolve_1x1_f16", "fast": "arm_convolve_1x1_f16"}
    domains = {"accumulation": KnobDomain("accumulation", entries, applicable=True)}
    half = replace(case, operators=[replace(op, domains=domains) for op in case.operators])
    (hint,) = _hints(half)
    assert hint.operators == ["0:first", "0:a:b", "0:@2"]
    assert hint.facts["approximate"] is True
    assert "approximate: changes numerics; measured: 3.22x on FP16 pointwise layer" in hint.message
    assert "max |error| 0.0156 against 0.0059" in hint.message
    assert _hints(half, optimization=yaml.safe_load(hint.yaml)["optimization"]) == []


def test_fastest_values_leave_nothing_to_say(case: Case) -> None:
    assert _hints(case) == []


def _memory_plan(**rule: str) -> MemoryPlan:
    requests = [
        TensorRequest("1", "constant", 300, data=bytes(300), **rule),
        TensorRequest("0", "scratch", 200),
    ]
    target = Memories(SIZES, ("dtcm", "sram"), 16, read_only=frozenset({"mram"}))
    return plan_memory(requests, target, Greedy())


def _placement(plan: MemoryPlan, *rules: TensorRule) -> ConstantPlacement:
    facts = constant_placement(plan, size_bytes=SIZES, tcm=["dtcm"], rules=rules)
    assert facts is not None
    return facts


def test_placement_facts_count_bytes_by_memory() -> None:
    assert _placement(_memory_plan(memory="mram")) == ConstantPlacement(
        constant_bytes_outside_tcm={"mram": 300},
        constant_bytes_in_tcm=0,
        dtcm_budget_bytes=1000,
        dtcm_free_bytes=1000 - 208,
        id_specific_constant_rules=0,
        cold_source="mram",
    )


def test_placement_facts_of_constants_in_tcm() -> None:
    facts = _placement(_memory_plan())
    assert (facts.constant_bytes_in_tcm, facts.constant_bytes_outside_tcm) == (300, {})
    assert facts.cold_source is None
    assert build_hints(_EMPTY, [], APOLLO, facts) == []


def test_target_without_dtcm_has_no_placement_facts() -> None:
    plan = plan_memory([], Memories({"ram": 1}, ("ram",), 16), Greedy())
    assert constant_placement(plan, size_bytes={"ram": 1}, tcm=[], rules=[]) is None


def test_placement_hint_gives_the_rule_that_moves_constants() -> None:
    (hint,) = build_hints(_EMPTY, [], APOLLO, _placement(_memory_plan(memory="mram")))
    assert (hint.setting, hint.current, hint.alternative) == (
        "constant_destination_memory",
        "mram",
        "dtcm",
    )
    (rule,) = yaml.safe_load(hint.yaml)["memory"]["tensors"]
    attributes = TensorRule.model_validate(rule).attributes
    assert (attributes.memory, attributes.constant_destination_memory) == ("mram", "dtcm")
    assert "measured: 2.70x on AD, whole model" in hint.message
    assert "(96 MHz; DTCM instead of SRAM)" in hint.message
    assert "no gain on KWS, VWW, IC and TCN, whole models" in hint.message


def test_placement_hint_names_no_gain_without_a_measurement() -> None:
    facts = _placement(_memory_plan(memory="mram"))
    (hint,) = build_hints(_EMPTY, [], measurements_for("other", "cortex-m55"), facts)
    assert "measured" not in hint.message


@pytest.mark.parametrize(
    "changes",
    [{"dtcm_free_bytes": 299}, {"cold_source": None}, {"id_specific_constant_rules": 1}],
)
def test_placement_hint_needs_room_one_source_and_no_pins(changes: dict[str, object]) -> None:
    facts = _placement(_memory_plan(memory="mram")).model_copy(update=changes)
    assert build_hints(_EMPTY, [], APOLLO, facts) == []


def test_placement_hint_leaves_a_plan_alone() -> None:
    facts = _placement(_memory_plan(memory="mram"))
    tensor = PlanTensor(id="1", role="constant", memory="mram", source_memory="mram", set_by="plan")
    assert build_hints(_EMPTY.model_copy(update={"tensors": [tensor]}), [], APOLLO, facts) == []


@pytest.mark.parametrize(
    ("rule", "count"),
    [
        ({"type": "constant", "id": "1"}, 1),
        ({"type": "*", "id": ["1", "9"]}, 1),
        ({"type": "*", "id": "0"}, 0),
        ({"type": "scratch", "id": "1"}, 0),
        ({"type": "constant"}, 0),
    ],
)
def test_rules_that_name_constants_are_counted(rule: dict[str, object], count: int) -> None:
    facts = _placement(_memory_plan(memory="mram"), TensorRule.model_validate(rule))
    assert facts.id_specific_constant_rules == count


@pytest.mark.parametrize("budget", [{"dtcm_bytes": 20000}, {"ram_bytes": 20000}])
def test_no_placement_hint_that_a_budget_forbids(budget, digits_model):
    """Staging the example's 13.8 KB of constants beside 12 KB of scratch needs more than 20,000 bytes."""
    tree = {
        "model": {"path": digits_model},
        "memory": {"tensors": [{"type": "constant", "attributes": {"memory": "mram"}}]},
    }
    free = convert(ConvertConfig.model_validate(tree)).report.hints
    assert [hint.setting for hint in free] == ["constant_destination_memory"]
    limited = convert(ConvertConfig.model_validate({**tree, "optimization": {"budget": budget}}))
    assert not limited.report.hints
