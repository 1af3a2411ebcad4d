# SPDX-License-Identifier: Apache-2.0
"""What a target is: core, memories and caches, and how a simulator stands in for it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from helia_aot.config.base import StrictModel

Core = Literal["cortex-m55", "cortex-m4", "host"]


class MemoryRegion(StrictModel):
    """One memory of a target."""

    size_bytes: int = Field(..., ge=0, description="Bytes that a module may use")
    volatile: bool = Field(..., description="Loses its content without power; can hold scratch")
    executable: bool = Field(..., description="Code can run from it")
    tcm: bool = Field(..., description="Tightly coupled: one access a cycle, behind no cache")
    address: int | None = Field(
        None,
        ge=0,
        description=(
            "First address on the target, where known. Storage in a memory at 0 gets a guard, since "
            "an arena at address 0 would look like a null pointer"
        ),
    )


class Cache(StrictModel):
    """One cache in front of the memories that are not tightly coupled."""

    size_bytes: int = Field(..., gt=0)
    ways: int = Field(..., gt=0, description="Associativity")
    line_bytes: int = Field(..., gt=0)


class Caches(StrictModel):
    """The first-level caches of a core."""

    icache: Cache | None = Field(None, description="Instruction cache")
    dcache: Cache | None = Field(None, description="Data cache")
    assumed: bool = Field(..., description="Whether the figures lack a public source")
    source: str = Field(..., description="Where the figures come from")


class SimulatorTarget(StrictModel):
    """How a QEMU machine stands in for a target; timing figures feed the timing model only."""

    machine: str = Field(..., description="QEMU machine name")
    memories: dict[str, int] = Field(
        ..., description="Address in the machine's RAM where each memory of the target begins"
    )
    code_memory: str = Field(..., description="Memory that code runs from")
    clock_mhz: int = Field(..., gt=0, description="Core clock that the line fills hold for")
    line_fill_cycles: dict[str, int] = Field(
        ..., description="Core cycles to fill a cache line, for each memory that is not TCM"
    )
    source: str = Field(..., description="Where addresses and cycles come from")


class Platform(StrictModel):
    """A target that modules are made for."""

    name: str = Field(..., description="The name that configurations use")
    description: str = Field(..., description="One sentence, with what is assumed about it")
    core: Core = Field(..., description="Processor core")
    speeds_mhz: list[int] = Field(..., description="Core clocks in MHz, lowest first")
    memories: dict[str, MemoryRegion] = Field(..., description="Memories by name")
    capabilities: list[str] = Field(
        ..., description="Instruction set extensions: dsp (packed 16-bit), mve (Helium); sorted"
    )
    fp16: bool = Field(..., description="Whether the core computes in FP16")
    preferred_memory_order: list[str] = Field(
        ..., description="Order in which the planner tries memories"
    )
    min_alignment: int = Field(16, gt=0, description="Lowest alignment of a tensor in bytes")
    caches: Caches | None = Field(None, description="First-level caches; null for none")
    simulator: SimulatorTarget | None = Field(None, description="QEMU stand-in; null for none")

    @field_validator("capabilities")
    @classmethod
    def _sorted_and_unique(cls, capabilities: list[str]) -> list[str]:
        return sorted(set(capabilities))

    @field_validator("min_alignment")
    @classmethod
    def _power_of_two(cls, alignment: int) -> int:
        if alignment & (alignment - 1):
            raise ValueError("not a power of two")
        return alignment

    @model_validator(mode="after")
    def _names_are_memories(self) -> Platform:
        order = self.preferred_memory_order
        if len(set(order)) != len(order):
            raise ValueError("preferred_memory_order names a memory twice")
        named = set(order)
        if self.simulator is not None:
            named |= set(self.simulator.memories) | {self.simulator.code_memory}
            slow = {name for name, memory in self.memories.items() if not memory.tcm}
            if set(self.simulator.line_fill_cycles) != slow:
                raise ValueError(
                    "simulator.line_fill_cycles must name just the memories that are not TCM"
                )
            if set(self.simulator.memories) != set(self.memories):
                raise ValueError("simulator.memories must give an address for every memory")
        unknown = sorted(named - set(self.memories))
        if unknown:
            raise ValueError(
                f"no memory named {', '.join(unknown)}; the target has {', '.join(self.memories)}"
            )
        return self

    @property
    def memory_sizes(self) -> dict[str, int]:
        """Bytes of every memory by name."""
        return {name: memory.size_bytes for name, memory in self.memories.items()}

    @property
    def memories_at_zero(self) -> frozenset[str]:
        """Names of the memories that are known to start at address zero."""
        return frozenset(name for name, memory in self.memories.items() if memory.address == 0)

    @property
    def tcm_memories(self) -> tuple[str, ...]:
        """Names of the tightly coupled memories."""
        return tuple(name for name, memory in self.memories.items() if memory.tcm)
