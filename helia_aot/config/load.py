# SPDX-License-Identifier: Apache-2.0
"""Reads a configuration: command line over YAML file over defaults, every problem at once.

Lists given in an override replace those of the file; mappings merge key by key. A null stands for
"not set".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from helia_aot.config.convert import ConvertConfig
from helia_aot.config.problems import problems_of
from helia_aot.errors import ConfigError, Problem

_NEXT_STEP = "see 'helia-aot convert --help' for every key"


def load_convert_config(
    path: Path | None, overrides: Mapping[str, Any] | None = None
) -> ConvertConfig:
    """Gives the configuration of one conversion.

    Args:
        path: The YAML file; None for defaults and overrides only.
        overrides: Values over those of the file, nested (``{"module": {"prefix": "kws"}}``) or with
            dotted keys (``{"module.prefix": "kws"}``).

    Raises:
        ConfigError: The file cannot be read, or keys or values are wrong; carries every problem.
    """
    config, problems = check_convert_config(path, overrides or {})
    if config is None:
        raise ConfigError("The configuration is not valid", problems, next_step=_NEXT_STEP)
    return config


def check_convert_config(
    path: Path | None, overrides: Mapping[str, Any]
) -> tuple[ConvertConfig | None, list[Problem]]:
    """Gives the configuration, or None with everything that is wrong in it.

    Raises:
        ConfigError: The file cannot be read or is not YAML.
    """
    tree = _without_nulls(merged(read_yaml(path) if path else {}, _nested(overrides)))
    try:
        return ConvertConfig.model_validate(tree), []
    except ValidationError as error:
        return None, problems_of(error, ConvertConfig)


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
        ConfigError: The file cannot be read, is not YAML, repeats a key, or is not a mapping.
    """
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeyLoader)
    except OSError as error:
        raise ConfigError(
            "The configuration file cannot be read",
            [Problem(str(path), error.strerror or str(error))],
            next_step="check the path",
        ) from error
    except UnicodeDecodeError as error:
        raise _not_yaml(str(path), f"not UTF-8 text (byte {error.start})") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        reason = ", ".join(part for part in (error.problem, error.context) if part)
        raise _not_yaml(where, reason) from error
    except yaml.YAMLError as error:
        raise _not_yaml(str(path), str(error)) from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise _not_yaml(str(path), "the file is not a mapping of keys to values")
    return tree


def _not_yaml(where: str, reason: str) -> ConfigError:
    return ConfigError("The configuration file is not valid YAML", [Problem(where, reason)])


class _UniqueKeyLoader(yaml.SafeLoader):
    """The safe loader, but a key given twice in one mapping is an error, not a silent choice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.value in seen and isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} is given twice", key_node.start_mark
                )
            if isinstance(key_node, yaml.ScalarNode):
                seen.add(key_node.value)
        return super().construct_mapping(node, deep)


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
