# SPDX-License-Identifier: Apache-2.0
"""What is installed and works: the checks behind ``helia-search doctor``."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from helia_aot.config.base import StrictModel
from helia_aot.errors import HeliaError
from helia_aot.platforms.registry import load_platform
from runners.registry import RUNNERS, create_runner

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


def run_checks(platform_name: str) -> tuple[Check, ...]:
    """Gives one check for each package, and for each tool that the runners of a platform need.

    A runner is asked for its identity, which finds the compiler and the emulator and builds the
    timing plugin.

    Raises:
        ConfigError: There is no such platform.
    """
    platform = load_platform(platform_name)
    checks = [_package(name) for name in PACKAGES]
    for name in RUNNERS:
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
    return tuple(checks)


def _package(name: str) -> Check:
    try:
        return Check(name=name, is_ok=True, detail=version(name))
    except PackageNotFoundError:
        return Check(
            name=name,
            is_ok=False,
            detail="not installed",
            next_step="pip install 'helia-search[search]'",
        )
