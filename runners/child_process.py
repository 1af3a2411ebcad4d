# SPDX-License-Identifier: Apache-2.0
"""A child process that ends, whatever happens."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_CPU_LIMIT_MARGIN_S = 30


@dataclass(frozen=True)
class Finished:
    """How a child ended.

    Attributes:
        exit_code: Its exit code; negative: the signal that ended it. None after a timeout.
        stderr: What it printed as errors.
        wall_s: Seconds it took.
        cpu_s: Processor seconds that it had used at a timeout; None otherwise or if not known.
    """

    exit_code: int | None
    stderr: str
    wall_s: float
    cpu_s: float | None = None


def run_with_deadline(
    command: Sequence[str | Path],
    directory: Path,
    *,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    inherited: Sequence[int] = (),
) -> Finished:
    """Runs a program in a process group of its own, and kills the group at the deadline.

    If this process dies, the child still ends at a limit on its processor time, above the deadline.

    Args:
        command: Program and arguments.
        directory: Its working directory.
        timeout_s: Seconds until the group is killed.
        environment: Its environment; None gives it this process's.
        inherited: File descriptors that it gets as well.

    Raises:
        OSError: If it cannot be started.
    """
    start = time.monotonic()
    child = subprocess.Popen(
        command,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=environment,
        pass_fds=tuple(inherited),
    )
    cpu_s: float | None = None
    exit_code: int | None = None
    message = b""
    try:
        _limit_processor_time(child.pid, int(timeout_s) + _CPU_LIMIT_MARGIN_S)
        _, message = child.communicate(timeout=timeout_s)
        exit_code = child.returncode
    except subprocess.TimeoutExpired:
        cpu_s = _processor_time_s(child.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        if exit_code is None:
            _, message = child.communicate()
    text = message.decode("utf-8", "replace")
    return Finished(exit_code, text, time.monotonic() - start, cpu_s)


def _limit_processor_time(pid: int, seconds: int) -> None:
    # Linux only; elsewhere an orphan is not limited.
    if hasattr(resource, "prlimit"):
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))


def _processor_time_s(pid: int) -> float | None:
    """Gives user and system seconds of a running process; None where the system does not say."""
    try:
        # The command name, in parentheses, may hold spaces: count fields behind it.
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
