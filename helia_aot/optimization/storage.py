# SPDX-License-Identifier: Apache-2.0
"""What the tensors of a module take, by every alternative of its operators: facts for a search.

A conversion knows the tensors of the choices that it made. A search that moves constants and
scratch between memories, and changes kernels at the same time, needs those of all choices: some
kernels bring constants or scratch buffers of their own.
"""

from __future__ import annotations

from pydantic import Field

from helia_aot.config.base import StrictModel
from helia_aot.memory.layout import align_up
from helia_aot.memory.requests import Role

StorageRole = Role
"""How storage is used: scratch, persistent or constant."""


class OperatorVariant(StrictModel):
    """An operator with one value for each of its knobs."""

    knobs: dict[str, str] = Field(..., description="The value of each knob of the operator")
    sources: tuple[str, ...] = Field(
        ...,
        description="Kernel sources, without suffix, that it needs and other operators may need too",
    )
    constants: dict[str, int] = Field(
        ..., description="Payload bytes of each constant that no operator before it has, by id"
    )
    scratch_bytes: int = Field(..., ge=0, description="Bytes of its own scratch buffer")


class OperatorStorage(StrictModel):
    """What one operator takes and reads."""

    operator_id: str
    index: int = Field(..., ge=0, description="Position in execution order")
    scratch_id: str = Field(..., description="Tensor id of its own scratch buffer")
    source: str = Field(..., description="Its own source file in the module, without suffix")
    variants: tuple[OperatorVariant, ...] = Field(
        ..., min_length=1, description="All combinations of its knobs; the one of the plan first"
    )
    reads: tuple[str, ...] = Field(
        ..., description="Ids of other operators that own a block which this one reads or writes"
    )

    def variant(self, knobs: dict[str, str]) -> OperatorVariant:
        """Gives the variant with these values; knobs that are not named have the plan's."""
        wanted = {**self.variants[0].knobs, **knobs}
        return next(item for item in self.variants if item.knobs == wanted)


class StorageBlock(StrictModel):
    """Storage that is written at run time: the tensors of one alias chain."""

    owner: str = Field(
        ..., description="Id of the operator that writes it first, or reads it first"
    )
    role: StorageRole
    tensors: tuple[str, ...] = Field(..., min_length=1)
    size_bytes: int = Field(..., ge=1)
    first_use: int = Field(..., ge=0, description="First operator position at which it is live")
    last_use: int = Field(..., ge=0, description="Last one, inclusive")


class MemoryFacts(StrictModel):
    """One memory that tensors can be in."""

    name: str
    size_bytes: int = Field(..., ge=0, description="What may be used, memory.constraints applied")
    writable: bool = Field(..., description="Whether scratch can be in it")
    volatile: bool = Field(..., description="Whether it counts as RAM")
    tcm: bool = Field(..., description="Tightly coupled, so nothing is faster")


class ModuleStorage(StrictModel):
    """What a module takes, with the places of the plan that was converted.

    Attributes:
        alignment: Every slot is a multiple of this many bytes.
        memories: The memories in the order in which the planner tries them.
        operators: In execution order.
        blocks: Scratch and persistent storage without the operators' own scratch buffers.
        places: Memory of every tensor of the plan by id.
        sources: For each memory that constants are staged to, the memory that they come from.
    """

    alignment: int = Field(..., ge=1)
    memories: tuple[MemoryFacts, ...]
    operators: tuple[OperatorStorage, ...]
    blocks: tuple[StorageBlock, ...]
    places: dict[str, str]
    sources: dict[str, str]

    def slot_bytes(self, size_bytes: int) -> int:
        """Gives what a tensor takes of an arena."""
        return align_up(size_bytes, self.alignment)

    def source_of(self, memory: str) -> str:
        """Gives the memory that constants read from ``memory`` come from."""
        return self.sources.get(memory, memory)
