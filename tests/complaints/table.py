# SPDX-License-Identifier: Apache-2.0
"""The table of what users of other tuning tools complain about, and which tests show our answer.

The complaints are in ``complaints.yaml``. Run from the repository's root, this writes ``README.md``::

    .venv/bin/python tests/complaints/table.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from seeds.table import existing_tests  # noqa: E402

README = FOLDER / "README.md"

_INTRODUCTION = """# What users of tuning tools complain about, and which tests show our answer

Seventy-two complaints from the trackers of other tools, in short words of our own. This file is written from
`complaints.yaml` by `.venv/bin/python tests/complaints/table.py`. A test fails when it is out of date, when a test named here
does not exist, and when a complaint has neither a test nor a reason why it does not concern us.

{answered} are answered by tests, {others} do not concern the search.
"""


@dataclass(frozen=True)
class Complaint:
    """One complaint.

    Attributes:
        group: What it is about.
        number: Its number, from 1.
        where: Repository and number of the issue or pull request.
        says: What it says, shortened.
        answer: What this project does about it; empty where it does not concern us.
        tests: The tests that show it, each ``path::name``.
        why_not: Why it does not concern us; empty where there is an answer.
    """

    group: str
    number: int
    where: str
    says: str
    answer: str
    tests: tuple[str, ...]
    why_not: str


def complaints() -> list[Complaint]:
    """Gives all complaints in their order."""
    content = yaml.safe_load((FOLDER / "complaints.yaml").read_text(encoding="utf-8"))
    return [
        Complaint(
            group=group["group"],
            number=entry["number"],
            where=entry["where"],
            says=entry["says"],
            answer=entry.get("answer", ""),
            tests=tuple(entry.get("tests", ())),
            why_not=entry.get("why_not", ""),
        )
        for group in content["groups"]
        for entry in group["complaints"]
    ]


def faults(table: Sequence[Complaint]) -> list[str]:
    """Gives what is wrong with a table."""
    return [f"{item.number} ({item.where}) {fault}" for item in table for fault in _faults_of(item)]


def _faults_of(item: Complaint) -> Iterator[str]:
    if bool(item.answer) == bool(item.why_not):
        yield "needs an answer, or else a reason why not"
    if bool(item.answer) != bool(item.tests):
        yield "needs tests exactly where it has an answer"
    for test in item.tests:
        path, _, name = test.partition("::")
        if name not in _existing_tests(path):
            yield f"names a test that does not exist: {test}"


_existing_tests = cache(existing_tests)


def rendered(table: Sequence[Complaint]) -> str:
    """Gives the table as Markdown."""
    answered = sum(bool(item.answer) for item in table)
    lines = [_INTRODUCTION.format(answered=answered, others=len(table) - answered)]
    group = None
    for item in table:
        if item.group != group:
            lines += [
                f"## {item.group}",
                "",
                "| | complaint | answer | shown by |",
                "|---|---|---|---|",
            ]
            group = item.group
        shown = "<br>".join(f"`{test}`" for test in item.tests)
        answer = item.answer or f"does not concern the search: {item.why_not}"
        lines.append(f"| {item.number} | {item.where}: {item.says} | {answer} | {shown} |")
    text = "\n".join(lines)
    return text.replace("\n## ", "\n\n## ").replace("\n\n\n", "\n\n") + "\n"


if __name__ == "__main__":
    README.write_text(rendered(complaints()), encoding="utf-8")
