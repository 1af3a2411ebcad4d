# SPDX-License-Identifier: Apache-2.0
"""What a running campaign shows: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text


@dataclass(frozen=True)
class CampaignState:
    """Where a campaign is.

    Attributes:
        stage: What it does, e.g. ``search``.
        trials: Search trials finished, those of earlier runs included.
        total: Search trials planned; the size of the space where that is smaller.
        best_cycles: Lowest cycles so far; None before the first measurement.
        baseline_cycles: Cycles of the baseline; None before it is measured.
        failures: Number of failed evaluations by status.
        repeats: Proposals that were answered from the ledger.
        finished_here: Search trials finished by this process, for the rate.
    """

    stage: str
    trials: int = 0
    total: int = 0
    best_cycles: int | None = None
    baseline_cycles: int | None = None
    failures: Mapping[str, int] = field(default_factory=dict)
    repeats: int = 0
    finished_here: int = 0


class Progress(Protocol):
    """Where a campaign reports to while it runs."""

    def update(self, state: CampaignState) -> None:
        """Shows the newest state; called after every event."""
        ...

    def note(self, text: str) -> None:
        """Shows one line that stays."""
        ...


def state_text(state: CampaignState, elapsed_s: float) -> str:
    """Gives the state as one line.

    Args:
        state: The state.
        elapsed_s: Seconds since the search began in this process, for rate and remaining time.
    """
    parts = [f"{state.stage}"]
    if state.total:
        parts.append(f"{state.trials}/{state.total} trials")
    if state.best_cycles is not None:
        gain = ""
        if state.baseline_cycles:
            gain = f" ({state.baseline_cycles / state.best_cycles:.3f}x of auto)"
        parts.append(f"best {state.best_cycles:,}{gain}")
    if state.failures:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(state.failures.items()))
        parts.append(f"failed {counts}")
    if state.repeats:
        parts.append(f"{state.repeats} repeats")
    if state.finished_here and elapsed_s > 0:
        rate = state.finished_here / elapsed_s
        parts.append(f"{rate:.2f} trials/s")
        if state.trials < state.total:
            parts.append(f"about {(state.total - state.trials) / rate:.0f} s left")
    return " | ".join(parts)


class PlainProgress:
    """Plain lines, one for each change of trials or stage; for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started_s = time.monotonic()
        self._shown = ("", -1)

    def update(self, state: CampaignState) -> None:
        """Prints a line when a trial ended or another stage began."""
        if state.stage != self._shown[0]:
            self._started_s = time.monotonic()
        if (state.stage, state.trials) != self._shown:
            self._shown = (state.stage, state.trials)
            self.note(state_text(state, time.monotonic() - self._started_s))

    def note(self, text: str) -> None:
        """Prints the line."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class LiveProgress:
    """One line that is renewed in place; for terminals. Use it as a context manager."""

    def __init__(self, console: Console) -> None:
        self._live = Live(Text(""), console=console, refresh_per_second=8, transient=True)
        self._started_s = time.monotonic()
        self._stage = ""

    def __enter__(self) -> Self:
        """Starts the display."""
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Removes the live line."""
        self._live.stop()

    def update(self, state: CampaignState) -> None:
        """Renews the line."""
        if state.stage != self._stage:
            self._stage, self._started_s = state.stage, time.monotonic()
        self._live.update(Text(state_text(state, time.monotonic() - self._started_s)))

    def note(self, text: str) -> None:
        """Prints the line above the live one."""
        self._live.console.print(text, markup=False, highlight=False)
