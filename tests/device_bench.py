# SPDX-License-Identifier: Apache-2.0
"""A bench of virtual boards for a test, and the same bench of real ones when ``HELIA_TEST_BOARDS`` names a board file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from helia_aot.platforms.registry import load_platform
from runners.child_process import Finished

REPOSITORY = Path(__file__).resolve().parent.parent
VIRTUAL_BOARD = REPOSITORY / "tests" / "virtual_board"
PLUGIN = VIRTUAL_BOARD / "plugin"
MACHINES = {"apollo510_evb": "mps3-an547", "apollo4p_evb": "mps2-an386"}
HARNESS = {
    "mps3-an547": {"address": 0x6F00_0000, "size_bytes": 16 << 20},
    "mps2-an386": {"address": 0x2180_0000, "size_bytes": 8 << 20},
}
ICOUNT_SHIFT = 6
"""Virtual time in steps of 64 ns an instruction: the timer counts one to two ticks each, the same in each run."""


@dataclass(frozen=True)
class Bench:
    """A folder with the files of a bench.

    Attributes:
        boards: The board file.
        virtual: The file of the virtual boards.
    """

    boards: Path
    virtual: Path

    def break_board(self, name: str, **faults: Any) -> None:
        """Makes a virtual board do something wrong from now on; without faults it is whole again."""
        entries = json.loads(self.virtual.read_text("utf-8"))
        entries[name]["faults"] = faults
        self.virtual.write_text(json.dumps(entries), "utf-8")

    def change(self, name: str, **values: Any) -> None:
        """Changes a board's entry in the board file."""
        tree = yaml.safe_load(self.boards.read_text("utf-8"))
        tree["boards"][name].update(values)
        self.boards.write_text(yaml.safe_dump(tree), "utf-8")


def board_entry(platform_name: str, probe: str) -> dict[str, Any]:
    """Gives the board file's entry of a virtual board."""
    platform = load_platform(platform_name)
    target = platform.simulator
    assert target is not None
    is_m55 = platform.core == "cortex-m55"
    return {
        "probe": f"virtual:{probe}",
        "platform": platform_name,
        "core": platform.core,
        "extensions": ["fpu", "mve"] if is_m55 else ["fpu"],
        "start": "reset" if is_m55 else "jump",
        "clock": {"mhz": target.clock_mhz, "source": "none: a virtual board"},
        "memories": {
            name: {"address": target.memories[name], "size_bytes": memory.size_bytes}
            for name, memory in platform.memories.items()
        },
        "harness": HARNESS[target.machine],
        "code_memory": "itcm" if is_m55 else "mram",
        "reset_delay_s": 0.0,
        "retry_wait_s": 0.0,
        "lock_wait_s": 20.0,
        "connect_timeout_s": 60.0,
    }


def make_bench(
    folder: Path, patch: pytest.MonkeyPatch, boards: dict[str, str], *, ticks: bool = True
) -> Bench:
    """Sets a bench up.

    Args:
        folder: For its files.
        patch: Sets the environment for the test.
        boards: Platform by board name.
        ticks: Whether virtual boards count ticks; otherwise they have nothing to count.
    """
    folder.mkdir(parents=True, exist_ok=True)
    virtual, board_file = folder / "virtual.json", folder / "boards.yaml"
    entries = {
        name: {"machine": MACHINES[platform], "icount_shift": ICOUNT_SHIFT if ticks else None}
        for name, platform in boards.items()
    }
    virtual.write_text(json.dumps(entries), "utf-8")
    tree = {"boards": {name: board_entry(platform, name) for name, platform in boards.items()}}
    board_file.write_text(yaml.safe_dump(tree), "utf-8")
    patch.setenv("HELIA_VIRTUAL_BOARDS", str(virtual))
    patch.setenv("HELIA_BOARDS_DIR", str(folder / "state"))
    paths = [str(PLUGIN), os.environ.get("PYTHONPATH", "")]
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    if ticks:
        patch.setenv("HELIA_VIRTUAL_BOARD_TICKS", "1")
    return Bench(board_file, virtual)


class SessionServer:
    """Runs sessions as forks of one process that has pyOCD imported (``session_server.py``).

    Args:
        folder: For its file.
    """

    def __init__(self, folder: Path) -> None:
        # While it is imported, pyOCD asks for virtual boards; which there are is read again in each session.
        some_bench = folder / "virtual.json"
        some_bench.write_text('{"a": {"machine": "mps2-an386"}}', "utf-8")
        paths = [REPOSITORY, PLUGIN, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, VIRTUAL_BOARD / "session_server.py"],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(map(str, paths)),
                "HELIA_VIRTUAL_BOARDS": str(some_bench),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        command: Sequence[str],
        directory: Path,
        *,
        environment: Mapping[str, str],
        **_: object,
    ) -> Finished:
        """Runs one session in place of a process of its own; its deadline is not kept."""
        request = {
            "arguments": command[-3:-1],
            "folder": str(directory),
            "environment": environment,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return Finished(code, (directory / "stderr").read_text("utf-8"), 0.0)

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=60)
