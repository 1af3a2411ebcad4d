# SPDX-License-Identifier: Apache-2.0
"""The board file: which boards there are, how to reach them, and where an image goes on each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from helia_aot.config.base import StrictModel
from helia_aot.config.problems import Place, problems_of
from helia_aot.config.yaml_file import YamlFile, read_yaml_file
from helia_aot.errors import ConfigError, HeliaError, Problem
from helia_aot.platforms.registry import load_platform
from runners.device.job import RESERVED_OPTIONS
from runners.kernel_library import KernelLibrary
from runners.layout import ImageLayout, Region, plan_layout

if TYPE_CHECKING:
    from helia_aot.platforms.schema import Platform

_VECTOR_ALIGNMENT = 128
"""Of the vector table: VTOR has no lower bits on Armv7-M."""

_NAMED = Annotated[str, StringConstraints(min_length=1, pattern=r"^[A-Za-z0-9][\w.-]*$")]


class BoardMemory(StrictModel):
    """Where a memory of the platform is on the board."""

    address: int = Field(..., ge=0, lt=1 << 32, description="First address")
    size_bytes: int = Field(..., gt=0, description="Bytes that an image may use")
    flash: bool = Field(
        False, description="Written by the flash algorithm of the target or its pack, not as RAM"
    )


class Range(StrictModel):
    """A range of RAM."""

    address: int = Field(..., ge=0, lt=1 << 32, description="First address")
    size_bytes: int = Field(..., gt=0, description="Length in bytes")


class Clock(StrictModel):
    """The core clock while measuring."""

    mhz: int = Field(..., gt=0, description="Core clock in MHz")
    source: str = Field(
        ..., min_length=1, description="How that is known, e.g. 'configured by the bootloader'"
    )


class RegisterWrite(StrictModel):
    """A word that is written before the image starts, e.g. to power a memory or set a clock."""

    address: int = Field(..., ge=0, lt=1 << 32, multiple_of=4, description="Register")
    value: int = Field(..., ge=0, lt=1 << 32, description="What is written")


class Board(StrictModel):
    """One board with its debug probe."""

    probe: str = Field(
        ..., min_length=1, description="The whole unique id of its probe, as 'pyocd list' shows it"
    )
    platform: str = Field(..., description="A name of 'helia-aot platforms list'")
    core: Literal["cortex-m4", "cortex-m55"] = Field(
        ..., description="Core that must answer; anything else is a wrong board"
    )
    extensions: list[Annotated[str, StringConstraints(to_lower=True)]] = Field(
        default_factory=list,
        description="Extensions that the core must have, as pyOCD names them, e.g. mve, fpu",
    )
    target: str = Field("cortex_m", description="pyOCD target; cortex_m serves RAM images")
    pack: Path | None = Field(None, description="CMSIS-Pack that describes the target")
    frequency_hz: int = Field(1_000_000, ge=1000, description="SWD clock")
    options: dict[str, bool | int | float | str] = Field(
        default_factory=dict,
        description="Further options of pyOCD's session, e.g. cmsis_dap.limit_packets or jlink.device",
    )
    connect: Literal["halt", "under-reset", "pre-reset"] = Field(
        "halt", description="How pyOCD connects; under-reset needs the reset line"
    )
    reset: Literal[
        "default", "hardware", "system", "core", "nsrst", "sysresetreq", "vectreset", "emulated"
    ] = Field("default", description="How the board is reset")
    reset_delay_s: float = Field(
        0.1, ge=0, description="Wait after a reset before the core is touched"
    )
    start: Literal["jump", "reset"] = Field(
        "jump",
        description="jump: set VTOR, SP and PC after loading; reset: reset again, the vector table of the "
        "image being where the core looks for it",
    )
    clock: Clock = Field(..., description="Core clock while measuring")
    memories: dict[str, BoardMemory] = Field(
        ..., description="Address and size of every memory of the platform"
    )
    harness: Range = Field(
        ..., description="RAM outside of all memories for inputs, outputs and the result"
    )
    code_memory: str = Field(..., description="Memory that code runs from")
    setup: list[RegisterWrite] = Field(
        default_factory=list, description="Words written after reset, before the image is loaded"
    )
    kernels: Literal["bundled"] | KernelLibrary = Field(
        "bundled",
        description="Kernel library that images for this board link: the bundled one, or yours, for "
        "modules with module.kernels external; runner.kernels of a campaign says the same for all boards",
    )
    power_command: list[str] = Field(
        default_factory=list, description="Command that switches the board off and on, for recovery"
    )
    connect_timeout_s: float = Field(
        45.0, gt=0, description="Deadline of a session without loading and running; pyOCD has none"
    )
    retry_wait_s: float = Field(
        1.0, ge=0, description="Wait before the first retry of a connection; it doubles each time"
    )
    lock_wait_s: float = Field(
        60.0, ge=0, description="How long to wait for a board that someone else uses"
    )

    @property
    def probe_id(self) -> str:
        """The id without the kind of probe before it: the same board, however it is named."""
        return self.probe.split(":", 1)[-1]

    def layout(self, platform: Platform) -> ImageLayout:
        """Gives where an image goes.

        Raises:
            ValueError: If two regions overlap.
        """
        sizes = {
            name: memory.model_copy(update={"size_bytes": self.memories[name].size_bytes})
            for name, memory in platform.memories.items()
        }
        code = self.memories[self.code_memory].address
        return plan_layout(
            platform.model_copy(update={"memories": sizes}),
            origins={name: memory.address for name, memory in self.memories.items()},
            code=self.code_memory,
            harness=Region("HARNESS", self.harness.address, self.harness.size_bytes),
            reset_address=code,
        )

    def rig_digest(self) -> str:
        """Gives the SHA-256 of what can change a count: two boards with the same one are a pool.

        The probe, its speed and the recovery are not part of it.
        """
        parts = self.model_dump(
            mode="json",
            include={
                "platform",
                "core",
                "extensions",
                "target",
                "start",
                "clock",
                "memories",
                "harness",
                "code_memory",
                "setup",
            },
        )
        parts["kernels"] = _library_name(self.kernels)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class BoardFile(StrictModel):
    """All boards of a bench."""

    boards: dict[_NAMED, Board] = Field(..., min_length=1, description="Boards by a name of yours")


def load_boards(path: Path) -> Mapping[str, Board]:
    """Reads a board file.

    Args:
        path: The file; a relative ``pack``, and relative paths of ``kernels``, are looked up beside it.

    Returns:
        The boards by name, in the order of the file.

    Raises:
        ConfigError: The file cannot be read, or boards are not valid; carries every problem with its
            line.
    """
    file = read_yaml_file(path)

    def place(location: object) -> Place:
        assert isinstance(location, tuple)
        return Place(str(path), file.line(location))

    try:
        boards = BoardFile.model_validate(file.tree).boards
    except ValidationError as error:
        raise ConfigError(
            "The board file is not valid.", problems_of(error, BoardFile, place)
        ) from error
    boards = {name: _with_files_beside(board, path.parent) for name, board in boards.items()}
    problems = [problem for name in boards for problem in _problems(name, boards, file)]
    if problems:
        raise ConfigError("The board file is not valid.", problems)
    return boards


def _with_files_beside(board: Board, folder: Path) -> Board:
    changes: dict[str, object] = {}
    if board.pack is not None:
        changes["pack"] = (folder / board.pack).resolve()
    if board.kernels != "bundled":
        changes["kernels"] = board.kernels.beside(folder)
    return board.model_copy(update=changes)


def _library_name(kernels: Literal["bundled"] | KernelLibrary) -> str:
    return kernels if kernels == "bundled" else f"{kernels.dialect} {kernels.version}"


def _problems(name: str, boards: Mapping[str, Board], file: YamlFile) -> list[Problem]:
    board = boards[name]

    def problem(key: tuple[str, ...], reason: str, next_step: str = "") -> Problem:
        location = ("boards", name, *key)
        source = Place(str(file.path), file.line(location))
        return Problem(".".join(location), reason, next_step, str(source))

    earlier = list(boards)[: list(boards).index(name)]
    found = [
        problem(("probe",), f"is the probe of {other} too", "give each board its own probe")
        for other in earlier
        if boards[other].probe_id == board.probe_id
    ]
    if board.pack is not None and not board.pack.is_file():
        found.append(problem(("pack",), f"there is no file {board.pack}"))
    found += [
        problem(("options", option), "is what every session sets itself", "remove it")
        for option in board.options
        if option in RESERVED_OPTIONS
    ]
    flash = [memory for memory, where in board.memories.items() if where.flash]
    if flash and board.target == "cortex_m":
        reason = f"cortex_m cannot write the flash of {', '.join(flash)}"
        found.append(problem(("target",), reason, "name the target, and give its pack"))
    try:
        platform = load_platform(board.platform)
    except HeliaError as error:
        return [*found, problem(("platform",), error.summary, error.next_step)]
    return [*found, *(problem(*item) for item in board_faults(board, platform))]


def board_faults(board: Board, platform: Platform) -> list[tuple[tuple[str, ...], str]]:
    """Gives what a board contradicts its platform in.

    Args:
        board: The board.
        platform: The platform that it names.

    Returns:
        Keys below the board and reasons.
    """
    found: list[tuple[tuple[str, ...], str]] = []
    if board.core != platform.core:
        found.append((("core",), f"is {board.core}, {platform.name} has a {platform.core}"))
    missing = sorted(set(platform.memories) - set(board.memories))
    if missing:
        found.append((("memories",), f"{', '.join(missing)} of {platform.name} is missing"))
    for name, memory in board.memories.items():
        if name not in platform.memories:
            found.append((("memories", name), f"{platform.name} has no such memory"))
        elif memory.size_bytes > platform.memories[name].size_bytes:
            size = platform.memories[name].size_bytes
            found.append((("memories", name), f"is larger than the platform's {size} bytes"))
    if board.code_memory not in board.memories:
        found.append((("code_memory",), f"there is no memory {board.code_memory}"))
    elif board.memories[board.code_memory].address % _VECTOR_ALIGNMENT:
        reason = f"its address is not a multiple of {_VECTOR_ALIGNMENT}, for the vector table"
        found.append((("memories", board.code_memory), reason))
    if not found:
        try:
            board.layout(platform)
        except ValueError as error:
            found.append((("memories",), str(error)))
    return found
