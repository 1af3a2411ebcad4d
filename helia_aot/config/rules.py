# SPDX-License-Identifier: Apache-2.0
"""Which rule of a list sets a field: matching, specificity and merging.

The rules of ``operators[]`` and ``memory.tensors[]`` follow one scheme. A rule matches by type, by
id, or by both. For each field the most specific matching rule that sets it wins: type and id, then
id, then type, then ``*``; of equals, the later one. So rules merge field by field, and one that
leaves a field out never hides another that sets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from helia_aot.config.convert import ANY


class Rule(Protocol):
    """What matching needs of a rule."""

    @property
    def type(self) -> str:
        """The type it matches, in any letter case; ``*`` matches all."""

    @property
    def id(self) -> str | list[str] | None:
        """The id or ids it matches; None matches all."""


R = TypeVar("R", bound=Rule)


@dataclass(frozen=True)
class RuleSubject:
    """An operator or a tensor, as rules see it.

    Attributes:
        type: Operator type or tensor role.
        ids: Every id that names it.
    """

    type: str
    ids: Sequence[str]


def matches(rule: Rule, *, op_type: str, ids: Sequence[str]) -> bool:
    """Says whether a rule matches an operator type or tensor role with any of the ids."""
    if rule.type != ANY and rule.type.casefold() != op_type.casefold():
        return False
    return rule.id is None or not set(rule_ids(rule)).isdisjoint(ids)


def rule_ids(rule: Rule) -> tuple[str, ...]:
    """Gives the ids that a rule names; empty when it matches any."""
    if rule.id is None:
        return ()
    return (rule.id,) if isinstance(rule.id, str) else tuple(rule.id)


def specificity(rule: Rule) -> int:
    """Gives the rank of a rule: 0 ``*``, 1 type, 2 id, 3 type and id."""
    return (1 if rule.type != ANY else 0) + (2 if rule.id is not None else 0)


def winning_rule(
    rules: Sequence[R],
    *,
    op_type: str,
    ids: Sequence[str],
    field_of: Callable[[R], object | None],
) -> tuple[int, R] | None:
    """Gives the rule that sets one field, with its position.

    Args:
        rules: The rules in file order.
        op_type: Operator type or tensor role.
        ids: Every id that names the operator or tensor.
        field_of: Reads the field from a rule; None means that the rule does not set it.

    Returns:
        Position and rule, or None when no matching rule sets the field.
    """
    candidates = [
        (specificity(rule), index, rule)
        for index, rule in enumerate(rules)
        if field_of(rule) is not None and matches(rule, op_type=op_type, ids=ids)
    ]
    if not candidates:
        return None
    _, index, rule = max(candidates, key=lambda candidate: candidate[:2])
    return index, rule


def unmatched_rules(rules: Sequence[R], subjects: Iterable[RuleSubject]) -> list[tuple[int, R]]:
    """Gives the rules, with their positions, that match none of the subjects."""
    known = list(subjects)
    return [
        (index, rule)
        for index, rule in enumerate(rules)
        if not any(matches(rule, op_type=item.type, ids=item.ids) for item in known)
    ]


def unmatched_ids(rule: Rule, subjects: Iterable[RuleSubject]) -> list[str]:
    """Gives the ids that a rule names, but that no subject of the rule's type has."""
    known = {
        item_id
        for item in subjects
        if rule.type in (ANY, item.type) or rule.type.casefold() == item.type.casefold()
        for item_id in item.ids
    }
    return [rule_id for rule_id in rule_ids(rule) if rule_id not in known]
