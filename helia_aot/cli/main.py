# SPDX-License-Identifier: Apache-2.0
"""The command line ``helia-aot``: commands, exit codes, and nothing heavy before it is needed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from helia_aot.errors import HeliaError

_INTERRUPTED = 130

app = typer.Typer(
    name="helia-aot",
    help="Compile TFLite models to stand-alone C modules for Cortex-M.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
platforms_app = typer.Typer(
    help="Show the targets that modules can be made for.", no_args_is_help=True
)
app.add_typer(platforms_app, name="platforms")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@app.command(
    add_help_option=False,
    context_settings={
        "allow_extra_args": True,
        "allow_interspersed_args": False,
        "ignore_unknown_options": True,
    },
)
def convert(context: typer.Context) -> None:
    """Convert a model to a C module; 'convert --help' lists every option."""
    from helia_aot.cli.convert import run_convert

    try:
        run_convert(context.args)
    except KeyboardInterrupt:
        raise typer.Exit(_INTERRUPTED) from None


@platforms_app.command("list")
def list_platforms(as_json: AsJson = False) -> None:
    """List every target."""
    from helia_aot.cli.platforms import print_platforms

    print_platforms(as_json=as_json)


@platforms_app.command("show")
def show_platform(
    name: Annotated[str, typer.Argument(help="A name of 'helia-aot platforms list'.")],
    as_json: AsJson = False,
) -> None:
    """Show a target: core, clocks, memories, capabilities."""
    from helia_aot.cli.platforms import print_platform

    print_platform(name, as_json=as_json)


@app.command()
def version() -> None:
    """Print the installed version."""
    from helia_aot.version import __version__

    typer.echo(__version__)


def main() -> None:
    """Runs the command line and exits.

    Exit codes: 0, the code of the error, 2 for wrong usage, 130 when interrupted.
    """
    try:
        app(prog_name="helia-aot")
    except HeliaError as error:
        from helia_aot.cli.messages import print_error

        print_error(error)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
