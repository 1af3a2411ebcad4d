# SPDX-License-Identifier: Apache-2.0
"""Makes the plan and the report of a conversion from its operators, choices and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from helia_aot.operators.spec import SAME_ENTRY
from helia_aot.optimization.hints import build_hints
from helia_aot.optimization.knobs import KNOBS
from helia_aot.optimization.measurements import measurements_for
from helia_aot.optimization.plan import FixedChoice, KnobChoice, OptimizationPlan, PlanOperator
from helia_aot.optimization.report import (
    REPORT_SCHEMA_VERSION,
    Alternative,
    ConstantPlacement,
    OptimizationReport,
    ReportOperator,
)
from helia_aot.optimization.resolve import ResolvableOperator


@dataclass(frozen=True)
class OperatorFacts:
    """What a report says about an operator besides its choices.

    Attributes:
        entry: Kernel entry that it calls; None when it only renames its input.
        macs: Multiply-accumulates.
        input_shapes: Shapes of the inputs that are present.
        output_shapes: Shapes of the outputs.
    """

    entry: str | None
    macs: int
    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]


def plan_operators(
    operators: Sequence[ResolvableOperator],
    choices: Sequence[Mapping[str, KnobChoice]],
    fixed_choices: Sequence[Mapping[str, FixedChoice]],
    code_memories: Sequence[str | None],
) -> list[PlanOperator]:
    """Gives the operators of a plan with their choices and code memories, in execution order."""
    return [
        PlanOperator(
            id=operator.id.id,
            id_source=operator.id.id_source,
            index=operator.id.index,
            node_id=operator.id.node_id,
            op_type=operator.op_type,
            knobs=dict(chosen),
            fixed=dict(fixed),
            code_memory=code,
        )
        for operator, chosen, fixed, code in zip(
            operators, choices, fixed_choices, code_memories, strict=True
        )
    ]


def build_report(
    plan: OptimizationPlan,
    operators: Sequence[ResolvableOperator],
    facts: Sequence[OperatorFacts],
    placement: ConstantPlacement | None,
    *,
    alignment: int,
) -> OptimizationReport:
    """Gives the report that explains a plan.

    Args:
        plan: The plan.
        operators: Its operators in the same order, with what each knob means for them.
        facts: Facts about the same operators.
        placement: Where the constants are; None on a target without DTCM.
        alignment: Alignment of arenas in bytes.
    """
    total_macs = sum(fact.macs for fact in facts)
    rows = [
        ReportOperator(
            id=planned.id,
            op_type=planned.op_type,
            entry=fact.entry,
            macs=fact.macs,
            mac_share=fact.macs / total_macs if total_macs else 0.0,
            shapes={
                "inputs": [list(shape) for shape in fact.input_shapes],
                "outputs": [list(shape) for shape in fact.output_shapes],
            },
            alternatives={
                name: _alternatives(name, operator, planned.knobs[name].value, fact.entry)
                for name in operator.domains
            },
        )
        for planned, operator, fact in zip(plan.operators, operators, facts, strict=True)
    ]
    measurements = measurements_for(plan.platform.name, plan.platform.core)
    return OptimizationReport(
        schema_version=REPORT_SCHEMA_VERSION,
        plan_file=f"{plan.module_prefix}_plan.json",
        total_macs=total_macs,
        operators=rows,
        measurements=measurements,
        constant_placement=placement,
        hints=build_hints(plan, rows, measurements, placement, alignment=alignment),
    )


def _alternatives(
    knob: str, operator: ResolvableOperator, chosen: str, called: str | None
) -> list[Alternative]:
    domain = operator.domains[knob]
    return [
        Alternative(
            value=value,
            chosen=value == chosen,
            applicable=domain.applicable,
            reason=domain.reason,
            entry=called or "" if entry == SAME_ENTRY else entry,
            approximate=value in KNOBS[knob].approximate,
        )
        for value, entry in domain.entries.items()
    ]
