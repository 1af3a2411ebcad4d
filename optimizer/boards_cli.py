# SPDX-License-Identifier: Apache-2.0
"""The commands ``helia-search boards``: list, check, quarantine, release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="boards", help="Look after the boards of a board file.", no_args_is_help=True
)

BoardsFile = Annotated[Path, typer.Option("--boards", help="The board file.")]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[BOARD]...", help="Names of boards; all if left out.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
DEFAULT_FILE = Path("boards.yaml")


@app.command("list")
def list_boards(boards: BoardsFile = DEFAULT_FILE, as_json: AsJson = False) -> None:
    """Show the boards and their state; none is touched."""
    from runners.device.bench import board_status
    from runners.device.boards import load_boards

    found = [board_status(name, board) for name, board in load_boards(boards).items()]
    if as_json:
        typer.echo(json.dumps([status.model_dump() for status in found], indent=2))
        return
    for status in found:
        state = "free"
        if status.quarantine is not None:
            state = f"set aside: {status.quarantine}"
        elif status.in_use_by is not None:
            state = f"in use by {status.in_use_by}"
        flash = f", flash written {status.flash_writes} times" if status.flash_writes else ""
        typer.echo(f"{status.name}: {status.platform}, probe {status.probe}, {state}{flash}")


@app.command()
def check(names: Names = None, boards: BoardsFile = DEFAULT_FILE, as_json: AsJson = False) -> None:
    """Connect to boards and compare them with the file; exit code 8 unless all are right.

    A board that is right comes back from quarantine; one that is not is set aside.
    """
    from runners.device.bench import check_board, chosen_boards
    from runners.device.boards import load_boards

    chosen = chosen_boards(load_boards(boards), names or [])
    found = [check_board(name, board) for name, board in chosen.items()]
    if as_json:
        typer.echo(json.dumps([item.model_dump() for item in found], indent=2))
    else:
        for item in found:
            typer.echo(f"{item.name}: {'ok' if item.is_ok else 'failed'}: {item.detail}")
    if not all(item.is_ok for item in found):
        raise typer.Exit(8)


@app.command()
def quarantine(
    name: Annotated[str, typer.Argument(metavar="BOARD", help="Name of a board.")],
    reason: Annotated[str, typer.Option(help="Why; others see it.")] = "set aside by hand",
    boards: BoardsFile = DEFAULT_FILE,
) -> None:
    """Set a board aside: nothing is measured on it until it is released."""
    from runners.device.bench import chosen_boards
    from runners.device.board_state import BoardState
    from runners.device.boards import load_boards

    board = chosen_boards(load_boards(boards), [name])[name]
    BoardState(board.probe_id).set_aside(reason)
    typer.echo(f"{name}: set aside: {reason}")


@app.command()
def release(
    name: Annotated[str, typer.Argument(metavar="BOARD", help="Name of a board.")],
    boards: BoardsFile = DEFAULT_FILE,
) -> None:
    """Bring a board back from quarantine, without a check."""
    from runners.device.bench import chosen_boards
    from runners.device.board_state import BoardState
    from runners.device.boards import load_boards

    board = chosen_boards(load_boards(boards), [name])[name]
    was_aside = BoardState(board.probe_id).release()
    typer.echo(f"{name}: {'released' if was_aside else 'was not set aside'}")
