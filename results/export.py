# SPDX-License-Identifier: Apache-2.0
"""The evaluations of a campaign in forms that other tools read: T4 (JSON) and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, Final, Literal

from results.records import Entry, TrialRecord
from runners.measurement import Measurement

ExportFormat = Literal["t4", "csv"]

T4_VERSION: Final = "1.0.0"
"""Version of the open autotuning results schema that :func:`to_t4` follows."""

_SIZES: Final = ("code_bytes", "flash_bytes", "ram_bytes", "stack_bytes")
_COLUMNS: Final = (
    "role",
    "ask",
    "plan_key",
    "status",
    "stage",
    "reason",
    "cycles",
    "board",
    "baseline_ratio",
    *_SIZES,
    "seconds",
    "cache",
    "attempts",
)


def to_t4(entries: Sequence[Entry]) -> str:
    """Gives all evaluations of plans of the space in the T4 results form, with a trailing newline.

    Times are seconds. ``runtimes`` is empty where a measurement came from the cache. A ledger keeps no
    time of day, so the optional timestamps are left out.
    """
    results = [_t4_result(item) for item in _trials(entries) if item.in_space]
    return json.dumps({"schema_version": T4_VERSION, "results": results}, indent=1) + "\n"


def _t4_result(record: TrialRecord) -> dict[str, Any]:
    measurement = record.measurement
    seconds = measurement.stage_seconds
    times: dict[str, Any] = {
        "compilation_time": seconds.get("convert", 0.0) + seconds.get("build", 0.0),
        "runtimes": [seconds["run"]] if "run" in seconds else [],
        "framework": max(0.0, record.seconds - sum(seconds.values())),
    }
    values = {"cycles": (_cycles(measurement), "cycles")}
    values |= {name: (getattr(measurement, name), "bytes") for name in _SIZES}
    return {
        "configuration": record.choices,
        "objectives": ["cycles"],
        "times": times,
        "invalidity": _invalidity(measurement),
        "correctness": 1.0 if measurement.status == "ok" else 0.0,
        "measurements": [
            {"name": name, "value": value, "unit": unit}
            for name, (value, unit) in values.items()
            if value is not None
        ],
    }


def _invalidity(measurement: Measurement) -> str:
    if measurement.status == "ok":
        return "correct"
    if measurement.stage == "compare":
        return "correctness"
    if measurement.stage == "convert" or "overflow_bytes" in measurement.evidence:
        return "constraints"
    return "compile" if measurement.stage in ("build", "link") else "runtime"


def to_csv(entries: Sequence[Entry]) -> str:
    """Gives one line for each evaluation, with a column for each dimension of the space."""
    trials = _trials(entries)
    dimensions = sorted({name for record in trials for name in record.choices})
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*_COLUMNS, *dimensions])
    for record in trials:
        row = {
            **record.model_dump(
                include={"role", "ask", "plan_key", "seconds", "cache", "attempts"}
            ),
            **record.measurement.model_dump(
                include={"status", "stage", "reason", "baseline_ratio", *_SIZES}
            ),
            "cycles": _cycles(record.measurement),
            "board": record.measurement.board,
        }
        values = [*map(row.get, _COLUMNS), *map(record.choices.get, dimensions)]
        writer.writerow(["" if value is None else value for value in values])
    return stream.getvalue()


def _trials(entries: Sequence[Entry]) -> list[TrialRecord]:
    return [entry for entry in entries if isinstance(entry, TrialRecord)]


def _cycles(measurement: Measurement) -> int | None:
    return measurement.best_cycles if measurement.status == "ok" else None
