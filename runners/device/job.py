# SPDX-License-Identifier: Apache-2.0
"""What the parent and the session in its child process tell each other, as two JSON files.

Plain data classes: the child starts for every measurement, and should not load what it does not need.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

Outcome = Literal[
    "ended",
    "identified",
    "no_probe",
    "busy",
    "no_target",
    "wrong_target",
    "load_failed",
    "not_started",
    "faulted",
    "stopped",
    "locked_up",
    "hung",
    "probe_lost",
]
"""How a session ended; see ``docs/boards.md`` for each."""

SessionStage = Literal["find", "connect", "identify", "load", "start", "run", "read"]

DUMP_NAME = "dump.bin"
MARKERS_NAME = "markers.bin"
STAGE_NAME = "stage"

_FIXED_OPTIONS: Final[Mapping[str, object]] = {
    "no_config": True,
    "resume_on_disconnect": False,
    "hide_programming_progress": True,
    "auto_unlock": False,
    "jlink.non_interactive": True,
}
_JOB_OPTIONS: Final = {
    "target_override": "target",
    "frequency": "frequency_hz",
    "connect_mode": "connect",
    "reset.post_delay": "reset_delay_s",
}
"""Options of pyOCD, and the field of the job that each is."""

RESERVED_OPTIONS: Final = frozenset({*_FIXED_OPTIONS, *_JOB_OPTIONS, "project_dir", "pack"})
"""Options that every session sets itself."""


@dataclass(frozen=True)
class ImageJob:
    """What is loaded and run. Addresses are without the Thumb bit.

    Attributes:
        path: The ELF file.
        stimulus_path: Bytes for ``helia_stimulus``.
        flash: Ranges that a flash algorithm writes: first address and the one behind.
        vectors: Address of the vector table.
        stack_top: Initial stack pointer.
        reset: Address of the reset handler.
        stop: Where the firmware stands when it has ended.
        stimulus: Address of the stimulus.
        result: Address of the result struct.
        result_bytes: Its size.
        outputs: Address of the outputs.
        outputs_bytes: Size of all outputs.
        markers: Address of the markers.
        marker_words: How many there are.
        timeout_s: Deadline of the run.
    """

    path: str
    stimulus_path: str
    flash: tuple[tuple[int, int], ...]
    vectors: int
    stack_top: int
    reset: int
    stop: int
    stimulus: int
    result: int
    result_bytes: int
    outputs: int
    outputs_bytes: int
    markers: int
    marker_words: int
    timeout_s: float


@dataclass(frozen=True)
class SessionJob:
    """What a session does.

    Attributes:
        probe: Whole unique id of the probe.
        target: pyOCD target.
        pack: CMSIS-Pack; None for none.
        frequency_hz: SWD clock.
        connect: pyOCD's ``connect_mode``.
        reset: pyOCD's name of a reset.
        reset_delay_s: Wait after one.
        start: ``jump`` or ``reset``.
        core: The core that must answer.
        extensions: Extensions that it must have, in lower case.
        setup: Addresses and words to write after reset.
        options: Further options of pyOCD.
        recover_debug_port: Whether to reset the debug port before connecting.
        image: What to run; None only identifies.
    """

    probe: str
    target: str
    pack: str | None
    frequency_hz: int
    connect: str
    reset: str
    reset_delay_s: float
    start: Literal["jump", "reset"]
    core: str
    extensions: tuple[str, ...]
    setup: tuple[tuple[int, int], ...]
    options: Mapping[str, bool | int | float | str] = dataclasses.field(default_factory=dict)
    recover_debug_port: bool = False
    image: ImageJob | None = None

    def pyocd_options(self, project: Path) -> dict[str, object]:
        """Gives the options of pyOCD's session.

        Args:
            project: An empty folder, from which pyOCD would execute scripts.
        """
        # The supply belongs to the bench, maybe with a meter in it.
        options: dict[str, object] = {"jlink.power": False, **self.options, **_FIXED_OPTIONS}
        options |= {name: getattr(self, field) for name, field in _JOB_OPTIONS.items()}
        options["project_dir"] = str(project)
        if self.pack is not None:
            options["pack"] = self.pack
        return options


@dataclass(frozen=True)
class SessionReport:
    """What a session found.

    Attributes:
        outcome: How it ended.
        stage: Where.
        reason: One sentence; empty for ``ended`` and ``identified``.
        facts: Probe, chip and versions, as far as it came.
        registers: Fault registers, for ``faulted``.
        pc: Where the core stood, for ``hung``, ``stopped`` and ``locked_up``; None if not known.
        wrote_flash: Whether flash was written.
        is_released: Whether the board was reset and the probe closed at the end.
    """

    outcome: Outcome
    stage: SessionStage
    reason: str = ""
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    registers: Mapping[str, int] = dataclasses.field(default_factory=dict)
    pc: int | None = None
    wrote_flash: bool = False
    is_released: bool = True


def to_json(message: SessionJob | SessionReport) -> str:
    """Gives the text of a job or a report."""
    return json.dumps(dataclasses.asdict(message), indent=2)


def read_job(text: str) -> SessionJob:
    """Reads a job."""
    tree = json.loads(text)
    image = tree.pop("image")
    return SessionJob(**tree, image=None if image is None else ImageJob(**image))


def read_report(text: str) -> SessionReport:
    """Reads a report.

    Raises:
        ValueError: If it is none.
    """
    try:
        return SessionReport(**json.loads(text))
    except TypeError as error:
        raise ValueError(str(error)) from error
