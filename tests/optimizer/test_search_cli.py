# SPDX-License-Identifier: Apache-2.0
"""The command line over the real compiler, toolchain and simulator."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helia_aot.errors import ConfigError
from helia_aot.version import __version__
from optimizer.cli import app
from optimizer.operator_memory import OperatorMemory

HAS_TOOLS = all(map(shutil.which, ("arm-none-eabi-gcc", "qemu-system-arm")))
needs_tools = pytest.mark.skipif(
    not HAS_TOOLS, reason="needs arm-none-eabi-gcc and qemu-system-arm"
)


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "optimizer.cli", *map(str, words)]


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None and not condition():
        time.sleep(0.05)


def test_version_is_printed() -> None:
    assert CliRunner().invoke(app, ["version"]).stdout.strip() == __version__


def test_presets_are_listed() -> None:
    found = json.loads(CliRunner().invoke(app, ["presets", "--json"]).stdout)
    assert {"kernels", "placement", "full", "fast-first-look"} <= set(found)
    text = CliRunner().invoke(app, ["presets"]).stdout
    assert all(name in text for name in found)


def test_help_names_every_command() -> None:
    text = CliRunner().invoke(app, ["--help"]).stdout
    assert all(
        name in text
        for name in ("run", "status", "verify", "compare", "export", "measure", "doctor", "version")
    )


def test_a_wrong_option_is_an_error_of_the_campaign(digits_model: Path) -> None:
    result = CliRunner().invoke(app, ["run", str(digits_model), "--sampler", "best"])
    assert isinstance(result.exception, ConfigError)


def test_the_process_exits_with_the_code_of_the_error(tmp_path: Path) -> None:
    done = subprocess.run(
        command("run", tmp_path / "missing.yaml"),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "error:" in done.stderr
    assert "Traceback" not in done.stderr


@needs_tools
def test_doctor_finds_the_tools() -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    checks = {check["name"]: check for check in json.loads(result.stdout)}
    assert result.exit_code == 0
    assert "arm-none-eabi-gcc" in checks["simulator: compiler"]["detail"]
    assert "QEMU" in checks["simulator: emulator"]["detail"]


def test_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 8
    assert "missing" in result.stdout
    assert "->" in result.stdout


@needs_tools
def test_measure_prints_every_operator(digits_model: Path) -> None:
    result = CliRunner().invoke(app, ["measure", str(digits_model)])
    assert result.exit_code == 0
    assert "modelled cycles" in result.stdout
    assert "0:stem_3x3" in result.stdout


@needs_tools
def test_measure_as_json_has_the_measurement(digits_model: Path) -> None:
    result = CliRunner().invoke(app, ["measure", str(digits_model), "--json"])
    content = json.loads(result.stdout)
    assert content["measurement"]["status"] == "ok"
    assert content["bit_exact"] is None


@needs_tools
def test_a_killed_search_continues_and_its_plan_is_reproduced(
    digits_model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = command(
        "run",
        digits_model,
        "--sampler",
        "tpe",
        "--trials",
        "4",
        "--workers",
        "0",
        "--out",
        out,
        "--json",
        "--no-cache",
    )
    ledger = out / "ledger.jsonl"
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, cwd=tmp_path)
        wait_until(lambda: ledger.exists() and ledger.read_bytes().count(b"\n") > 2, process)
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGKILL, (tmp_path / "log").read_text()
    before = ledger.read_bytes()
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ledger.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    summary = json.loads(done.stdout)
    assert summary["search"]["trials"] == 4
    assert summary["best_cycles"] <= summary["baseline_cycles"]
    assert summary["counts"] == "modelled cycles"
    reproduce = shlex.split(summary["reproduce"])
    subprocess.run(
        [sys.executable, "-m", "helia_aot", *reproduce[1:]],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    written = next((out / "module").rglob("aot_plan.json"))
    assert written.read_bytes() == (out / "aot_plan.json").read_bytes()
    verify = command("verify", out / "aot_plan.json", "--model", digits_model)
    done = subprocess.run(verify, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "the claim holds" in done.stdout
    (out / "aot_plan.json").write_text((out / "aot_plan.json").read_text().rstrip() + "\n\n")
    done = subprocess.run(verify, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 9
    assert "does NOT hold" in done.stdout


@needs_tools
def test_a_second_search_runs_nothing_that_the_first_one_measured(
    digits_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("HELIA_CACHE_DIR", str(cache))
    summaries = []
    for name in ("first", "second"):
        words = command("run", digits_model, "--workers", "0", "--out", tmp_path / name, "--json")
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
        summaries.append(json.loads(done.stdout))
    first, second = (summary["search"] for summary in summaries)
    assert first["cache_hits"] == 0
    assert second["cache_hits"] == second["plans_measured"] > 0
    assert summaries[0]["best_cycles"] == summaries[1]["best_cycles"]
    assert summaries[0]["optimality"] == summaries[1]["optimality"]


@needs_tools
def test_a_terminated_search_ends_cleanly(digits_model: Path, tmp_path: Path) -> None:
    words = command(
        "run",
        digits_model,
        "--sampler",
        "tpe",
        "--workers",
        "0",
        "--out",
        tmp_path,
        "--trials",
        "50",
        "--no-cache",
    )
    # The signal may come between opening a file and its with block, which only this warning notices.
    words[3:3] = ["-W", "ignore::ResourceWarning"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, cwd=tmp_path)
        wait_until((tmp_path / "ledger.jsonl").exists, process)
        process.terminate()
        process.wait()
    errors = (tmp_path / "log").read_text()
    assert process.returncode == 130, errors
    assert "the same command continues" in errors
    assert "Traceback" not in errors


def test_cache_shows_and_prunes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HELIA_CACHE_DIR", str(tmp_path))
    OperatorMemory.shared().write("ab" * 32, 17)
    shown = json.loads(CliRunner().invoke(app, ["cache", "--json"]).stdout)
    assert {report["name"]: report["entries"] for report in shown} == {
        "objects": 0,
        "measurements": 0,
        "operators": 1,
    }
    text = CliRunner().invoke(app, ["cache", "--prune", "--limit-mb", "0"]).stdout
    assert "operators" in text
    assert OperatorMemory.shared().read("ab" * 32) is None
    pruned = json.loads(CliRunner().invoke(app, ["cache", "--json"]).stdout)
    assert [report["entries"] for report in pruned] == [0, 0, 0]
