# SPDX-License-Identifier: Apache-2.0
"""From a converted module to a linked image."""

from __future__ import annotations

import math
import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from runners.cache_files import cache_directory
from runners.failure import CandidateFailure
from runners.image import Image, code_sections, read_image
from runners.kernel_library import ARCHIVE_NAME, LibraryFiles, check_dialect
from runners.layout import (
    ImageLayout,
    constant_section,
    render_linker_script,
    render_placement_header,
)
from runners.link_map import read_link_map
from runners.objects import (
    MAX_MESSAGE_CHARACTERS,
    OBJECTS,
    Compiler,
    ObjectCache,
    Source,
    first_error,
    run_tool,
)
from runners.toolchain import Tool

if TYPE_CHECKING:
    from helia_aot.codegen.module import ConstantBlob, Module

CORE_FLAGS: Mapping[str, tuple[str, ...]] = {
    "cortex-m55": ("-mcpu=cortex-m55", "-mfloat-abi=hard"),
    "cortex-m4": ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"),
}
_COMMON_FLAGS = (
    "-pipe",
    "-mthumb",
    "-std=c11",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
)
_REPRODUCIBLE_FLAGS = ("-ffile-prefix-map=.=", "-Werror=date-time")
# One level for both: an operator can carry a copy of its kernel (code_specialization: inlined). The
# inner loops are mostly assembly. On Cortex-M4 -O2 costs about 0.1 to 1 % more modelled cycles, -Os 4 to
# 8 %, and unrolling all loops gains 0.2 % for a lot of code.
_MODULE_FLAGS = _KERNEL_FLAGS = ("-O3",)
# Loops that set up memory must not become calls whose stack frames they overwrite.
_FIRMWARE_FLAGS = ("-O2", "-fno-tree-loop-distribute-patterns")
_LINK_FLAGS = (
    "-nostartfiles",
    "--specs=nano.specs",
    "-Wl,--gc-sections",
    "-Wl,--build-id=sha1",
    "-Wl,--orphan-handling=error",
)

_FIRMWARE_SOURCES = ("main.c", "startup.c", "module_glue.c")
_FIRMWARE_HEADERS = ("counters.h", "firmware.h", "result.h")
_PLACEMENT_HEADER = "helia_placement.h"
_GLUE_HEADER = "firmware/helia_module.h"
_LINKER_SCRIPT = "image.ld"
_IMAGE = "image.elf"
_LINK_MAP = "image.map"
_CONSTANTS = "module/helia_constants.s"
INPUT_ALIGNMENT = 16

_OVERFLOW = re.compile(r"region [`'](\w+)' overflowed by (\d+) bytes?")


@dataclass(frozen=True)
class BuildResult:
    """An image and how it came about.

    Attributes:
        image: The linked image.
        compiled: Number of sources that were compiled, not taken from the cache.
        source_code_bytes: Code and tables by source file, as in a measurement.
    """

    image: Image
    compiled: int
    source_code_bytes: Mapping[str, int]


@dataclass(frozen=True)
class BuildOptions:
    """How images of a runner differ from the usual.

    Attributes:
        defines: Macros that the firmware is compiled with.
        library: A kernel library for modules that come without their kernels.
    """

    defines: tuple[str, ...] = ()
    library: LibraryFiles | None = None


def compiler_flags(core: str) -> dict[str, str]:
    """Gives the flags of each part of an image, for the record.

    Args:
        core: A key of :data:`CORE_FLAGS`.
    """
    common = (*CORE_FLAGS[core], *_COMMON_FLAGS)
    return {
        "module": " ".join((*common, *_MODULE_FLAGS)),
        "kernels": " ".join((*common, *_KERNEL_FLAGS)),
        "link": " ".join(_LINK_FLAGS),
    }


