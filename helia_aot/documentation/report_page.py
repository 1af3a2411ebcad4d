# SPDX-License-Identifier: Apache-2.0
"""The HTML report of one conversion, ``<prefix>_report.html``: one file that needs no network.

It shows what plan, report and residency record say: memory over time, operators with their choices
and reasons, hints, budgets; the residency record is embedded as JSON in the element ``residency``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from helia_aot.codegen.environment import render_page
from helia_aot.documentation.pictures import (
    Labels,
    arena_picture,
    memory_picture,
    size_text,
    static_picture,
)
from helia_aot.memory.layout import MemoryPlan
from helia_aot.memory.requests import TensorRequest
from helia_aot.memory.residency import in_report_order
from helia_aot.optimization.budgets import MEMORY_SUFFIX
from helia_aot.optimization.check_budget import BudgetUse
from helia_aot.optimization.plan import KnobChoice, OptimizationPlan, PlanOperator
from helia_aot.optimization.report import OptimizationReport, ReportOperator


@dataclass(frozen=True)
class PageFacts:
    """Everything that a report page shows.

    Attributes:
        module_name: Name of the module.
        model_text: One sentence about the model.
        plan: The plan.
        report: The report that explains it.
        residency: The residency record.
        memory_plan: Where everything is.
        requests: The tensors that it places.
        memory_sizes: Bytes of every memory of the target.
        constraints: Bytes that ``memory.constraints`` allows, for the memories that it names.
        budget: What the conversion makes of every limit.
        tensor_names: Names of the model's tensors by id.
        inputs: Ids of the model's inputs.
        outputs: Ids of the model's outputs.
        warnings: What the user should look at.
    """

    module_name: str
    model_text: str
    plan: OptimizationPlan
    report: OptimizationReport
    residency: Mapping[str, Any]
    memory_plan: MemoryPlan
    requests: Sequence[TensorRequest]
    memory_sizes: Mapping[str, int]
    constraints: Mapping[str, int]
    budget: Sequence[BudgetUse]
    tensor_names: Mapping[str, str]
    inputs: Sequence[str]
    outputs: Sequence[str]
    warnings: Sequence[str]


def report_page(facts: PageFacts) -> str:
    """Gives the text of the page; the same facts always give the same bytes."""
    return render_page("report.html", _view(facts))


def _view(facts: PageFacts) -> dict[str, Any]:
    plan, memory_plan = facts.plan, facts.memory_plan
    labels = Labels(
        operators=[f"{operator.op_type} {operator.node_id}" for operator in plan.operators],
        tensors=facts.tensor_names,
        inputs=facts.inputs,
        outputs=facts.outputs,
    )
    arenas = memory_plan.arenas
    return {
        "facts": facts,
        "plan": plan,
        "report": facts.report,
        "totals": _totals(facts),
        "memories": [
            memory_picture(memory, size, memory_plan, _limits(memory, facts))
            for memory, size in facts.memory_sizes.items()
            if size > 0 and (memory_plan.memory_bytes(memory) or _limits(memory, facts))
        ],
        "scratch": [
            arena_picture(arena, memory_plan, facts.requests, labels)
            for arena in arenas
            if arena.role == "scratch"
        ],
        "static": [
            static_picture(arena, memory_plan, facts.tensor_names)
            for arena in arenas
            if arena.role != "scratch"
        ],
        "budget": [_budget_row(use) for use in facts.budget],
        "operators": [
            _operator_row(*pair)
            for pair in zip(plan.operators, facts.report.operators, strict=True)
        ],
        "tensors": _tensor_rows(facts),
        "residency_json": _embedded_json(facts.residency),
    }


def _totals(facts: PageFacts) -> list[tuple[str, str]]:
    arenas = facts.memory_plan.arenas
    working = sum(arena.used_bytes for arena in arenas if arena.role != "constant")
    constants = sum(arena.used_bytes for arena in arenas if arena.role == "constant")
    return [
        ("Operators", f"{len(facts.plan.operators)}"),
        ("MACs", f"{facts.report.total_macs:,}"),
        ("Working memory", size_text(working)),
        ("Constants", size_text(constants)),
    ]


def _limits(memory: str, facts: PageFacts) -> dict[str, float]:
    limits: dict[str, float] = {}
    if memory in facts.constraints:
        limits["constraint"] = facts.constraints[memory]
    for use in facts.budget:
        if use.budget.name == f"{memory}{MEMORY_SUFFIX}":
            limits["budget"] = use.limit
    return limits


def _budget_row(use: BudgetUse) -> dict[str, str]:
    share = None if use.used_bytes is None else use.used_bytes / use.limit
    return {
        "name": use.budget.name,
        "text": use.budget.text,
        "used": use.used_text or "not known before a measurement",
        "limit": use.limit_text,
        "share": "" if share is None else f"{share:.1%}",
        "bar": "" if share is None else f"{100 * min(share, 1.0):.2f}%",
        "enforced_by": use.budget.enforced_by,
    }


def _operator_row(choices: PlanOperator, facts: ReportOperator) -> dict[str, Any]:
    return {
        "index": choices.index,
        "id": choices.id,
        "node_id": choices.node_id,
        "op_type": choices.op_type,
        "entry": facts.entry or "shares storage, nothing runs",
        "macs": f"{facts.macs:,}" if facts.macs else "",
        "share": f"{facts.mac_share:.1%}" if facts.macs else "",
        "bar": f"{100 * facts.mac_share:.2f}%",
        "shapes": f"{_shapes(facts, 'inputs')} to {_shapes(facts, 'outputs')}",
        "choices": [
            *(_knob_row(name, choice, facts) for name, choice in choices.knobs.items()),
            *(
                {
                    "name": name,
                    "value": fixed.value,
                    "why": f"set by {fixed.set_by}",
                    "approximate": False,
                    "alternatives": [],
                    "reason": "",
                }
                for name, fixed in choices.fixed.items()
            ),
        ],
    }


def _knob_row(name: str, choice: KnobChoice, facts: ReportOperator) -> dict[str, Any]:
    alternatives = facts.alternatives.get(name, [])
    return {
        "name": name,
        "value": choice.value,
        "why": _provenance(name, choice),
        "approximate": choice.approximate,
        "alternatives": [
            f"{item.value} would call {item.entry}"
            for item in alternatives
            if item.applicable and not item.chosen
        ],
        "reason": next((item.reason for item in alternatives if item.reason), ""),
    }


def _provenance(knob: str, choice: KnobChoice) -> str:
    """Gives who asked for a value and what resolved it."""
    if choice.source.kind == "plan":
        return "from the input plan"
    asked = {
        "operator": f"operators[{choice.source.rule.index}]" if choice.source.rule else "",
        "model": f"optimization.{knob}",
        "default": "the default",
    }[choice.source.kind]
    if choice.resolved_by == "explicit":
        return f"set by {asked}"
    by = "the goal" if choice.resolved_by == "auto_table" else "a heuristic"
    return f"auto ({asked}), resolved by {by}"


def _shapes(facts: ReportOperator, side: str) -> str:
    return ", ".join("x".join(map(str, shape)) or "scalar" for shape in facts.shapes[side])


def _tensor_rows(facts: PageFacts) -> Iterator[dict[str, Any]]:
    requests = {request.id: request for request in facts.requests}
    for place in in_report_order(facts.memory_plan.allocations.values()):
        request = requests[place.id]
        is_staged = place.source_memory != place.memory
        yield {
            "id": place.id,
            "name": facts.tensor_names.get(place.id, ""),
            "role": place.role,
            "memory": place.memory.upper(),
            "source": place.source_memory.upper() if is_staged else "",
            "offset": f"{place.offset:,}",
            "size": f"{place.size_bytes:,}",
            "life": f"{request.first_use} to {request.last_use}"
            if place.role == "scratch"
            else "always",
        }


def _embedded_json(record: Mapping[str, Any]) -> str:
    """Gives JSON that cannot end the element it stands in, whatever names the model gives."""
    text = json.dumps(record, indent=1, sort_keys=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
