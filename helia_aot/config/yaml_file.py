# SPDX-License-Identifier: Apache-2.0
"""A YAML file with the line of every key, so that what is wrong can be told with its place."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from helia_aot.errors import ConfigError, Problem


@dataclass(frozen=True)
class YamlFile:
    """A mapping read from a YAML file.

    Attributes:
        path: The file, as it was named.
        tree: Its content; an empty file is an empty mapping.
        root: The parsed nodes, which know their lines; None for an empty file.
    """

    path: Path
    tree: dict[str, Any]
    root: yaml.Node | None

    def line(self, location: Sequence[str | int]) -> int | None:
        """Gives the line of a key, from 1.

        Args:
            location: Keys and list positions from the root, e.g. ``("operators", 0, "type")``.

        Returns:
            The line of the key, or of the deepest section around it that the file has; None when it
            has none of them.
        """
        line = None
        node = self.root
        for part in location:
            found = _child(node, part)
            if found is None:
                break
            line, node = found
        return line

    def has(self, location: Sequence[str | int]) -> bool:
        """Says whether the file has a value at a location."""
        node = self.root
        for part in location:
            found = _child(node, part)
            if found is None:
                return False
            node = found[1]
        return True


def read_yaml_file(path: Path) -> YamlFile:
    """Reads a YAML file that holds a mapping.

    Raises:
        ConfigError: The file cannot be read, is not YAML, repeats a key, contains itself, or is not a
            mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tree, root = _parse(text)
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
    except (yaml.YAMLError, ValueError) as error:
        raise _not_yaml(str(path), str(error)) from error
    except RecursionError as error:
        raise _not_yaml(str(path), "nested too deeply") from error
    if tree is None:
        return YamlFile(path, {}, None)
    if not isinstance(tree, dict):
        raise _not_yaml(str(path), "the file is not a mapping of keys to values")
    return YamlFile(path, tree, root)


def _parse(text: str) -> tuple[Any, yaml.Node | None]:
    loader = _UniqueKeyLoader(text)
    # Depth first, so that a value that contains itself is an error here, not endless work later.
    loader.deep_construct = True
    try:
        root = loader.get_single_node()
        return (None if root is None else loader.construct_document(root)), root
    finally:
        loader.dispose()


def _child(node: yaml.Node | None, part: str | int) -> tuple[int, yaml.Node] | None:
    """Gives line (from 1) and node of a key or list position; None when there is none."""
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):  # what << merges in comes first and is overridden
            if isinstance(key, yaml.ScalarNode) and key.value == str(part):
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark.line + 1, item
    return None


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
