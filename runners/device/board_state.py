# SPDX-License-Identifier: Apache-2.0
"""What is known about boards across processes: who uses one, which are set aside, how often flash was written.

Everything is in one directory of the host, shared by all its users: ``$HELIA_BOARDS_DIR``, else
``helia-search-boards`` in the directory of temporary files. A board's key is the whole id of its probe.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runners.errors import RunnerError

_POLL_S = 0.05
_SHARED_DIRECTORY = 0o777
"""Not sticky: any user of the boards may set one aside, and bring back what another one has set aside."""
_SHARED_FILE = 0o666
_NOT_IN_NAMES = re.compile(r"[^\w.-]")


class BoardBusy(Exception):
    """Somebody else holds the board; the text says who."""


@dataclass(frozen=True)
class Holder:
    """Who uses a board.

    Attributes:
        pid: The process.
        job: What it does.
        started: When it took the board, UTC, ISO 8601.
    """

    pid: int
    job: str
    started: str

    def __str__(self) -> str:
        """Gives one phrase."""
        return f"process {self.pid} ({self.job}) since {self.started}"


@dataclass(frozen=True)
class Quarantine:
    """Why a board is set aside.

    Attributes:
        reason: What it failed at.
        since: When, UTC, ISO 8601.
    """

    reason: str
    since: str


class BoardState:
    """Lock, quarantine and flash count of one board; safe for any number of processes."""

    def __init__(self, probe: str) -> None:
        """Makes the state of a board.

        Args:
            probe: The whole unique id of its probe, without a kind before it.
        """
        self._probe = probe
        # The readable part may be the same for two ids, the digest is not.
        digest = hashlib.sha256(probe.encode()).hexdigest()[:12]
        self._stem = f"{_NOT_IN_NAMES.sub('_', probe)[:48]}-{digest}"

    @contextmanager
    def locked(self, job: str, *, wait_s: float) -> Iterator[int]:
        """Holds the board for a block; the system frees it when its last holder ends.

        Args:
            job: What for; others see it.
            wait_s: Seconds to wait for another holder; 0 tries once.

        Returns:
            The lock's file descriptor: a child that inherits it holds the lock as well.

        Raises:
            BoardBusy: Somebody else still has it.
            RunnerError: The lock file cannot be opened.
        """
        descriptor = self._open("lock")
        try:
            self._wait_for_lock(descriptor, wait_s)
            holder = {"pid": os.getpid(), "job": job, "started": _now()}
            _rewrite(descriptor, json.dumps(holder))
            try:
                yield descriptor
            finally:
                _rewrite(descriptor, "")
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)

    def claim_home(self) -> int | None:
        """Makes the board the home of one runner, until the descriptor given is closed.

        Returns:
            A file descriptor; None if the board is another runner's home.
        """
        descriptor = self._open("home")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        return descriptor

    def holder(self) -> Holder | None:
        """Gives who holds the board now; None if nobody does."""
        descriptor = self._open("lock")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder(os.pread(descriptor, 4096, 0))
        finally:
            os.close(descriptor)
        return None

    def quarantine(self) -> Quarantine | None:
        """Gives why the board is set aside; None if it is not."""
        try:
            found = json.loads(self._path("quarantine").read_text("utf-8"))
            return Quarantine(str(found["reason"]), str(found["since"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            return Quarantine("the note of its quarantine cannot be read", "")

    def set_aside(self, reason: str) -> None:
        """Sets the board aside until :meth:`release`."""
        self._write("quarantine", json.dumps({"reason": reason, "since": _now()}))

    def release(self) -> bool:
        """Brings the board back; says whether it was set aside."""
        try:
            self._path("quarantine").unlink()
        except FileNotFoundError:
            return False
        return True

    def flash_writes(self) -> int:
        """Gives how often images were written to the board's flash."""
        try:
            return int(self._path("flash").read_text("utf-8"))
        except (OSError, ValueError):
            return 0

    def count_flash_write(self) -> None:
        """Counts one image written to flash; call it while holding the board."""
        self._write("flash", str(self.flash_writes() + 1))

    def _path(self, kind: str) -> Path:
        return board_directory() / f"{self._stem}.{kind}"

    def _write(self, kind: str, text: str) -> None:
        path = self._path(kind)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            partial.write_text(text, "utf-8")
            partial.replace(path)
        except OSError as error:
            raise _unusable(error) from error

    def _open(self, kind: str) -> int:
        try:
            descriptor = os.open(
                self._path(kind), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _SHARED_FILE
            )
        except OSError as error:
            raise _unusable(error) from error
        with suppress(PermissionError):  # another user's file, who has done so
            os.fchmod(descriptor, _SHARED_FILE)
        return descriptor

    def _wait_for_lock(self, descriptor: int, wait_s: float) -> None:
        def try_lock() -> bool:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        if not wait_until(try_lock, wait_s):
            who = _holder(os.pread(descriptor, 4096, 0)) or "another process"
            raise BoardBusy(f"{self._probe} is in use by {who}")


def wait_until(condition: Callable[[], bool], wait_s: float) -> bool:
    """Tries a condition now and then; says whether it held within the time."""
    end = time.monotonic() + wait_s
    while not condition():
        left = end - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(_POLL_S, left))
    return True


def board_directory() -> Path:
    """Gives the directory of all states, and makes it.

    Raises:
        RunnerError: If it cannot be made.
    """
    own = os.environ.get("HELIA_BOARDS_DIR")
    folder = Path(own) if own else Path(tempfile.gettempdir(), "helia-search-boards")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not own:
            with suppress(PermissionError):
                folder.chmod(_SHARED_DIRECTORY)
    except OSError as error:
        raise _unusable(error) from error
    return folder


def _holder(data: bytes) -> Holder | None:
    try:
        found: dict[str, Any] = json.loads(data)
        return Holder(int(found["pid"]), str(found["job"]), str(found["started"]))
    except (ValueError, KeyError, TypeError):
        return None


def _rewrite(descriptor: int, text: str) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _unusable(error: OSError) -> RunnerError:
    return RunnerError(
        f"the state of boards cannot be kept: {error}",
        next_step="set HELIA_BOARDS_DIR to a folder that all users of the boards can write",
    )
