# SPDX-License-Identifier: Apache-2.0
"""A finished memory plan: arenas and the place of every tensor in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from helia_aot.errors import InvariantError
from helia_aot.memory.requests import Role, TensorRequest


def align_up(size_bytes: int, alignment: int) -> int:
    """Gives the smallest multiple of ``alignment`` that is not below ``size_bytes``."""
    return -(-size_bytes // alignment) * alignment


@dataclass(frozen=True)
class Allocation:
    """The place of one tensor.

    Attributes:
        id: The tensor's id.
        role: Its role, which together with ``memory`` names the arena.
        memory: Memory that kernels see it in.
        source_memory: Memory that its payload comes from; differs from ``memory`` for a staged
            constant.
        offset: Offset from the start of the arena in bytes, aligned.
        size_bytes: Payload size in bytes.
    """

    id: str
    role: Role
    memory: str
    source_memory: str
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class Arena:
    """One block of storage that holds all tensors of a role in a memory.

    Attributes:
        region_id: Number of the arena: roles in the order scratch, persistent, constant, then
            memory by name.
        role: Role of its tensors.
        memory: Memory that kernels see it in.
        source_memory: Memory of the read-only blob of a staged constant arena, else ``memory``.
        used_bytes: Size of the arena: the end of its last tensor.
        capacity_bytes: What it could have: for scratch all that constants and persistent tensors
            leave of the memory, otherwise ``used_bytes``.
        alignment: Alignment of the arena and of every tensor in it, in bytes.
        peak_live_bytes: Scratch: most payload bytes live at one operator. Other roles:
            ``used_bytes``.
        tensor_count: Number of tensors placed in it, sharing included.
        is_external: Whether the application supplies the storage that kernels see.
        guard_bytes: Unused bytes before the arena in generated storage, so that it does not start
            at address zero, which C takes for no address; a multiple of the alignment.
        source_guard_bytes: The same for the blob of a staged arena.
    """

    region_id: int
    role: Role
    memory: str
    source_memory: str
    used_bytes: int
    capacity_bytes: int
    alignment: int
    peak_live_bytes: int
    tensor_count: int
    is_external: bool = False
    guard_bytes: int = 0
    source_guard_bytes: int = 0

    @property
    def is_staged(self) -> bool:
        """Whether the arena is a copy that is filled from another memory before the first run."""
        return self.source_memory != self.memory

    @property
    def fragmentation(self) -> int:
        """Bytes that the arena needs beyond the payload live at its peak; never negative."""
        return self.used_bytes - self.peak_live_bytes

    def storage_bytes(self, memory: str) -> int:
        """Gives the bytes that the arena takes of a memory, source blob and guards included."""
        padded = align_up(self.used_bytes, self.alignment)
        runtime = padded + self.guard_bytes if memory == self.memory else 0
        is_source = self.is_staged and memory == self.source_memory
        return runtime + (padded + self.source_guard_bytes if is_source else 0)


@dataclass(frozen=True)
class MemoryPlan:
    """Where everything is.

    Attributes:
        arenas: All arenas, by ascending region id.
        allocations: The place of every tensor by its id, in the order of the requests.
        has_spilled_scratch: Whether scratch is not all in the memory that it would rather be in, and
            a plan that names the memory of every scratch tensor gives these places again.
    """

    arenas: tuple[Arena, ...]
    allocations: Mapping[str, Allocation]
    has_spilled_scratch: bool = False

    def arena(self, region_id: int) -> Arena:
        """Gives the arena of a region id, which is also its position in ``arenas``."""
        return self.arenas[region_id]

    def arena_of(self, tensor_id: str) -> Arena:
        """Gives the arena that holds a tensor.

        Raises:
            KeyError: No tensor has this id.
        """
        place = self.allocations[tensor_id]
        return next(a for a in self.arenas if (a.role, a.memory) == (place.role, place.memory))

    def memory_bytes(self, memory: str) -> int:
        """Gives the bytes that arenas and the blobs of staged arenas take of a memory, padded."""
        return sum(arena.storage_bytes(memory) for arena in self.arenas)


def constant_blob(plan: MemoryPlan, arena: Arena, requests: Iterable[TensorRequest]) -> bytes:
    """Gives the content of a constant arena: payloads at their offsets, zeros between them.

    Returns:
        Exactly ``arena.used_bytes`` bytes; the same requests always give the same bytes.

    Raises:
        InvariantError: The arena does not hold constants.
    """
    if arena.role != "constant":
        raise InvariantError(f"Arena {arena.region_id} holds {arena.role} tensors, not constants.")
    blob = bytearray(arena.used_bytes)
    for request in requests:
        place = plan.allocations[request.id]
        if request.data is not None and place.memory == arena.memory:
            blob[place.offset : place.offset + place.size_bytes] = request.data
    return bytes(blob)
