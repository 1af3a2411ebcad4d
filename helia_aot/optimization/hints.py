# SPDX-License-Identifier: Apache-2.0
"""Optimization hints: facts about alternatives that apply. They never change a conversion.

A hint appears only when one setting would select its alternative, so what a rule or an input plan
pins is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from helia_aot.config.convert import TensorRule
from helia_aot.config.rules import rule_ids
from helia_aot.memory.layout import MemoryPlan, align_up
from helia_aot.optimization.knobs import KNOBS, Knob
from helia_aot.optimization.plan import OptimizationPlan, PlanOperator
from helia_aot.optimization.report import (
    PLACEMENT_SETTING,
    Alternative,
    ConstantPlacement,
    Hint,
    MeasurementRecord,
    ReportOperator,
)

DTCM: Final = "dtcm"
"""The memory that the placement facts are about."""


@dataclass(frozen=True)
class _Improvable:
    operator: ReportOperator
    current: str
    alternative: Alternative


def build_hints(
    plan: OptimizationPlan,
    report_operators: Sequence[ReportOperator],
    measurements: Mapping[str, Sequence[MeasurementRecord]],
    placement: ConstantPlacement | None,
    *,
    alignment: int = 1,
) -> list[Hint]:
    """Gives the hints of a conversion: one for each knob that has something to offer, then
    placement.

    Args:
        plan: The choices.
        report_operators: The facts of its operators in the same order.
        measurements: Records of this target and core by setting; without one a hint names no gain.
        placement: The constant placement facts, or None on a target without DTCM.
        alignment: Alignment of arenas in bytes; constants fit where they do with their padding.
    """
    total_macs = sum(operator.macs for operator in report_operators)
    hints: list[Hint] = []
    for knob in KNOBS.values():
        found = _improvable(knob, plan.operators, report_operators)
        if found:
            hints.append(_knob_hint(knob, found, total_macs, measurements.get(knob.name, ())))
    if any(tensor.role == "constant" and tensor.set_by == "plan" for tensor in plan.tensors):
        return hints
    moved = _placement_hint(placement, measurements.get(PLACEMENT_SETTING, ()), alignment)
    return [*hints, moved] if moved is not None else hints


def constant_placement(
    plan: MemoryPlan,
    *,
    size_bytes: Mapping[str, int],
    tcm: Collection[str],
    rules: Sequence[TensorRule],
) -> ConstantPlacement | None:
    """Gives where constants are against the DTCM left free.

    Args:
        plan: The memory plan of the module.
        size_bytes: Capacity of each memory in bytes, constraints applied.
        tcm: The tightly coupled memories.
        rules: The rules of ``memory.tensors``.

    Returns:
        The facts in bytes, or None on a target without DTCM.
    """
    if DTCM not in size_bytes:
        return None
    arenas = [arena for arena in plan.arenas if arena.role == "constant"]
    outside = [arena for arena in arenas if arena.memory not in tcm]
    sources = {arena.source_memory for arena in outside}
    constants = {a.id for a in plan.allocations.values() if a.role == "constant"}
    return ConstantPlacement(
        constant_bytes_outside_tcm={arena.memory: arena.used_bytes for arena in outside},
        constant_bytes_in_tcm=sum(arena.used_bytes for arena in arenas if arena.memory in tcm),
        dtcm_budget_bytes=size_bytes[DTCM],
        dtcm_free_bytes=size_bytes[DTCM] - plan.memory_bytes(DTCM),
        id_specific_constant_rules=sum(
            rule.type in ("constant", "*") and not constants.isdisjoint(rule_ids(rule))
            for rule in rules
        ),
        cold_source=next(iter(sources)) if len(sources) == 1 else None,
    )


def _improvable(
    knob: Knob,
    plan_operators: Sequence[PlanOperator],
    report_operators: Sequence[ReportOperator],
) -> list[_Improvable]:
    """Finds where the fastest value applies, is not chosen, and one setting would choose it."""
    wanted = knob.auto_value("latency", allow_approximate=True)
    found: list[_Improvable] = []
    for planned, operator in zip(plan_operators, report_operators, strict=True):
        choice = planned.knobs.get(knob.name)
        if choice is None or choice.value == wanted or choice.source.kind in ("operator", "plan"):
            continue
        found += [
            _Improvable(operator, choice.value, alternative)
            for alternative in operator.alternatives.get(knob.name, [])
            if alternative.value == wanted and alternative.applicable
        ]
    return found


def _knob_hint(
    knob: Knob,
    found: Sequence[_Improvable],
    total_macs: int,
    records: Sequence[MeasurementRecord],
) -> Hint:
    wanted = found[0].alternative.value
    macs = sum(item.operator.macs for item in found)
    share = macs / total_macs if total_macs else None
    return Hint(
        setting=knob.name,
        message=_knob_message(knob, wanted, len(found), share, records),
        current=", ".join(sorted({item.current for item in found})),
        alternative=wanted,
        yaml=f"optimization:\n  {knob.name}: {wanted}\n",
        operators=[item.operator.id for item in found],
        mac_share=share,
        facts={
            "approximate": wanted in knob.approximate,
            "entries": sorted({item.alternative.entry for item in found}),
        },
    )


def _knob_message(
    knob: Knob,
    wanted: str,
    count: int,
    share: float | None,
    records: Sequence[MeasurementRecord],
) -> str:
    operators = "1 operator" if count == 1 else f"{count} operators"
    of_macs = f" with {share:.1%} of the MACs" if share is not None else ""
    numerics = "approximate: changes numerics" if wanted in knob.approximate else "exact"
    text = f"{knob.name}: {wanted} ({knob.value_texts[wanted]}) would apply to {operators}{of_macs}"
    return f"{text}; {numerics}{_measured(records, wanted)}"


def _placement_hint(
    placement: ConstantPlacement | None, records: Sequence[MeasurementRecord], alignment: int
) -> Hint | None:
    if placement is None or placement.cold_source is None or placement.id_specific_constant_rules:
        return None
    outside_bytes = sum(placement.constant_bytes_outside_tcm.values())
    padded_bytes = sum(
        align_up(used, alignment) for used in placement.constant_bytes_outside_tcm.values()
    )
    if not 0 < padded_bytes <= placement.dtcm_free_bytes:
        return None
    read_from = ", ".join(placement.constant_bytes_outside_tcm)
    return Hint(
        setting=PLACEMENT_SETTING,
        message=(
            f"{outside_bytes} bytes of constants are read from {read_from} and would fit into the "
            f"{placement.dtcm_free_bytes} bytes of DTCM left free; exact, costs a DTCM copy and an "
            f"init-time copy{_measured(records, DTCM)}"
        ),
        current=read_from,
        alternative=DTCM,
        yaml=(
            "memory:\n  tensors:\n  - type: constant\n    attributes: {memory: "
            f"{placement.cold_source}, constant_destination_memory: {DTCM}}}\n"
        ),
        facts=placement.model_dump(mode="json"),
    )


def _measured(records: Sequence[MeasurementRecord], value: str) -> str:
    """Gives the measured gains of a value, null results included, with what they hold under."""
    gains: dict[str, list[str]] = {}
    for record in records:
        if record.value == value:
            gain = f"{record.gain:.2f}x" if record.gain > 1.0 else "no gain"
            gains.setdefault(_conditions(record), []).append(f"{gain} on {record.subject}")
    groups = [", ".join(found) + under for under, found in gains.items()]
    return f"; measured: {'; '.join(groups)}" if groups else ""


def _conditions(record: MeasurementRecord) -> str:
    accuracy = "" if record.accuracy == "exact" else record.accuracy
    known = [text for text in (accuracy, record.conditions) if text]
    return f" ({'; '.join(known)})" if known else ""
