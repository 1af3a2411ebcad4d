# SPDX-License-Identifier: Apache-2.0
"""The generated page of operators."""

from __future__ import annotations

from operators_page import PAGE

from helia_aot.operators.page import REFRESH, operators_page
from helia_aot.operators.registry import FAMILIES


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == operators_page(), f"refresh: {REFRESH}"


def test_every_family_says_what_it_takes() -> None:
    for op_type, family in FAMILIES.items():
        assert family.support, op_type
        assert all(support.types for support in family.support), op_type
        assert f"| {op_type} |" in operators_page()
