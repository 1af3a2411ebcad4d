# SPDX-License-Identifier: Apache-2.0
"""The command line ``helia-aot``: commands, exit codes, and nothing heavy before it is needed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from helia_aot.errors import HeliaError

_INTERRUPTED = 130
_DIFFERENT = 1

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
plan_app = typer.Typer(
    help="Show, compare and write back optimization plans.", no_args_is_help=True
)
app.add_typer(plan_app, name="plan")

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


PlanFile = Annotated[Path, typer.Argument(help="A <prefix>_plan.json file.", metavar="PLAN")]
OutFile = Annotated[
    Path | None, typer.Option("--out", help="Write to this file, not to standard output.")
]


@plan_app.command("show")
def show_plan(file: PlanFile, as_json: AsJson = False) -> None:
    """Show every choice of a plan with who made it."""
    from helia_aot.cli.plan import show_plan

    show_plan(file, as_json=as_json)


@plan_app.command("diff")
def diff_plans(
    a: Annotated[Path, typer.Argument(help="A plan.", metavar="A")],
    b: Annotated[Path, typer.Argument(help="The plan to compare with.", metavar="B")],
    as_json: AsJson = False,
) -> None:
    """Show what two plans choose differently, with MAC shares from the reports beside them.

    Exit code 0: the choices are the same; 1: they differ; other codes: a file cannot be read. Who
    asked for a choice is not compared.
    """
    from helia_aot.cli.plan import print_diff

    if print_diff(a, b, as_json=as_json):
        raise typer.Exit(_DIFFERENT)


@plan_app.command("rules")
def write_rules(file: PlanFile, out: OutFile = None) -> None:
    """Write a plan back as settings and rules of a convert.yaml.

    Converting the same model and target with them gives the same module.
    """
    from helia_aot.cli.plan import print_rules

    print_rules(file, out)


@app.command()
def schema(
    name: Annotated[
        str, typer.Argument(help="plan, report, residency or config; all for a file of each.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write to this file, or with 'all' into this folder."),
    ] = None,
) -> None:
    """Print the JSON schema of a file that this release reads or writes."""
    from helia_aot.cli.schema import export_schema

    export_schema(name, out)


@app.command()
def version() -> None:
    """Print the installed version."""
    from helia_aot.version import __version__

    typer.echo(__version__)


def main() -> None:
    """Runs the command line and exits.

    Exit codes: 0, 1 when 'plan diff' finds differences, the code of the error, 2 for wrong usage,
    130 when interrupted.
    """
    try:
        app(prog_name="helia-aot")
    except HeliaError as error:
        from helia_aot.cli.messages import print_error

        print_error(error)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
