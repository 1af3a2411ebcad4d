# SPDX-License-Identifier: Apache-2.0
"""The command line ``helia-search``: commands and exit codes; heavy imports wait until needed."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from helia_aot.errors import HeliaError
from optimizer.boards_cli import app as boards_app

if TYPE_CHECKING:
    from rich.console import Console

    from optimizer.progress import Progress

_INTERRUPTED = 130
_LOG_COLUMNS = 160

app = typer.Typer(
    name="helia-search",
    help="Search the best per-operator plan of a TFLite model by measuring on a target.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(boards_app)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@app.command()
def run(  # noqa: PLR0913 (one parameter for each option)
    source: Annotated[
        Path,
        typer.Argument(
            metavar="CAMPAIGN_OR_MODEL", help="A campaign file (.yaml), or a model (.tflite)."
        ),
    ],
    trials: Annotated[int | None, typer.Option(help="Plans to measure.")] = None,
    sampler: Annotated[
        str | None,
        typer.Option(help="Who proposes plans: profile, tpe, gp, nsga2, random or brute_force."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the proposals.")] = None,
    workers: Annotated[
        str | None,
        typer.Option(help="Evaluations side by side; auto: all cores; 0: in this process."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the ledger and the results.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin again; an existing ledger is kept aside.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Measure everything anew; see measurement_cache.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search; the same command again continues after any interruption."""
    from rich.console import Console

    from optimizer.campaign import run_campaign
    from optimizer.config import load_campaign_config

    overrides = _overrides(trials=trials, sampler=sampler, seed=seed, workers=workers, out=out)
    if no_cache:
        overrides["measurement_cache"] = False
    config = load_campaign_config(source, overrides)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    errors = Console(stderr=True, highlight=False)
    try:
        with ExitStack() as stack:
            progress = _progress(errors, stack)
            # Ray prints the loss of a worker to standard output, which belongs to the result.
            stack.enter_context(redirect_stdout(sys.stderr))
            summary = run_campaign(config, progress=progress, fresh=fresh)
    except KeyboardInterrupt:
        errors.print(
            "interrupted; nothing measured is lost, the same command continues", markup=False
        )
        raise typer.Exit(_INTERRUPTED) from None
    if as_json:
        typer.echo(summary.model_dump_json(indent=2))
        return
    from helia_aot.cli.messages import print_all
    from optimizer.console import summary_parts

    print_all(_console(), summary_parts(summary))


@app.command()
def presets(as_json: AsJson = False) -> None:
    """List the presets of search spaces: settings of space by name, for space.preset."""
    from search_spaces.presets import load_preset, preset_names

    found = {name: load_preset(name) for name in preset_names()}
    if as_json:
        content = {name: preset.model_dump(mode="json") for name, preset in found.items()}
        typer.echo(json.dumps(content, indent=2))
        return
    from rich.text import Text

    console = _console()
    for name, preset in found.items():
        console.print(Text.assemble((f"{name:16}", "bold"), f" {preset.text}"))


@app.command()
def init(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model (.tflite).")],
    platform: Annotated[
        str, typer.Option(help="A name of 'helia-aot platforms list'.")
    ] = "apollo510_evb",
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("campaign.yaml"),
) -> None:
    """Write a campaign file for a model, with every setting and what it means."""
    from optimizer.new_campaign import write_campaign

    typer.echo(write_campaign(model, platform, out))


