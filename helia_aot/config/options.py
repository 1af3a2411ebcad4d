# SPDX-License-Identifier: Apache-2.0
"""The dotted command-line options of ``convert``, made from the fields of the configuration."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn

from pydantic_settings import BaseSettings, CliSettingsSource, SettingsConfigDict, SettingsError

from helia_aot.config.convert import ConvertConfig
from helia_aot.config.load import (
    ConfigSource,
    check_convert_config,
    merged,
    read_config_source,
)
from helia_aot.config.problems import mapping_keys, unknown_key
from helia_aot.errors import ConfigError, Problem

_USAGE: Final = (
    "helia-aot convert [MODEL.tflite] [--path CONVERT.yaml] [--section.option VALUE ...]\n\n"
    "Convert a model to a C module. Options go over the file given with --path, and the file over\n"
    "defaults. Lists are JSON and replace those of the file. One entry of a mapping is set as in\n"
    "--optimization.budget.cycles 1000000. Dashes and underscores are the same."
)
_NO_DEFAULT: Final = re.compile(r" \(default: null\)| \(default factory: (?:list|dict)\)")


@dataclass(frozen=True)
class ConvertOptions:
    """What the command line of ``convert`` asks for.

    Attributes:
        config: The configuration, file and defaults included.
        source: Where its values come from, to tell the place of what turns out wrong later.
        as_json: Whether the result goes to standard output as JSON.
    """

    config: ConvertConfig
    source: ConfigSource
    as_json: bool


class _OptionError(Exception):
    """The parser's complaint, with the option in its text."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _OptionError(message)


class _Settings(BaseSettings, ConvertConfig):
    """The configuration's fields, in the form in which pydantic-settings makes options of them."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)


def parse_convert_options(arguments: Sequence[str]) -> ConvertOptions:
    """Gives what the arguments after ``convert`` ask for, as a checked configuration.

    Raises:
        ConfigError: Options or keys are unknown or wrong, or the file cannot be read; carries every
            problem of the command line and of the file.
    """
    parser, source = _make_parser()
    rest, entries, problems = _take_entries(arguments)
    known, unknown = _without_unknown(rest, parser)
    problems += unknown
    try:
        options, positional = parser.parse_known_args(known)
        overrides = merged(source(parsed_args=options)(), entries)
    except _OptionError as error:
        raise _invalid([*problems, _parser_problem(str(error))]) from error
    except SettingsError as error:
        raise _invalid([*problems, _bad_json(error)]) from error
    problems += _take_model(positional, overrides)
    config_source = read_config_source(options.path, overrides)
    config, found = check_convert_config(config_source)
    if config is None or problems:
        raise _invalid([*problems, *found])
    return ConvertOptions(config, config_source, as_json=options.json)


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Says whether the arguments after ``convert`` ask for the help text."""
    return not {"--help", "-h"}.isdisjoint(arguments)


def convert_help() -> str:
    """Gives the help text: every option by section, with description and default."""
    return _make_parser()[0].format_help()


def _make_parser() -> tuple[argparse.ArgumentParser, CliSettingsSource[argparse.ArgumentParser]]:
    parser = _Parser(usage=_USAGE, add_help=False, allow_abbrev=False)
    parser.add_argument("--help", "-h", action="store_true", help="Show this text")
    parser.add_argument("--path", type=Path, metavar="Path", help="The YAML configuration file")
    parser.add_argument(
        "--json", action="store_true", help="Print the result as one JSON object, and nothing else"
    )
    source: CliSettingsSource[argparse.ArgumentParser] = CliSettingsSource(
        _Settings,
        root_parser=parser,
        cli_avoid_json=True,  # sections are set key by key
        cli_hide_none_type=True,
        cli_implicit_flags=True,
        cli_kebab_case=True,
        cli_parse_none_str="null",
    )
    for action in parser._actions:
        action.help = _NO_DEFAULT.sub("", action.help or "")
    return parser, source


def _option_names(parser: argparse.ArgumentParser) -> list[str]:
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    return [name for action in shown for name in action.option_strings]


def _without_unknown(
    arguments: Sequence[str], parser: argparse.ArgumentParser
) -> tuple[list[str], list[Problem]]:
    """Takes unknown options and their values out, so that the rest is checked as well."""
    names = _option_names(parser)
    keys = [name.removeprefix("--").replace("-", "_") for name in names if name.startswith("--")]
    known: list[str] = []
    problems: list[Problem] = []
    skip_value = False
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not re.match(r"--?[A-Za-z]", name):
            if not skip_value:
                known.append(argument)
            skip_value = False
            continue
        spelt = name.replace("_", "-")
        skip_value = spelt not in names and not equals
        if spelt in names:
            known.append(spelt + equals + value)
        else:
            problems.append(_unknown_option(name, keys))
    return known, problems


def _take_entries(
    arguments: Sequence[str],
) -> tuple[list[str], dict[str, Any], list[Problem]]:
    """Takes options that set one entry of a mapping, such as ``--optimization.budget.cycles 100``.

    Returns:
        The other arguments, the entries as nested values, and the entries without a value.
    """
    rest: list[str] = []
    entries: dict[str, Any] = {}
    problems: list[Problem] = []
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        key = _entry_key(name)
        if key is None:
            rest.append(argument)
            continue
        if not equals:
            value = next(remaining, "--")
            if value.startswith("--"):
                problems.append(Problem(name, "expected one argument", f"write {name} VALUE"))
                rest += [value] if value != "--" else []
                continue
        branch: dict[str, Any] = {key[1]: value}
        for part in reversed(key[0].split(".")):
            branch = {part: branch}
        entries = merged(entries, branch)
    return rest, entries, problems


def _entry_key(option: str) -> tuple[str, str] | None:
    """Gives mapping and entry that an option names; None for any other option."""
    if not option.startswith("--"):
        return None
    key = option.removeprefix("--").replace("-", "_")
    for mapping in mapping_keys(ConvertConfig):
        if key.startswith(f"{mapping}.") and key != f"{mapping}.":
            return mapping, key.removeprefix(f"{mapping}.")
    return None


def _take_model(positional: Sequence[str], overrides: dict[str, Any]) -> list[Problem]:
    if not positional:
        return []
    model, *rest = positional
    problems = [Problem(argument, "unexpected argument", "remove it") for argument in rest]
    section = overrides.setdefault("model", {})
    if "path" in section:
        problems.append(Problem(model, "the model is given twice", "leave out --model.path"))
    section["path"] = model
    return problems


def _unknown_option(name: str, keys: Sequence[str]) -> Problem:
    problem = unknown_key(name.lstrip("-").replace("-", "_"), keys, sigil="--")
    return replace(problem, where=name)


def _parser_problem(message: str) -> Problem:
    match = re.fullmatch(r"argument (--[^:/]+)[^:]*: (.*)", message)
    return Problem(*match.groups()) if match else Problem("", message)


def _bad_json(error: SettingsError) -> Problem:
    match = re.fullmatch(r"Parsing error encountered for ([^:]+): (.*)", str(error), re.DOTALL)
    where, reason = match.groups() if match else ("", str(error))
    example = """'[{"type": "CONV_2D", "optimization": {"kernel": "generic"}}]'"""
    return Problem(f"--{where}" if where else "", f"not JSON: {reason}", f"write it as {example}")


def _invalid(problems: Sequence[Problem]) -> ConfigError:
    return ConfigError(
        "The configuration is not valid",
        problems,
        next_step="see 'helia-aot convert --help' for every option and key",
    )
