# SPDX-License-Identifier: Apache-2.0
"""Which memory each tensor may go to, and the places of constants and persistent tensors.

A memory that a rule asks for binds. Without a rule a tensor goes to the first memory of the
preferred order that has room. All constants of one runtime memory share one arena with one source
memory, so that one copy fills it; a constant without a rule that lands in a memory which rules
stage constants to is therefore staged with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from helia_aot.errors import ConfigError, Problem
from helia_aot.memory.layout import align_up
from helia_aot.memory.lifetimes import Block, merge_aliases
from helia_aot.memory.requests import Role, TensorRequest

_SHOWN_IDS = 5


@dataclass(frozen=True)
class Memories:
    """The memories of a target as the planner sees them.

    Attributes:
        size_bytes: Capacity of each memory, constraints applied.
        preferred: Memories in the order in which they are tried.
        alignment: Alignment of every slot in bytes.
        read_only: Memories that code cannot simply write to, such as MRAM: only cold constants and
            the sources of staged constants may use them.
        at_zero: Memories that start at address zero, whose generated storage gets a guard.
        external: Whether the application supplies the arenas.
    """

    size_bytes: Mapping[str, int]
    preferred: tuple[str, ...]
    alignment: int
    read_only: frozenset[str] = frozenset()
    at_zero: frozenset[str] = frozenset()
    external: bool = False

    @property
    def writable(self) -> tuple[str, ...]:
        """The preferred memories that scratch and persistent tensors can live in."""
        return tuple(memory for memory in self.preferred if memory not in self.read_only)

    def source_guard_bytes(self, memory: str) -> int:
        """Gives the guard of the blob of a staged arena; the module always brings the blob."""
        return self.alignment if memory in self.at_zero else 0

    def guard_bytes(self, memory: str) -> int:
        """Gives the guard of an arena's own storage; none where the application supplies it."""
        return 0 if self.external else self.source_guard_bytes(memory)


@dataclass
class StaticArena:
    """An arena without reuse while it is being filled; each new slot starts at the aligned end."""

    role: Role
    memory: str
    source_memory: str
    used_bytes: int = 0
    offsets: dict[str, int] = field(default_factory=dict)
    _by_payload: dict[bytes, int] = field(default_factory=dict)

    def shared_offset(self, data: bytes | None) -> int | None:
        """Gives the offset of an equal payload that is already here."""
        return None if data is None else self._by_payload.get(data)

    def append(self, data: bytes | None, size_bytes: int, alignment: int) -> int:
        """Adds a slot at the end and gives its offset."""
        offset = align_up(self.used_bytes, alignment)
        self.used_bytes = offset + size_bytes
        if data is not None:
            self._by_payload[data] = offset
        return offset


class Room:
    """The room that is left in each memory while arenas grow; it may become negative."""

    def __init__(self, memories: Memories) -> None:
        self.left_bytes = dict(memories.size_bytes)

    def has(self, needs: Mapping[str, int]) -> bool:
        """Whether the bytes needed of each memory are left."""
        return all(self.left_bytes[memory] >= need for memory, need in needs.items())

    def take(self, needs: Mapping[str, int]) -> None:
        """Takes bytes from each memory, whether they are left or not."""
        for memory, need in needs.items():
            self.left_bytes[memory] -= need


