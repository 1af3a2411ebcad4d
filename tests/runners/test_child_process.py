# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from runners.child_process import run_with_deadline


def run(command: str, directory, timeout_s: float = 20):
    return run_with_deadline(["/bin/sh", "-c", command], directory, timeout_s=timeout_s)


def test_exit_code_and_message(tmp_path):
    end = run("echo oh >&2; exit 3", tmp_path)
    assert (end.exit_code, end.stderr) == (3, "oh\n")


def test_signal_is_negative(tmp_path):
    assert run("kill -TERM $$", tmp_path).exit_code == -15


def test_grandchildren_die_at_the_deadline(tmp_path):
    end = run("sleep 100 & echo $! > pid; wait", tmp_path, timeout_s=0.5)
    assert end.exit_code is None
    assert end.cpu_s is not None
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        # A killed orphan is still there until init has seen it.
        if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the grandchild lives on")


def test_processor_time_tells_work_from_waiting(tmp_path):
    assert run("sleep 5", tmp_path, timeout_s=0.5).cpu_s < 0.2
    assert run("while :; do :; done", tmp_path, timeout_s=1).cpu_s > 0.2


def test_program_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match="nothing"):
        run_with_deadline(["/nothing"], tmp_path, timeout_s=1)
