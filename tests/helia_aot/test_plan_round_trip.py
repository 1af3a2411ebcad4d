# SPDX-License-Identifier: Apache-2.0
"""A plan gives its module again: through ``optimization.plan``, and through the rules it is written as."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from golden import DYNAMIC_RANGE, FLOAT, INT4_WEIGHTS, SUPPORTED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.errors import BudgetError, PlanError
from helia_aot.ir.graph import Graph, Operator
from helia_aot.operators.activation import Softmax
from helia_aot.operators.registry import FAMILIES
from helia_aot.operators.spec import FixedDomain, LoweredOperator, Target
from helia_aot.optimization.plan import FixedChoice, OptimizationPlan, PlanTensor
from helia_aot.optimization.write_rules import rules_yaml

PLAN, REPORT = "aot_plan.json", "aot_report.json"
STAGE = {"memory": "MRAM", "constant_destination_memory": "DTCM"}
STAGED = {"type": "constant", "attributes": STAGE}
STAGED_IN_SRAM = {
    "type": "constant",
    "attributes": {**STAGE, "constant_destination_memory": "SRAM"},
}
LARGEST_FOR_DTCM_BYTES = 400_000
"""Size of the largest model file whose constants are staged in the 496 KiB DTCM."""


def converted(path: Path, plan: OptimizationPlan | None = None, **sections: object) -> Conversion:
    return convert(ConvertConfig.model_validate({"model": {"path": path}, **sections}), plan=plan)


def module_files(conversion: Conversion) -> dict[str, str]:
    """Gives the files that are compiled; plan and report name who asked, which may differ."""
    files = {file.path: file.text for file in conversion.module.files}
    return {path: text for path, text in files.items() if path not in (PLAN, REPORT)}


def assert_round_trips(path: Path, first: Conversion) -> None:
    """Converts from the plan, from the plan of that, and from the rules, without any other setting."""
    second = converted(path, first.plan)
    third = converted(path, second.plan)
    assert module_files(second) == module_files(first)
    assert second.residency == first.residency
    assert third.module == second.module
    assert {tensor.set_by for tensor in second.plan.tensors} <= {"plan"}
    by_rules = converted(path, **yaml.safe_load(rules_yaml(first.plan)))
    assert module_files(by_rules) == module_files(first)
    assert by_rules.residency == first.residency
    assert by_rules.warnings == ()


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "staged, generic, greedy": {
        "optimization": {"goal": "size"},
        "memory": {"planner": "greedy", "tensors": [STAGED]},
    },
}


@pytest.mark.parametrize("sections", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
@pytest.mark.parametrize("name", [*SUPPORTED, *FLOAT, *DYNAMIC_RANGE, *INT4_WEIGHTS])
def test_models_round_trip(name: str, sections: dict[str, Any], models_dir: Path) -> None:
    path = models_dir / f"{name}.tflite"
    if "memory" in sections and path.stat().st_size > LARGEST_FOR_DTCM_BYTES:
        memory = {**sections["memory"], "tensors": [STAGED_IN_SRAM]}
        sections = {**sections, "memory": memory}
    assert_round_trips(path, converted(path, **sections))


@st.composite
def sections_of(
    draw: st.DrawFn, tensors: Mapping[str, str], operators: list[str]
) -> dict[str, Any]:
    """Draws settings and rules for a model with these tensors (id to role) and operator ids."""
    kernels = st.sampled_from(["auto", "specialized", "generic"])
    constants = [tensor for tensor, role in tensors.items() if role == "constant"]
    others = [tensor for tensor, role in tensors.items() if role == "scratch"]
    ids = st.lists(st.sampled_from(constants), min_size=1, max_size=5, unique=True)
    placed = st.sampled_from([{"memory": "sram"}, {"memory": "mram"}])
    staged = draw(st.sampled_from(["dtcm", "sram", None]))
    rules = [
        {"type": "constant", "id": draw(ids), "attributes": draw(placed)}
        for _ in range(draw(st.integers(0, 2)))
    ]
    if staged is not None:
        attributes = {"memory": "mram", "constant_destination_memory": staged}
        rules = [{"type": "constant", "attributes": attributes}]
    if draw(st.booleans()):
        rules.append({"id": draw(st.sampled_from(others)), "attributes": {"memory": "sram"}})
    planner = draw(st.sampled_from(["greedy", "greedy_by_size", "hill_climb"]))
    memory: dict[str, Any] = {"planner": planner, "tensors": rules}
    if planner == "hill_climb":
        memory["planner_options"] = {"seed": draw(st.integers(0, 9)), "iterations": 20}
    return {
        "optimization": {
            "goal": draw(st.sampled_from(["latency", "balanced", "size", "accuracy"])),
            "kernel": draw(kernels),
        },
        "operators": [
            {"id": operator, "optimization": {"kernel": draw(kernels)}}
            for operator in draw(st.lists(st.sampled_from(operators), max_size=3, unique=True))
        ],
        "memory": memory,
    }


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_any_configuration_round_trips(data: st.DataObject, digits_model: Path) -> None:
    known = converted(digits_model)
    roles = {place.id: place.role for place in known.memory_plan.allocations.values()}
    roles = {tensor: role for tensor, role in roles.items() if not tensor.endswith("_scratch")}
    convolutions = [operator.id for operator in known.plan.operators if operator.knobs]
    sections = data.draw(sections_of(roles, convolutions))
    assert_round_trips(digits_model, converted(digits_model, **sections))


def test_a_plan_places_constants_where_rules_had_put_them(digits_model: Path) -> None:
    first = converted(digits_model, memory={"tensors": [STAGED]})
    assert {(t.memory, t.source_memory, t.set_by) for t in first.plan.tensors} == {
        ("dtcm", "mram", "rule")
    }
    again = converted(digits_model, first.plan)
    assert module_files(again) == module_files(first)
    count = len(first.plan.tensors)
    assert again.receipt is not None
    assert again.receipt.endswith(f" and {count} of {count} placements of the plan")


def test_a_plan_places_constants_where_constraints_had_put_them(digits_model: Path) -> None:
    constraints = [{"name": "dtcm", "max_size": 8192}]
    first = converted(digits_model, memory={"constraints": constraints})
    assert len({tensor.memory for tensor in first.plan.tensors}) == 2
    again = converted(digits_model, first.plan)
    assert [t.memory for t in again.plan.tensors] == [t.memory for t in first.plan.tensors]


def test_constants_can_be_left_out_of_a_wider_staging_rule(digits_model: Path) -> None:
    tensor_id = converted(digits_model).plan.tensors[0].id
    cold = {"memory": "mram", "constant_destination_memory": "UNSET"}
    rules = [STAGED, {"id": tensor_id, "attributes": cold}]
    first = converted(digits_model, memory={"tensors": rules})
    place = first.memory_plan.allocations[tensor_id]
    assert (place.memory, place.source_memory) == ("mram", "mram")
    assert first.plan.tensors[0].rule is not None
    assert first.plan.tensors[0].rule.index == 1
    assert_round_trips(digits_model, first)


def test_scratch_placed_by_an_attribute_is_reproduced(digits_model: Path) -> None:
    rules = [{"type": "*", "attributes": {"scratch_placement": "sram"}}]
    first = converted(digits_model, operators=rules)
    placed = [tensor for tensor in first.plan.tensors if tensor.set_by == "attribute"]
    assert placed
    assert {tensor.memory for tensor in placed} == {"sram"}
    assert module_files(converted(digits_model, first.plan)) == module_files(first)
    dtcm = [{"type": "*", "attributes": {"scratch_placement": "dtcm"}}]
    with pytest.raises(PlanError, match="but scratch_placement asks for dtcm"):
        converted(digits_model, first.plan, operators=dtcm)


def test_a_plan_may_move_single_constants(digits_model: Path) -> None:
    first = converted(digits_model)
    moved = [
        tensor.model_copy(update={"memory": "sram", "source_memory": "mram"})
        if tensor.id == first.plan.tensors[0].id
        else tensor
        for tensor in first.plan.tensors
    ]
    again = converted(digits_model, first.plan.model_copy(update={"tensors": moved}))
    place = again.memory_plan.allocations[moved[0].id]
    assert (place.memory, place.source_memory) == ("sram", "mram")
    assert [t.memory for t in again.plan.tensors] == [t.memory for t in moved]


def test_a_plan_that_does_not_fit_here_is_a_budget_error(digits_model: Path) -> None:
    plan = converted(digits_model).plan
    constraints = [{"name": "dtcm", "max_size": 4096}]
    with pytest.raises(BudgetError, match="dtcm"):
        converted(digits_model, plan, memory={"constraints": constraints})


def test_every_bad_tensor_of_a_plan_is_listed(digits_model: Path) -> None:
    plan = converted(digits_model).plan
    first, second, *rest = plan.tensors
    psram = first.model_copy(update={"memory": "psram", "source_memory": "psram"})
    bad = plan.model_copy(update={"tensors": [psram, second, second, *rest]})
    with pytest.raises(PlanError) as caught:
        converted(digits_model, bad, memory={"tensors": [STAGED]})
    text = str(caught.value)
    assert "the target has no memory 'psram'" in text
    assert f"tensor {second.id}: the plan lists this tensor 2 times" in text
    assert "but memory.tensors[0] asks for constant_destination_memory dtcm" not in text
    assert "but memory.tensors[0] asks for memory mram" in text
    unknown = PlanTensor(
        id="99", role="constant", memory="dtcm", source_memory="dtcm", set_by="default"
    )
    with pytest.raises(PlanError, match="tensor 99: the plan places this constant tensor"):
        converted(digits_model, plan.model_copy(update={"tensors": [unknown]}))


class SoftmaxWithChoices(Softmax):
    """The family of SOFTMAX with a choice that is no knob: how large its scratch buffer is."""

    def fixed(
        self, graph: Graph, operator: Operator, knobs: Mapping[str, str], target: Target
    ) -> Mapping[str, FixedDomain]:
        del graph, operator, knobs, target
        return {"lut_mode": FixedDomain(("per_op", "universal"), "per_op", "default")}

    def lower(
        self, graph: Graph, operator: Operator, choices: Mapping[str, str], target: Target
    ) -> LoweredOperator:
        lowered = super().lower(graph, operator, choices, target)
        assert lowered.call is not None
        scratch_bytes = 48 if choices["lut_mode"] == "universal" else 16
        return LoweredOperator(
            node_id=lowered.node_id,
            name=lowered.name,
            op_type=lowered.op_type,
            call=lowered.call,
            constants=lowered.constants,
            scratch_bytes=scratch_bytes,
        )


@pytest.fixture
def softmax_with_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "SOFTMAX", SoftmaxWithChoices())  # type: ignore[arg-type]


def _softmax(conversion: Conversion) -> tuple[FixedChoice, int]:
    """Gives the choice of the plan, and what the module has of it."""
    (planned,) = (o for o in conversion.plan.operators if o.op_type == "SOFTMAX")
    places = conversion.memory_plan.allocations
    (size,) = (
        p.size_bytes for p in places.values() if p.id == f"softmax_{planned.node_id}_scratch"
    )
    return planned.fixed["lut_mode"], size


@pytest.mark.usefixtures("softmax_with_choices")
def test_fixed_choices_reach_the_module_and_come_back(digits_model: Path) -> None:
    assert _softmax(converted(digits_model)) == (FixedChoice(value="per_op", set_by="default"), 16)
    rules = [{"type": "SOFTMAX", "attributes": {"lut_mode": "universal"}}]
    first = converted(digits_model, operators=rules)
    assert _softmax(first) == (FixedChoice(value="universal", set_by="attribute"), 48)
    again = converted(digits_model, first.plan)
    assert _softmax(again) == (FixedChoice(value="universal", set_by="plan"), 48)
    assert_round_trips(digits_model, first)


@pytest.mark.usefixtures("softmax_with_choices")
def test_the_report_says_nothing_of_fixed_choices(digits_model: Path) -> None:
    report = converted(digits_model).report.model_dump_json()
    assert "lut_mode" not in report


@pytest.mark.usefixtures("softmax_with_choices")
def test_a_fixed_choice_against_an_attribute_is_refused(digits_model: Path) -> None:
    plan = converted(digits_model).plan
    rules = [{"type": "SOFTMAX", "attributes": {"lut_mode": "universal"}}]
    with pytest.raises(PlanError, match="the plan fixes lut_mode as 'per_op'"):
        converted(digits_model, plan, operators=rules)
