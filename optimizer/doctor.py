# SPDX-License-Identifier: Apache-2.0
"""What is installed and works: the checks behind ``helia-search doctor``."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from helia_aot.config.base import StrictModel
from helia_aot.errors import HeliaError
from helia_aot.platforms.registry import load_platform
from runners.device.bench import check_board
from runners.device.boards import load_boards
from runners.registry import NEED_BOARDS, RUNNERS, create_runner

PACKAGES = ("optuna", "ray", "scipy", "numpy", "pydantic", "tflite")


class Check(StrictModel):
    """One thing that was looked at.

    Attributes:
        name: What.
        is_ok: Whether a search can use it.
        detail: Its version, or what is wrong.
        next_step: What to do when it is not ok.
    """

    name: str
    is_ok: bool
    detail: str
    next_step: str = ""


def run_checks(platform_name: str, boards: Path | None = None) -> tuple[Check, ...]:
    """Gives one check for each package, each tool that a platform's runners need, and each board.

    A runner is asked for its identity, which finds the compiler and the emulator and builds the
    timing plugin.

    Args:
        platform_name: A platform.
        boards: A board file; its boards are connected to. None leaves boards out.

    Raises:
        ConfigError: There is no such platform, or the board file is not valid.
    """
    platform = load_platform(platform_name)
    checks = [_package(name) for name in PACKAGES]
    for name in RUNNERS:
        if name in NEED_BOARDS:
            continue
        try:
            identity = create_runner(name, platform).identity()
        except HeliaError as error:
            reasons = "; ".join([error.summary, *(str(problem) for problem in error.problems)])
            checks.append(Check(name=name, is_ok=False, detail=reasons, next_step=error.next_step))
            continue
        found = {
            "compiler": identity.toolchain,
            "emulator": identity.emulator,
            "timing model": identity.timing_model,
            "kernel library": identity.kernel_library,
        }
        checks += [
            Check(name=f"{name}: {what}", is_ok=True, detail=detail)
            for what, detail in found.items()
            if detail is not None
        ]
    if boards is not None:
        checks += _boards(boards)
    return tuple(checks)


def _boards(path: Path) -> list[Check]:
    pyocd = _package("pyocd", extra="device")
    if not pyocd.is_ok:
        return [pyocd]
    found = [check_board(name, board) for name, board in load_boards(path).items()]
    advice = "see docs/boards.md for what each outcome means"
    return [
        pyocd,
        *(
            Check(
                name=f"board {item.name}",
                is_ok=item.is_ok,
                detail=item.detail,
                next_step="" if item.is_ok else advice,
            )
            for item in found
        ),
    ]


def _package(name: str, extra: str = "search") -> Check:
    try:
        return Check(name=name, is_ok=True, detail=version(name))
    except PackageNotFoundError:
        return Check(
            name=name,
            is_ok=False,
            detail="not installed",
            next_step=f"pip install 'helia-search[{extra}]'",
        )
