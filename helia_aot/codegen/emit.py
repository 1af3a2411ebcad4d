# SPDX-License-Identifier: Apache-2.0
"""From lowered operators and a memory plan to the files of a C module. Touches no disk but the kernel library's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from helia_aot.codegen.calls import float_literal, render_call
from helia_aot.codegen.environment import render
from helia_aot.codegen.module import (
    ConstantBlob,
    EmittedFile,
    Module,
    ModuleOperator,
    ModuleTensor,
)
from helia_aot.codegen.test_case import ModuleTestCase, module_test_files
from helia_aot.config.dialect import LIBRARY_NAMES, Dialect
from helia_aot.kernels.manifest import (
    INCLUDE_FILES,
    public_symbols,
    read_include,
    read_source,
    source_names,
    sources_for,
)
from helia_aot.memory.layout import Arena, MemoryPlan
from helia_aot.memory.residency import (
    arena_enum_name,
    blob_symbol,
    in_report_order,
    plan_hash,
    runtime_symbol,
    sidecar_filename,
    source_symbol,
)
from helia_aot.operators.spec import LoweredOperator
from helia_aot.version import __version__

_NO_IDENTIFIER: Final = re.compile(r"\W", re.ASCII)
PLACEMENT_MEMORIES: Final = ("PSRAM", "DRAM", "MRAM", "SRAM", "DTCM", "ITCM")
"""Memories that every module has placement macros for, besides those its arenas use."""
SYMBOLS_HEADER: Final = "helia_nn_symbols.h"
"""The header through which a bundle renames the kernel library's public symbols."""


@dataclass(frozen=True)
class ModuleSpec:
    """Everything that the text of a module depends on.

    Attributes:
        name: Name of the folder and the library.
        build_system: ``cmake``, ``zephyr`` or ``nsx``: which build files the module has.
        prefix: Prefix of files and symbols.
        kernel_prefix: Prefix of the bundled kernels' symbols.
        kernels: ``bundled`` or ``external``.
        dialect: Whose calls the module makes.
        model_file: File name of the model.
        model_sha256: SHA-256 of the model file.
        model_text: One sentence about the model.
        platform_name: Name of the target.
        core: Core of the target.
        non_volatile: Memories whose constants are declared const.
        kernel_floor: Lowest release of the dialect's library that the module needs, e.g. ``7.37.0``.
        lowered: Operators in execution order.
        operators: The same operators as the plan names them.
        inputs: Inputs of the model.
        outputs: Outputs of the model.
        memory_plan: Where everything is.
        blobs: Payload of each constant arena by region id.
        allocates_arenas: Whether the module brings its arenas.
        hydrates_constants: Whether init copies staged constants.
        test_case: The test case that comes with the module, if any.
    """

    name: str
    build_system: str
    prefix: str
    kernel_prefix: str
    kernels: str
    dialect: Dialect
    model_file: str
    model_sha256: str
    model_text: str
    platform_name: str
    core: str
    non_volatile: frozenset[str]
    kernel_floor: str
    lowered: tuple[LoweredOperator, ...]
    operators: tuple[ModuleOperator, ...]
    inputs: tuple[ModuleTensor, ...]
    outputs: tuple[ModuleTensor, ...]
    memory_plan: MemoryPlan
    blobs: Mapping[int, bytes]
    allocates_arenas: bool
    hydrates_constants: bool
    test_case: ModuleTestCase | None = None


