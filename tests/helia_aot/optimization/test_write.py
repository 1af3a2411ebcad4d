# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from helia_aot.optimization.knobs import AUTO, GOALS, KNOBS
from helia_aot.optimization.plan import (
    Generator,
    KnobChoice,
    KnobSource,
    ModelIdentity,
    OptimizationPlan,
    PlanOperator,
    PlanOptimization,
    PlatformIdentity,
    RuleRef,
)
from helia_aot.optimization.read import parse_plan
from helia_aot.optimization.write import dump_json

TEXT = st.text(max_size=12)


@st.composite
def choices(draw: st.DrawFn, knob: str) -> KnobChoice:
    value = draw(st.sampled_from(KNOBS[knob].values))
    resolved_by = draw(st.sampled_from(["explicit", "auto_table", "plan"]))
    kinds = {"plan": ["plan"], "explicit": ["operator", "model"]}.get(
        resolved_by, ["operator", "model", "default"]
    )
    kind = draw(st.sampled_from(kinds))
    rule = RuleRef(index=draw(st.integers(0, 9)), type=draw(TEXT), id=draw(st.none() | TEXT))
    return KnobChoice(
        value=value,
        requested=AUTO if resolved_by == "auto_table" else value,
        resolved_by=resolved_by,
        source=KnobSource(kind=kind, rule=rule if kind == "operator" else None),
        approximate=value in KNOBS[knob].approximate,
    )


@st.composite
def plans(draw: st.DrawFn) -> OptimizationPlan:
    operators = [
        PlanOperator(
            id=draw(TEXT),
            id_source="tensor_name",
            index=index,
            node_id=str(index),
            op_type=draw(TEXT),
            knobs={
                knob: draw(choices(knob))
                for knob in draw(st.lists(st.sampled_from(sorted(KNOBS)), unique=True))
            },
        )
        for index in range(draw(st.integers(0, 4)))
    ]
    return OptimizationPlan(
        schema_version=1,
        generator=Generator(helia_aot="0.1.0", ns_cmsis_nn="7.37.0"),
        model=ModelIdentity(file=draw(TEXT), sha256="a" * 64, subgraph=0),
        module_prefix="aot",
        platform=PlatformIdentity(
            name="x", core="y", capabilities=["mve"], fp16=draw(st.booleans())
        ),
        optimization=PlanOptimization(
            goal=draw(st.sampled_from(GOALS)), allow_approximate=draw(st.booleans())
        ),
        operators=operators,
    )


@given(plans())
def test_plan_survives_a_json_round_trip(plan: OptimizationPlan) -> None:
    text = dump_json(plan)
    again = parse_plan(json.loads(text))
    assert again == plan
    assert dump_json(again) == text


def test_text_has_the_order_of_the_fields_and_one_final_newline() -> None:
    text = dump_json(Generator(helia_aot="1.0 µ", ns_cmsis_nn="7.37.0"))
    assert text == '{\n  "helia_aot": "1.0 \\u00b5",\n  "ns_cmsis_nn": "7.37.0"\n}\n'
