# SPDX-License-Identifier: Apache-2.0
"""Presets: settings of a space by name, as YAML files beside this one.

A preset holds ``text``, what it is for, and ``space``, settings as in a campaign file.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Any, Final

import yaml
from pydantic import AfterValidator, Field

from helia_aot.config.base import StrictModel

_SUFFIX: Final = ".yaml"


class Preset(StrictModel):
    """Settings of a space.

    Attributes:
        text: What they are for, in one sentence.
        space: The settings, as ``space`` in a campaign file.
    """

    text: str
    space: dict[str, Any] = Field(default_factory=dict)


def preset_names() -> tuple[str, ...]:
    """Gives the names of all presets, sorted."""
    names = [item.name for item in files(__name__).iterdir()]
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def load_preset(name: str) -> Preset:
    """Gives a preset by its name, one of :func:`preset_names`."""
    text = (files(__name__) / f"{name}{_SUFFIX}").read_text("utf-8")
    return Preset.model_validate(yaml.safe_load(text))


def _known(name: str) -> str:
    if name not in preset_names():
        raise ValueError(f"not a preset; use one of {', '.join(preset_names())}")
    return name


PresetName = Annotated[str, AfterValidator(_known)]
"""The name of a preset."""
