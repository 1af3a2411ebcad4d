# SPDX-License-Identifier: Apache-2.0
"""From a conversion's plan and report to the space of plans that a campaign searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from helia_aot.config.convert import OperatorRule
from helia_aot.config.rules import matches, winning_rule
from helia_aot.errors import Problem
from helia_aot.optimization.knobs import AUTO, KNOBS, MODEL_KNOBS, PLANNER
from helia_aot.optimization.plan import OptimizationPlan
from helia_aot.optimization.report import Alternative, OptimizationReport
from helia_aot.optimization.storage import ModuleStorage, OperatorStorage
from search_spaces.errors import SpaceError
from search_spaces.places import is_fast, operator_places
from search_spaces.rules import (
    CONSTANTS,
    MIXED,
    MODEL_ID,
    PLACEMENTS,
    SPACE_KNOBS,
    GroupRule,
    SpaceRule,
)
from search_spaces.space import Dimension, Dropped, Pinned, SearchSpace

Grouping = Literal["operator", "type", "shape"]
"""Who chooses together: nobody, operators of one type, or of one type with equal shapes."""


@dataclass(frozen=True)
class SpaceSettings:
    """What a campaign says about its space; see :func:`build_space`."""

    knobs: Sequence[str] | None = None
    pins: Sequence[OperatorRule | SpaceRule] = ()
    exclude: Sequence[OperatorRule | SpaceRule] = ()
    restrict: Sequence[OperatorRule | SpaceRule] = ()
    group: Grouping = "operator"
    groups: Sequence[GroupRule] = ()
    approximate: bool = False


@dataclass(frozen=True)
class _Site:
    """One knob of one operator, with all that decides whether it varies.

    Attributes:
        ids: Every id that names the operator.
        fixed: Why the knob cannot vary, whatever rules say; empty when it can.
    """

    operator_id: str
    op_type: str
    ids: tuple[str, ...]
    knob: str
    value: str
    alternatives: tuple[Alternative, ...]
    approximate: bool = False
    explicit: bool = False
    fixed: str = ""
    shapes: str = ""

    def dropped(self, reason: str) -> Dropped:
        return Dropped(
            operator_id=self.operator_id,
            op_type=self.op_type,
            knob=self.knob,
            value=self.value,
            reason=reason,
        )


@dataclass
class _Outcome:
    dimensions: list[tuple[_Site, Dimension]] = field(default_factory=list)
    pinned: list[Pinned] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)


def build_space(
    plan: OptimizationPlan,
    report: OptimizationReport,
    settings: SpaceSettings | None = None,
    *,
    storage: ModuleStorage | None = None,
    saves_memory: bool = False,
) -> SearchSpace:
    """Gives the finite space of plans around a baseline.

    A dimension exists for each knob of each operator that has at least two applicable values with
    the numerics of the baseline, for the memory of each operator's constants and scratch, and for
    the planner of the module. A choice that the configuration sets explicitly does not vary. Places
    do not vary where the baseline has every tensor in tightly coupled memory: no plan can gain.

    Args:
        plan: The baseline plan.
        report: The report of the same conversion, which lists the alternatives.
        settings: The knobs to search, None for all; pins, which fix a knob; exclusions, whose values
            are not searched; restrictions, which leave just their values; all matched like
            ``operators[]`` rules. And who chooses together.
        storage: What the tensors of the same conversion take; None leaves places to the compiler.
        saves_memory: Whether less of a memory is wanted, so that slower places are searched too.

    Raises:
        SpaceError: A knob name is unknown; a rule matches nothing or sets nothing; a pin sets a
            value that is not applicable, or a knob that the configuration sets to another value; an
            exclusion names ``auto`` or what ``auto`` chooses. All problems at once.
    """
    settings = settings or SpaceSettings()
    wanted = SPACE_KNOBS if settings.knobs is None else tuple(settings.knobs)
    problems = [
        Problem("space.knobs", f"unknown knob {name!r}", f"known knobs: {', '.join(SPACE_KNOBS)}")
        for name in wanted
        if name not in SPACE_KNOBS
    ]
    sites = _sites(plan, report, storage, saves_memory=saves_memory)
    for name in ("pins", "exclude", "restrict"):
        problems += _rule_problems(f"space.{name}", getattr(settings, name), sites)
    problems += _exclusion_problems(settings.exclude, sites)
    problems += _group_problems(settings.groups, sites)
    outcome = _Outcome()
    for site in sites:
        found = _pin(site, settings.pins, problems) or _vary(site, wanted, settings)
        if isinstance(found, Dimension):
            outcome.dimensions.append((site, found))
        elif isinstance(found, Pinned):
            outcome.pinned.append(found)
        else:
            outcome.dropped.append(found)
    if problems:
        raise SpaceError("The search space cannot be built.", problems)
    return SearchSpace(
        dimensions=_grouped(outcome.dimensions, settings),
        pinned=tuple(outcome.pinned),
        dropped=tuple(outcome.dropped),
        storage=storage,
    )


def _sites(
    plan: OptimizationPlan,
    report: OptimizationReport,
    storage: ModuleStorage | None,
    *,
    saves_memory: bool,
) -> tuple[_Site, ...]:
    by_id = {operator.id: operator for operator in report.operators}
    stored = {item.operator_id: item for item in storage.operators} if storage else {}
    ruled = {tensor.id for tensor in plan.tensors if tensor.set_by in ("rule", "attribute")}
    is_done = storage is not None and is_fast(storage) and not saves_memory
    sites: list[_Site] = []
    for operator in plan.operators:
        facts = by_id.get(operator.id)
        shapes = "" if facts is None else _shape_text(facts.shapes)
        names = (operator.id, operator.node_id)
        for knob, choice in operator.knobs.items():
            known = facts.alternatives.get(knob, []) if facts is not None else []
            sites.append(
                _Site(
                    operator.id,
                    operator.op_type,
                    names,
                    knob,
                    choice.value,
                    tuple(known),
                    choice.approximate,
                    choice.resolved_by == "explicit",
                    shapes=shapes,
                )
            )
        if storage is None or operator.id not in stored:
            continue
        for knob in PLACEMENTS:
            place = _placement(storage, stored[operator.id], knob, ruled, is_done=is_done)
            if place is not None:
                value, alternatives, fixed = place
                sites.append(
                    _Site(
                        operator.id,
                        operator.op_type,
                        names,
                        knob,
                        value,
                        alternatives,
                        fixed=fixed,
                        shapes=shapes,
                    )
                )
    if storage is not None:
        sites.append(_planner_site(plan, is_done=is_done))
    return tuple(sites)


def _placement(
    storage: ModuleStorage,
    operator: OperatorStorage,
    knob: str,
    ruled: set[str],
    *,
    is_done: bool,
) -> tuple[str, tuple[Alternative, ...], str] | None:
    """Gives the baseline's value, the values, and why none may vary; None where nothing is placed."""
    role = "constant" if knob == CONSTANTS else "scratch"
    places = [
        place
        for variant in operator.variants
        for place in operator_places(storage, operator, variant.knobs)
        if place.role == role
    ]
    own = [
        place
        for place in operator_places(storage, operator, operator.variants[0].knobs)
        if place.role == role
    ]
    if not places:
        return None
    memories = {place.memory for place in own or places}
    value = next(iter(memories)) if len(memories) == 1 else MIXED
    largest = sum(storage.slot_bytes(place.size_bytes) for place in own)
    alternatives = [
        Alternative(
            value=memory.name,
            chosen=memory.name == value,
            applicable=memory.name == value or memory.size_bytes >= largest,
            reason="" if memory.size_bytes >= largest else f"too large for {memory.name}",
            entry="",
            approximate=False,
        )
        for memory in storage.memories
        if role == "constant" or memory.writable
    ]
    if value == MIXED:
        alternatives.insert(
            0, Alternative(value=MIXED, chosen=True, applicable=True, entry="", approximate=False)
        )
    fixed = ""
    if is_done:
        fixed = "every tensor is in tightly coupled memory, and nothing limits it"
    elif any(place.tensor_id in ruled for place in own):
        fixed = "the configuration places these tensors"
    return value, tuple(alternatives), fixed


