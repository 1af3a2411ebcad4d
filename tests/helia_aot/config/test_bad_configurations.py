# SPDX-License-Identifier: Apache-2.0
"""The table of mistakes: what the command says to each configuration of ``bad_configurations.yaml``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from helia_aot.cli.main import main

TABLE = Path(__file__).with_name("bad_configurations.yaml")
CASES: list[dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_mistake_is_told_like_this(
    case: dict[str, Any],
    digits_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copy(digits_model, tmp_path / "digits.tflite")
    (tmp_path / "convert.yaml").write_text(case["config"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["helia-aot", "convert", "--path", "convert.yaml"])
    with pytest.raises(SystemExit) as stopped:
        main()
    printed = capsys.readouterr()
    assert printed.err == case["message"]
    assert (printed.out, stopped.value.code) == ("", case["exit_code"])
    assert not (tmp_path / "out").exists()


def test_the_table_is_worth_reading() -> None:
    assert len(CASES) >= 30
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(set(case) == {"name", "config", "exit_code", "message"} for case in CASES)
