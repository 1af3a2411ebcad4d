# SPDX-License-Identifier: Apache-2.0
"""The table of complaints is whole: every answer has tests that exist, every other one a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from complaints.table import README, complaints, faults, rendered


def test_every_answer_has_tests_that_exist() -> None:
    assert faults(complaints()) == []


def test_all_complaints_are_there_in_their_order() -> None:
    assert [item.number for item in complaints()] == list(range(1, 73))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"tests": ("tests/no_file.py::test_of_nothing",)}, "does not exist"),
        ({"tests": ()}, "needs tests"),
        ({"why_not": "because"}, "or else a reason"),
    ],
)
def test_a_planted_fault_is_found(change: dict[str, object], fault: str) -> None:
    good = complaints()[0]
    assert faults([good]) == []
    assert any(fault in found for found in faults([replace(good, **change)]))  # type: ignore[arg-type]


def test_the_readable_table_is_current() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == rendered(complaints()), "refresh: .venv/bin/python tests/complaints/table.py"
