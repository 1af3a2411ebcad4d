# SPDX-License-Identifier: Apache-2.0
"""The published script that reads a residency record, run unchanged on ours with the default names."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY
from module_program import STAGED

from helia_aot.api import convert, write_output
from helia_aot.config.convert import ConvertConfig

SCRIPT = """
import json
from collections import defaultdict
from pathlib import Path

report = json.loads(Path("out/helia_aot_nn/aot_residency.json").read_text())
if report["schema_version"] != 5:
    raise ValueError("Review the residency schema before reading this report")

used = defaultdict(int)
for arenas in report["arenas"].values():
    for arena in arenas:
        used[arena["memory"]] += arena["used"]

# Example application budget, not a target's total physical capacity.
budgets = {"dtcm": 64 * 1024}
for memory, budget in budgets.items():
    if used[memory] > budget:
        raise ValueError(f"{memory}: {used[memory]} bytes exceeds {budget}")
print(dict(used))
"""


def run_script(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_script_reads_what_the_command_line_wrote(digits_model: Path, tmp_path: Path) -> None:
    config = tmp_path / "convert.yaml"
    config.write_text(f"model: {{path: {digits_model}}}\n")
    command = [sys.executable, "-m", "helia_aot", "convert", "--path", "convert.yaml"]
    command += ["--module.path", "./out", "--memory.dump-residency-json"]
    environment = {"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    done = run_script(tmp_path)
    assert done.stderr == ""
    assert done.stdout.strip() == "{'dtcm': 26136}"


@pytest.mark.parametrize(
    ("memory", "used"),
    [
        ({"tensors": STAGED}, {"dtcm": 13848 + 12288}),
        ({"allocate_arenas": False}, {"dtcm": 13848 + 12288}),
        (
            {"tensors": [{"type": "constant", "attributes": {"memory": "MRAM"}}]},
            {"dtcm": 12288, "mram": 13848},
        ),
    ],
)
def test_the_script_reads_other_placements(
    memory: dict[str, object],
    used: dict[str, int],
    digits_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    config = {"model": {"path": digits_model}, "memory": {"dump_residency_json": True, **memory}}
    write_output(convert(ConvertConfig.model_validate(config)))
    assert ast.literal_eval(run_script(tmp_path).stdout) == used


def test_the_script_finds_a_budget_exceeded(
    models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = models_dir / "vww_96_int8.tflite"
    config = {"model": {"path": path}, "memory": {"dump_residency_json": True}}
    write_output(convert(ConvertConfig.model_validate(config)))
    assert "exceeds 65536" in run_script(tmp_path).stderr
