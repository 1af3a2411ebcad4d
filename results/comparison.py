# SPDX-License-Identifier: Apache-2.0
"""Two finished campaigns side by side: may they be compared, which is better, and where they differ."""

from __future__ import annotations

from pathlib import Path

from helia_aot.config.base import StrictModel
from results.evidence import Evidence, MeasuredPlan, read_evidence
from results.ledger import identity_changes
from search_spaces.space import dimension_name

COMPARABLE: tuple[str, ...] = ("model_sha256", "subgraph", "runner", "stimulus_sha256")
"""Fields of the identity that must agree for cycles to be compared."""


class Difference(StrictModel):
    """Something that is not the same in both campaigns.

    Attributes:
        name: Field of the identity, or ``<knob>@<operator id>`` for a choice.
        first: Its value in the first campaign; None where it has none.
        second: The same for the second.
        first_cycles: For a choice, cycles of its operator in the first written plan.
        second_cycles: The same for the second.
    """

    name: str
    first: str | None
    second: str | None
    first_cycles: int | None = None
    second_cycles: int | None = None


class CampaignComparison(StrictModel):
    """What two campaigns say about each other.

    Attributes:
        first: Name of the first campaign.
        second: Name of the second.
        is_comparable: Whether model, runner and stimulus agree, so that cycles mean the same.
        first_cycles: Cycles of the first written plan.
        second_cycles: Cycles of the second.
        ratio: First cycles over second cycles; above 1 the second is faster.
        first_gap: How far the first plan may be from the best of its space; None if not known.
        second_gap: The same for the second.
        identity: Differences of the identities.
        choices: Choices in which the written plans differ.
    """

    first: str
    second: str
    is_comparable: bool
    first_cycles: int
    second_cycles: int
    ratio: float
    first_gap: float | None
    second_gap: float | None
    identity: tuple[Difference, ...]
    choices: tuple[Difference, ...]


def compare_campaigns(first: Path, second: Path) -> CampaignComparison:
    """Compares what two campaigns left in their folders.

    Raises:
        CampaignError: A folder holds no evidence, or damaged evidence.
    """
    one, two = read_evidence(first), read_evidence(second)
    changes = identity_changes(one.identity, two.identity)
    values = [_identity_values(evidence) for evidence in (one, two)]
    names = [problem.where for problem in changes]
    return CampaignComparison(
        first=one.identity.campaign,
        second=two.identity.campaign,
        is_comparable=not any(name.split(".")[0] in COMPARABLE for name in names),
        first_cycles=one.winner.measurement.best_cycles,
        second_cycles=two.winner.measurement.best_cycles,
        ratio=one.winner.measurement.comparable_cycles
        / max(1.0, two.winner.measurement.comparable_cycles),
        first_gap=None if one.optimality is None else one.optimality.gap,
        second_gap=None if two.optimality is None else two.optimality.gap,
        identity=tuple(
            Difference(name=name, first=values[0].get(name), second=values[1].get(name))
            for name in names
        ),
        choices=_choice_differences(one, two),
    )


def _identity_values(evidence: Evidence) -> dict[str, str]:
    tree = evidence.identity.model_dump(mode="json")
    runner = tree.pop("runner")
    flat = {**tree, **{f"runner.{name}": value for name, value in runner.items()}}
    flags = flat.pop("runner.compiler_flags")
    flat |= {f"runner.compiler_flags.{name}": value for name, value in flags.items()}
    return {name: str(value) for name, value in flat.items()}


def _choice_differences(one: Evidence, two: Evidence) -> tuple[Difference, ...]:
    first, second = _choices(one), _choices(two)
    cycles = [_cycles(one.winner), _cycles(two.winner)]
    differences = []
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) == second.get(name):
            continue
        operator_id = name.partition("@")[2]
        differences.append(
            Difference(
                name=name,
                first=first.get(name),
                second=second.get(name),
                first_cycles=cycles[0].get(operator_id),
                second_cycles=cycles[1].get(operator_id),
            )
        )
    return tuple(differences)


def _choices(evidence: Evidence) -> dict[str, str]:
    """Gives every choice of the written plan, those that did not vary included."""
    space = evidence.space
    pinned = {dimension_name(item.knob, item.operator_id): item.value for item in space.pinned}
    dropped = {dimension_name(item.knob, item.operator_id): item.value for item in space.dropped}
    varied = {
        item.name: evidence.winner.choices.get(item.name, item.baseline)
        for item in space.dimensions
    }
    return varied | pinned | dropped


def _cycles(plan: MeasuredPlan) -> dict[str, int]:
    return {item.id: item.cycles for item in plan.measurement.operator_cycles}