def _planner_site(plan: OptimizationPlan, *, is_done: bool) -> _Site:
    choice = plan.optimization.knobs.get(PLANNER.name)
    value = PLANNER.default if choice is None else choice.value
    alternatives = tuple(
        Alternative(value=name, chosen=name == value, applicable=True, entry="", approximate=False)
        for name in PLANNER.values
    )
    is_explicit = choice is not None and choice.resolved_by == "explicit"
    fixed = "offsets make no difference in tightly coupled memory" if is_done else ""
    return _Site(
        MODEL_ID,
        MODEL_ID,
        (MODEL_ID,),
        PLANNER.name,
        value,
        alternatives,
        explicit=is_explicit,
        fixed=fixed,
    )


def _shape_text(shapes: dict[str, list[list[int]]]) -> str:
    return " ".join(
        "+".join("x".join(map(str, shape)) for shape in shapes[name])
        for name in ("inputs", "outputs")
        if name in shapes
    )


def _vary(site: _Site, wanted: Sequence[str], settings: SpaceSettings) -> Dimension | Dropped:
    if site.knob not in wanted:
        return site.dropped("the knob is not listed in space.knobs")
    if site.fixed:
        return site.dropped(site.fixed)
    applicable = [item for item in site.alternatives if item.applicable]
    if not applicable:
        reasons = sorted({item.reason for item in site.alternatives if item.reason})
        return site.dropped("not applicable: " + ("; ".join(reasons) or "no alternative"))
    if site.explicit:
        return site.dropped("the configuration sets it explicitly")
    # Unless errors are judged, outputs must stay those of the baseline: values of the same numerics are compared.
    exact = [item.value for item in applicable if settings.approximate or not item.approximate]
    if (site.approximate and not settings.approximate) or site.value not in exact or len(exact) < 2:
        reasons = sorted({item.reason for item in site.alternatives if item.reason})
        why = "; ".join(reasons) if len(applicable) < 2 and reasons else ""
        return site.dropped(why or "the other values change numerics")
    unwanted = {
        value
        for rule in settings.exclude
        if _is_matched(site, rule)
        for value in _values(rule, site.knob) or ()
    }
    exact = [value for value in exact if value == site.value or value not in unwanted]
    if len(exact) < 2:
        return site.dropped("space.exclude leaves one value")
    kept = _restriction(site, settings.restrict)
    exact = [value for value in exact if kept is None or value == site.value or value in kept]
    if len(exact) < 2:
        return site.dropped("space.restrict leaves one value")
    return Dimension(
        operator_id=site.operator_id,
        op_type=site.op_type,
        knob=site.knob,
        choices=tuple(exact),
        baseline=site.value,
    )


