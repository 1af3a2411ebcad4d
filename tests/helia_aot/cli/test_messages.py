# SPDX-License-Identifier: Apache-2.0
"""How errors look: every part shown, brackets and long paths untouched."""

from __future__ import annotations

import pytest

from helia_aot.cli.messages import print_error
from helia_aot.errors import BudgetError, Problem


def test_error_shows_every_part_unbroken(capsys: pytest.CaptureFixture[str]) -> None:
    long_path = "/a" * 60
    error = BudgetError(
        "It does not fit",
        [
            Problem("operators[0]", f"[bold]{long_path}[/]", "move it", "convert.yaml:14"),
            Problem("", "no place"),
        ],
        next_step="free some",
    )
    print_error(error)
    assert capsys.readouterr().err == (
        "error: It does not fit\n"
        f"  convert.yaml:14: operators[0]: [bold]{long_path}[/]\n"
        "    -> move it\n"
        "  no place\n"
        "next: free some\n"
    )
