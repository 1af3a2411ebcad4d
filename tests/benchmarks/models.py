# SPDX-License-Identifier: Apache-2.0
"""Modelled cycles of whole models: ``auto`` against all-``generic``, with outputs checked in the same runs.

Run it from the repository's root::

    .venv/bin/python tests/benchmarks/models.py [MODEL.tflite ...] [--platform NAME]
    .venv/bin/python tests/benchmarks/models.py --coverage results/reference/models

Without models it takes the example model and, where they lie beside the repository, the development models. Cycles come
from the simulator's timing model and are no silicon measurements; figures published for silicon stand beside them for
the four MLPerf Tiny models.

``--coverage`` takes every file of the development models instead, says which are converted and how far their outputs
are from the recorded ones, and writes the table to ``PATH.md`` and ``PATH.json``; it ends with 1 if an output is
further off than its tolerance.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from golden import (  # noqa: E402
    DYNAMIC_RANGE,
    FLOAT_TOLERANCE,
    INT4_WEIGHTS,
    SUPPORTED,
    float_error,
    golden_samples,
)

from helia_aot.api import Conversion, convert  # noqa: E402
from helia_aot.config.convert import ConvertConfig  # noqa: E402
from helia_aot.errors import HeliaError  # noqa: E402
from runners.base import MeasureSettings, Runner  # noqa: E402
from runners.measure import random_stimulus  # noqa: E402
from runners.measurement import Stimulus  # noqa: E402
from runners.registry import create_runner  # noqa: E402

MODELS = REPOSITORY.parent / "shared" / "models"
EXAMPLE = REPOSITORY / "examples" / "digits" / "digits_int8.tflite"
# Published for an Apollo510 board at 96 MHz with everything in TCM: 18.535, 65.470, 45.862 and 0.663 ms.
SILICON_CYCLES = {
    "kws_ref_model": 1_779_360,
    "vww_96_int8": 6_285_120,
    "pretrainedResnet_quant": 4_402_752,
    "ad01_int8": 63_648,
}
ONCE: Final = MeasureSettings(warmups=0, repeats=1, per_operator=False)
"""The first run after initialisation: what recorded outputs of models with a state belong to."""
WARM: Final = MeasureSettings(per_operator=False)
MOST_MACS: Final = 5_000_000
"""Models with more are compared on one sample, others on three."""


def measure(path: Path, platform: str, runner: Runner, kernel: str | None) -> tuple[int, int, str]:
    """Gives modelled cycles, MACs, and how the outputs compare with the golden ones."""
    config = ConvertConfig.model_validate(
        {
            "model": {"path": path},
            "platform": {"name": platform},
            "optimization": {"kernel": kernel},
        }
    )
    conversion = convert(config)
    module = conversion.module
    golden = path.parent / f"{path.stem}.golden.npz"
    counts = len(module.inputs), len(module.outputs)
    samples = golden_samples(path.parent, path.stem, *counts) if golden.exists() else []
    stimuli = [Stimulus(tuple(inputs)) for inputs, _ in samples] or [random_stimulus(module.inputs)]
    cycles, equal = 0, 0
    for index, stimulus in enumerate(stimuli):
        result = runner.measure(conversion, stimulus, MeasureSettings())
        if result.measurement.status != "ok":
            raise SystemExit(f"{path.name}: {result.measurement.reason}")
        cycles = cycles or result.measurement.best_cycles or 0
        if samples:
            pairs = zip(result.outputs, samples[index][1], strict=True)
            equal += all(np.array_equal(got, wanted) for got, wanted in pairs)
    verdict = f"{equal} of {len(samples)}" if samples else "-"
    return cycles, conversion.report.total_macs, verdict


def coverage_row(path: Path, platform: str) -> dict[str, Any]:
    """Gives what becomes of one model: converted with figures, or refused with every reason."""
    row: dict[str, Any] = {"model": path.stem, "micro_arena_bytes": micro_arenas().get(path.stem)}
    config = {"model": {"path": path}, "platform": {"name": platform}}
    try:
        conversion = convert(ConvertConfig.model_validate(config))
    except HeliaError as error:
        return {**row, "result": "refused", "reasons": list(reasons(error))}
    arenas = conversion.memory_plan.arenas
    row |= {
        "result": "converted",
        "macs": conversion.report.total_macs,
        "arena_bytes": sum(a.used_bytes for a in arenas if a.role != "constant"),
    }
    return row | compared(path, conversion)


def reasons(error: HeliaError) -> Iterator[str]:
    """Gives the reasons of an error, each once, without the places of single operators."""
    found = (
        f"{re.sub(r'operator [0-9]+ ', '', problem.where)}: {problem.reason}"
        for problem in error.problems
    )
    yield from dict.fromkeys(found)


def compared(path: Path, conversion: Conversion) -> dict[str, Any]:
    """Runs a module on the recorded samples and gives cycles, sizes and the largest difference."""
    runner = create_runner("simulator", conversion.platform)
    module = conversion.module
    golden = path.parent / f"{path.stem}.golden.npz"
    samples = []
    if golden.exists():
        samples = golden_samples(path.parent, path.stem, len(module.inputs), len(module.outputs))
        samples = samples[: 1 if conversion.report.total_macs > MOST_MACS else 3]
    difference = 0.0
    for inputs, wanted in samples:
        result = runner.measure(conversion, Stimulus(tuple(inputs)), ONCE)
        if result.measurement.status != "ok":
            return {"result": "fails", "reasons": [result.measurement.reason]}
        pairs = zip(result.outputs, wanted, strict=True)
        difference = max(difference, *(distance(*pair) for pair in pairs))
    stimulus = Stimulus(tuple(samples[0][0])) if samples else random_stimulus(module.inputs)
    warm = runner.measure(conversion, stimulus, WARM).measurement
    return {
        "cycles": warm.best_cycles,
        "flash_bytes": warm.flash_bytes,
        "samples": len(samples),
        "difference": difference if samples else None,
        "tolerance": tolerance(path.stem, [output.dtype for output in module.outputs]),
    }


def distance(got: np.ndarray, wanted: np.ndarray) -> float:
    """Gives the largest difference: integers in steps, floats of the largest magnitude that is wanted."""
    if got.dtype.kind == "f":
        return float_error(got, wanted)
    return float(np.abs(got.astype(np.int64) - wanted.astype(np.int64)).max())


def tolerance(name: str, dtypes: list[str]) -> float:
    """Gives how far a model's outputs may be off: 0 unless it computes in floats or its record is known to be off."""
    if name in INT4_WEIGHTS:
        return 1.0
    if name in SUPPORTED or not any(dtype.startswith("float") for dtype in dtypes):
        return 0.0
    return DYNAMIC_RANGE.get(name, FLOAT_TOLERANCE)


