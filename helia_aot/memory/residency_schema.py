# SPDX-License-Identifier: Apache-2.0
"""The residency record as typed models: what ``<prefix>_residency.json`` may hold."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from helia_aot.config.base import StrictModel

RESIDENCY_SCHEMA_VERSION: Final = 5

Bytes = Annotated[int, Field(ge=0)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class StorageObject(StrictModel):
    """One piece of storage; the arena begins at ``symbol + data_offset_bytes``."""

    data_offset_bytes: Bytes = Field(
        ..., description="Bytes before the arena, so that it does not start at address zero"
    )
    memory: str = Field(..., description="Memory that it belongs in")
    owner: Literal["generated", "application"] = Field(
        ..., description="Whether the module brings it, or the application binds it"
    )
    size_bytes: Bytes = Field(
        ...,
        description=(
            "Size of the C object, data_offset_bytes included; for the application's storage the "
            "least size of a binding"
        ),
    )
    symbol: str | None = Field(
        ..., description="Exact name of the C object; null where the application brings it"
    )

    @model_validator(mode="after")
    def _only_generated_storage_has_a_symbol(self) -> StorageObject:
        if (self.owner == "generated") != (self.symbol is not None):
            raise ValueError("symbol is set exactly when owner is 'generated'")
        if self.owner == "application" and self.data_offset_bytes:
            raise ValueError("storage of the application has no data_offset_bytes")
        return self


class Sidecar(StrictModel):
    """A file with the content of a constant arena: payload and padding, no guard."""

    filename: str = Field(..., description="Path relative to the module's folder")
    size_bytes: Bytes = Field(..., description="Size of the file, which is the arena's used")


class Storage(StrictModel):
    """Who holds an arena."""

    enum_name: str = Field(..., description="C enumerator of region_id")
    runtime: StorageObject = Field(..., description="What kernels read and write")
    sidecar: Sidecar | None = Field(
        ..., description="The binary of a constant arena that the application binds, else null"
    )
    source: StorageObject | None = Field(
        ..., description="The generated blob that a staged arena is copied from, else null"
    )


class ArenaRecord(StrictModel):
    """What all arenas have."""

    alignment: int = Field(..., gt=0, description="Alignment of the arena and its tensors, bytes")
    memory: str = Field(..., description="Memory that kernels see it in")
    region_id: int = Field(..., ge=0, description="Number of the arena")
    storage: Storage = Field(..., description="Who holds it")
    total_size: Bytes = Field(
        ..., description="Capacity that the planner had; not to be summed over roles"
    )
    used: Bytes = Field(..., description="Size of the arena, without guards")

    @model_validator(mode="after")
    def _storage_holds_the_arena(self) -> ArenaRecord:
        runtime = self.storage.runtime
        if runtime.size_bytes != self.used + runtime.data_offset_bytes:
            raise ValueError("storage.runtime.size_bytes is not used plus data_offset_bytes")
        if runtime.memory != self.memory:
            raise ValueError("storage.runtime is in another memory than the arena")
        if self.used > self.total_size:
            raise ValueError("used is larger than total_size")
        return self


class ConstantArenaRecord(ArenaRecord):
    """An arena of constants."""

    kind: Literal["cold", "staged"] = Field(
        ..., description="Read in place, or copied from source_memory before the first run"
    )
    source_memory: str = Field(..., description="Memory that the payload comes from")
    tensor_count: int = Field(..., ge=1, description="Tensors in it, shared slots included")

    @model_validator(mode="after")
    def _staged_arenas_have_a_source(self) -> ConstantArenaRecord:
        is_staged = self.kind == "staged"
        if is_staged != (self.source_memory != self.memory):
            raise ValueError("kind is 'staged' exactly when source_memory differs from memory")
        source, sidecar = self.storage.source, self.storage.sidecar
        if is_staged != (source is not None):
            raise ValueError("storage.source is set exactly for staged arenas")
        if source is not None and source.memory != self.source_memory:
            raise ValueError("storage.source is not in source_memory")
        if (sidecar is not None) != (self.storage.runtime.owner == "application"):
            raise ValueError("storage.sidecar is set exactly when the application binds the arena")
        if sidecar is not None and sidecar.size_bytes != self.used:
            raise ValueError("storage.sidecar.size_bytes is not used")
        return self


class VariableArenaRecord(ArenaRecord):
    """An arena that kernels write to."""

    @model_validator(mode="after")
    def _nothing_to_copy(self) -> VariableArenaRecord:
        if self.storage.source is not None or self.storage.sidecar is not None:
            raise ValueError("storage.source and storage.sidecar belong to constant arenas")
        return self


class PersistentArenaRecord(VariableArenaRecord):
    """An arena of state that lasts between runs."""


class ScratchArenaRecord(VariableArenaRecord):
    """An arena that is reused during a run."""

    fragmentation: Bytes = Field(..., description="used less peak_live")
    peak_live: Bytes = Field(..., description="Most payload bytes that are live at one operator")

    @model_validator(mode="after")
    def _fragmentation_is_the_difference(self) -> ScratchArenaRecord:
        if self.fragmentation != self.used - self.peak_live:
            raise ValueError("fragmentation is not used less peak_live")
        return self


class Arenas(StrictModel):
    """All arenas by role, each list by ascending region_id."""

    constant: list[ConstantArenaRecord]
    persistent: list[PersistentArenaRecord]
    scratch: list[ScratchArenaRecord]


class TensorRecord(StrictModel):
    """The place of one tensor."""

    id: str = Field(..., description="Tensor id")
    memory: str = Field(..., description="Memory that kernels see it in")
    offset: Bytes = Field(..., description="Offset from the start of its arena")
    role: Literal["constant", "persistent", "scratch"] = Field(..., description="Names the arena")
    size: Bytes = Field(..., description="Payload bytes")
    source_memory: str = Field(..., description="Memory that the payload comes from")


class ResidencyReport(StrictModel):
    """Where every tensor and arena of a module is, ``<prefix>_residency.json``."""

    model_config = ConfigDict(title="heliaAOT residency report")

    arenas: Arenas
    compiler_version: str = Field(..., description="Version of the compiler that wrote it")
    module_prefix: str = Field(..., description="Prefix of the module's files and symbols")
    plan_hash: Hash = Field(
        ..., description="Hash of the arenas' envelopes; also a macro of the generated module"
    )
    schema_version: Literal[5] = Field(..., description="Residency schema version")
    tensor_layout_hash: Hash = Field(..., description="Hash of the place of every tensor")
    tensors: list[TensorRecord] = Field(
        ..., description="Numeric ids by value, then the others by text"
    )
