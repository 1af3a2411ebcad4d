# SPDX-License-Identifier: Apache-2.0
"""The table from sentences to tests is whole: every test exists, every sentence has one or says why not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from seeds.table import FOLDER, PAGES, README, Sentence, existing_tests, faults, rendered, sentences

MAX_WORDS = 15


def test_every_sentence_has_tests_that_exist_or_a_reason() -> None:
    assert faults(sentences()) == []


GOOD = Sentence(
    page="Page",
    heading="Heading",
    says="something",
    tests=("tests/seeds/test_table.py::test_every_sentence_has_tests_that_exist_or_a_reason",),
    status="shown",
    why="",
)
FAULTS = {
    "names a test that does not exist": {"tests": ("tests/seeds/test_table.py::test_of_nothing",)},
    "does not exist: tests/no_file.py": {"tests": ("tests/no_file.py::test_of_nothing",)},
    "has no test": {"tests": ()},
    "names a test twice": {"tests": GOOD.tests * 2},
    "has no reason": {"tests": (), "status": "open"},
    "has a reason although it is shown": {"why": "because"},
    "unknown status": {"status": "perhaps", "why": "because"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    assert faults([GOOD]) == []
    (found,) = faults([replace(GOOD, **FAULTS[fault])])
    assert fault in found


def test_the_readable_table_is_current() -> None:
    text = README.read_text(encoding="utf-8")
    assert text == rendered(sentences()), "refresh: .venv/bin/python tests/seeds/table.py"


def test_sentences_are_short_and_told_once() -> None:
    table = sentences()
    assert all(len(sentence.says.split()) <= MAX_WORDS for sentence in table)
    told = Counter((sentence.page, sentence.heading, sentence.says) for sentence in table)
    assert [key for key, count in told.items() if count > 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_test_of_a_page_shows_a_sentence(page: str) -> None:
    path = f"tests/seeds/test_{page}.py"
    assert (FOLDER / f"test_{page}.py").is_file()
    named = {test for sentence in sentences() for test in sentence.tests}
    assert {f"{path}::{name}" for name in existing_tests(path)} <= named
