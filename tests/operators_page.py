# SPDX-License-Identifier: Apache-2.0
"""Writes ``docs/operators.md`` from the operator families; run as a script, with the repository as current folder."""

from __future__ import annotations

from pathlib import Path

from helia_aot.operators.page import operators_page

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operators.md"


if __name__ == "__main__":
    PAGE.write_text(operators_page(), encoding="utf-8", newline="\n")