class Builder:
    """Builds images for one target; cheap to make, and safe beside others on the same cache."""

    def __init__(
        self,
        compiler: Tool,
        core: str,
        layout: ImageLayout,
        done_source: str,
        options: BuildOptions | None = None,
    ) -> None:
        """Makes a builder.

        Args:
            compiler: The cross compiler.
            core: A key of :data:`CORE_FLAGS`.
            layout: Where the parts go.
            done_source: Firmware source that ends a run on this kind of target.
            options: What else; None is nothing.

        Raises:
            RunnerError: If the library does not have the calls that modules make.
        """
        self._tool = compiler
        self._core = core
        self._layout = layout
        self._done_source = done_source
        options = options or BuildOptions()
        self._defines = options.defines
        self._library = options.library
        if self._library is not None:
            check_dialect(self._library, compiler, (*CORE_FLAGS[core], *_COMMON_FLAGS))
        self._compiler = Compiler(compiler, ObjectCache(cache_directory() / OBJECTS))

    def build(self, module: Module, directory: Path, *, timeout_s: float = math.inf) -> BuildResult:
        """Builds the image of a module.

        Equal modules give equal images, in any directory.

        Args:
            module: The module; its constants are linked as binary data, not compiled.
            directory: An empty directory for objects, linker script and image.
            timeout_s: Seconds after which no tool runs any more.

        Raises:
            CandidateFailure: If it does not compile or does not fit, or is late (``rig_bad``).
        """
        ends_s = time.monotonic() + timeout_s
        sources, library = self._sources(module), self._library_sources()
        tree = self._source_tree(module)
        compiled = self._compiler.compile(sources, tree, directory, ends_s=ends_s)
        compiled += self._compile_library(library, directory, ends_s)
        self._link([source.object_path for source in (*sources, *library)], directory, ends_s)
        parts = read_link_map(
            directory / _LINK_MAP,
            code_sections(self._layout),
            {source.object_path: Path(source.path).stem for source in (*sources, *library)},
        )
        return BuildResult(read_image(directory / _IMAGE, self._layout), compiled, parts)

    def _source_tree(self, module: Module) -> dict[str, bytes]:
        tree = {f"module/{file.path}": file.content for file in module.files}
        tree.update(_firmware_files((*_FIRMWARE_SOURCES, *_FIRMWARE_HEADERS, self._done_source)))
        tree.update(self._library.tree if self._library else {})
        tree[_CONSTANTS] = render_constants(module.constant_blobs, self._layout).encode()
        for index, blob in enumerate(module.constant_blobs):
            tree[_blob_path(index)] = blob.data
        tree[_PLACEMENT_HEADER] = render_placement_header(module.prefix, self._layout).encode()
        tree[_GLUE_HEADER] = render_glue_header(module).encode()
        return tree

    def _sources(self, module: Module) -> list[Source]:
        common = (*CORE_FLAGS[self._core], *_COMMON_FLAGS, *_REPRODUCIBLE_FLAGS)
        constants = f"src/{module.prefix}_constants.c"
        library_flags = self._library_flags(module.prefix)
        sources: list[Source] = []
        for file in module.files:
            if not file.path.endswith(".c") or file.path == constants:
                continue
            group = "kernels" if file.path.startswith("kernels/") else "module"
            flags = _KERNEL_FLAGS if group == "kernels" else (*_MODULE_FLAGS, *library_flags)
            headers = () if group == "kernels" else (_PLACEMENT_HEADER,)
            sources.append(
                Source(f"module/{file.path}", _object(group, file.path), (*common, *flags), headers)
            )
        defines = tuple(f"-D{name}" for name in self._defines)
        firmware_flags = (
            *(*common, *_FIRMWARE_FLAGS, *defines, "-Imodule/includes-api"),
            *library_flags,
        )
        for name in (*_FIRMWARE_SOURCES, self._done_source):
            sources.append(Source(f"firmware/{name}", _object("firmware", name), firmware_flags))
        sources.append(Source(_CONSTANTS, _object("module", _CONSTANTS), common, cached=False))
        return sources

    def _library_flags(self, prefix: str) -> tuple[str, ...]:
        if self._library is None:
            return ()
        version = f"-D{prefix.upper()}_{self._library.version_macro}={self._library.version_number}"
        return (*self._library.include_flags, version)

    def _compile_library(self, sources: list[Source], directory: Path, ends_s: float) -> int:
        """Compiles the user's library, whose errors are not those of a candidate."""
        if self._library is None:
            return 0
        try:
            return self._compiler.compile(sources, self._library.tree, directory, ends_s=ends_s)
        except CandidateFailure as failure:
            reason = f"the kernel library: {failure.reason}; kernels.exclude leaves sources out"
            raise CandidateFailure("rig_bad", "build", reason, failure.evidence) from failure

    def _library_sources(self) -> list[Source]:
        if self._library is None:
            return []
        common = (*CORE_FLAGS[self._core], *_COMMON_FLAGS, *_REPRODUCIBLE_FLAGS)
        flags = (*common, *_KERNEL_FLAGS, *self._library.include_flags)
        return [
            Source(path, f"objects/kernels/{index}_{Path(path).stem}.o", flags)
            for index, path in enumerate(self._library.sources)
        ]

    def _link(self, objects: list[str], directory: Path, ends_s: float) -> None:
        (directory / _LINKER_SCRIPT).write_text(render_linker_script(self._layout), "utf-8")
        if self._library is not None and self._library.archive is not None:
            objects = [*objects, ARCHIVE_NAME]
            (directory / ARCHIVE_NAME).write_bytes(self._library.archive)
        flags = (*CORE_FLAGS[self._core], "-mthumb", *_LINK_FLAGS, f"-Wl,-T,{_LINKER_SCRIPT}")
        command: list[str | Path] = [self._tool.path, *flags, *objects, "-o", _IMAGE]
        command.append(f"-Wl,-Map={_LINK_MAP}")
        stderr = run_tool(command, directory, "the link", ends_s=ends_s)
        if stderr is None:
            return
        overflows: dict[str, JsonValue] = {
            region: int(size) for region, size in _OVERFLOW.findall(stderr)
        }
        if overflows:
            parts = [f"{region} by {size} bytes" for region, size in sorted(overflows.items())]
            reason = f"the module does not fit: it exceeds {', '.join(parts)}"
        else:
            reason = f"the module does not link: {first_error(stderr)}"
        evidence: dict[str, JsonValue] = {
            "overflow_bytes": overflows,
            "message": stderr[:MAX_MESSAGE_CHARACTERS],
        }
        raise CandidateFailure("plan_bad", "link", reason, evidence)


