# SPDX-License-Identifier: Apache-2.0
"""From a board to the end of a session on it: child processes, deadlines, and retries along a ladder.

Only connecting and loading are tried again, each time by stronger means. Once the image runs there is
no other attempt: what it does is a finding.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast, get_args

from pydantic import JsonValue

from runners.child_process import run_with_deadline
from runners.device.board_state import BoardState
from runners.device.boards import Board
from runners.device.job import (
    STAGE_NAME,
    ImageJob,
    Outcome,
    SessionJob,
    SessionReport,
    SessionStage,
    read_report,
    to_json,
)

_LOAD_BYTES_PER_S: Final = 20_000
_POWER_COMMAND_S: Final = 60.0
_RETRIED: Final = frozenset(
    {"no_probe", "busy", "no_target", "wrong_target", "load_failed", "not_started"}
)
_PACKAGES = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Rung:
    """How an attempt differs from the board file.

    Attributes:
        name: For the record.
        frequency_divisor: Of the SWD clock.
        is_under_reset: Whether the reset line is pulled while connecting.
        recovers_debug_port: Whether the debug port is reset first.
        switches_power: Whether the power command runs first.
    """

    name: str
    frequency_divisor: int = 1
    is_under_reset: bool = False
    recovers_debug_port: bool = False
    switches_power: bool = False


LADDER: Final = (
    Rung("as configured"),
    Rung("half the frequency", 2),
    Rung("under reset, debug port reset", 2, True, True),
    Rung("power switched, under reset", 4, True, False, True),
)


@dataclass(frozen=True)
class Climb:
    """What the attempts on a board came to.

    Attributes:
        report: The last attempt's.
        folder: Where that one left its files.
        attempts: One entry for each attempt: rung, outcome, reason.
    """

    report: SessionReport
    folder: Path
    attempts: tuple[dict[str, JsonValue], ...]

    @property
    def failed(self) -> bool:
        """Whether the board never came as far as running, or identifying."""
        return self.report.outcome in _RETRIED


def climb(
    board: Board, image: ImageJob | None, folder: Path, *, lock: int, state: BoardState
) -> Climb:
    """Runs sessions on a board until one is more than a failed connection.

    Call it while holding the board. A board that fails all attempts is set aside, unless it is only
    in use by somebody else.

    Args:
        board: The board.
        image: What to run; None only identifies.
        folder: A folder for the files of each attempt.
        lock: File descriptor of the board's lock, which every child holds as well.
        state: The board's state.
    """
    attempts: list[dict[str, JsonValue]] = []
    wait_s = board.retry_wait_s
    for number, rung in enumerate(LADDER):
        if number > 0:
            time.sleep(wait_s)
            wait_s *= 2
        notes = _switch_power(board) if rung.switches_power else ""
        own = folder / f"session{number}"
        own.mkdir()
        report = _attempt(board, session_job(board, image, rung), own, lock)
        if report.wrote_flash:
            state.count_flash_write()
        attempts.append(
            {
                "rung": rung.name,
                "outcome": report.outcome,
                "stage": report.stage,
                "reason": "; ".join(part for part in (report.reason, notes) if part),
            }
        )
        if report.outcome not in _RETRIED:
            break
    result = Climb(report, own, tuple(attempts))
    if result.failed and report.outcome != "busy":
        state.set_aside(f"{report.outcome}: {report.reason}")
    return result


def session_job(board: Board, image: ImageJob | None, rung: Rung) -> SessionJob:
    """Gives what the session of a rung does on a board; ``image`` is what runs, None only identifies."""
    return SessionJob(
        probe=board.probe,
        target=board.target,
        pack=None if board.pack is None else str(board.pack),
        frequency_hz=max(board.frequency_hz // rung.frequency_divisor, 1000),
        connect="under-reset" if rung.is_under_reset else board.connect,
        reset=board.reset,
        reset_delay_s=board.reset_delay_s,
        start=board.start,
        core=board.core,
        extensions=tuple(board.extensions),
        setup=tuple((write.address, write.value) for write in board.setup),
        options=board.options,
        recover_debug_port=rung.recovers_debug_port,
        image=image,
    )


def _attempt(board: Board, job: SessionJob, folder: Path, lock: int) -> SessionReport:
    job_path, report_path = folder / "job.json", folder / "report.json"
    job_path.write_text(to_json(job), "utf-8")
    limit_s = _deadline_s(board, job.image)
    command = [sys.executable, "-m", "runners.device.session", str(job_path), str(report_path)]
    command.append(str(os.getpid()))
    paths = [str(_PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    try:
        end = run_with_deadline(
            command, folder, timeout_s=limit_s, environment=environment, inherited=[lock]
        )
    except OSError as error:
        return SessionReport(
            outcome="no_target", stage="find", reason=f"the session does not start: {error}"
        )
    (folder / "session.log").write_text(end.stderr, "utf-8")
    try:
        return read_report(report_path.read_text("utf-8"))
    except (OSError, ValueError):
        return _without_report(folder, end.exit_code, limit_s, _last_line(end.stderr))


def _without_report(
    folder: Path, exit_code: int | None, limit_s: float, last_line: str
) -> SessionReport:
    """A session that hung in a driver, or was killed: what it means depends on how far it was."""
    stage = _stage(folder)
    how = f"hung for {limit_s:g} s" if exit_code is None else f"ended with exit code {exit_code}"
    outcome: Outcome = "probe_lost" if stage in ("run", "read") else "no_target"
    reason = f"the session {how} at stage {stage}"
    return SessionReport(
        outcome=outcome,
        stage=stage,
        reason=f"{reason}: {last_line}" if last_line else reason,
        is_released=False,
    )


def _stage(folder: Path) -> SessionStage:
    with suppress(OSError):
        text = (folder / STAGE_NAME).read_text("utf-8")
        for stage in get_args(SessionStage):
            if text == stage:
                return cast(SessionStage, stage)
    return "find"


def _deadline_s(board: Board, image: ImageJob | None) -> float:
    if image is None:
        return board.connect_timeout_s
    size_bytes = sum(Path(path).stat().st_size for path in (image.path, image.stimulus_path))
    return board.connect_timeout_s + image.timeout_s + size_bytes / _LOAD_BYTES_PER_S


def _switch_power(board: Board) -> str:
    """Runs the power command; gives what is wrong with it, or nothing."""
    if not board.power_command:
        return "no power_command is given"
    try:
        done = subprocess.run(
            board.power_command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_POWER_COMMAND_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the power command failed: {error}"
    if done.returncode != 0:
        return f"the power command failed: {_last_line(done.stderr) or done.returncode}"
    return ""


def _last_line(text: str) -> str:
    lines: Sequence[str] = text.strip().splitlines()
    return lines[-1][:300] if lines else ""
