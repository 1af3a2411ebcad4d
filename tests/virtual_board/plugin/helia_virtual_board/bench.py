# SPDX-License-Identifier: Apache-2.0
"""The bench file: which virtual boards there are, and what is wrong with each.

``HELIA_VIRTUAL_BOARDS`` is the path of a JSON file ``{"<id>": {"machine": ..., "icount_shift": ..., "faults": {...}}}``.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VARIABLE = "HELIA_VIRTUAL_BOARDS"


@dataclass(frozen=True)
class Faults:
    """What a board does wrong.

    Attributes:
        sessions: Which sessions of the board's life it does it in: ``all``, ``odd`` or ``first``.
        error: Exception of pyOCD that transfers raise.
        error_at: The transfer of a session that raises it, from 1; 0 for none.
        error_count: How many transfers raise it from there on.
        hangs_at: The transfer that never returns; 0 for none.
        is_lost_running: The probe vanishes as soon as a loaded image runs.
        is_busy: Opening the probe fails as if another process had it.
        max_frequency_hz: Nothing answers at a higher SWD clock; None for any.
        needs_reset_line: Nothing answers unless the reset line is pulled while connecting.
        needs_port_reset: Nothing answers before a reset through the debug port.
        needs_power: Nothing answers before this file is there, which a power command makes; None for power.
        corrupts: Address of a byte that changes when the core starts.
        garbage: First address and size of memory that reads as garbage.
    """

    sessions: str = "all"
    error: str = "TransferError"
    error_at: int = 0
    error_count: int = 1
    hangs_at: int = 0
    is_lost_running: bool = False
    is_busy: bool = False
    max_frequency_hz: int | None = None
    needs_reset_line: bool = False
    needs_port_reset: bool = False
    needs_power: str | None = None
    corrupts: int | None = None
    garbage: tuple[int, int] | None = None

    def in_session(self, number: int) -> Faults:
        """Gives what goes wrong in the n-th session, from 1."""
        active = {"all": True, "odd": number % 2 == 1, "first": number == 1}[self.sessions]
        return self if active else Faults()


@dataclass(frozen=True)
class VirtualBoard:
    """One entry of the bench file."""

    machine: str
    icount_shift: int | None = None
    faults: Faults = field(default_factory=Faults)


def virtual_boards() -> dict[str, VirtualBoard]:
    """Gives the boards; none unless the environment names a file."""
    path = os.environ.get(VARIABLE)
    if not path:
        return {}
    entries: dict[str, dict[str, Any]] = json.loads(Path(path).read_text("utf-8"))
    return {
        name: VirtualBoard(**{**entry, "faults": Faults(**entry.get("faults", {}))})
        for name, entry in entries.items()
    }


def next_session(name: str) -> int:
    """Counts the sessions of a board's life, beside the bench file; gives this one's number from 1."""
    path = Path(os.environ[VARIABLE]).with_name(f"{name}.sessions")
    with path.open("a+", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        number = len(stream.read()) + 1
        stream.write(".")
    return number
