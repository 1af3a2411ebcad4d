# SPDX-License-Identifier: Apache-2.0
"""The geometry of the pictures of a report: arenas over time, and bars of what fills a memory.

Horizontal places are percentages of the width, vertical ones are pixels, so that a picture fits every
screen while its texts keep their size.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from helia_aot.memory.layout import Arena, MemoryPlan
from helia_aot.memory.lifetimes import Block, merge_aliases
from helia_aot.memory.requests import TensorRequest

PLOT_HEIGHT: Final = 300
"""Height of an arena's picture in pixels."""

_LABEL_MIN_WIDTH: Final = 9.0
_LABEL_MIN_HEIGHT: Final = 15.0
_MAX_TICKS: Final = 12
_OFFSET_TICKS: Final = 4

Kind = Literal["input", "output", "activation", "buffer"]
"""What a piece of scratch memory is: an input or output of the model, a tensor between operators, or
working space of one kernel."""


@dataclass(frozen=True)
class Labels:
    """What things are called.

    Attributes:
        operators: What each operator is called, in execution order; at least one.
        tensors: Names of the model's tensors by id.
        inputs: Ids of the model's inputs.
        outputs: Ids of the model's outputs.
    """

    operators: Sequence[str]
    tensors: Mapping[str, str]
    inputs: Collection[str]
    outputs: Collection[str]


@dataclass(frozen=True)
class Box:
    """One rectangle.

    Attributes:
        kind: What it stands for; its colour.
        x: Left edge, percent.
        width: Percent.
        y: Upper edge, pixels.
        height: Pixels.
        label: Short text inside; empty when there is no room.
        text: Everything about it.
    """

    kind: str
    x: str
    width: str
    y: str
    height: str
    label: str
    text: str


@dataclass(frozen=True)
class Tick:
    """One mark of an axis: its place (percent or pixels) and text."""

    at: str
    text: str


@dataclass(frozen=True)
class ArenaPicture:
    """A scratch arena over the operators of a run.

    Attributes:
        title: Role and memory.
        summary: One sentence in numbers.
        boxes: The tensors: lifetime from left to right, offset upwards.
        live: For each operator the height of its live payload: x, width and y.
        peak: The column of the first operator at which most payload is live.
        operators: Marks of the horizontal axis.
        offsets: Marks of the vertical axis.
        height: Height in pixels.
    """

    title: str
    summary: str
    boxes: tuple[Box, ...]
    live: tuple[Box, ...]
    peak: Box
    operators: tuple[Tick, ...]
    offsets: tuple[Tick, ...]
    height: int


@dataclass(frozen=True)
class BarPicture:
    """What fills an arena or a memory, side by side.

    Attributes:
        title: What it is.
        summary: One sentence in numbers.
        boxes: Its parts from left to right.
        marks: Limits: constraints and budgets.
    """

    title: str
    summary: str
    boxes: tuple[Box, ...]
    marks: tuple[Tick, ...]


def size_text(size_bytes: float) -> str:
    """Gives a size for people: bytes below 1 KiB, KiB or MiB above."""
    if size_bytes < 1024:
        return f"{size_bytes:.0f} B"
    if size_bytes < 1024 * 1024:
        return f"{size_bytes / 1024:.1f} KiB"
    return f"{size_bytes / 1024 / 1024:.2f} MiB"


def arena_picture(
    arena: Arena, plan: MemoryPlan, requests: Sequence[TensorRequest], labels: Labels
) -> ArenaPicture:
    """Gives the picture of a scratch arena.

    Args:
        arena: The arena.
        plan: The plan that it belongs to.
        requests: Every tensor of the plan.
        labels: What operators and tensors are called.
    """
    operators = labels.operators
    members = [
        request
        for request in requests
        if request.role == "scratch" and plan.allocations[request.id].memory == arena.memory
    ]
    blocks = merge_aliases(members)
    count = len(operators)
    live_bytes = [
        sum(b.size_bytes for b in blocks if b.first_use <= position <= b.last_use)
        for position in range(count)
    ]
    peak_at = live_bytes.index(max(live_bytes))
    return ArenaPicture(
        title=f"Scratch arena in {arena.memory.upper()}",
        summary=(
            f"{arena.used_bytes:,} bytes hold {arena.tensor_count} tensors; most payload, "
            f"{arena.peak_live_bytes:,} bytes, is live at operator {peak_at} ({operators[peak_at]})"
        ),
        boxes=tuple(
            _block_box(block, plan.allocations[block.root].offset, arena.used_bytes, labels)
            for block in blocks
        ),
        live=tuple(
            _column(position, count, size / arena.used_bytes, "live", f"{size:,} bytes live")
            for position, size in enumerate(live_bytes)
        ),
        peak=_column(peak_at, count, 1.0, "peak", f"operator {peak_at}: {operators[peak_at]}"),
        operators=_operator_ticks(count),
        offsets=tuple(
            Tick(
                _pixels(PLOT_HEIGHT * (1 - step / _OFFSET_TICKS)),
                size_text(arena.used_bytes * step / _OFFSET_TICKS),
            )
            for step in range(_OFFSET_TICKS + 1)
        ),
        height=PLOT_HEIGHT,
    )


