# SPDX-License-Identifier: Apache-2.0
"""Writes ``docs/operators.md`` from the operator families.

Run as a script with ``python -P``: else the folders of tests are taken for the packages of the same names.
"""

from __future__ import annotations

from pathlib import Path

from helia_aot.operators.page import operators_page

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"


if __name__ == "__main__":
    PAGE.write_text(operators_page(), encoding="utf-8", newline="\n")