def check_rules(requests: Sequence[TensorRequest], memories: Memories) -> None:
    """Checks that what rules ask for is possible on these memories.

    Raises:
        ConfigError: A memory is unknown or cannot be written to, a tensor that is no constant is to
            be staged, or the tensors of one storage are sent to different memories. All problems
            are listed.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for request in requests:
        for fault in _rule_faults(request, memories):
            found.setdefault(fault, []).append(request.id)
    for role in ("scratch", "persistent"):
        for block in merge_aliases([r for r in requests if r.role == role]):
            if len(block.memories) > 1:
                fault = (
                    "these tensors share one storage, but rules send it to "
                    + " and ".join(block.memories),
                    "give all of them the same memory",
                )
                found.setdefault(fault, []).extend(block.members)
    problems = [
        Problem(f"memory.tensors for {_some(ids)}", reason, next_step)
        for (reason, next_step), ids in found.items()
    ]
    if problems:
        raise ConfigError("The memory rules cannot be followed.", problems)


def constant_sources(requests: Sequence[TensorRequest], memories: Memories) -> dict[str, str]:
    """Gives the source memory of each runtime memory that rules bind constants to.

    Staged constants without a source memory take that of the other constants staged to the same
    memory; failing that, the first preferred memory with room for them all, read-only ones first.

    Raises:
        ConfigError: Constants of one runtime memory come from different memories, or no source
            memory exists.
    """
    bound: dict[str, list[TensorRequest]] = {}
    for request in requests:
        runtime = request.destination_memory or request.memory
        if request.role == "constant" and runtime is not None:
            bound.setdefault(runtime, []).append(request)
    problems: list[Problem] = []
    sources: dict[str, str] = {}
    for runtime, members in bound.items():
        by_source: dict[str, list[str]] = {}
        for member in members:
            if member.memory is not None:
                by_source.setdefault(member.memory, []).append(member.id)
        if len(by_source) > 1:
            problems.append(_mixed_sources(runtime, by_source))
            continue
        source = next(iter(by_source), None) or _default_source(runtime, members, memories)
        if source is None:
            problems.append(
                Problem(
                    f"memory.tensors for {_some([m.id for m in members])}",
                    f"constants are staged to {runtime}, but no other memory can hold their source",
                    "set memory beside constant_destination_memory",
                )
            )
            continue
        sources[runtime] = source
    if problems:
        raise ConfigError("The memory rules for constants cannot be followed.", problems)
    return sources


def place_constants(
    requests: Iterable[TensorRequest], sources: Mapping[str, str], memories: Memories, room: Room
) -> dict[str, StaticArena]:
    """Places constants in the order of the requests; equal payloads of one arena share a slot.

    A constant that fits nowhere overflows the memory it is bound to, or else the one with the most
    room left.

    Returns:
        The filled arenas by runtime memory.
    """
    arenas: dict[str, StaticArena] = {}
    for request in requests:
        runtime = request.destination_memory or request.memory
        candidates = [runtime] if runtime else list(memories.preferred)
        places = [(memory, sources.get(memory, memory)) for memory in candidates]
        _place_constant(request, places, arenas, room, memories)
    return arenas


def place_persistent(
    blocks: Iterable[Block], memories: Memories, room: Room
) -> dict[str, StaticArena]:
    """Places persistent storage one after the other; nothing is reused.

    Returns:
        The filled arenas by memory.
    """
    arenas: dict[str, StaticArena] = {}
    for block in blocks:
        candidates = scratch_candidates(block, memories)
        needs = {m: _needs(block.size_bytes, m, m, m in arenas, memories) for m in candidates}
        fitting = (memory for memory in candidates if room.has(needs[memory]))
        memory = next(fitting, None) or _roomiest(candidates, room)
        arena = arenas.setdefault(memory, StaticArena("persistent", memory, memory))
        offset = arena.append(None, block.size_bytes, memories.alignment)
        arena.offsets.update(dict.fromkeys(block.members, offset))
        room.take(needs[memory])
    return arenas


def scratch_candidates(block: Block, memories: Memories) -> tuple[str, ...]:
    """Gives the memories that storage which is written to may go to, in the order of trial."""
    return block.memories or memories.writable


def _place_constant(
    request: TensorRequest,
    places: Sequence[tuple[str, str]],
    arenas: dict[str, StaticArena],
    room: Room,
    memories: Memories,
) -> None:
    needs: dict[str, dict[str, int]] = {}
    for memory, source in places:
        shared = arenas[memory].shared_offset(request.data) if memory in arenas else None
        if shared is not None:
            arenas[memory].offsets[request.id] = shared
            return
        needs[memory] = _needs(request.size_bytes, memory, source, memory in arenas, memories)
        if room.has(needs[memory]):
            break
    else:
        memory = _roomiest([memory for memory, _ in places], room)
        source = dict(places)[memory]
    arena = arenas.setdefault(memory, StaticArena("constant", memory, source))
    arena.offsets[request.id] = arena.append(request.data, request.size_bytes, memories.alignment)
    room.take(needs[memory])


def _needs(
    size_bytes: int, memory: str, source: str, is_open: bool, memories: Memories
) -> dict[str, int]:
    """Gives what one more slot takes of the runtime and the source memory of an arena."""
    padded = align_up(size_bytes, memories.alignment)
    needs = {memory: padded + (0 if is_open else memories.guard_bytes(memory))}
    if source != memory:
        needs[source] = padded + (0 if is_open else memories.source_guard_bytes(source))
    return needs


def _roomiest(candidates: Sequence[str], room: Room) -> str:
    return max(candidates, key=lambda memory: room.left_bytes[memory])


def _rule_faults(request: TensorRequest, memories: Memories) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    known = ", ".join(sorted(memories.size_bytes))
    for memory in (request.memory, request.destination_memory):
        if memory is not None and memory not in memories.size_bytes:
            faults.append((f"the target has no memory {memory!r}", f"use one of: {known}"))
    if request.destination_memory is not None and request.role != "constant":
        faults.append(
            (
                f"constant_destination_memory is for constants, not for {request.role} tensors",
                "remove it, or set type: constant",
            )
        )
    written = request.memory if request.role != "constant" else request.destination_memory
    is_cold = request.role == "constant" and written == request.memory
    if written in memories.read_only and not is_cold:
        faults.append(
            (f"{written} is read-only at run time", "choose a memory that can be written to")
        )
    return faults


def _mixed_sources(runtime: str, by_source: Mapping[str, Sequence[str]]) -> Problem:
    parts = "; ".join(f"{_some(ids)} from {source}" for source, ids in by_source.items())
    return Problem(
        f"memory.tensors for constants in {runtime}",
        "all constants of one runtime memory share one arena with one source memory, but these "
        f"come from different ones: {parts}",
        f"give the constants that run from {runtime} the same memory, or run some from another",
    )


def _default_source(
    runtime: str, members: Iterable[TensorRequest], memories: Memories
) -> str | None:
    payloads = {member.data: member.size_bytes for member in members}
    need_bytes = sum(align_up(size, memories.alignment) for size in payloads.values())
    others = [memory for memory in memories.preferred if memory != runtime]
    others.sort(key=lambda memory: memory not in memories.read_only)
    fitting = (memory for memory in others if memories.size_bytes[memory] >= need_bytes)
    return next(fitting, None) or next(iter(others), None)


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(repr(tensor_id) for tensor_id in ids[:_SHOWN_IDS])
    rest = len(ids) - _SHOWN_IDS
    return f"{shown} and {rest} more" if rest > 0 else shown
