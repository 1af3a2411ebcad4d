# SPDX-License-Identifier: Apache-2.0
"""The commands ``plan show``, ``plan diff`` and ``plan rules``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from helia_aot.cli.messages import output_console, print_all, warning_message
from helia_aot.errors import EmitError, PlanError, Problem
from helia_aot.optimization.diff import PlanDifference, diff_plans
from helia_aot.optimization.placement import place_text
from helia_aot.optimization.plan import KnobChoice, OptimizationPlan, PlanTensor, RuleRef
from helia_aot.optimization.read import read_plan, read_report
from helia_aot.optimization.write_rules import rules_yaml

_NONE = "-"


def show_plan(path: Path, *, as_json: bool) -> None:
    """Prints the choices of a plan with who made them.

    Raises:
        PlanError: The file is no plan that this release reads.
    """
    plan = read_plan(path)
    if as_json:
        _print_json(_shown_as_json(plan))
        return
    print_all(output_console(), _shown(plan))


def print_diff(a: Path, b: Path, *, as_json: bool) -> bool:
    """Prints what two plans say differently, with MAC shares from the reports beside them.

    Who asked for a choice is not compared.

    Returns:
        Whether anything differs.

    Raises:
        PlanError: A file is no plan that this release reads.
    """
    plans = (read_plan(a), read_plan(b))
    shares = {**_mac_shares(b, plans[1]), **_mac_shares(a, plans[0])}
    differences = diff_plans(*plans, shares)
    if as_json:
        _print_json([asdict(difference) for difference in differences])
    elif not differences:
        print_all(output_console(), [Text("The plans make the same choices.")])
    else:
        print_all(output_console(), [_difference_table(differences)])
    return bool(differences)


def print_rules(path: Path, out: Path | None) -> None:
    """Writes a plan as rules of a ``convert.yaml``, to a file or to standard output.

    Raises:
        PlanError: The file is no plan that this release reads.
        EmitError: ``out`` exists, or cannot be written.
    """
    text = rules_yaml(read_plan(path))
    if out is None:
        sys.stdout.write(text)
        return
    try:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise EmitError(
            "The rules cannot be written",
            [Problem(str(out), reason)],
            next_step="give another file with --out, or leave it out to print them",
        ) from error


def _shown(plan: OptimizationPlan) -> Iterator[RenderableType]:
    heading = f"{plan.model.file} for {plan.platform.name} ({plan.platform.core})"
    made_by = (
        f"helia_aot {plan.generator.helia_aot}, ns-cmsis-nn {plan.generator.ns_cmsis_nn} or later"
    )
    yield Text.assemble(("Plan: ", "bold"), f"{heading}; made by {made_by}")
    settings = plan.optimization
    allowed = "allowed" if settings.allow_approximate else "not allowed"
    yield Text.assemble(("Goal: ", "bold"), f"{settings.goal}; approximate values {allowed}")
    yield _choice_table(plan)
    if plan.tensors:
        yield _tensor_table(plan)


def _choice_table(plan: OptimizationPlan) -> Table:
    table = _table("Choices", "Id", "Type", "Choice", "Value", "Requested", "Set by")
    for name, choice in plan.optimization.knobs.items():
        table.add_row(Text("(model)"), _NONE, name, *_knob_cells(name, choice, "memory"))
    for operator in plan.operators:
        subject = (Text(operator.id), Text(operator.op_type))
        for name, choice in operator.knobs.items():
            table.add_row(*subject, name, *_knob_cells(name, choice, "optimization"))
        for name, fixed in operator.fixed.items():
            table.add_row(*subject, name, fixed.value, _NONE, fixed.set_by)
    return table


def _knob_cells(name: str, choice: KnobChoice, section: str) -> tuple[str, str, Text]:
    value = f"{choice.value} (approximate)" if choice.approximate else choice.value
    return value, choice.requested, Text(_set_by(name, choice, section))


def _set_by(name: str, choice: KnobChoice, section: str) -> str:
    """Gives who made a choice: what asked, and the goal's table where it left the choice open."""
    asked = {
        "plan": "input plan",
        "default": "default",
        "model": f"{section}.{name}",
        "operator": _rule_text("operators", choice.source.rule),
    }[choice.source.kind]
    return f"{asked}, {choice.resolved_by}" if choice.resolved_by.startswith("auto_") else asked


def _rule_text(section: str, rule: RuleRef | None) -> str:
    if rule is None:
        return section
    ids = [] if rule.id is None else [rule.id] if isinstance(rule.id, str) else rule.id
    names = f", id {ids[0]}" + (f" and {len(ids) - 1} more" if len(ids) > 1 else "") if ids else ""
    return f"{section}[{rule.index}] ({rule.type}{names})"


def _tensor_table(plan: OptimizationPlan) -> Table:
    """Gives the placements, tensors with the same place and origin in one row."""
    rows = Counter(
        (tensor.role, place_text(tensor.memory, tensor.source_memory), _placed_by(tensor))
        for tensor in plan.tensors
    )
    table = _table("Placements", "Role", "Memory", "Tensors", "Set by")
    for (role, place, set_by), count in rows.items():
        table.add_row(role, Text(place), str(count), Text(set_by))
    return table


def _placed_by(tensor: PlanTensor) -> str:
    if tensor.set_by == "rule":
        return _rule_text("memory.tensors", tensor.rule)
    return {
        "attribute": "scratch_placement",
        "plan": "input plan",
        "default": "planner",
    }[tensor.set_by]


def _shown_as_json(plan: OptimizationPlan) -> dict[str, Any]:
    content = plan.model_dump(mode="json")
    choices = [
        {"id": None, "op_type": None, "kind": "knob", "name": name, **choice}
        for name, choice in content["optimization"].pop("knobs").items()
    ]
    for operator in content["operators"]:
        subject = {"id": operator["id"], "op_type": operator["op_type"]}
        for kind, found in (("knob", operator["knobs"]), ("fixed", operator["fixed"])):
            choices += [
                {**subject, "kind": kind, "name": name, **choice} for name, choice in found.items()
            ]
    kept = ("model", "platform", "generator", "module_prefix", "optimization")
    return {
        **{name: content[name] for name in kept},
        "choices": choices,
        "tensors": content["tensors"],
    }


def _mac_shares(path: Path, plan: OptimizationPlan) -> dict[str, float]:
    """Gives the shares of the report beside a plan; without one, or with a bad one, none."""
    report_path = path.with_name(f"{plan.module_prefix}_report.json")
    if not report_path.is_file():
        return {}
    try:
        report = read_report(report_path)
    except PlanError as error:
        text = f"no MAC shares from {report_path}: {error.summary}"
        print_all(Console(stderr=True, highlight=False), [warning_message(text)])
        return {}
    return {operator.id: operator.mac_share for operator in report.operators}


def _difference_table(differences: Sequence[PlanDifference]) -> Table:
    table = _table("Differences", "Id", "Type", "Choice", "A", "B")
    table.add_column("MAC share", justify="right")
    for item in differences:
        share = _NONE if item.mac_share is None else f"{item.mac_share:.1%}"
        subject = Text(item.id or f"({item.kind})")
        kind = Text(item.op_type or _NONE)
        cells = (Text(_NONE if value is None else value) for value in (item.a, item.b))
        table.add_row(subject, kind, item.name, *cells, share)
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
