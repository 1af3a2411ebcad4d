# SPDX-License-Identifier: Apache-2.0
"""How errors and warnings look in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import Console, RenderableType
from rich.text import Text

from helia_aot.errors import HeliaError, Problem

FILE_WIDTH: Final = 160
"""Columns of tables in pipes and files."""


def output_console() -> Console:
    """Gives the console of standard output; a pipe or file gets wide tables, whatever reads it."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=FILE_WIDTH)


def print_error(error: HeliaError) -> None:
    """Prints an error to standard error: summary, problems, next step."""
    print_all(Console(stderr=True, highlight=False), error_message(error))


def error_message(error: HeliaError) -> Iterator[RenderableType]:
    """Gives the parts of an error's message, one for each paragraph."""
    yield Text.assemble(("error: ", "bold red"), error.summary)
    for problem in error.problems:
        yield _problem(problem)
    if error.next_step:
        yield Text.assemble(("next: ", "bold"), error.next_step)


def warning_message(warning: str) -> Text:
    """Gives one warning as a paragraph."""
    return Text.assemble(("warning: ", "bold yellow"), warning)


def print_all(console: Console, parts: Iterable[RenderableType]) -> None:
    """Prints parts one below the other; text keeps its lines, whatever the width of the console."""
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))


def _problem(problem: Problem) -> Text:
    text = Text("  ")
    if problem.source:
        text.append(problem.source).append(": ")
    if problem.where:
        text.append(problem.where, "bold").append(": ")
    text.append(problem.reason)
    if problem.next_step:
        text.append(f"\n    -> {problem.next_step}", "cyan")
    return text
