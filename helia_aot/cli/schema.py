# SPDX-License-Identifier: Apache-2.0
"""The command ``schema``: JSON schemas to standard output or to files."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from helia_aot.errors import ConfigError, EmitError, Problem
from helia_aot.schemas import SCHEMAS, schema_file_name, schema_text

ALL = "all"


def export_schema(name: str, out: Path | None) -> None:
    """Writes a schema.

    Args:
        name: A name of :data:`helia_aot.schemas.SCHEMAS`, or ``all`` for a file of each.
        out: The file, or with ``all`` the folder; None for standard output.

    Raises:
        ConfigError: There is no such schema, or ``all`` has no folder.
        EmitError: A file cannot be written.
    """
    if name == ALL:
        if out is None:
            raise ConfigError(
                "Several schemas need a folder",
                [Problem("--out", "missing", "give a folder, e.g. --out docs/schemas")],
            )
        for each in SCHEMAS:
            _write(out / schema_file_name(each), schema_text(each))
        return
    if name not in SCHEMAS:
        close = difflib.get_close_matches(name, SCHEMAS, n=1)
        known = ", ".join((*SCHEMAS, ALL))
        advice = f"did you mean {close[0]}?" if close else f"use one of {known}"
        raise ConfigError("There is no such schema", [Problem(name, "unknown schema", advice)])
    text = schema_text(name)
    if out is None:
        sys.stdout.write(text)
    else:
        _write(out, text)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise EmitError(
            "The schema cannot be written",
            [Problem(str(path), error.strerror or str(error))],
            next_step="give another path with --out",
        ) from error
