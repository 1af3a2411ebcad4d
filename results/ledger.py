# SPDX-License-Identifier: Apache-2.0
"""The ledger of a campaign: ``ledger.jsonl``, append-only, the only truth about what was measured.

One JSON object a line; the first is the :class:`CampaignHeader`. Every line goes out in one
``write`` on a descriptor opened with ``O_APPEND``, followed by ``fsync`` before
:meth:`Ledger.append` returns. So a process may be killed, or the machine lose power, at any moment:
lines that were appended stay, and at most the line being written is torn. A torn last line (one
without its newline) is cut off, or completed when all but the newline arrived. Anything else that
cannot be read is damage, and an error that names the line.

A line that cannot be written, or not within :data:`RECORD_S`, ends the campaign with an error. All lines
before it are whole, and the same command goes on after them.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from pydantic import ValidationError

from helia_aot.errors import Problem
from results.errors import LedgerError
from results.records import (
    ENTRY_ADAPTER,
    LEDGER_SCHEMA_VERSION,
    CampaignHeader,
    CampaignIdentity,
    Entry,
)

LEDGER_NAME = "ledger.jsonl"

_AFTER_A_FULL_DISK: Final = (
    "make room on the disk; the same command continues with what was measured before"
)

RECORD_S: Final = 60.0
"""What writing one line may take; on a disk it takes milliseconds, on a network that is gone for ever."""


def read_ledger(path: Path) -> tuple[CampaignHeader, tuple[Entry, ...]] | None:
    """Reads a ledger without changing it; a torn last line is left out.

    Returns:
        The header and all later lines in order; None when there is no file, or no header was
        completed.

    Raises:
        LedgerError: The file cannot be read, or a complete line is damaged or of another version.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerError(f"{path} cannot be read: {error.strerror}.") from error
    lines = _complete_lines(data)
    if not lines:
        return None
    header = _parse_header(path, lines[0])
    return header, tuple(_parse_entry(path, index, line) for index, line in enumerate(lines[1:], 2))


def identity_changes(before: CampaignIdentity, now: CampaignIdentity) -> tuple[Problem, ...]:
    """Names every field in which two identities differ, those of the runner one by one."""
    return _changes("", before.model_dump(mode="json"), now.model_dump(mode="json"))


def _changes(prefix: str, before: dict[str, object], now: dict[str, object]) -> tuple[Problem, ...]:
    problems: list[Problem] = []
    for name in [*before, *(key for key in now if key not in before)]:
        old, new = before.get(name), now.get(name)
        if isinstance(old, dict) and isinstance(new, dict):
            problems += _changes(f"{prefix}{name}.", old, new)
        elif old != new:
            problems.append(Problem(f"{prefix}{name}", f"was {old!r}, is {new!r}"))
    return tuple(problems)


