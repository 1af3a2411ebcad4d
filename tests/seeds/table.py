# SPDX-License-Identifier: Apache-2.0
"""The table of what the published pages say and which tests show it.

The sentences are in the YAML files here, one for each page. Run from the repository's root, this writes ``README.md``::

    .venv/bin/python tests/seeds/table.py
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[1]
README = FOLDER / "README.md"
PAGES = ("optimization", "schema", "residency")

SHOWN = "shown"
STATUSES = {
    SHOWN: "the tests show it",
    "differs": "true in another form, which the tests show; the reason says how",
    "open": "not true yet; tests, if any, show a part",
    "not applicable": "nothing to show",
}
"""What a sentence can be, and what that means."""

_INTRODUCTION = """# What the published pages say, and which tests show it

Three pages describe what `helia_aot` does: *Performance and accuracy options*, *Schema of plan and report* and
*Residency reports*. The tables below go through them sentence by sentence, in short words of our own.

This file is written from `{files}` by
`.venv/bin/python tests/seeds/table.py`. A test fails when it is out of date, when a test named here does not exist, and
when a sentence has neither a test nor a reason.
"""


@dataclass(frozen=True)
class Sentence:
    """One sentence of a page.

    Attributes:
        page: Title of the page.
        heading: Heading on the page.
        says: What it says, shortened.
        tests: The tests that show it, each ``path::name``.
        status: One of ``STATUSES``.
        why: The reason of any status but ``shown``.
    """

    page: str
    heading: str
    says: str
    tests: tuple[str, ...]
    status: str
    why: str


def sentences() -> list[Sentence]:
    """Gives the sentences of all pages in the order of the pages."""
    return [sentence for page in PAGES for sentence in _sentences_of(page)]


def faults(table: Sequence[Sentence]) -> list[str]:
    """Gives what is wrong with a table: tests that do not exist, sentences without test and reason."""
    return [
        f"{sentence.page}, {sentence.heading}: {sentence.says!r} {fault}"
        for sentence in table
        for fault in _faults_of(sentence)
    ]


def existing_tests(path: str) -> frozenset[str]:
    """Gives the names of the test functions in a file of the repository, without importing it."""
    file = REPOSITORY / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def rendered(table: Sequence[Sentence]) -> str:
    """Gives the table as Markdown."""
    files = "`, `".join(f"{page}.yaml" for page in PAGES)
    lines = [_INTRODUCTION.format(files=files), "| status | sentences | meaning |", "|---|---|---|"]
    counts = Counter(sentence.status for sentence in table)
    lines += [f"| {name} | {counts[name]} | {text} |" for name, text in STATUSES.items()]
    page = heading = None
    for sentence in table:
        if sentence.page != page:
            lines += ["", f"## {sentence.page}"]
            page, heading = sentence.page, None
        if sentence.heading != heading:
            lines += [
                "",
                f"### {sentence.heading}",
                "",
                "| it says | status | shown by |",
                "|---|---|---|",
            ]
            heading = sentence.heading
        lines.append(_row(sentence))
    return "\n".join(lines) + "\n"


def _sentences_of(page: str) -> Iterator[Sentence]:
    content: dict[str, Any] = yaml.safe_load((FOLDER / f"{page}.yaml").read_text(encoding="utf-8"))
    for heading in content["headings"]:
        for entry in heading["sentences"]:
            unknown = entry.keys() - {"says", "tests", "status", "why"}
            if unknown:
                raise ValueError(
                    f"{page}.yaml: unknown keys {sorted(unknown)} in {entry['says']!r}"
                )
            yield Sentence(
                page=content["page"],
                heading=heading["heading"],
                says=entry["says"],
                tests=tuple(entry.get("tests", ())),
                status=entry.get("status", SHOWN),
                why=entry.get("why", ""),
            )


def _faults_of(sentence: Sentence) -> Iterator[str]:
    if sentence.status not in STATUSES:
        yield f"has the unknown status {sentence.status!r}"
    if sentence.status in (SHOWN, "differs") and not sentence.tests:
        yield "has no test"
    if (sentence.status == SHOWN) == bool(sentence.why):
        yield "has a reason although it is shown" if sentence.why else "has no reason"
    if len(set(sentence.tests)) < len(sentence.tests):
        yield "names a test twice"
    for test in sentence.tests:
        path, _, name = test.partition("::")
        if name not in _existing_tests(path):
            yield f"names a test that does not exist: {test}"


_existing_tests = cache(existing_tests)


def _row(sentence: Sentence) -> str:
    status = f"{sentence.status}: {sentence.why}" if sentence.why else sentence.status
    tests = "<br>".join(f"`{test}`" for test in sentence.tests)
    cells = (sentence.says, status, tests)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    README.write_text(rendered(sentences()), encoding="utf-8")
