# SPDX-License-Identifier: Apache-2.0
"""Reads a configuration: command line over YAML file over defaults, every problem at once.

Lists given in an override replace those of the file; mappings merge key by key. A null stands for
"not set".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from helia_aot.config.convert import ConvertConfig
from helia_aot.config.problems import NOWHERE, Location, Place, problems_of
from helia_aot.config.yaml_file import YamlFile, read_yaml_file
from helia_aot.errors import ConfigError, HeliaError, Problem

_NEXT_STEP = "see 'helia-aot convert --help' for every key"


_KEY: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[\d+\])*")
_STEP: Final = re.compile(r"\w+|\[\d+\]")

E = TypeVar("E", bound=HeliaError)


@dataclass(frozen=True)
class ConfigSource:
    """Where the values of a configuration come from.

    Attributes:
        file: The YAML file; None when there is none.
        overrides: Nested values that go over those of the file.
    """

    file: YamlFile | None
    overrides: Mapping[str, Any]

    @property
    def tree(self) -> dict[str, Any]:
        """The values of the file with the overrides on top."""
        return merged(self.file.tree if self.file else {}, self.overrides)

    def place_of(self, location: Location) -> Place:
        """Gives where a key is written: nowhere when an override sets it or there is no file."""
        if self.file is None or _overridden(self.overrides, location):
            return NOWHERE
        return Place(str(self.file.path), self.file.line(location))

    def located(self, error: E) -> E:
        """Gives an error with file and line at every problem that names a key of the file."""
        problems = [
            replace(problem, source=self._place_of_key(problem.where))
            if not problem.source
            else problem
            for problem in error.problems
        ]
        return type(error)(error.summary, problems, next_step=error.next_step)

    def _place_of_key(self, key: str) -> str:
        if self.file is None or not _KEY.fullmatch(key):
            return ""
        steps = [int(step[1:-1]) if step.startswith("[") else step for step in _STEP.findall(key)]
        return str(self.place_of(steps)) if self.file.has(steps) else ""


def load_convert_config(
    path: Path | None, overrides: Mapping[str, Any] | None = None
) -> ConvertConfig:
    """Gives the configuration of one conversion.

    Args:
        path: The YAML file; None for defaults and overrides only.
        overrides: Values over those of the file, nested (``{"module": {"prefix": "kws"}}``) or with
            dotted keys (``{"module.prefix": "kws"}``).

    Raises:
        ConfigError: The file cannot be read, or keys or values are wrong; carries every problem, each
            with its key and the line of the file.
    """
    config, problems = check_convert_config(read_config_source(path, overrides or {}))
    if config is None:
        raise ConfigError("The configuration is not valid", problems, next_step=_NEXT_STEP)
    return config


def read_config_source(path: Path | None, overrides: Mapping[str, Any]) -> ConfigSource:
    """Gives the values of a file and what goes over them, unchecked.

    Raises:
        ConfigError: The file cannot be read or is not YAML.
    """
    return ConfigSource(read_yaml_file(path) if path else None, _nested(overrides))


def check_convert_config(source: ConfigSource) -> tuple[ConvertConfig | None, list[Problem]]:
    """Gives the configuration, or None with everything that is wrong in it."""
    try:
        return ConvertConfig.model_validate(_without_nulls(source.tree)), []
    except ValidationError as error:
        return None, problems_of(error, ConvertConfig, source.place_of)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Gives ``base`` with the values of ``over`` on top: mappings merge, all else is replaced."""
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            result[key] = merged(below, value)
        else:
            result[key] = value
    return result


def read_yaml(path: Path) -> dict[str, Any]:
    """Gives the mapping in a YAML file; an empty file is an empty mapping.

    Raises:
        ConfigError: As :func:`helia_aot.config.yaml_file.read_yaml_file` says.
    """
    return read_yaml_file(path).tree


def _nested(overrides: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for dotted, value in overrides.items():
        head, *rest = reversed(dotted.split("."))
        branch: dict[str, Any] = {head: value}
        for name in rest:
            branch = {name: branch}
        tree = merged(tree, branch)
    return tree


def _without_nulls(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_nulls(value) if isinstance(value, Mapping) else value
        for key, value in tree.items()
        if value is not None
    }


def _overridden(overrides: Mapping[str, Any], location: Sequence[str | int]) -> bool:
    """Says whether the value at a location is, or is inside, one that an override replaced."""
    branch: Any = overrides
    for part in location:
        if not isinstance(branch, Mapping):
            return True
        if part not in branch:
            return False
        branch = branch[part]
    return not isinstance(branch, Mapping)
