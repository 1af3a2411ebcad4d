# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest
from device_bench import Bench, make_bench
from typer.testing import CliRunner

from optimizer.cli import app
from optimizer.doctor import run_checks
from runners.device.board_state import BoardState
from runners.device.boards import load_boards
from runners.device.ladder import LADDER


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return make_bench(tmp_path, monkeypatch, {"a": "apollo4p_evb", "b": "apollo4p_evb"})


def call(bench: Bench, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["boards", *arguments, "--boards", str(bench.boards)])
    return result.exit_code, result.stdout


def test_a_board_is_set_aside_and_brought_back(bench: Bench) -> None:
    assert call(bench, "list")[1].count("free") == 2
    assert call(bench, "quarantine", "a", "--reason", "smells") == (0, "a: set aside: smells\n")
    with BoardState(load_boards(bench.boards)["b"].probe_id).locked("a test", wait_s=0):
        states = {entry["name"]: entry for entry in json.loads(call(bench, "list", "--json")[1])}
    assert states["a"]["quarantine"] == "smells"
    assert "a test" in states["b"]["in_use_by"]
    assert call(bench, "release", "a") == (0, "a: released\n")
    assert call(bench, "release", "a") == (0, "a: was not set aside\n")


def test_a_good_check_brings_back_and_a_bad_one_sets_aside(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runners.device.ladder.LADDER", LADDER[:1])
    call(bench, "quarantine", "a")
    bench.break_board("b", error_at=1, error_count=1 << 30)
    code, text = call(bench, "check", "--json")
    found = {entry["name"]: entry for entry in json.loads(text)}
    assert (code, found["a"]["is_ok"], found["b"]["is_ok"]) == (8, True, False)
    assert "Cortex-M4 (DPIDR 0x2ba01477" in found["a"]["detail"]
    states = {
        entry["name"]: entry["quarantine"] for entry in json.loads(call(bench, "list", "--json")[1])
    }
    assert states["a"] is None
    assert states["b"].startswith("no_target: ")


def test_doctor_connects_to_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = make_bench(tmp_path, monkeypatch, {"a": "apollo4p_evb"})
    checks = {check.name: check for check in run_checks("apollo4p_evb", bench.boards)}
    assert checks["board a"].is_ok
    assert checks["pyocd"].is_ok


def test_an_unknown_board_lists_the_known_ones(bench: Bench) -> None:
    result = CliRunner().invoke(app, ["boards", "release", "c", "--boards", str(bench.boards)])
    assert "use one of: a, b" in str(result.exception)