def emit_module(spec: ModuleSpec) -> Module:
    """Writes the text of every file of a module.

    Returns:
        The module; the same spec always gives the same bytes.
    """
    blobs = tuple(
        _blob(spec, arena)
        for arena in spec.memory_plan.arenas
        if arena.role == "constant" and (arena.is_staged or not arena.is_external)
    )
    entries = {op.entry for op in spec.operators if op.entry}
    entries |= {call.entry for lowered in spec.lowered for call in lowered.init}
    sources = sources_for(sorted(entries)) if spec.dialect == "ns-cmsis-nn" else ()
    view = _view(spec, blobs, sources)
    files = [
        *(_header(spec, view, kind) for kind in _HEADERS),
        *(_source(spec, view, kind) for kind in ("context", "model", "tensors")),
        _constants(spec, view, blobs),
        *_operator_files(spec, view),
        *(
            EmittedFile(p, render(template, view))
            for p, template in _BUILD_FILES[spec.build_system]
        ),
        EmittedFile("README.md", render("README.md", view)),
        *_sidecars(spec),
    ]
    if spec.test_case is not None:
        files += module_test_files(view, spec.test_case)
    if spec.kernels == "bundled":
        files += _kernel_files(spec.kernel_prefix, sources)
    return Module(
        name=spec.name,
        prefix=spec.prefix,
        files=tuple(sorted(files, key=lambda file: file.path)),
        constant_blobs=blobs,
        kernel_sources=sources,
        inputs=spec.inputs,
        outputs=spec.outputs,
        operators=spec.operators,
        allocates_arenas=spec.allocates_arenas,
        hydrates_constants=spec.hydrates_constants,
    )


def with_files(module: Module, extra: Sequence[EmittedFile]) -> Module:
    """Gives the module with more files, such as its plan and report."""
    files = sorted([*module.files, *extra], key=lambda file: file.path)
    return replace(module, files=tuple(files))


_BUILD_FILES: Final = {
    "cmake": (("CMakeLists.txt", "cmake/CMakeLists.txt"),),
    "zephyr": tuple(
        (f"zephyr/{name}", f"zephyr/{name}") for name in ("CMakeLists.txt", "Kconfig", "module.yml")
    ),
    "nsx": tuple((name, f"nsx/{name}") for name in ("CMakeLists.txt", "nsx-module.yaml")),
}
"""For each build system the files of a module, with their templates."""
_HEADERS: Final = ("common", "compiler", "context", "model", "operators", "platform", "tensors")


def _header(spec: ModuleSpec, view: Mapping[str, Any], kind: str) -> EmittedFile:
    return EmittedFile(f"includes-api/{spec.prefix}_{kind}.h", render(f"{kind}.h", view))


def _source(spec: ModuleSpec, view: Mapping[str, Any], kind: str) -> EmittedFile:
    return EmittedFile(f"src/{spec.prefix}_{kind}.c", render(f"{kind}.c", view))


def _operator_files(spec: ModuleSpec, view: Mapping[str, Any]) -> list[EmittedFile]:
    files = []
    for lowered, operator in zip(spec.lowered, spec.operators, strict=True):
        text = render_call(spec.prefix, lowered.call) if lowered.call else None
        op = {
            "name": lowered.name,
            "op_type": lowered.op_type,
            "node_id": lowered.node_id,
            "text": text,
            "code_memory": operator.code_memory,
            "returns_status": lowered.call.returns_status if lowered.call else True,
            "init": [render_call(spec.prefix, call) for call in lowered.init],
            "check": _check_view(spec, lowered),
            "inlined": _inlined_kernel(spec, lowered) if operator.inlined else None,
        }
        stem = f"{spec.prefix}_{lowered.name}"
        op_view = {**view, "op": op}
        files.append(EmittedFile(f"includes-api/{stem}.h", render("operator.h", op_view)))
        files.append(EmittedFile(f"src/{stem}.c", render("operator.c", op_view)))
    return files


def _check_view(spec: ModuleSpec, lowered: LoweredOperator) -> dict[str, Any] | None:
    check = lowered.buffer_check
    if check is None:
        return None
    return {"query": render_call(spec.prefix, check.query), "size_bytes": check.size_bytes}


def _inlined_kernel(spec: ModuleSpec, lowered: LoweredOperator) -> dict[str, Any] | None:
    """Gives the kernel sources of an operator, and the names that its copy of their symbols gets."""
    if lowered.call is None:
        return None
    sources = sources_for([lowered.call.entry])
    return {
        "sources": [name for name in sources if name.endswith(".c")],
        "renames": [
            (symbol, f"{spec.prefix}_{lowered.name}_{symbol}") for symbol in public_symbols(sources)
        ],
    }