def micro_arenas() -> dict[str, int]:
    """Gives the arena that TFLite Micro needs for a model, in bytes, as the models' README lists it."""
    text = (MODELS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \|.*\| ([0-9]+) \([0-9]+\) \|$", text, re.MULTILINE)
    return {name: int(size_bytes) for name, size_bytes in rows}


def coverage_text(rows: list[dict[str, Any]], platform: str, command: str) -> str:
    """Gives the table in Markdown."""
    converted = sum(row["result"] == "converted" for row in rows)
    lines = [
        "# Development models",
        "",
        f"{converted} of {len(rows)} models are converted for {platform}. Made by `{command}`.",
        "",
        "Difference: the largest over all outputs, samples and elements, from TFLite Micro's outputs where they are",
        "recorded, else from LiteRT's reference kernels; integers in steps, floats as a part of the largest magnitude.",
        "Cycles are modelled (timing model, not silicon), of a run with warm caches. The arena is scratch and persistent",
        "tensors; TFLite Micro's holds its bookkeeping too and was recorded on a 64-bit machine.",
        "",
        "| model | result | difference | tolerance | samples | modelled cycles | arena bytes | flash bytes | TFLite Micro arena bytes |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def cells(row: dict[str, Any]) -> list[str]:
    """Gives the cells of one row."""
    arena = count(row["micro_arena_bytes"])
    if row["result"] != "converted":
        return [row["model"], f"{row['result']}: {'; '.join(row['reasons'])}", *["-"] * 6, arena]
    return [
        row["model"],
        row["result"],
        "no record" if row["difference"] is None else f"{row['difference']:.2g}",
        f"{row['tolerance']:g}",
        str(row["samples"]),
        *(count(row[key]) for key in ("cycles", "arena_bytes", "flash_bytes")),
        arena,
    ]


def count(number: int | None) -> str:
    """Gives a number with separators, or a dash."""
    return "-" if number is None else f"{number:,}"


def write_coverage(path: Path, platform: str) -> int:
    """Writes the table of all development models; gives the exit code."""
    rows, console = [], Console(soft_wrap=True, markup=False, highlight=False)
    for model in sorted(MODELS.glob("*.tflite")):
        rows.append(coverage_row(model, platform))
        console.print(" | ".join(cells(rows[-1])))
    command = (
        f"tests/benchmarks/models.py --coverage results/reference/models --platform {platform}"
    )
    path.with_suffix(".json").write_text(
        json.dumps({"platform": platform, "command": command, "models": rows}, indent=1) + "\n"
    )
    path.with_suffix(".md").write_text(coverage_text(rows, platform, command))
    off = [
        row["model"]
        for row in rows
        if row["result"] == "fails" or (row.get("difference") or 0) > row.get("tolerance", 0)
    ]
    console.print(f"outside their tolerance: {', '.join(off)}" if off else "all within tolerance")
    return 1 if off else 0


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--platform", default="apollo510_evb")
    parser.add_argument("--coverage", type=Path, metavar="PATH")
    arguments = parser.parse_args()
    if arguments.coverage:
        raise SystemExit(write_coverage(arguments.coverage, arguments.platform))
    paths = arguments.models or [EXAMPLE, *(MODELS / f"{name}.tflite" for name in SUPPORTED)]
    probe = ConvertConfig.model_validate(
        {"model": {"path": EXAMPLE}, "platform": {"name": arguments.platform}}
    )
    runner = create_runner("simulator", convert(probe).platform)
    table = Table(title=f"Modelled cycles on {arguments.platform} (timing model, not silicon)")
    for name in ("model", "MACs", "auto", "generic", "generic/auto", "MACs/cycle", "golden outputs",
                 "published silicon", "modelled/published"):  # fmt: skip
        table.add_column(name, justify="left" if name == "model" else "right")
    for path in paths:
        if not path.exists():
            continue
        auto, macs, verdict = measure(path, arguments.platform, runner, None)
        generic, _, generic_verdict = measure(path, arguments.platform, runner, "generic")
        silicon = SILICON_CYCLES.get(path.stem) if arguments.platform == "apollo510_evb" else None
        table.add_row(
            path.stem,
            f"{macs:,}",
            f"{auto:,}",
            f"{generic:,}",
            f"{generic / auto:.2f}",
            f"{macs / auto:.2f}",
            verdict if verdict == generic_verdict else f"{verdict} / {generic_verdict}",
            f"{silicon:,}" if silicon else "-",
            f"{auto / silicon:.2f}" if silicon else "-",
        )
    console = Console(width=150)
    console.print(table)


if __name__ == "__main__":
    main()
