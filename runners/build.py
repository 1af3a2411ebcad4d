# SPDX-License-Identifier: Apache-2.0
"""From a converted module to a linked image."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from runners.failure import CandidateFailure
from runners.image import Image, read_image
from runners.layout import (
    ImageLayout,
    constant_section,
    render_linker_script,
    render_placement_header,
)
from runners.objects import (
    MAX_MESSAGE_CHARACTERS,
    Compiler,
    ObjectCache,
    Source,
    cache_directory,
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
# One level for both: an operator can carry a copy of its kernel (code_specialization: inlined).
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
_FIRMWARE_HEADERS = ("firmware.h", "result.h")
_PLACEMENT_HEADER = "helia_placement.h"
_GLUE_HEADER = "firmware/helia_module.h"
_LINKER_SCRIPT = "image.ld"
_IMAGE = "image.elf"
_CONSTANTS = "module/helia_constants.s"
INPUT_ALIGNMENT = 16

_OVERFLOW = re.compile(r"region [`'](\w+)' overflowed by (\d+) bytes?")


@dataclass(frozen=True)
class BuildResult:
    """An image and how it came about.

    Attributes:
        image: The linked image.
        compiled: Number of sources that were compiled, not taken from the cache.
    """

    image: Image
    compiled: int


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

    def __init__(self, compiler: Tool, core: str, layout: ImageLayout, done_source: str) -> None:
        """Makes a builder.

        Args:
            compiler: The cross compiler.
            core: A key of :data:`CORE_FLAGS`.
            layout: Where the parts go.
            done_source: Firmware source that ends a run on this kind of target.
        """
        self._tool = compiler
        self._core = core
        self._layout = layout
        self._done_source = done_source
        self._compiler = Compiler(compiler, ObjectCache(cache_directory() / "objects"))

    def build(self, module: Module, directory: Path) -> BuildResult:
        """Builds the image of a module.

        Equal modules give equal images, in any directory.

        Args:
            module: The module; its constants are linked as binary data, not compiled.
            directory: An empty directory for objects, linker script and image.

        Raises:
            CandidateFailure: If it does not compile or does not fit.
        """
        sources = self._sources(module)
        compiled = self._compiler.compile(sources, self._source_tree(module), directory)
        self._link([source.object_path for source in sources], directory)
        return BuildResult(read_image(directory / _IMAGE, self._layout), compiled)

    def _source_tree(self, module: Module) -> dict[str, bytes]:
        tree = {f"module/{file.path}": file.content for file in module.files}
        tree.update(_firmware_files((*_FIRMWARE_SOURCES, *_FIRMWARE_HEADERS, self._done_source)))
        tree[_CONSTANTS] = render_constants(module.constant_blobs, self._layout).encode()
        for index, blob in enumerate(module.constant_blobs):
            tree[_blob_path(index)] = blob.data
        tree[_PLACEMENT_HEADER] = render_placement_header(module.prefix, self._layout).encode()
        tree[_GLUE_HEADER] = render_glue_header(module).encode()
        return tree

    def _sources(self, module: Module) -> list[Source]:
        common = (*CORE_FLAGS[self._core], *_COMMON_FLAGS, *_REPRODUCIBLE_FLAGS)
        constants = f"src/{module.prefix}_constants.c"
        sources: list[Source] = []
        for file in module.files:
            if not file.path.endswith(".c") or file.path == constants:
                continue
            group = "kernels" if file.path.startswith("kernels/") else "module"
            flags = _KERNEL_FLAGS if group == "kernels" else _MODULE_FLAGS
            headers = () if group == "kernels" else (_PLACEMENT_HEADER,)
            sources.append(
                Source(f"module/{file.path}", _object(group, file.path), (*common, *flags), headers)
            )
        firmware_flags = (*common, *_FIRMWARE_FLAGS, "-Imodule/includes-api")
        for name in (*_FIRMWARE_SOURCES, self._done_source):
            sources.append(Source(f"firmware/{name}", _object("firmware", name), firmware_flags))
        sources.append(Source(_CONSTANTS, _object("module", _CONSTANTS), common, cached=False))
        return sources

    def _link(self, objects: list[str], directory: Path) -> None:
        (directory / _LINKER_SCRIPT).write_text(render_linker_script(self._layout), "utf-8")
        flags = (*CORE_FLAGS[self._core], "-mthumb", *_LINK_FLAGS, f"-Wl,-T,{_LINKER_SCRIPT}")
        command: list[str | Path] = [self._tool.path, *flags, *objects, "-o", _IMAGE]
        stderr = run_tool(command, directory, "the link")
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