def _constants(
    spec: ModuleSpec, view: Mapping[str, Any], blobs: Sequence[ConstantBlob]
) -> EmittedFile:
    rows = [
        {
            "symbol": blob.symbol,
            "memory": blob.memory,
            "alignment": blob.alignment,
            "const": "const " if blob.is_const else "",
            "size_bytes": len(blob.data),
            "text": _bytes_text(blob.data),
        }
        for blob in blobs
    ]
    text = render("constants.c", {**view, "blobs": rows})
    return EmittedFile(f"src/{spec.prefix}_constants.c", text)


_LINE_BYTES: Final = 24


def _bytes_text(data: bytes) -> str:
    """Spells bytes out in decimal, the shortest form that every compiler parses quickly."""
    word = [str(value) for value in range(256)].__getitem__
    return ",\n".join(
        ",".join(map(word, data[i : i + _LINE_BYTES])) for i in range(0, len(data), _LINE_BYTES)
    )


def _is_float_kernel(entry: str) -> bool:
    """Whether the header of the float kernels has an entry; that of integers has what is between float32 and them."""
    return entry.endswith(("_f32", "_f16")) or "_f16_" in entry


def _kernel_files(kernel_prefix: str, sources: Sequence[str]) -> list[EmittedFile]:
    # All symbols of the library, not of these sources alone: the kernels then see the same text whatever the plan, and
    # their objects stay cached from one trial of a search to the next.
    renames = "\n".join(
        f"#define {symbol} {kernel_prefix}_{symbol}" for symbol in public_symbols(source_names())
    )
    symbols = (
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        f"/* Generated: gives the bundled kernels the prefix {kernel_prefix}, so that they link beside others. */\n"
        "/* A file with copies of kernels of its own defines HELIA_NN_OWN_SYMBOLS and names them itself. */\n"
        "#if !defined(HELIA_NN_SYMBOLS_H) && !defined(HELIA_NN_OWN_SYMBOLS)\n"
        f"#define HELIA_NN_SYMBOLS_H\n\n{renames}\n\n#endif\n"
    )
    files = [
        EmittedFile(f"kernels/include/{name}", read_include(name))
        for name in INCLUDE_FILES
        if name != SYMBOLS_HEADER
    ]
    files += [EmittedFile(f"kernels/src/{name}", read_source(name)) for name in sources]
    files.append(EmittedFile(f"kernels/include/{SYMBOLS_HEADER}", symbols))
    return files


def _blob(spec: ModuleSpec, arena: Arena) -> ConstantBlob:
    guard_bytes = arena.source_guard_bytes if arena.is_staged else arena.guard_bytes
    return ConstantBlob(
        symbol=blob_symbol(spec.prefix, arena),
        memory=arena.source_memory,
        alignment=arena.alignment,
        is_const=arena.source_memory in spec.non_volatile,
        data=bytes(guard_bytes) + spec.blobs[arena.region_id],
    )


def _sidecars(spec: ModuleSpec) -> list[EmittedFile]:
    names = [(sidecar_filename(spec.prefix, arena), arena) for arena in spec.memory_plan.arenas]
    return [EmittedFile(name, binary=spec.blobs[arena.region_id]) for name, arena in names if name]


