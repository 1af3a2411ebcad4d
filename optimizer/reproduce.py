# SPDX-License-Identifier: Apache-2.0
"""The command that converts with a written plan, exactly as the campaign measured it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from helia_aot.config.convert import ConvertConfig
from results.evidence import Rebuild

_ALWAYS = ("model.path", "platform.name")


def rebuilt_config(rebuild: Rebuild, model: Path) -> ConvertConfig:
    """Gives the conversion that evidence tells of, for a model that lies somewhere else."""
    tree = dict(rebuild.convert)
    section = tree.get("model")
    tree["model"] = {**(section if isinstance(section, dict) else {}), "path": str(model)}
    return ConvertConfig.model_validate(tree)


def reproduce_command(config: ConvertConfig, *, plan_path: Path, module_path: Path) -> str:
    """Gives one shell command: settings of the conversion that are no defaults, plan, and folder.

    Args:
        config: The conversion of the campaign.
        plan_path: The written plan.
        module_path: Folder that the command writes the module to.
    """
    values = dict(_leaves(config.model_dump(mode="json", exclude_defaults=True)))
    values |= {"model.path": [str(config.model.path)], "platform.name": [config.platform.name]}
    values |= {"optimization.plan": [str(plan_path)], "module.path": [str(module_path)]}
    for name in ("force", "verbose", "log_file"):
        values.pop(name, None)
    first = [name for name in _ALWAYS if name in values]
    last = ["optimization.plan", "module.path"]
    middle = sorted(set(values) - {*first, *last})
    words = ["helia-aot", "convert"]
    for name in [*first, *middle, *last]:
        words += [f"--{name.replace('_', '-')}", *values[name]]
    return shlex.join(words)


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[str]]]:
    for name, value in tree.items():
        dotted = f"{prefix}{name}"
        if dotted == "platform.memories" or isinstance(value, list):
            yield dotted, [json.dumps(value)]
        elif isinstance(value, Mapping):
            yield from _leaves(value, f"{dotted}.")
        elif isinstance(value, bool):
            yield dotted if value else f"no-{dotted}", []
        elif value is not None:
            yield dotted, [str(value)]
