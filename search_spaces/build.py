# SPDX-License-Identifier: Apache-2.0
"""From a conversion's plan and report to the space of plans that a campaign searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helia_aot.config.convert import OperatorRule
from helia_aot.config.rules import matches, winning_rule
from helia_aot.errors import Problem
from helia_aot.optimization.knobs import AUTO, KNOBS
from helia_aot.optimization.plan import KnobChoice, OptimizationPlan, PlanOperator
from helia_aot.optimization.report import Alternative, OptimizationReport
from search_spaces.errors import SpaceError
from search_spaces.space import Dimension, Dropped, Pinned, SearchSpace


@dataclass(frozen=True)
class _Site:
    """One knob of one operator, with all that decides whether it varies."""

    operator: PlanOperator
    knob: str
    choice: KnobChoice
    alternatives: tuple[Alternative, ...]

    def dropped(self, reason: str) -> Dropped:
        return Dropped(
            operator_id=self.operator.id,
            op_type=self.operator.op_type,
            knob=self.knob,
            value=self.choice.value,
            reason=reason,
        )


def build_space(
    plan: OptimizationPlan,
    report: OptimizationReport,
    *,
    knobs: Sequence[str] | None = None,
    pins: Sequence[OperatorRule] = (),
    exclude: Sequence[OperatorRule] = (),
) -> SearchSpace:
    """Gives the finite space of plans around a baseline.

    A dimension exists for each knob of each operator that has at least two applicable values with
    the numerics of the baseline. A choice that the configuration sets explicitly does not vary.

    Args:
        plan: The baseline plan.
        report: The report of the same conversion, which lists the alternatives.
        knobs: Names of the knobs to search; None for all.
        pins: Rules that fix knobs; matched and ranked like ``operators[]`` rules.
        exclude: Rules of the same form whose values are not searched; all that match apply.

    Raises:
        SpaceError: A knob name is unknown; a rule matches nothing or sets nothing; a pin sets a
            value that is not applicable, or a knob that the configuration sets to another value; an
            exclusion names ``auto`` or what ``auto`` chooses. All problems at once.
    """
    wanted = tuple(KNOBS) if knobs is None else tuple(knobs)
    problems = [
        Problem("space.knobs", f"unknown knob {name!r}", f"known knobs: {', '.join(KNOBS)}")
        for name in wanted
        if name not in KNOBS
    ]
    sites = _sites(plan, report)
    problems += _rule_problems("space.pins", pins, sites)
    problems += _rule_problems("space.exclude", exclude, sites)
    problems += _exclusion_problems(exclude, sites)
    dimensions: list[Dimension] = []
    pinned: list[Pinned] = []
    dropped: list[Dropped] = []
    for site in sites:
        outcome = _pin(site, pins, problems) or _vary(site, wanted, exclude)
        if isinstance(outcome, Dimension):
            dimensions.append(outcome)
        elif isinstance(outcome, Pinned):
            pinned.append(outcome)
        else:
            dropped.append(outcome)
    if problems:
        raise SpaceError("The search space cannot be built.", problems)
    return SearchSpace(dimensions=tuple(dimensions), pinned=tuple(pinned), dropped=tuple(dropped))


def _sites(plan: OptimizationPlan, report: OptimizationReport) -> tuple[_Site, ...]:
    alternatives = {operator.id: operator.alternatives for operator in report.operators}
    return tuple(
        _Site(operator, knob, choice, tuple(alternatives.get(operator.id, {}).get(knob, ())))
        for operator in plan.operators
        for knob, choice in operator.knobs.items()
    )


def _vary(
    site: _Site, wanted: Sequence[str], exclude: Sequence[OperatorRule]
) -> Dimension | Dropped:
    if site.knob not in wanted:
        return site.dropped("the knob is not listed in space.knobs")
    applicable = [item for item in site.alternatives if item.applicable]
    if not applicable:
        reasons = sorted({item.reason for item in site.alternatives if item.reason})
        return site.dropped("not applicable: " + ("; ".join(reasons) or "no alternative"))
    if site.choice.resolved_by == "explicit":
        return site.dropped("the configuration sets it explicitly")
    # Outputs must stay those of the baseline, so only values of the same numerics are compared.
    exact = [item.value for item in applicable if not item.approximate]
    if site.choice.approximate or site.choice.value not in exact or len(exact) < 2:
        return site.dropped("the other values change numerics")
    unwanted = {_setting(rule, site.knob) for rule in exclude if _is_matched(site, rule)}
    exact = [value for value in exact if value == site.choice.value or value not in unwanted]
    if len(exact) < 2:
        return site.dropped("space.exclude leaves one value")
    return Dimension(
        operator_id=site.operator.id,
        op_type=site.operator.op_type,
        knob=site.knob,
        choices=tuple(exact),
        baseline=site.choice.value,
    )


def _pin(site: _Site, pins: Sequence[OperatorRule], problems: list[Problem]) -> Pinned | None:
    found = winning_rule(
        pins,
        op_type=site.operator.op_type,
        ids=(site.operator.id, site.operator.node_id),
        field_of=lambda rule: _setting(rule, site.knob),
    )
    if found is None:
        return None
    index, rule = found
    asked = _setting(rule, site.knob)
    value = site.choice.value if asked is None or asked == AUTO else asked
    if value != site.choice.value and (reason := _why_not(site, value)):
        where = f"space.pins[{index}]"
        problems.append(Problem(where, f"{site.knob} {value!r} for {site.operator.id}: {reason}"))
    return Pinned(
        operator_id=site.operator.id,
        op_type=site.operator.op_type,
        knob=site.knob,
        value=value,
        baseline=site.choice.value,
    )


def _why_not(site: _Site, value: str) -> str:
    """Says why a knob cannot be pinned to another value than the baseline's; empty when it can."""
    alternative = next((item for item in site.alternatives if item.value == value), None)
    if alternative is None or not alternative.applicable:
        return "not applicable" + (f", {alternative.reason}" if alternative else "")
    if site.choice.resolved_by == "explicit":
        return f"the configuration sets {site.choice.value!r}; remove one of the two"
    if alternative.approximate or site.choice.approximate:
        return "it changes numerics"
    return ""


