# SPDX-License-Identifier: Apache-2.0
"""The page of operators: which element types each one takes, and the limits."""

from __future__ import annotations

from typing import Final

from helia_aot.operators.registry import FAMILIES
from helia_aot.operators.spec import OperatorFamily, Support

REFRESH: Final = ".venv/bin/python -P tests/operators_page.py"
"""The command that writes the page."""
_COLUMNS: Final = ("int8", "int16", "float32", "float16")
_INTRODUCTION: Final = f"""# Operators

Which TFLite operators are compiled, for which element types. Columns are types of activations; *other* names more of
them, "any" is every type of whole bytes. A model that needs more is refused whole, with every operator and reason.

What follows from constants or static shapes alone is computed at conversion where it is small, whatever the table says.
VAR_HANDLE, CALL_ONCE, IF and WHILE are not listed, as transforms resolve them: IF is compiled as both of its branches
and a choice between their results, WHILE as many times as it runs where that follows from constants (recurrent layers).

Generated from the code: refresh with `{REFRESH}`.
"""


def operators_page() -> str:
    """Gives the page as Markdown, one line for each operator and limit; the same code always gives the same text."""
    lines = [
        _INTRODUCTION,
        f"| operator | {' | '.join(_COLUMNS)} | other | limits |",
        f"|---|{'|'.join([':-:'] * len(_COLUMNS))}|---|---|",
    ]
    for op_type in sorted(FAMILIES):
        lines += _rows(op_type, FAMILIES[op_type])
    return "\n".join(lines) + "\n"


def _rows(op_type: str, family: OperatorFamily) -> list[str]:
    """Gives one row for each limit, the types that share it together."""
    by_limit: dict[str, list[str]] = {}
    for support in family.support:
        by_limit.setdefault(support.limits, []).extend(support.types)
    return [_row(op_type, Support(tuple(types), limits)) for limits, types in by_limit.items()]


def _row(op_type: str, support: Support) -> str:
    everything = "any" in support.types
    marks = ["yes" if everything or column in support.types else "" for column in _COLUMNS]
    other = ", ".join(dtype for dtype in support.types if dtype not in _COLUMNS)
    return f"| {op_type} | {' | '.join(marks)} | {other} | {support.limits} |"