@app.command()
def measure(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="CONVERT_OR_MODEL", help="A conversion (.yaml), or a model (.tflite)."
        ),
    ],
    inputs: Annotated[
        Path | None,
        typer.Option(help="Inputs (.npz, input_0 ..) and outputs to compare (output_0 ..)."),
    ] = None,
    outputs: Annotated[
        Path | None, typer.Option(help="Where to write what the target computed (.npz).")
    ] = None,
    boards: Annotated[
        Path | None, typer.Option(help="A board file: measure on a board, not in the simulator.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert, build and measure one module; exit code 8 unless it ran and its outputs are right."""
    from helia_aot.cli.messages import print_all
    from optimizer.config import load_measured_config
    from optimizer.console import measure_as_json, measure_parts
    from runners.measure import measure as measure_module

    report = measure_module(
        load_measured_config(path),
        inputs_path=inputs,
        outputs_path=outputs,
        boards=boards,
    )
    if as_json:
        typer.echo(measure_as_json(report))
    else:
        print_all(_console(), measure_parts(report))
    if report.measurement.status != "ok" or report.bit_exact is False:
        raise typer.Exit(8)


CampaignFolder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a campaign.")]


@app.command()
def status(folder: CampaignFolder, as_json: AsJson = False) -> None:
    """Show where a campaign is; a running one is not disturbed."""
    from optimizer.status import campaign_status

    found = campaign_status(folder)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
        return
    from helia_aot.cli.messages import print_all
    from optimizer.console import status_parts

    print_all(_console(), status_parts(found))


@app.command()
def report(folder: CampaignFolder) -> None:
    """Write report.html, one page about a finished campaign, and print where it is."""
    from optimizer.report import write_report

    typer.echo(write_report(folder))


@app.command()
def verify(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="A written plan, with evidence.json beside it.")
    ],
    model: Annotated[
        Path | None, typer.Option(help="The model; else its file beside the plan or here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rebuild and measure a written plan again; exit code 9 unless its claim holds."""
    from optimizer.verify import verify_plan

    report = verify_plan(plan, model_path=model)
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        from helia_aot.cli.messages import print_all
        from optimizer.console import verify_parts

        print_all(_console(), verify_parts(report))
    if not report.holds:
        raise typer.Exit(9)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR_A", help="Folder of a finished campaign.")],
    second: Annotated[Path, typer.Argument(metavar="DIR_B", help="Folder of another one.")],
    as_json: AsJson = False,
) -> None:
    """Show how two finished campaigns differ, and whether their cycles may be compared."""
    from results.comparison import compare_campaigns

    found = compare_campaigns(first, second)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
        return
    from helia_aot.cli.messages import print_all
    from optimizer.console import comparison_parts

    print_all(_console(), comparison_parts(found))


@app.command()
def export(
    folder: CampaignFolder,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="t4: the open autotuning results schema (JSON); csv; or optuna: a study for "
            "optuna-dashboard, written into the folder.",
        ),
    ] = "t4",
) -> None:
    """Print all evaluations of a campaign for other tools."""
    from helia_aot.errors import ConfigError
    from results.errors import CampaignError
    from results.export import to_csv, to_t4
    from results.ledger import LEDGER_NAME, read_ledger

    if form == "optuna":
        from optimizer.export_study import write_study

        typer.echo(write_study(folder))
        return
    writers = {"t4": to_t4, "csv": to_csv}
    if form not in writers:
        raise ConfigError(
            f"There is no export format {form!r}.",
            next_step=f"use one of: {', '.join(writers)}, optuna",
        )
    content = read_ledger(folder / LEDGER_NAME)
    if content is None:
        raise CampaignError(
            f"{folder} holds no campaign.", next_step="give the folder of a campaign (out)"
        )
    typer.echo(writers[form](content[1]), nl=False)


@app.command()
def doctor(
    platform: Annotated[
        str, typer.Option(help="A name of 'helia-aot platforms list'.")
    ] = "apollo510_evb",
    boards: Annotated[
        Path | None, typer.Option(help="A board file, whose boards are connected to as well.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is installed and whether the runners work; exit code 8 if something is missing."""
    from rich.text import Text

    from optimizer.doctor import run_checks

    checks = run_checks(platform, boards)
    if as_json:
        typer.echo(json.dumps([check.model_dump() for check in checks], indent=2))
    else:
        console = _console()
        for check in checks:
            mark = ("ok      ", "green") if check.is_ok else ("missing ", "bold red")
            console.print(Text.assemble(mark, (check.name, "bold"), f": {check.detail}"))
            if check.next_step:
                console.print(Text(f"        -> {check.next_step}", "cyan"))
    if not all(check.is_ok for check in checks):
        raise typer.Exit(8)


@app.command()
def cache(
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete what was not used for the longest time first.")
    ] = False,
    limit_mb: Annotated[
        int | None,
        typer.Option(min=0, help="With --prune: megabytes that each cache may keep; 0 empties it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what the caches of this machine take, and prune them; they prune themselves, too."""
    from optimizer.caches import cache_reports
    from runners.cache_files import limit_bytes

    most_bytes = limit_bytes() if limit_mb is None else limit_mb * 2**20
    found = cache_reports(prune_to_bytes=most_bytes if prune else None)
    if as_json:
        typer.echo(json.dumps([report.model_dump() for report in found], indent=2))
        return
    from helia_aot.cli.messages import print_all
    from optimizer.console import cache_parts

    print_all(_console(), cache_parts(found))


@app.command()
def version() -> None:
    """Print the installed version."""
    from helia_aot.version import __version__

    typer.echo(__version__)


def main() -> None:
    """Runs the command line; exits with 0, an error's code, 2 (usage) or 130 (interrupted)."""
    try:
        app(prog_name="helia-search")
    except HeliaError as error:
        from helia_aot.cli.messages import print_error

        print_error(error)
        sys.exit(error.exit_code)


def _overrides(
    *,
    trials: int | None,
    sampler: str | None,
    seed: int | None,
    workers: str | None,
    out: Path | None,
) -> dict[str, Any]:
    search = {"trials": trials, "sampler": sampler, "seed": seed}
    tree: dict[str, Any] = {}
    if given := {name: value for name, value in search.items() if value is not None}:
        tree["search"] = given
    if workers is not None:
        tree["ray"] = {"workers": int(workers) if workers.isdecimal() else workers}
    if out is not None:
        tree["out"] = out
    return tree


def _console() -> Console:
    """Gives standard output; wide where it is no terminal, so that tables in logs keep their lines."""
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=_LOG_COLUMNS)


def _progress(console: Console, stack: ExitStack) -> Progress:
    from optimizer.progress import LiveProgress, PlainProgress

    if console.is_terminal:
        return stack.enter_context(LiveProgress(console))
    return PlainProgress(console)


if __name__ == "__main__":
    main()
