# SPDX-License-Identifier: Apache-2.0
"""Where every tensor of a plan is, and how many bytes that takes of each memory.

A place depends on the choices alone: a tensor that no choice moves is where the baseline has it, so
that moving constants never moves scratch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from helia_aot.optimization.storage import (
    ModuleStorage,
    OperatorStorage,
    StorageBlock,
    StorageRole,
)
from search_spaces.rules import CONSTANTS, MIXED, SCRATCH

Wanted = Mapping[tuple[str, str], str]
"""Values by (operator id, knob)."""


@dataclass(frozen=True)
class Place:
    """One tensor and its memory.

    Attributes:
        tensor_id: The tensor.
        role: How its storage is used.
        memory: Memory that kernels see it in.
        source_memory: Memory that its payload comes from; another one for a staged constant.
        size_bytes: Its payload, unpadded; 0 for a tensor that shares the storage of the one before.
        first_use: First operator position at which it is live.
        last_use: Last one.
    """

    tensor_id: str
    role: StorageRole
    memory: str
    source_memory: str
    size_bytes: int
    first_use: int
    last_use: int


def places_of(
    storage: ModuleStorage, knobs: Mapping[str, Mapping[str, str]], wanted: Wanted
) -> Iterator[Place]:
    """Gives the place of every tensor: constants, scratch and persistent storage.

    Args:
        storage: What tensors take and where the baseline has them.
        knobs: The knob values of each operator by id; what is left out is as in the baseline.
        wanted: The memories that constants and scratch of operators are to be in.
    """
    for operator in storage.operators:
        yield from operator_places(
            storage,
            operator,
            knobs.get(operator.operator_id, {}),
            wanted.get((operator.operator_id, CONSTANTS), MIXED),
            wanted.get((operator.operator_id, SCRATCH), MIXED),
        )


def operator_places(
    storage: ModuleStorage,
    operator: OperatorStorage,
    knobs: Mapping[str, str],
    constants: str = MIXED,
    scratch: str = MIXED,
) -> Iterator[Place]:
    """Gives the places of what one operator brings and owns.

    Args:
        storage: The module.
        operator: One of its operators.
        knobs: Its knob values; what is left out is as in the baseline.
        constants: Memory of its constants; ``mixed`` for where the baseline has them.
        scratch: The same for what it writes first.
    """
    variant = operator.variant(dict(knobs))
    last = len(storage.operators) - 1
    for tensor_id, size_bytes in variant.constants.items():
        memory = constants
        if memory == MIXED:
            memory = storage.places.get(tensor_id) or _constant_memory(storage, operator)
        source = storage.source_of(memory)
        yield Place(tensor_id, "constant", memory, source, size_bytes, 0, last)
    for block in storage.blocks:
        if block.owner == operator.operator_id:
            yield from _block_places(storage, block, scratch)
    if variant.scratch_bytes:
        memory = scratch
        if memory == MIXED:
            memory = storage.places.get(operator.scratch_id) or _scratch_memory(storage, operator)
        index = operator.index
        yield Place(
            operator.scratch_id, "scratch", memory, memory, variant.scratch_bytes, index, index
        )


def _block_places(storage: ModuleStorage, block: StorageBlock, scratch: str) -> Iterator[Place]:
    is_free = scratch != MIXED and block.role == "scratch"
    memory = scratch if is_free else storage.places[block.tensors[0]]
    for position, tensor_id in enumerate(block.tensors):
        size_bytes = 0 if position else block.size_bytes
        yield Place(
            tensor_id, block.role, memory, memory, size_bytes, block.first_use, block.last_use
        )


def _constant_memory(storage: ModuleStorage, operator: OperatorStorage) -> str:
    """Gives a memory for a constant that the baseline does not have: beside the operator's others."""
    own = operator.variants[0].constants
    largest = max(own, key=lambda tensor_id: own[tensor_id], default=None)
    return storage.places[largest] if largest is not None else storage.memories[-1].name


def _scratch_memory(storage: ModuleStorage, operator: OperatorStorage) -> str:
    """Gives a memory for a buffer that the baseline does not have: beside what the operator writes."""
    owned = [block for block in storage.blocks if block.owner == operator.operator_id]
    if owned:
        return storage.places[owned[0].tensors[0]]
    return next(memory.name for memory in storage.memories if memory.writable)


def is_fast(storage: ModuleStorage) -> bool:
    """Says whether the baseline has every tensor in tightly coupled memory, so that none can gain."""
    fast = {memory.name for memory in storage.memories if memory.tcm}
    return set(storage.places.values()) <= fast
