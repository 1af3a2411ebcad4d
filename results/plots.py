# SPDX-License-Identifier: Apache-2.0
"""Plots of a campaign as SVG text for the report page; the only file that imports matplotlib.

Equal data give equal text: no dates, no random ids. Colours are placeholders that the page's style sheet gives their
values, so that plots follow a light or a dark page; texts stay texts and use the page's font.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PLACEHOLDERS: Final[Mapping[str, str]] = {
    "text": "#010101",
    "quiet": "#020202",
    "line": "#030303",
    "accent": "#040404",
    "tuned": "#050505",
    "limit": "#060606",
    "text_bytes": "#070707",
    "rodata_bytes": "#080808",
    "data_bytes": "#090909",
    "bss_bytes": "#0a0a0a",
}
"""Colours that matplotlib draws with; each becomes ``var(--<name>)``."""

_WIDTH_INCHES: Final = 8.0
_HEADROOM: Final = 0.5
"""Room above the baseline in a picture of cycles, as a share of the gain below it."""

_HASH_SALT: Final = "helia-search"


@dataclass(frozen=True)
class Trial:
    """One measured plan in the order of measuring.

    Attributes:
        cycles: Its cycles.
        bound_cycles: The fitted bound after it; None where the builds do not tell.
    """

    cycles: int
    bound_cycles: float | None = None


@dataclass(frozen=True)
class FrontPoint:
    """One plan in the picture of two objectives.

    Attributes:
        x: Value of the second objective.
        y: Value of the first.
        kind: ``front``, ``written`` or ``measured``.
    """

    x: float
    y: float
    kind: str


def convergence_plot(trials: Sequence[Trial], counts: str) -> str:
    """Draws what each plan measured, the best so far and the fitted bound, over the plans.

    The picture ends a little above the baseline; slower plans are marked at its upper edge.

    Args:
        trials: At least one; the first is the baseline.
        counts: What cycles mean, for the axis.
    """
    from matplotlib.ticker import MaxNLocator

    numbers = range(1, len(trials) + 1)
    cycles = [trial.cycles for trial in trials]
    best = list(accumulate(cycles, min))
    lowest = min(best[-1], *(trial.bound_cycles or best[-1] for trial in trials))
    top = trials[0].cycles + max((trials[0].cycles - lowest) * _HEADROOM, trials[0].cycles * 0.02)
    inside = [(i, value) for i, value in zip(numbers, cycles, strict=True) if value <= top]
    above = [i for i, value in zip(numbers, cycles, strict=True) if value > top]
    with _figure(3.0) as (figure, axes):
        axes.axhline(
            trials[0].cycles, color=_PLACEHOLDERS["quiet"], linewidth=1, linestyle=(0, (4, 3))
        )
        axes.scatter(
            [i for i, _ in inside],
            [value for _, value in inside],
            s=16,
            color=_PLACEHOLDERS["accent"],
            label="plan",
        )
        if above:
            axes.scatter(
                above,
                [top] * len(above),
                s=22,
                marker="^",
                color=_PLACEHOLDERS["quiet"],
                label="slower plan",
                clip_on=False,
            )
        axes.step(
            numbers, best, where="post", color=_PLACEHOLDERS["tuned"], linewidth=1.8, label="best"
        )
        known = [
            (i, t.bound_cycles) for i, t in zip(numbers, trials, strict=True) if t.bound_cycles
        ]
        if known:
            axes.step(
                [i for i, _ in known],
                [bound for _, bound in known],
                where="post",
                color=_PLACEHOLDERS["limit"],
                linewidth=1.2,
                label="no plan is expected below",
            )
        axes.set_xlabel("plans measured")
        axes.set_ylabel(counts)
        axes.set_ylim(top=top)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4, frameon=False)
        return _svg(figure, "Cycles of the plans in the order of measuring")


def front_plot(points: Sequence[FrontPoint], x_label: str, y_label: str) -> str:
    """Draws plans over two objectives, those of the Pareto front joined by steps.

    Args:
        points: At least one.
        x_label: Name of the second objective.
        y_label: Name of the first.
    """
    with _figure(3.4) as (figure, axes):
        for kind, colour, size in (
            ("measured", "line", 14),
            ("front", "accent", 28),
            ("written", "tuned", 60),
        ):
            chosen = [point for point in points if point.kind == kind]
            if chosen:
                axes.scatter(
                    [point.x for point in chosen],
                    [point.y for point in chosen],
                    s=size,
                    color=_PLACEHOLDERS[colour],
                    label={"front": "front", "written": "the written plan"}.get(kind, kind),
                    zorder=3,
                )
        front = sorted((p.x, p.y) for p in points if p.kind in ("front", "written"))
        axes.step(
            [x for x, _ in front],
            [y for _, y in front],
            where="post",
            color=_PLACEHOLDERS["accent"],
            linewidth=1,
        )
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.legend(loc="best", frameon=False)
        return _svg(figure, f"{y_label} over {x_label}")


MEMORY_KINDS: Final[Mapping[str, str]] = {
    "text_bytes": "code",
    "rodata_bytes": "constants in place",
    "data_bytes": "initialised data",
    "bss_bytes": "scratch and zeroed data",
}
"""The parts of a memory, by the fields of ``MemorySections``, and their names in the legend."""


def memory_plot(memories: Mapping[str, Sequence[Mapping[str, int]]]) -> str:
    """Draws what each memory holds with ``auto`` and with the written plan.

    Args:
        memories: For each memory two mappings from the names of :data:`MEMORY_KINDS` to bytes.
    """
    rows = [
        (f"{memory}, {who}", parts)
        for memory, pair in memories.items()
        for who, parts in zip(("auto", "written"), pair, strict=True)
    ]
    with _figure(0.9 + 0.34 * len(rows)) as (figure, axes):
        for row, (_, parts) in enumerate(rows):
            left = 0.0
            for kind, name in MEMORY_KINDS.items():
                kib = parts.get(kind, 0) / 1024
                label = name if row == 0 else None
                axes.barh(row, kib, left=left, height=0.7, color=_PLACEHOLDERS[kind], label=label)
                left += kib
        axes.set_yticks(range(len(rows)), [name for name, _ in rows])
        axes.invert_yaxis()
        axes.set_xlabel("KiB of the module, its kernels and the C library")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.28), ncols=4, frameon=False)
        return _svg(figure, "Memory with auto and with the written plan")


@contextmanager
def _figure(height_inches: float) -> Iterator[tuple[Figure, Axes]]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": _HASH_SALT,
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.formatter.useoffset": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": _PLACEHOLDERS["line"],
        "grid.linewidth": 0.6,
        "axes.edgecolor": _PLACEHOLDERS["line"],
        "axes.labelcolor": _PLACEHOLDERS["quiet"],
        "xtick.color": _PLACEHOLDERS["quiet"],
        "ytick.color": _PLACEHOLDERS["quiet"],
        "text.color": _PLACEHOLDERS["text"],
    }
    with mpl.rc_context(style):
        figure = Figure(figsize=(_WIDTH_INCHES, height_inches), layout="constrained")
        axes = figure.subplots()
        axes.ticklabel_format(style="plain", axis="both")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        yield figure, axes


def _svg(figure: Figure, title: str) -> str:
    """Gives the drawing without XML prologue, sized by the page, with the page's colours."""
    buffer = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    head = rf'<svg viewBox="\1" role="img" aria-label="{title}">'
    text = re.sub(r'<svg [^>]*viewBox="([^"]*)"[^>]*>', head, text, count=1)
    for name, colour in _PLACEHOLDERS.items():
        text = text.replace(colour, f"var(--{name.replace('_', '-')})")
    return re.sub(r" font-family: [^;\"]*;", "", text)