def _object(group: str, source_path: str) -> str:
    stem = posixpath.splitext(posixpath.basename(source_path))[0]
    return f"objects/{group}/{stem}.o"


def _blob_path(index: int) -> str:
    return f"module/constants_{index}.bin"


@cache
def _firmware_files(names: tuple[str, ...]) -> Mapping[str, bytes]:
    folder = resources.files("runners").joinpath("firmware")
    return {f"firmware/{name}": folder.joinpath(name).read_bytes() for name in names}


def render_constants(blobs: Sequence[ConstantBlob], layout: ImageLayout) -> str:
    """Gives an assembly source that defines the module's constants from binary files.

    It stands in for the module's own C file of constants, which takes much longer to compile and
    gives the same symbols, sections, alignments and bytes.

    Args:
        blobs: The constants.
        layout: Decides the section of each.
    """
    lines = []
    for index, blob in enumerate(blobs):
        section = constant_section(blob.memory, layout)
        flags = "a" if section.startswith(".rodata") else "aw"
        lines += [
            f'    .section {section},"{flags}",%progbits',
            f"    .balign {blob.alignment}",
            f"    .global {blob.symbol}",
            f"    .type {blob.symbol}, %object",
            f"    .size {blob.symbol}, {len(blob.data)}",
            f"{blob.symbol}:",
            f'    .incbin "{_blob_path(index)}"',
        ]
    return "\n".join([*lines, ""])


def render_glue_header(module: Module) -> str:
    """Gives the header that binds the firmware to a module.

    Args:
        module: Its prefix, inputs, outputs and operators are used.
    """
    p = module.prefix
    input_bytes = [tensor.size_bytes for tensor in module.inputs]
    output_bytes = [tensor.size_bytes for tensor in module.outputs]
    definitions = {
        "HELIA_CONTEXT_TYPE": f"{p}_model_context_t",
        "HELIA_STATE_TYPE": f"{p}_operator_state_t",
        "HELIA_STATE_RUN_STARTED": f"{p}_op_state_run_started",
        "HELIA_STATE_RUN_FINISHED": f"{p}_op_state_run_finished",
        "HELIA_INIT": f"{p}_model_init",
        "HELIA_RUN": f"{p}_model_run",
        "HELIA_N_OPERATORS": f"{len(module.operators)}u",
        "HELIA_OPERATOR_IDS": ", ".join(operator.node_id for operator in module.operators),
        "HELIA_N_INPUTS": f"{len(input_bytes)}u",
        "HELIA_N_OUTPUTS": f"{len(output_bytes)}u",
        "HELIA_INPUT_BYTES": ", ".join(f"{size}u" for size in input_bytes),
        "HELIA_OUTPUT_BYTES": ", ".join(f"{size}u" for size in output_bytes),
        "HELIA_TOTAL_INPUT_BYTES": f"{sum(padded_bytes(size) for size in input_bytes)}u",
        "HELIA_TOTAL_OUTPUT_BYTES": f"{sum(output_bytes)}u",
    }
    lines = [f'#include "{p}_model.h"', ""]
    lines += [f"#define {name} {value}" for name, value in definitions.items()]
    # The linked numbers and the module's own must agree; this one the compiler can check.
    lines.append(f'_Static_assert(HELIA_N_OPERATORS == {p}_num_operators, "operator count");')
    return "\n".join([*lines, ""])


def padded_bytes(size_bytes: int) -> int:
    """Gives the size of an input in the stimulus buffer."""
    return (size_bytes + INPUT_ALIGNMENT - 1) // INPUT_ALIGNMENT * INPUT_ALIGNMENT
