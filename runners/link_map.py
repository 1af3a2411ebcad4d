# SPDX-License-Identifier: Apache-2.0
"""What each source file takes of a linked image, read from the map that the linker writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

_START = "Linker script and memory map"
# An output section begins in column 0, an input section after one space; a long name has a line of its own.
_OUTPUT = re.compile(r"^\.(\S+)")
_INPUT = re.compile(r"^ (?:\.\S+|COMMON)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S.*)$")
_FILL = re.compile(r"^ \*fill\*\s+0x[0-9a-f]+\s+0x([0-9a-f]+)")


def read_link_map(
    path: Path, sections: Collection[str], sources: Mapping[str, str]
) -> dict[str, int]:
    """Gives the bytes of each source file in some sections of an image.

    Bytes that fill up to an alignment count for the file before them, whose size makes them needed.

    Args:
        path: The linker's map of the image.
        sections: Output sections that count, each with its dot.
        sources: Name to report by object path, as the linker was given it; a member of an archive is
            reported under its own name without suffix.

    Returns:
        Bytes by name, sorted by name; they add up to the size of the sections.
    """
    found: dict[str, int] = {}
    last = ""
    for section, size_bytes, name in _rows(path.read_text("utf-8")):
        if section not in sections or not size_bytes:
            continue
        if name is not None:
            last = sources.get(name) or _member(name)
        found[last] = found.get(last, 0) + size_bytes
    return dict(sorted(found.items()))


def _rows(text: str) -> Iterator[tuple[str, int, str | None]]:
    """Gives output section, bytes and object of every part; no object for bytes that fill."""
    lines = text.partition(_START)[2].splitlines()
    section = ""
    for number, line in enumerate(lines):
        if output := _OUTPUT.match(line):
            section = f".{output[1]}"
        elif fill := _FILL.match(line):
            yield section, int(fill[1], 16), None
        else:
            whole = line
            if line.startswith(" .") and len(line.split()) == 1 and number + 1 < len(lines):
                whole = f"{line} {lines[number + 1].strip()}"
            if part := _INPUT.match(whole):
                yield section, int(part[1], 16), part[2]


def _member(name: str) -> str:
    """Gives ``arm_add_s8`` of ``helia_kernels.a(arm_add_s8.o)``, and the stem of any other path."""
    inner = name[name.rfind("(") + 1 : -1] if name.endswith(")") else name
    return PurePosixPath(inner).name.partition(".")[0]