class Ledger:
    """An open ledger, held by one process at a time.

    Attributes:
        path: The file.
        identity: The campaign that the ledger belongs to.
        entries: All lines after the header, in order, those appended here included.
        recovered_bytes: Length of the torn last line that was cut off when opening; 0 if there was
            none.
    """

    def __init__(
        self,
        path: Path,
        descriptor: int,
        *,
        identity: CampaignIdentity,
        entries: tuple[Entry, ...],
        recovered_bytes: int,
    ) -> None:
        self.path = path
        self.identity = identity
        self.recovered_bytes = recovered_bytes
        self._descriptor = descriptor
        self._entries = list(entries)
        self._failure: LedgerError | None = None

    @classmethod
    def open(cls, path: Path, identity: CampaignIdentity) -> Self:
        """Opens or creates the ledger of a campaign, locks it, and repairs a torn last line.

        Args:
            path: The file; its folder must exist.
            identity: What the campaign is now; written as the header of a new ledger.

        Raises:
            LedgerError: Another process holds the ledger, a line is damaged, or the ledger belongs
                to another identity (each difference is named).
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LedgerError(f"{path} cannot be opened: {error.strerror}.") from error
        try:
            _lock(path, descriptor)
            recovered_bytes = _repair(descriptor)
            content = read_ledger(path)
            if content is None:
                _write_line(path, descriptor, CampaignHeader(identity=identity).model_dump_json())
                _sync_folder(path.parent)
                entries: tuple[Entry, ...] = ()
            else:
                header, entries = content
                _check_identity(path, header.identity, identity)
            return cls(
                path,
                descriptor,
                identity=identity,
                entries=entries,
                recovered_bytes=recovered_bytes,
            )
        except BaseException:
            os.close(descriptor)
            raise

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All lines after the header, in order."""
        return tuple(self._entries)

    def append(self, entry: Entry) -> None:
        """Adds one line; when this returns, it is on the disk.

        Raises:
            LedgerError: The line could not be written whole, for example because the disk is full, or
                not in time. Nothing is added to the ledger after that.
        """
        if self._failure is None:
            self._failure = self._written(entry.model_dump_json())
        if self._failure is not None:
            raise self._failure
        self._entries.append(entry)

    def _written(self, text: str) -> LedgerError | None:
        """Writes a line and gives what went wrong; waits for it no longer than :data:`RECORD_S`."""
        errors: list[LedgerError] = []

        def write() -> None:
            try:
                _write_line(self.path, self._descriptor, text)
            except LedgerError as error:
                errors.append(error)

        # A file system that does not answer cannot be interrupted, only left alone.
        writing = threading.Thread(target=write, daemon=True)
        writing.start()
        writing.join(RECORD_S)
        if writing.is_alive():
            return LedgerError(
                f"{self.path} did not take a line within {RECORD_S:g} s.",
                next_step="look at the disk or network that it is on; the same command continues with "
                "what was measured before",
            )
        return errors[0] if errors else None

    def close(self) -> None:
        """Releases the lock and the descriptor; closing twice is allowed."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        """Gives the ledger itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the ledger."""
        self.close()


def is_held(path: Path) -> bool:
    """Says whether a process runs the campaign of a ledger at this moment."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def set_aside(path: Path) -> Path | None:
    """Renames a ledger to the first free ``ledger-<n>.jsonl``; nothing measured is lost.

    Returns:
        The new name; None when there was no ledger.

    Raises:
        LedgerError: Another process holds the ledger.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        _lock(path, descriptor)
        number = 1
        while (target := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
            number += 1
        path.rename(target)
        _sync_folder(path.parent)
    finally:
        os.close(descriptor)
    return target


def _lock(path: Path, descriptor: int) -> None:
    # The kernel drops the lock with the process, however it ends; no stale lock file can remain.
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise LedgerError(
            f"Another process is running the campaign of {path}.",
            next_step="wait for it to end, or give this campaign another folder with --out",
        ) from error


def _check_identity(path: Path, before: CampaignIdentity, now: CampaignIdentity) -> None:
    changes = identity_changes(before, now)
    if changes:
        raise LedgerError(
            f"{path} belongs to another campaign: its measurements cannot be continued.",
            changes,
            next_step="undo the change, give another folder with --out, or start again with "
            "--fresh (the old ledger is kept under another name)",
        )


def _is_whole(line: bytes) -> bool:
    # No proper prefix of a JSON object is valid: a torn line that can be read lacks its newline.
    try:
        ENTRY_ADAPTER.validate_json(line)
    except ValidationError:
        try:
            CampaignHeader.model_validate_json(line)
        except ValidationError:
            return False
    return True


def _complete_lines(data: bytes) -> list[bytes]:
    *lines, tail = data.split(b"\n")
    return [*lines, tail] if tail and _is_whole(tail) else lines


def _repair(descriptor: int) -> int:
    """Makes the file end with a newline; returns the number of bytes that were cut off."""
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, size, 0)
    tail = data.rpartition(b"\n")[2]
    if not tail:
        return 0
    if _is_whole(tail):
        os.write(descriptor, b"\n")
        os.fsync(descriptor)
        return 0
    os.ftruncate(descriptor, size - len(tail))
    os.fsync(descriptor)
    return len(tail)


def _write_line(path: Path, descriptor: int, text: str) -> None:
    line = text.encode() + b"\n"
    size = os.fstat(descriptor).st_size
    try:
        written = os.write(descriptor, line)
        if written != len(line):
            # A short write means a full disk; left there, it would be damage once a line follows.
            os.ftruncate(descriptor, size)
            raise LedgerError(
                f"{path}: only {written} of {len(line)} bytes could be written.",
                next_step=_AFTER_A_FULL_DISK,
            )
        os.fsync(descriptor)
    except OSError as error:
        raise LedgerError(
            f"{path} cannot be written: {error.strerror}.", next_step=_AFTER_A_FULL_DISK
        ) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parse_header(path: Path, line: bytes) -> CampaignHeader:
    try:
        return CampaignHeader.model_validate_json(line)
    except ValidationError as error:
        raise LedgerError(
            f"The first line of {path} is no campaign header of version {LEDGER_SCHEMA_VERSION}.",
            _problems(error),
            next_step="start again with --fresh (the old ledger is kept under another name)",
        ) from error


def _parse_entry(path: Path, number: int, line: bytes) -> Entry:
    try:
        return ENTRY_ADAPTER.validate_json(line)
    except ValidationError as error:
        raise LedgerError(
            f"Line {number} of {path} is damaged.",
            _problems(error),
            next_step=f"restore the file, or delete line {number} if its measurement may be lost",
        ) from error


def _problems(error: ValidationError) -> list[Problem]:
    return [
        Problem(".".join(str(part) for part in item["loc"]), item["msg"]) for item in error.errors()
    ]
