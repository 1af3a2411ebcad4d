# SPDX-License-Identifier: Apache-2.0
"""Rules: matching, specificity, ties and merging field by field."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helia_aot.config.convert import OperatorRule, TensorRule
from helia_aot.config.rules import (
    RuleSubject,
    matches,
    specificity,
    unmatched_ids,
    unmatched_rules,
    winning_rule,
)

TYPES = ["*", "CONV_2D", "SOFTMAX"]
IDS = [None, "7", "0:y", ["7", "8"]]


def make_rule(type_: str = "*", id_: object = None, kernel: str | None = None) -> OperatorRule:
    return OperatorRule.model_validate(
        {"type": type_, "id": id_, "optimization": {"kernel": kernel}}
    )


def kernel_of(rule: OperatorRule) -> str | None:
    return rule.optimization.kernel


def winner(rules: list[OperatorRule]) -> int | None:
    found = winning_rule(rules, op_type="CONV_2D", ids=["7", "0:y"], field_of=kernel_of)
    return None if found is None else found[0]


@pytest.mark.parametrize(
    ("rule", "rank"),
    [
        (make_rule(), 0),
        (make_rule("CONV_2D"), 1),
        (make_rule(id_="7"), 2),
        (make_rule("CONV_2D", ["7"]), 3),
    ],
)
def test_specificity_orders_any_type_id_both(rule: OperatorRule, rank: int) -> None:
    assert specificity(rule) == rank


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (make_rule(), True),
        (make_rule("conv_2d"), True),
        (make_rule("SOFTMAX"), False),
        (make_rule(id_="7"), True),
        (make_rule(id_="0:y"), True),
        (make_rule(id_=["1", "0:y"]), True),
        (make_rule(id_="0:Y"), False),
        (make_rule("SOFTMAX", "7"), False),
    ],
)
def test_match_needs_type_and_id(rule: OperatorRule, expected: bool) -> None:
    assert matches(rule, op_type="CONV_2D", ids=["7", "0:y"]) is expected


def test_specific_rule_wins_wherever_it_stands() -> None:
    rules = [make_rule("CONV_2D", "7", "generic"), make_rule(id_="7", kernel="specialized")]
    assert winner(rules) == 0
    assert winner(rules[::-1]) == 1


def test_later_of_equals_wins() -> None:
    assert winner([make_rule("CONV_2D", kernel="generic")] * 3) == 2


def test_rule_without_the_field_hides_nothing() -> None:
    assert winner([make_rule("CONV_2D", kernel="generic"), make_rule("CONV_2D", "7")]) == 0


def test_no_rule_wins_when_none_sets_the_field() -> None:
    assert winner([make_rule("CONV_2D"), make_rule("SOFTMAX", kernel="generic")]) is None


def test_tensor_fields_merge_from_different_rules() -> None:
    rules = [
        TensorRule.model_validate({"type": "constant", "attributes": {"memory": "mram"}}),
        TensorRule.model_validate(
            {"id": "45", "attributes": {"constant_destination_memory": "dtcm"}}
        ),
    ]
    of_source = winning_rule(
        rules, op_type="constant", ids=["45"], field_of=lambda rule: rule.attributes.memory
    )
    of_copy = winning_rule(
        rules,
        op_type="constant",
        ids=["45"],
        field_of=lambda rule: rule.attributes.constant_destination_memory,
    )
    assert (of_source, of_copy) == ((0, rules[0]), (1, rules[1]))


def test_unmatched_rules_come_with_their_positions() -> None:
    rules = [make_rule("CONV_2D"), make_rule("ADD"), make_rule("SOFTMAX", "7")]
    subjects = [RuleSubject("CONV_2D", ["7"]), RuleSubject("SOFTMAX", ["8"])]
    assert unmatched_rules(rules, subjects) == [(1, rules[1]), (2, rules[2])]


@given(
    st.lists(
        st.builds(
            make_rule,
            st.sampled_from(TYPES),
            st.sampled_from(IDS),
            st.sampled_from([None, "generic", "specialized"]),
        ),
        max_size=8,
    )
)
def test_winner_agrees_with_overwriting_in_order(rules: list[OperatorRule]) -> None:
    # Independent form of the rule: walk ranks upwards, file order within, last writer stays.
    expected = None
    for rank, (index, rule) in product(range(4), enumerate(rules)):
        if (rule.type != "*") + 2 * (rule.id is not None) != rank or rule.type == "SOFTMAX":
            continue
        if rule.optimization.kernel is not None:
            expected = index
    assert winner(rules) == expected


def test_an_id_that_nothing_has_is_found_beside_one_that_something_has():
    subjects = [RuleSubject("CONV_2D", ("0:a", "0")), RuleSubject("ADD", ("0:b", "1"))]
    rule = OperatorRule(type="CONV_2D", id=["0:a", "0:b", "gone"])
    assert unmatched_ids(rule, subjects) == ["0:b", "gone"]
    assert unmatched_ids(OperatorRule(type="conv_2d"), subjects) == []
