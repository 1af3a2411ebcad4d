# SPDX-License-Identifier: Apache-2.0
"""Runs the reference campaigns, verifies their plans, and writes what they found.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/campaigns.py [NAME ...] [--workers N]

Each ``results/reference/campaigns/<name>.yaml`` is a campaign whose model is one of the development models, by file name; the
campaign runs where these lie beside the repository. Plan, evidence and report are kept in ``<name>/`` beside it, the ledger
is not. ``README.md`` there is the table. Cycles are modelled, not measured on silicon.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY)]

from results.evidence import read_evidence  # noqa: E402

MODELS = REPOSITORY.parent / "shared" / "models"
FOLDER = REPOSITORY / "results" / "reference" / "campaigns"
HEAD = """# Reference campaigns

Made by `tests/benchmarks/campaigns.py`: each `<name>.yaml` here, run where the model lies, with an empty cache. Cycles are modelled
(timing model, not silicon). The gap is how far the plan may be from the best that the alternatives can do within the limits, as
far as the builds tell. A gain below 1 means that `auto` breaks a limit, and the written plan does not.

`helia-search verify results/reference/campaigns/<name>/aot_plan.json --model <model>` builds and measures a plan again.

| campaign | limits | auto | written | gain over auto | gap | plans in the space | builds | minutes | changes |
|---|---|---:|---:|---:|---:|---:|---:|---:|---|
"""


def run(path: Path, workers: str) -> None:
    """Runs one campaign with an empty cache and keeps its results."""
    name = path.stem
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        environment = {
            **os.environ,
            "HELIA_CACHE_DIR": str(Path(folder) / "cache"),
            "PYTHONPATH": str(REPOSITORY),
        }
        command = [sys.executable, "-m", "optimizer.cli"]
        started = time.monotonic()
        subprocess.run(
            [*command, "run", str(path), "--out", str(out), "--workers", workers, "--json"],
            cwd=MODELS,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        minutes = (time.monotonic() - started) / 60
        kept = FOLDER / name
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        for file in ("aot_plan.json", "evidence.json", "report.html"):
            shutil.copy(out / file, kept / file)
        (kept / "minutes.txt").write_text(f"{minutes:.1f}\n")
        subprocess.run(
            [*command, "verify", str(kept / "aot_plan.json"), "--json"],
            cwd=MODELS,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )


def row(path: Path) -> str:
    """One line of the table, from what a campaign left."""
    folder = FOLDER / path.stem
    evidence = read_evidence(folder)
    before = evidence.baseline.measurement.best_cycles
    after = evidence.winner.measurement.best_cycles
    limits = ", ".join(f"{item.name} {item.limit:,.6g}" for item in evidence.budget)
    knobs = [
        item.knob
        for item in evidence.space.dimensions
        if not evidence.is_auto
        and evidence.winner.choices.get(item.name, item.baseline) != item.baseline
    ]
    changes = ", ".join(f"{knobs.count(knob)} {knob}" for knob in sorted(set(knobs))) or "none"
    gap = "unknown" if evidence.optimality is None else f"{evidence.optimality.gap:.2%}"
    minutes = (folder / "minutes.txt").read_text().strip()
    return (
        f"| {path.stem} | {limits} | {before:,} | {after:,} | {before / after:.3f} | {gap} | "
        f"{evidence.search.space_size:.3g} | {evidence.search.plans_measured} | {minutes} | {changes} |"
    )


def main() -> None:
    """Runs what is asked for and writes the table of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--workers", default="auto")
    arguments = parser.parse_args()
    paths = sorted(FOLDER.glob("*.yaml"))
    for path in paths:
        if arguments.names and path.stem not in arguments.names:
            continue
        model = yaml.safe_load(path.read_text("utf-8"))["convert"]["model"]["path"]
        if not (MODELS / model).exists():
            raise SystemExit(f"{path.name}: the development model {model} is not here")
        print(json.dumps({"campaign": path.stem}), flush=True)  # noqa: T201 - progress
        run(path, arguments.workers)
    rows = [row(path) for path in paths if (FOLDER / path.stem / "evidence.json").exists()]
    (FOLDER / "README.md").write_text(HEAD + "\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main()
