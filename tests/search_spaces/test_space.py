# SPDX-License-Identifier: Apache-2.0
"""What people are told of a space."""

from __future__ import annotations

import pytest

from search_spaces.space import plan_count


@pytest.mark.parametrize(
    ("plans", "text"),
    [(1, "1"), (131_072, "131,072"), (10**15 - 1, "999,999,999,999,999"), (4_321 * 10**32, "4.32e+35"), (2**2000, "1.15e+602")],
    ids=["one", "thousands", "the last", "many", "too many for a float"],
)  # fmt: skip
def test_numbers_of_plans_are_short_enough_to_read(plans: int, text: str) -> None:
    assert plan_count(plans) == text
