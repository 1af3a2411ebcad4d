# SPDX-License-Identifier: Apache-2.0
"""A campaign file to begin with: what matters is set, the rest is there as comments with its defaults."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from helia_aot.errors import ConfigError, Problem
from helia_aot.platforms.registry import load_platform
from optimizer.accuracy import AccuracyConfig
from optimizer.config import (
    CampaignConfig,
    RayConfig,
    RunnerConfig,
    SearchConfig,
    SpaceConfig,
)

_SECTIONS: Final[tuple[tuple[str, type[BaseModel]], ...]] = (
    ("space", SpaceConfig),
    ("search", SearchConfig),
    ("accuracy", AccuracyConfig),
    ("runner", RunnerConfig),
    ("ray", RayConfig),
)
_COLUMNS: Final = 100


def campaign_text(model: Path, platform: str) -> str:
    """Gives the text of a campaign file for a model on a platform.

    It is a good campaign as it stands, with every default of :class:`CampaignConfig`. Names and texts come from
    there.

    Args:
        model: Path of the model, as the file should name it.
        platform: A name of ``helia-aot platforms list``.

    Raises:
        ConfigError: The platform is not known.
    """
    memories = load_platform(platform).memory_sizes
    lines = [
        "# A campaign: helia-search run <this file>. Paths count from the current directory.",
        _scalar("convert", {"model": {"path": model.as_posix()}, "platform": {"name": platform}}),
        "",
        *_comment(CampaignConfig.model_fields["objectives"].description),
        _scalar("objectives", ["cycles"]),
        "",
        *_comment(CampaignConfig.model_fields["budget"].description),
        "# budget: {"
        + ", ".join(f"{name}_bytes: {size}" for name, size in memories.items() if size)
        + "}",
    ]
    for name, section in _SECTIONS:
        lines += ["", *_comment(CampaignConfig.model_fields[name].description), f"# {name}:"]
        for key, field in section.model_fields.items():
            default = field.get_default(call_default_factory=True)
            value = None if default is PydanticUndefined else default
            lines += [f"#   {_scalar(key, value)}", *_comment(field.description, "  ")]
    return "\n".join(lines) + "\n"


def write_campaign(model: Path, platform: str, path: Path) -> Path:
    """Writes a campaign file; an existing one is left alone.

    Raises:
        ConfigError: The model is missing, the platform is not known, or the file exists or cannot be written.
    """
    if not model.is_file():
        raise ConfigError(
            "The campaign cannot be made.",
            [Problem(str(model), "there is no such model")],
            next_step="give the path of a .tflite file",
        )
    text = campaign_text(model, platform)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(
            f"{path} exists and is left alone.", next_step="give another name with --out"
        ) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def _scalar(key: str, value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return f"{key}: {text.removesuffix('...' + chr(10)).strip()}"


def _comment(text: str | None, indent: str = "") -> list[str]:
    prefix = f"# {indent}{'  ' if indent else ''}"
    return [f"{prefix}{line}" for line in textwrap.wrap(text or "", _COLUMNS - len(prefix))]