def _view(
    spec: ModuleSpec, blobs: Sequence[ConstantBlob], sources: Sequence[str]
) -> dict[str, Any]:
    prefix = spec.prefix
    arenas = [_arena_view(spec, arena) for arena in spec.memory_plan.arenas]
    memories = {arena.memory.upper() for arena in spec.memory_plan.arenas}
    memories |= {blob.memory.upper() for blob in blobs}
    memories |= {op.code_memory.upper() for op in spec.operators if op.code_memory}
    operators = [
        {
            "name": lowered.name,
            "node_id": lowered.node_id,
            "op_type": lowered.op_type,
            "entry": operator.entry,
            "macs": operator.macs,
            "has_init": bool(lowered.init or lowered.buffer_check),
        }
        for lowered, operator in zip(spec.lowered, spec.operators, strict=True)
    ]
    own = ["constants", "context", "model", "tensors", *(op["name"] for op in operators)]
    if spec.test_case is not None:
        own.append("test_case")
    return {
        "p": prefix,
        "P": prefix.upper(),
        "version": __version__,
        "module_name": spec.name,
        "build_system": spec.build_system,
        "NAME": _NO_IDENTIFIER.sub("_", spec.name).upper(),
        "soc": _soc_name(spec.platform_name),
        "model_file": spec.model_file,
        "model_sha256": spec.model_sha256,
        "model_text": spec.model_text,
        "platform_name": spec.platform_name,
        "core": spec.core,
        "kernels": spec.kernels,
        "dialect": spec.dialect,
        "library": LIBRARY_NAMES[spec.dialect],
        "LIBRARY": spec.dialect.replace("-", "_").upper(),
        "float_kernels": any(_is_float_kernel(op.entry or "") for op in spec.operators),
        "kernel_prefix": spec.kernel_prefix,
        "floor": spec.kernel_floor,
        "floor_number": _floor_number(spec.kernel_floor),
        "placement_memories": [*PLACEMENT_MEMORIES, *sorted(memories - set(PLACEMENT_MEMORIES))],
        "plan_hash": plan_hash(spec.memory_plan.arenas),
        "arenas": arenas,
        "staged": [arena for arena in arenas if arena["is_staged"]],
        "persistent": [arena for arena in arenas if arena["role"] == "persistent"],
        "external": not spec.allocates_arenas,
        "auto_hydrate": spec.hydrates_constants,
        "has_test_case": spec.test_case is not None,
        "tensors": [
            {
                "id": place.id,
                "role": place.role,
                "region": arena_enum_name(prefix, spec.memory_plan.arena_of(place.id)),
                "offset": place.offset,
                "size_bytes": place.size_bytes,
            }
            for place in in_report_order(spec.memory_plan.allocations.values())
        ],
        "inputs": [_io_view(tensor) for tensor in spec.inputs],
        "outputs": [_io_view(tensor) for tensor in spec.outputs],
        "operators": operators,
        "sources": [f"src/{prefix}_{name}.c" for name in own],
        "kernel_sources": [f"kernels/src/{name}" for name in sources if name.endswith(".c")],
    }


def _arena_view(spec: ModuleSpec, arena: Arena) -> dict[str, Any]:
    symbol, source = runtime_symbol(spec.prefix, arena), source_symbol(spec.prefix, arena)
    return {
        "enum_name": arena_enum_name(spec.prefix, arena),
        "role": arena.role,
        "memory": arena.memory,
        "source_memory": arena.source_memory,
        "used_bytes": arena.used_bytes,
        "alignment": arena.alignment,
        "is_staged": arena.is_staged,
        "is_cold": arena.role == "constant" and not arena.is_staged,
        "symbol": symbol,
        "object_bytes": arena.guard_bytes + arena.used_bytes,
        "start": _start(symbol, arena.guard_bytes),
        "source_symbol": source,
        "source_bytes": arena.source_guard_bytes + arena.used_bytes,
        "source_start": _start(source, arena.source_guard_bytes),
        "source_const": "const " if arena.source_memory in spec.non_volatile else "",
        "sidecar": sidecar_filename(spec.prefix, arena),
    }


def _start(symbol: str | None, guard_bytes: int) -> str:
    return f"{symbol} + {guard_bytes}" if guard_bytes else str(symbol)


def _io_view(tensor: ModuleTensor) -> dict[str, Any]:
    return {
        "id": tensor.id,
        "name": tensor.name,
        "dtype": tensor.dtype,
        "shape": tensor.shape,
        "elements": int(np.prod(tensor.shape, dtype=np.int64)),
        "size_bytes": tensor.size_bytes,
        "zero_point": tensor.zero_point,
        "scale_text": float_literal(tensor.scale),
    }


def _soc_name(platform: str) -> str:
    """Gives the part of a board as NSX manifests name it, e.g. ``apollo510`` of ``apollo510_evb``."""
    name = platform.partition("_")[0]
    return {"apollo330mp": "apollo330P"}.get(name, name)


def _floor_number(floor: str) -> int:
    major, minor, patch = (int(part) for part in floor.split("."))
    return major * 10000 + minor * 100 + patch
