# SPDX-License-Identifier: Apache-2.0
"""Looking after boards: what state they are in, whether they answer, setting aside and bringing back."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from helia_aot.config.base import StrictModel
from runners.device.board_state import BoardBusy, BoardState
from runners.device.boards import Board
from runners.device.ladder import climb
from runners.errors import RunnerError


class BoardStatus(StrictModel):
    """What is known about a board without touching it.

    Attributes:
        name: Its name in the board file.
        probe: Whole unique id of its probe.
        platform: Its platform.
        in_use_by: Who holds it; None if nobody does.
        quarantine: Why it is set aside; None if it is not.
        flash_writes: How often an image was written to its flash.
    """

    name: str
    probe: str
    platform: str
    in_use_by: str | None
    quarantine: str | None
    flash_writes: int


class BoardCheck(StrictModel):
    """What connecting to a board found.

    Attributes:
        name: Its name in the board file.
        is_ok: Whether it is the board that the file describes.
        detail: What answers, or what is wrong.
        attempts: The attempts to connect.
    """

    name: str
    is_ok: bool
    detail: str
    attempts: list[dict[str, JsonValue]]


def board_status(name: str, board: Board) -> BoardStatus:
    """Gives what is known about a board."""
    state = BoardState(board.probe_id)
    holder, quarantine = state.holder(), state.quarantine()
    return BoardStatus(
        name=name,
        probe=board.probe,
        platform=board.platform,
        in_use_by=None if holder is None else str(holder),
        quarantine=None if quarantine is None else quarantine.reason,
        flash_writes=state.flash_writes(),
    )


def check_board(name: str, board: Board) -> BoardCheck:
    """Connects to a board and compares it with the board file.

    A good check brings a board back that was set aside; one that fails sets it aside.
    """
    state = BoardState(board.probe_id)
    try:
        with (
            state.locked("check", wait_s=board.lock_wait_s) as lock,
            tempfile.TemporaryDirectory(prefix="helia-search-") as folder,
        ):
            found = climb(board, None, Path(folder), lock=lock, state=state)
    except BoardBusy as error:
        return BoardCheck(name=name, is_ok=False, detail=str(error), attempts=[])
    attempts = list(found.attempts)
    if found.report.outcome != "identified":
        detail = f"{found.report.outcome}: {found.report.reason}"
        return BoardCheck(name=name, is_ok=False, detail=detail, attempts=attempts)
    state.release()
    facts = found.report.facts
    detail = f"{facts['core']} (DPIDR {facts['dpidr']}, CPUID {facts['cpuid']}) on {facts['probe']}"
    return BoardCheck(name=name, is_ok=True, detail=detail, attempts=attempts)


def chosen_boards(boards: Mapping[str, Board], names: list[str]) -> dict[str, Board]:
    """Gives the named boards; all of them where none is named.

    Raises:
        RunnerError: If a name is not in the board file.
    """
    unknown = [name for name in names if name not in boards]
    if unknown:
        raise RunnerError(
            f"there is no board named {', '.join(unknown)}",
            next_step=f"use one of: {', '.join(boards)}",
        )
    return {name: boards[name] for name in names or boards}
