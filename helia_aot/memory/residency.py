# SPDX-License-Identifier: Apache-2.0
"""The residency record, ``<prefix>_residency.json``: where every tensor and arena of a module is.

Schema 5. Two hashes catch drift: ``plan_hash`` covers the arenas only and is also a macro of the
generated module; ``tensor_layout_hash`` covers every tensor, so it sees two tensors that swap
offsets inside one arena. Neither covers the values of constants.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final

from helia_aot.memory.layout import Allocation, Arena, MemoryPlan
from helia_aot.memory.requests import Role
from helia_aot.memory.residency_schema import RESIDENCY_SCHEMA_VERSION

_HASH_DIGITS: Final = 16
_ROLE_PREFIX: Final[dict[Role, str]] = {
    "scratch": "",
    "persistent": "persistent_",
    "constant": "const_",
}


def arena_enum_name(prefix: str, arena: Arena) -> str:
    """Gives the C enumerator of an arena, e.g. ``aot_arena_const_dtcm``."""
    return f"{prefix}_arena_{_ROLE_PREFIX[arena.role]}{arena.memory}"


def blob_symbol(prefix: str, arena: Arena) -> str:
    """Gives the C object with the payload of a constant arena, e.g. ``aot_arena_const_mram__blob``.

    It exists in the module for cold constants that the module holds itself, and for the source of
    staged ones.
    """
    return arena_enum_name(prefix, arena) + "__blob"


def runtime_symbol(prefix: str, arena: Arena) -> str | None:
    """Gives the C object that kernels read and write: the blob of cold constants, else a buffer.

    Returns:
        The name, or None where the application supplies the storage.
    """
    if arena.is_external:
        return None
    if arena.role == "constant" and not arena.is_staged:
        return blob_symbol(prefix, arena)
    return arena_enum_name(prefix, arena) + "_buffer"


def source_symbol(prefix: str, arena: Arena) -> str | None:
    """Gives the read-only C object that a staged arena is filled from; None for other arenas."""
    return blob_symbol(prefix, arena) if arena.is_staged else None


def sidecar_filename(prefix: str, arena: Arena) -> str | None:
    """Gives the file with the payload of a constant arena that the application binds, else None."""
    is_written = arena.is_external and arena.role == "constant"
    return blob_symbol(prefix, arena) + ".bin" if is_written else None


def plan_hash(arenas: Iterable[Arena]) -> str:
    """Gives the hash of the arenas' envelopes: role, memories, size, alignment, staging.

    Args:
        arenas: All arenas by ascending region id.

    Returns:
        The first 16 hexadecimal digits of a SHA-256.
    """
    return _hash(
        f"{a.role}|{a.memory.upper()}|{a.source_memory.upper()}|{a.used_bytes}|{a.alignment}"
        f"|{int(a.is_staged)};"
        for a in arenas
    )


def tensor_layout_hash(allocations: Iterable[Allocation]) -> str:
    """Gives the hash of where tensors are: id, role, memory, offset and size of each.

    The order of the argument does not matter. A staged constant counts in its runtime memory.

    Returns:
        The first 16 hexadecimal digits of a SHA-256.
    """
    return _hash(
        f"{a.id}|{a.role}|{a.memory.upper()}|{a.offset}|{a.size_bytes};"
        for a in in_report_order(allocations)
    )


def in_report_order(allocations: Iterable[Allocation]) -> list[Allocation]:
    """Sorts allocations as reports list them: numeric ids by value, then the others by text."""
    return sorted(
        allocations,
        key=lambda a: (0, int(a.id), "") if _is_number(a.id) else (1, 0, a.id),
    )


def build_residency(plan: MemoryPlan, *, prefix: str, compiler_version: str) -> dict[str, Any]:
    """Gives the residency record of a module, ready to be written as JSON.

    Args:
        plan: The memory plan of the module.
        prefix: The module's prefix of files and symbols.
        compiler_version: Version of this compiler.

    Returns:
        Plain dictionaries, lists, strings and numbers; sizes and offsets in bytes.
    """
    return {
        "arenas": {
            role: [_arena_record(a, prefix) for a in plan.arenas if a.role == role]
            for role in ("constant", "persistent", "scratch")
        },
        "compiler_version": compiler_version,
        "module_prefix": prefix,
        "plan_hash": plan_hash(plan.arenas),
        "schema_version": RESIDENCY_SCHEMA_VERSION,
        "tensor_layout_hash": tensor_layout_hash(plan.allocations.values()),
        "tensors": [_tensor_record(a) for a in in_report_order(plan.allocations.values())],
    }


def residency_json(record: dict[str, Any]) -> str:
    """Gives the text of a residency record: sorted keys, indent 2, a final newline."""
    return json.dumps(record, indent=2, sort_keys=True) + "\n"


def _arena_record(arena: Arena, prefix: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "alignment": arena.alignment,
        "memory": arena.memory,
        "region_id": arena.region_id,
        "storage": _storage_record(arena, prefix),
        "total_size": arena.capacity_bytes,
        "used": arena.used_bytes,
    }
    if arena.role == "scratch":
        record |= {"fragmentation": arena.fragmentation, "peak_live": arena.peak_live_bytes}
    if arena.role == "constant":
        record |= {
            "kind": "staged" if arena.is_staged else "cold",
            "source_memory": arena.source_memory,
            "tensor_count": arena.tensor_count,
        }
    return record


def _storage_record(arena: Arena, prefix: str) -> dict[str, Any]:
    source = source_symbol(prefix, arena)
    filename = sidecar_filename(prefix, arena)
    return {
        "enum_name": arena_enum_name(prefix, arena),
        "runtime": _object_record(
            arena.memory, arena.used_bytes, arena.guard_bytes, runtime_symbol(prefix, arena)
        ),
        "sidecar": {"filename": filename, "size_bytes": arena.used_bytes} if filename else None,
        "source": _object_record(
            arena.source_memory, arena.used_bytes, arena.source_guard_bytes, source
        )
        if source
        else None,
    }


def _object_record(
    memory: str, used_bytes: int, guard_bytes: int, symbol: str | None
) -> dict[str, Any]:
    return {
        "data_offset_bytes": guard_bytes,
        "memory": memory,
        "owner": "application" if symbol is None else "generated",
        "size_bytes": guard_bytes + used_bytes,
        "symbol": symbol,
    }


def _tensor_record(place: Allocation) -> dict[str, Any]:
    return {
        "id": place.id,
        "memory": place.memory,
        "offset": place.offset,
        "role": place.role,
        "size": place.size_bytes,
        "source_memory": place.source_memory,
    }


def _is_number(tensor_id: str) -> bool:
    return tensor_id.isascii() and tensor_id.isdigit()


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:_HASH_DIGITS]
