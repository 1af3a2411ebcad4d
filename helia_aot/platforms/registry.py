# SPDX-License-Identifier: Apache-2.0
"""Targets by name, read from data files when they are asked for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml

from helia_aot.config.convert import PlatformConfig
from helia_aot.errors import ConfigError, Problem
from helia_aot.platforms.schema import Platform

_SUFFIX = ".yaml"


@cache
def platform_names() -> tuple[str, ...]:
    """Gives the names of all targets, sorted."""
    files = resources.files("helia_aot.platforms").joinpath("data").iterdir()
    return tuple(
        sorted(file.name.removesuffix(_SUFFIX) for file in files if file.name.endswith(_SUFFIX))
    )


def load_platform(
    name: str, overrides: PlatformConfig | Mapping[str, Any] | None = None
) -> Platform:
    """Gives a target, with the configuration's changes applied.

    Args:
        name: A name of :func:`platform_names`, in any letter case.
        overrides: The ``platform`` section of a configuration; its own ``name`` is not read.

    Raises:
        ConfigError: The name is unknown, or overrides do not fit; carries every problem.
    """
    config = (
        overrides
        if isinstance(overrides, PlatformConfig)
        else PlatformConfig.model_validate({**(overrides or {}), "name": name})
    )
    platform = _built_in(_known_name(name))
    problems = _override_problems(platform, config)
    if problems:
        raise ConfigError(
            f"The platform settings do not fit {platform.name}",
            problems,
            next_step=f"see 'helia-aot platforms show {platform.name}'",
        )
    return _with_overrides(platform, config)


@cache
def _built_in(name: str) -> Platform:
    file = resources.files("helia_aot.platforms").joinpath("data", name + _SUFFIX)
    return Platform.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))


def _known_name(name: str) -> str:
    if name.lower() in platform_names():
        return name.lower()
    close = difflib.get_close_matches(name.lower(), platform_names(), n=1)
    raise ConfigError(
        f"There is no platform {name!r}",
        [
            Problem(
                "platform.name",
                f"{name!r} is not known",
                f"did you mean {close[0]}?" if close else f"known: {', '.join(platform_names())}",
            )
        ],
        next_step="see 'helia-aot platforms list'",
    )


def _override_problems(platform: Platform, config: PlatformConfig) -> list[Problem]:
    known = ", ".join(platform.memories)
    problems = [
        Problem(
            f"platform.memories.{name}",
            f"{platform.name} has no memory {name!r}",
            f"it has {known}",
        )
        for name in config.memories or {}
        if name not in platform.memories
    ]
    order = config.preferred_memory_order or []
    problems += [
        Problem(
            f"platform.preferred_memory_order[{index}]",
            f"{platform.name} has no memory {name!r}",
            f"it has {known}",
        )
        for index, name in enumerate(order)
        if name not in platform.memories
    ]
    if len(set(order)) != len(order):
        problems.append(
            Problem("platform.preferred_memory_order", "names a memory twice", "name each once")
        )
    alignment = config.min_alignment
    if alignment is not None and alignment & (alignment - 1):
        problems.append(
            Problem("platform.min_alignment", f"{alignment} is not a power of two", "use 16")
        )
    if "mve" in (config.capabilities or []) and platform.core != "cortex-m55":
        problems.append(
            Problem("platform.capabilities", f"{platform.core} has no mve", "leave mve out")
        )
    return problems


def _with_overrides(platform: Platform, config: PlatformConfig) -> Platform:
    values: dict[str, Any] = platform.model_dump()
    for field in ("speeds_mhz", "capabilities", "preferred_memory_order", "min_alignment"):
        value = getattr(config, field)
        if value is not None:
            values[field] = value
    for name, size_bytes in (config.memories or {}).items():
        values["memories"][name]["size_bytes"] = size_bytes
    if config.capabilities is not None:
        # FP16 arithmetic of these cores belongs to the vector extension.
        values["fp16"] = platform.fp16 and "mve" in config.capabilities
    return Platform.model_validate(values)
