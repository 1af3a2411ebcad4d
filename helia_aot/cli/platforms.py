# SPDX-License-Identifier: Apache-2.0
"""What ``platforms list`` and ``platforms show`` print."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table
from rich.text import Text

from helia_aot.cli.messages import print_all
from helia_aot.platforms.registry import load_platform, platform_names
from helia_aot.platforms.schema import Platform


def print_platforms(*, as_json: bool) -> None:
    """Prints the name, core and memories of every target."""
    platforms = [load_platform(name) for name in platform_names()]
    if as_json:
        _print_json([_as_json(platform) for platform in platforms])
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("Name", "Core", "Capabilities", "Memories"):
        table.add_column(heading)
    for platform in platforms:
        memories = ", ".join(
            f"{name} {_size(size)}" for name, size in platform.memory_sizes.items()
        )
        table.add_row(platform.name, platform.core, _capabilities(platform), memories)
    Console(highlight=False).print(table)


def print_platform(name: str, *, as_json: bool) -> None:
    """Prints everything known about one target.

    Raises:
        ConfigError: The name is unknown.
    """
    platform = load_platform(name)
    if as_json:
        _print_json(_as_json(platform))
        return
    facts = Table(box=None, show_header=False, pad_edge=False)
    facts.add_row("Core", platform.core)
    facts.add_row("Clocks", ", ".join(f"{mhz} MHz" for mhz in platform.speeds_mhz))
    facts.add_row("Capabilities", _capabilities(platform))
    facts.add_row("Memory order", ", ".join(platform.preferred_memory_order))
    facts.add_row("Alignment", f"{platform.min_alignment} bytes")
    if platform.simulator is not None:
        facts.add_row("Simulator", platform.simulator.machine)
    print_all(
        Console(highlight=False),
        [Text(platform.name, "bold"), Text(platform.description), facts, _memories(platform)],
    )


def _memories(platform: Platform) -> Table:
    table = Table(box=None, pad_edge=False, title_justify="left")
    table.add_column("Memory")
    table.add_column("Bytes", justify="right")
    for heading in ("Size", "TCM", "Executable", "Volatile"):
        table.add_column(heading)
    for name, memory in platform.memories.items():
        marks = [
            "yes" if mark else "no" for mark in (memory.tcm, memory.executable, memory.volatile)
        ]
        table.add_row(name, f"{memory.size_bytes}", _size(memory.size_bytes), *marks)
    return table


def _capabilities(platform: Platform) -> str:
    names = [*platform.capabilities, *(["fp16"] if platform.fp16 else [])]
    return ", ".join(names) or "-"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1024:g} KiB"


def _as_json(platform: Platform) -> dict[str, object]:
    return platform.model_dump(mode="json")


def _print_json(value: object) -> None:
    # Not through rich's own JSON printer: a pipe must get the same bytes at every width.
    Console(highlight=False, soft_wrap=True, markup=False).print(json.dumps(value, indent=2))