def static_picture(arena: Arena, plan: MemoryPlan, names: Mapping[str, str]) -> BarPicture:
    """Gives the bar of a constant or persistent arena: its slots in the order of their offsets."""
    slots: dict[int, list[str]] = {}
    for place in plan.allocations.values():
        if (place.role, place.memory) == (arena.role, arena.memory):
            slots.setdefault(place.offset, []).append(place.id)
    boxes = []
    for index, (offset, ids) in enumerate(sorted(slots.items())):
        size = max(plan.allocations[tensor_id].size_bytes for tensor_id in ids)
        who = ", ".join(_named(tensor_id, names) for tensor_id in ids)
        width = 100 * size / arena.used_bytes
        boxes.append(
            Box(
                kind=f"{arena.role} shade-{index % 2}",
                x=_percent(100 * offset / arena.used_bytes),
                width=_percent(width),
                y="0",
                height="100%",
                label=ids[0] if width >= _LABEL_MIN_WIDTH else "",
                text=f"{who}: {size:,} bytes at offset {offset:,}",
            )
        )
    source = f", copied from {arena.source_memory.upper()}" if arena.is_staged else ""
    return BarPicture(
        title=f"{arena.role.capitalize()} arena in {arena.memory.upper()}{source}",
        summary=f"{arena.used_bytes:,} bytes hold {arena.tensor_count} tensors",
        boxes=tuple(boxes),
        marks=(),
    )


def memory_picture(
    memory: str, size_bytes: int, plan: MemoryPlan, limits: Mapping[str, float]
) -> BarPicture:
    """Gives the bar of one memory: every arena in it against the size of the memory.

    Args:
        memory: The memory.
        size_bytes: Its size; above 0.
        plan: The memory plan.
        limits: Limits of the memory in bytes by what sets them.
    """
    boxes: list[Box] = []
    filled = 0
    for arena in plan.arenas:
        size = arena.storage_bytes(memory)
        if size == 0:
            continue
        is_source = memory != arena.memory
        what = "source of staged constants" if is_source else f"{arena.role} arena"
        boxes.append(
            Box(
                kind="source" if is_source else arena.role,
                x=_percent(100 * filled / size_bytes),
                width=_percent(100 * size / size_bytes),
                y="0",
                height="100%",
                label="",
                text=f"{what}: {size:,} bytes",
            )
        )
        filled += size
    return BarPicture(
        title=memory.upper(),
        summary=f"{size_text(filled)} of {size_text(size_bytes)} ({filled / size_bytes:.1%})",
        boxes=tuple(boxes),
        marks=tuple(
            Tick(_percent(min(100.0, 100 * limit / size_bytes)), f"{what}: {size_text(limit)}")
            for what, limit in limits.items()
        ),
    )


def _block_box(block: Block, offset: int, arena_bytes: int, labels: Labels) -> Box:
    count = len(labels.operators)
    width = 100 * (block.last_use - block.first_use + 1) / count
    height = PLOT_HEIGHT * block.size_bytes / arena_bytes
    has_room = width >= _LABEL_MIN_WIDTH and height >= _LABEL_MIN_HEIGHT
    who = ", ".join(_named(member, labels.tensors) for member in block.members)
    when = (
        f"operator {block.first_use}"
        if block.first_use == block.last_use
        else f"operators {block.first_use} to {block.last_use}"
    )
    return Box(
        kind=_kind(block, labels),
        x=_percent(100 * block.first_use / count),
        width=_percent(width),
        y=_pixels(PLOT_HEIGHT * (1 - (offset + block.size_bytes) / arena_bytes)),
        height=_pixels(height),
        label=block.root if has_room else "",
        text=f"{who}: {block.size_bytes:,} bytes at offset {offset:,}, live at {when}",
    )


def _kind(block: Block, labels: Labels) -> Kind:
    if any(member in labels.outputs for member in block.members):
        return "output"
    if any(member in labels.inputs for member in block.members):
        return "input"
    return "activation" if block.root in labels.tensors else "buffer"


def _column(position: int, count: int, share: float, kind: str, text: str) -> Box:
    height = PLOT_HEIGHT * min(share, 1.0)
    return Box(
        kind=kind,
        x=_percent(100 * position / count),
        width=_percent(100 / count),
        y=_pixels(PLOT_HEIGHT - height),
        height=_pixels(height),
        label="",
        text=text,
    )


def _operator_ticks(count: int) -> tuple[Tick, ...]:
    step = -(-count // _MAX_TICKS)
    return tuple(
        Tick(_percent(100 * (position + 0.5) / count), str(position))
        for position in range(0, count, step)
    )


def _named(tensor_id: str, names: Mapping[str, str]) -> str:
    name = names.get(tensor_id, "")
    return f"{tensor_id} ({name})" if name and name != tensor_id else tensor_id


def _percent(value: float) -> str:
    return f"{value:.3f}%"


def _pixels(value: float) -> str:
    return f"{value:.2f}"
