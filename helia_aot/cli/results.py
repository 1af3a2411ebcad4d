# SPDX-License-Identifier: Apache-2.0
"""The results of a conversion: tables and hints for people, one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from helia_aot.optimization.knobs import PLANNER
from helia_aot.optimization.plan import PlanOperator
from helia_aot.optimization.report import Hint, ReportOperator

if TYPE_CHECKING:
    from helia_aot.api import Conversion
    from helia_aot.memory.layout import Arena
    from helia_aot.optimization.check_budget import BudgetUse

_NONE = "-"
_ID_WIDTH = 32
_HINT_IDS = 8


def results(conversion: Conversion, module: Path, *, verbose: int) -> Iterator[RenderableType]:
    """Gives what the terminal shows after a conversion.

    Args:
        conversion: What was converted.
        module: Folder of the written module, or the archive with it.
        verbose: 0 for the folder alone, 1 for tables and hints, 2 for whole operator ids, every
            tensor's place and what the planner reached as well.
    """
    if verbose > 0:
        yield _arenas(conversion, diagnostics=verbose > 1)
        if conversion.budget:
            yield _budget(conversion.budget)
        if verbose > 1:
            yield _tensors(conversion)
        yield _operators(conversion, full_ids=verbose > 1)
        yield from _hints(conversion.report.hints, all_ids=verbose > 1)
        if conversion.receipt is not None:
            yield Text.assemble(("Plan: ", "bold"), conversion.receipt)
        yield Text.assemble(("Module: ", "bold"), str(module))
    else:
        yield Text(str(module))


def results_as_json(conversion: Conversion, module: Path) -> str:
    """Gives the results as one JSON object, keys in a fixed order.

    Sizes are bytes; ``memories`` sums what the arenas use of each memory, both copies of staged
    constants included. ``budget`` has an entry for each limit; ``used`` is null for what only a
    measurement knows.
    """
    prefix = conversion.module.prefix
    arenas = conversion.memory_plan.arenas
    is_archive = module == conversion.config.module.path  # it holds the module's folder
    folder = module / conversion.module.name if is_archive else module
    value = {
        "module": str(module),
        "plan_file": str(folder / f"{prefix}_plan.json"),
        "report_file": str(folder / f"{prefix}_report.json"),
        "platform": conversion.platform.name,
        "memories": _used_by_memory(arenas),
        "arenas": [_arena_as_json(arena) for arena in arenas],
        "budget": [_budget_as_json(use) for use in conversion.budget],
        "operators": [_operator_as_json(*pair) for pair in _operator_pairs(conversion)],
        "hints": [hint.message for hint in conversion.report.hints],
        "receipt": conversion.receipt,
        "warnings": list(conversion.warnings),
    }
    return json.dumps(value, indent=2)


def _used_by_memory(arenas: tuple[Arena, ...]) -> dict[str, int]:
    used: dict[str, int] = {}
    for arena in arenas:
        for memory in {arena.memory: None, arena.source_memory: None}:
            used[memory] = used.get(memory, 0) + arena.used_bytes
    return dict(sorted(used.items()))


def _arena_as_json(arena: Arena) -> dict[str, Any]:
    return {
        "memory": arena.memory,
        "source_memory": arena.source_memory,
        "role": arena.role,
        "used_bytes": arena.used_bytes,
        "capacity_bytes": arena.capacity_bytes,
    }


def _budget_as_json(use: BudgetUse) -> dict[str, Any]:
    return {
        "name": use.budget.name,
        "unit": use.budget.unit,
        "limit": use.limit,
        "used": use.used_bytes,
        "enforced_by": use.budget.enforced_by,
    }


def _operator_pairs(conversion: Conversion) -> Iterator[tuple[ReportOperator, PlanOperator]]:
    return zip(conversion.report.operators, conversion.plan.operators, strict=True)


def _operator_as_json(facts: ReportOperator, choices: PlanOperator) -> dict[str, Any]:
    return {
        "id": facts.id,
        "op_type": facts.op_type,
        "entry": facts.entry,
        "macs": facts.macs,
        "mac_share": facts.mac_share,
        "knobs": {name: choice.value for name, choice in choices.knobs.items()},
    }


def _arenas(conversion: Conversion, *, diagnostics: bool) -> Table:
    """Gives the arenas; as diagnostics also the bytes live at once, which no plan can go below."""
    planner = conversion.plan.optimization.knobs[PLANNER.name].value
    title = f"Memory (planner {planner})" if diagnostics else "Memory"
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    for heading in ("Memory", "Role"):
        table.add_column(heading)
    for heading in ("Used", "Capacity", *(["Peak live"] if diagnostics else [])):
        table.add_column(heading, justify="right")
    for arena in conversion.memory_plan.arenas:
        place = f"{arena.memory} (from {arena.source_memory})" if arena.is_staged else arena.memory
        sizes = [arena.used_bytes, arena.capacity_bytes]
        sizes += [arena.peak_live_bytes] if diagnostics else []
        table.add_row(place, arena.role, *(_bytes(size) for size in sizes))
    return table


def _budget(uses: tuple[BudgetUse, ...]) -> Table:
    """Gives the limits; what only a measurement knows has no use yet."""
    table = Table(title="Budget", title_justify="left", title_style="bold", box=None)
    table.add_column("Name")
    for heading in ("Used", "Limit", "Share"):
        table.add_column(heading, justify="right")
    table.add_column("Enforced by")
    for use in uses:
        share = _NONE if use.used_bytes is None else f"{use.used_bytes / use.limit:.1%}"
        table.add_row(
            use.budget.name,
            use.used_text or _NONE,
            use.limit_text,
            share,
            use.budget.enforced_by,
        )
    return table


def _tensors(conversion: Conversion) -> Table:
    table = Table(title="Tensors", title_justify="left", title_style="bold", box=None)
    table.add_column("Id", overflow="fold")
    for heading in ("Role", "Memory"):
        table.add_column(heading)
    for heading in ("Offset", "Size"):
        table.add_column(heading, justify="right")
    for place in conversion.memory_plan.allocations.values():
        size = _bytes(place.size_bytes)
        table.add_row(Text(place.id), place.role, place.memory, f"{place.offset:,}", size)
    return table


def _operators(conversion: Conversion, *, full_ids: bool) -> Table:
    """Gives the operators in execution order; node ids, which rules take as well, stay whole."""
    table = Table(title="Operators", title_justify="left", title_style="bold", box=None)
    table.add_column("Node", justify="right")
    if full_ids:
        table.add_column("Id", overflow="fold")
    else:
        table.add_column("Id", no_wrap=True, max_width=_ID_WIDTH)
    for heading in ("Type", "Entry"):
        table.add_column(heading, overflow="fold")
    table.add_column("MAC share", justify="right")
    table.add_column("Choices")
    for facts, choices in _operator_pairs(conversion):
        share = f"{facts.mac_share:.1%}" if facts.macs else _NONE
        table.add_row(
            choices.node_id,
            Text(facts.id),
            facts.op_type,
            facts.entry or _NONE,
            share,
            _choices(facts, choices),
        )
    return table


def _choices(facts: ReportOperator, choices: PlanOperator) -> str:
    """Gives the knobs that make a difference for an operator, with their values."""
    matter = [
        f"{name}: {choice.value}"
        for name, choice in choices.knobs.items()
        if any(alternative.applicable for alternative in facts.alternatives.get(name, []))
    ]
    return ", ".join(matter) or _NONE


def _hints(hints: list[Hint], *, all_ids: bool) -> Iterator[RenderableType]:
    if not hints:
        return
    yield Text("Optimization hints", "bold")
    for hint in hints:
        yield Text(f"  - {hint.message}")
        shown = hint.operators if all_ids else hint.operators[:_HINT_IDS]
        if shown:
            rest = len(hint.operators) - len(shown)
            more = f" and {rest} more" if rest else ""
            yield Text(f"      operators: {', '.join(shown)}{more}")
        yield Text(indent(hint.yaml.rstrip(), " " * 6), "cyan")


def _bytes(size_bytes: int) -> str:
    return f"{size_bytes:,} B"
