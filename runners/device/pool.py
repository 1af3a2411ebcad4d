# SPDX-License-Identifier: Apache-2.0
"""Boards that count the same, and which of them a measurement takes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from runners.device.board_state import BoardBusy, BoardState
from runners.device.boards import Board
from runners.failure import CandidateFailure

_POLL_S = 0.05


@dataclass(frozen=True)
class TakenBoard:
    """A board that is held.

    Attributes:
        name: Its name in the board file.
        board: The board.
        lock: File descriptor of its lock.
    """

    name: str
    board: Board
    lock: int


class BoardPool:
    """The boards of one runner.

    Runners share a pool: the first measurement makes a board that no other runner has its home, and
    this runner prefers it from then on. So each worker of a campaign stays on a board of its own, and
    what one worker measured another one confirms on another board. A home that is in use or set aside
    is no obstacle: any other board will do.
    """

    def __init__(self, boards: Mapping[str, Board]) -> None:
        """Makes a pool; no board is touched.

        Args:
            boards: The boards by name, at least one.
        """
        self._boards = dict(boards)
        self._home: str | None = None
        self._home_claim: int | None = None

    def __len__(self) -> int:
        """Gives the number of boards."""
        return len(self._boards)

    def close(self) -> None:
        """Gives the home up; the end of the process does so as well."""
        if self._home_claim is not None:
            os.close(self._home_claim)
            self._home = self._home_claim = None

    def __del__(self) -> None:
        """Gives the home up."""
        self.close()

    @contextmanager
    def take(self, what: str) -> Iterator[TakenBoard]:
        """Holds a board that is fit: the home, else the first that is free.

        Args:
            what: For what; others see it.

        Raises:
            BoardBusy: All fit boards stayed in use for the longest of their ``lock_wait_s``.
            CandidateFailure: ``rig_bad``, if all are set aside.
        """
        end = time.monotonic() + max(board.lock_wait_s for board in self._boards.values())
        with ExitStack() as stack:
            while True:
                taken = self._try_each(what, stack)
                if isinstance(taken, TakenBoard):
                    break
                if time.monotonic() > end:
                    raise taken
                time.sleep(_POLL_S)
            yield taken

    def _try_each(self, what: str, stack: ExitStack) -> TakenBoard | BoardBusy:
        busy = BoardBusy("no board is free")
        for name in self._preferred():
            board = self._boards[name]
            try:
                lock = stack.enter_context(BoardState(board.probe_id).locked(what, wait_s=0))
            except BoardBusy as error:
                busy = error
                continue
            return TakenBoard(name, board, lock)
        return busy

    def _preferred(self) -> list[str]:
        notes = {
            name: BoardState(board.probe_id).quarantine() for name, board in self._boards.items()
        }
        fit = [name for name, note in notes.items() if note is None]
        if not fit:
            text = "; ".join(f"{name}: {note.reason}" for name, note in notes.items() if note)
            reason = f"all boards are set aside: {text}"
            raise CandidateFailure("rig_bad", "run", reason, {"outcome": "quarantined"})
        self._settle(fit)
        return sorted(fit, key=lambda name: name != self._home)

    def _settle(self, fit: list[str]) -> None:
        for name in fit if self._home is None else ():
            claim = BoardState(self._boards[name].probe_id).claim_home()
            if claim is not None:
                self._home, self._home_claim = name, claim
                return