def _restriction(site: _Site, rules: Sequence[OperatorRule | SpaceRule]) -> tuple[str, ...] | None:
    found = winning_rule(
        rules,
        op_type=site.op_type,
        ids=site.ids,
        field_of=lambda rule: _values(rule, site.knob),
    )
    return None if found is None else _values(found[1], site.knob)


def _pin(
    site: _Site, pins: Sequence[OperatorRule | SpaceRule], problems: list[Problem]
) -> Pinned | None:
    found = winning_rule(
        pins, op_type=site.op_type, ids=site.ids, field_of=lambda rule: _values(rule, site.knob)
    )
    if found is None:
        return None
    index, rule = found
    asked = _values(rule, site.knob) or (AUTO,)
    value = site.value if asked[0] == AUTO else asked[0]
    where = f"space.pins[{index}]"
    if len(asked) > 1:
        problems.append(
            Problem(where, f"{site.knob} has several values", "use space.restrict for a choice")
        )
    elif value != site.value and (reason := _why_not(site, value)):
        problems.append(Problem(where, f"{site.knob} {value!r} for {site.operator_id}: {reason}"))
    return Pinned(
        operator_id=site.operator_id,
        op_type=site.op_type,
        knob=site.knob,
        value=value,
        baseline=site.value,
    )


def _why_not(site: _Site, value: str) -> str:
    """Says why a knob cannot be pinned to another value than the baseline's; empty when it can."""
    alternative = next((item for item in site.alternatives if item.value == value), None)
    if alternative is None or not alternative.applicable:
        return "not applicable" + (f", {alternative.reason}" if alternative else "")
    if site.explicit:
        return f"the configuration sets {site.value!r}; remove one of the two"
    if alternative.approximate or site.approximate:
        return "it changes numerics"
    return ""


def _grouped(
    found: Sequence[tuple[_Site, Dimension]], settings: SpaceSettings
) -> tuple[Dimension, ...]:
    """Joins dimensions that choose together; those with other values or another baseline stay apart."""
    members: dict[tuple[object, ...], list[tuple[_Site, Dimension]]] = {}
    for site, dimension in found:
        joint = _group_of(site, settings)
        key = (joint or site.operator_id, joint is None, dimension.knob)
        members.setdefault((*key, dimension.choices, dimension.baseline), []).append(
            (site, dimension)
        )
    taken: set[str] = set()
    dimensions = []
    for group, items in members.items():
        first = items[0][1]
        if group[1] or len(items) == 1:
            dimensions += [dimension for _, dimension in items]
            continue
        name, number = str(group[0]), 1
        while f"{first.knob}@{name}" in taken:
            number += 1
            name = f"{group[0]} ({number})"
        taken.add(f"{first.knob}@{name}")
        types = dict.fromkeys(dimension.op_type for _, dimension in items)
        dimensions.append(
            first.model_copy(
                update={
                    "operator_id": name,
                    "op_type": next(iter(types)) if len(types) == 1 else MODEL_ID,
                    "operators": tuple(dimension.operator_id for _, dimension in items),
                }
            )
        )
    return _side_by_side(dimensions)