def _exclusion_problems(exclude: Sequence[OperatorRule], sites: Sequence[_Site]) -> list[Problem]:
    problems = []
    for index, rule in enumerate(exclude):
        where = f"space.exclude[{index}]"
        for knob in KNOBS:
            value = _setting(rule, knob)
            if value == AUTO:
                problems.append(Problem(where, f"{knob} auto is no value that could be searched"))
            problems += [
                Problem(
                    where,
                    f"{knob} {value!r} is what auto chooses for {site.operator.id}",
                    "the baseline belongs to the space; use space.pins to force another value",
                )
                for site in sites
                if site.knob == knob and _is_matched(site, rule) and value == site.choice.value
            ]
    return problems


def _rule_problems(
    field: str, rules: Sequence[OperatorRule], sites: Sequence[_Site]
) -> list[Problem]:
    problems = []
    for index, pin in enumerate(rules):
        where = f"{field}[{index}]"
        set_knobs = [knob for knob in KNOBS if _setting(pin, knob) is not None]
        if not set_knobs:
            problems.append(Problem(where, "sets no knob", "add optimization: {<knob>: <value>}"))
        for knob in set_knobs:
            if not any(site.knob == knob and _is_matched(site, pin) for site in sites):
                problems.append(Problem(where, f"matches no operator that has the knob {knob!r}"))
    return problems


def _is_matched(site: _Site, pin: OperatorRule) -> bool:
    return matches(
        pin, op_type=site.operator.op_type, ids=(site.operator.id, site.operator.node_id)
    )


def _setting(rule: OperatorRule, knob: str) -> str | None:
    value: str | None = getattr(rule.optimization, knob)
    return value
