# SPDX-License-Identifier: Apache-2.0
"""The command ``convert``: options in, module and results out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from helia_aot.cli.messages import (
    FILE_WIDTH,
    error_message,
    output_console,
    print_all,
    warning_message,
)
from helia_aot.config.options import (
    ConvertOptions,
    asks_for_help,
    convert_help,
    parse_convert_options,
)
from helia_aot.errors import BudgetError, ConfigError, HeliaError, Problem


def run_convert(arguments: Sequence[str]) -> None:
    """Converts a model as the command line says, and prints the results.

    Raises:
        HeliaError: Whatever stopped the conversion; no module is written then.
    """
    output = output_console()
    if asks_for_help(arguments):
        output.print(Text(convert_help().rstrip()), soft_wrap=True)
        return
    options = parse_convert_options(arguments)
    with _log(options.config.log_file) as log:
        try:
            _convert(options, output, log)
        except HeliaError as error:
            told = _with_places(error, options)
            for console in log:
                print_all(console, error_message(told))
            raise told from error


def _with_places(error: HeliaError, options: ConvertOptions) -> HeliaError:
    """Adds the lines of the configuration file to what the conversion found wrong with it."""
    about_settings = isinstance(error, ConfigError | BudgetError)
    return options.source.located(error) if about_settings else error


def _convert(options: ConvertOptions, output: Console, log: Sequence[Console]) -> None:
    from helia_aot.api import convert, write_output
    from helia_aot.cli.results import results, results_as_json

    config = options.config
    conversion = convert(config)
    module = write_output(conversion)
    for console in log:
        print_all(console, map(warning_message, conversion.warnings))
        print_all(console, results(conversion, module, verbose=config.verbose))
    if options.as_json:
        output.print(results_as_json(conversion, module), markup=False, soft_wrap=True, emoji=False)
        return
    errors = Console(stderr=True, highlight=False)
    print_all(errors, map(warning_message, conversion.warnings))
    print_all(output, results(conversion, module, verbose=config.verbose))


@contextmanager
def _log(path: Path | None) -> Iterator[list[Console]]:
    """Gives the console that writes the log file, if there is one."""
    if path is None:
        yield []
        return
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            "The log file cannot be written",
            [Problem("log_file", f"{path}: {error.strerror}", "choose another file")],
        ) from error
    with file:
        yield [Console(file=file, highlight=False, width=FILE_WIDTH, no_color=True)]