def _side_by_side(dimensions: Sequence[Dimension]) -> tuple[Dimension, ...]:
    """Puts the dimensions of one operator or group next to each other, in the order of the first."""
    order = {name: i for i, name in enumerate(dict.fromkeys(d.operator_id for d in dimensions))}
    return tuple(sorted(dimensions, key=lambda dimension: order[dimension.operator_id]))


def _group_of(site: _Site, settings: SpaceSettings) -> str | None:
    if site.operator_id == MODEL_ID:
        return None
    for rule in settings.groups:
        if rule.knobs is not None and site.knob not in rule.knobs:
            continue
        if _is_matched(site, rule):
            return rule.name
    if settings.group == "type":
        return site.op_type
    if settings.group == "shape":
        return f"{site.op_type} {site.shapes}".rstrip()
    return None


def _group_problems(groups: Sequence[GroupRule], sites: Sequence[_Site]) -> list[Problem]:
    problems = []
    for index, group in enumerate(groups):
        where = f"space.groups[{index}]"
        if not any(_is_matched(site, group) for site in sites):
            problems.append(Problem(where, f"the group {group.name!r} matches no operator"))
        problems += [
            Problem(where, f"unknown knob {name!r}", f"known knobs: {', '.join(SPACE_KNOBS)}")
            for name in group.knobs or ()
            if name not in SPACE_KNOBS
        ]
    return problems


def _exclusion_problems(
    exclude: Sequence[OperatorRule | SpaceRule], sites: Sequence[_Site]
) -> list[Problem]:
    problems = []
    for index, rule in enumerate(exclude):
        where = f"space.exclude[{index}]"
        for knob in SPACE_KNOBS:
            values = _values(rule, knob) or ()
            if AUTO in values:
                problems.append(Problem(where, f"{knob} auto is no value that could be searched"))
            # A place that the baseline has for some operators only is taken out for the others.
            if knob in PLACEMENTS:
                continue
            problems += [
                Problem(
                    where,
                    f"{knob} {site.value!r} is what auto chooses for {site.operator_id}",
                    "the baseline belongs to the space; use space.pins to force another value",
                )
                for site in sites
                if site.knob == knob and _is_matched(site, rule) and site.value in values
            ]
    return problems


def _rule_problems(
    name: str, rules: Sequence[OperatorRule | SpaceRule], sites: Sequence[_Site]
) -> list[Problem]:
    problems = []
    for index, rule in enumerate(rules):
        where = f"{name}[{index}]"
        set_knobs = [knob for knob in SPACE_KNOBS if _values(rule, knob) is not None]
        if not set_knobs:
            problems.append(Problem(where, "sets no knob", "add optimization: {<knob>: <value>}"))
        for knob in set_knobs:
            matched = [site for site in sites if site.knob == knob and _is_matched(site, rule)]
            if not matched:
                problems.append(Problem(where, f"matches no operator that has the knob {knob!r}"))
                continue
            known = {item.value for site in matched for item in site.alternatives} | {AUTO}
            problems += [
                Problem(
                    where, f"{knob} has no value {value!r}", f"it has {', '.join(sorted(known))}"
                )
                for value in _values(rule, knob) or ()
                if value not in known and not _is_declared(knob, value)
            ]
    return problems


def _is_declared(knob: str, value: str) -> bool:
    """Says whether a value exists at all; then it is told elsewhere why it does not apply."""
    declared = KNOBS.get(knob) or MODEL_KNOBS.get(knob)
    return declared is not None and value in declared.values


def _is_matched(site: _Site, rule: OperatorRule | SpaceRule | GroupRule) -> bool:
    # The module itself is no operator: only a rule for everything means it.
    return matches(rule, op_type=site.op_type, ids=site.ids)


def _values(rule: OperatorRule | SpaceRule, knob: str) -> tuple[str, ...] | None:
    asked = rule.optimization
    value: str | Sequence[str] | None = (
        asked.get(knob) if isinstance(asked, dict) else getattr(asked, knob, None)
    )
    if value is None:
        return None
    return (value,) if isinstance(value, str) else tuple(value)
