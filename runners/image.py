# SPDX-License-Identifier: Apache-2.0
"""What a linked image holds: its bytes, sizes, symbols and build id."""

from __future__ import annotations

import bisect
import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from runners.layout import ImageLayout
from runners.measurement import MemorySections

_FIRMWARE_PREFIX = ".firmware_"
_CODE_SECTIONS = (".module_text", ".module_rodata", ".kernel_text", ".kernel_rodata")
_BUILD_ID_SECTION = ".firmware_build_id"
_THUMB_BIT = 1


@dataclass(frozen=True)
class Image:
    """A linked image.

    Attributes:
        path: The ELF file.
        sha256: Digest over its loadable segments: addresses, sizes and bytes.
        build_id: The id that the linker wrote into it.
        sections: Bytes of module, kernels and C library by memory.
        code_bytes: Code and tables of module and kernels.
        symbols: Address by name, without the Thumb bit.
        functions: Start addresses of functions, ascending, each with its name.
    """

    path: Path
    sha256: str
    build_id: bytes
    sections: Mapping[str, MemorySections]
    code_bytes: int
    symbols: Mapping[str, int]
    functions: tuple[tuple[int, str], ...]

    def function_at(self, address: int) -> str:
        """Gives ``function+0x<offset>`` of a code address, or the address before all functions."""
        index = bisect.bisect_right(self.functions, (address, chr(0x10FFFF))) - 1
        if index < 0:
            return f"0x{address:08x}"
        start, name = self.functions[index]
        return f"{name}+0x{address - start:x}"


def read_image(path: Path, layout: ImageLayout) -> Image:
    """Reads a linked image.

    Args:
        path: The ELF file.
        layout: The layout it was linked with.

    Raises:
        ValueError: If it was not linked with a linker script of ours.
    """
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        table = elf.get_section_by_name(".symtab")
        note = elf.get_section_by_name(_BUILD_ID_SECTION)
        if not isinstance(table, SymbolTableSection) or note is None:
            raise ValueError(f"{path.name} was not linked with our linker script")
        symbols: dict[str, int] = {}
        functions: list[tuple[int, str]] = []
        for symbol in table.iter_symbols():
            kind = symbol["st_info"]["type"]
            if symbol["st_shndx"] == "SHN_UNDEF" or kind in ("STT_FILE", "STT_SECTION"):
                continue
            address = symbol["st_value"]
            if kind == "STT_FUNC":
                address &= ~_THUMB_BIT
                functions.append((address, symbol.name))
            symbols[symbol.name] = address
        sections, code_bytes = _section_sizes(elf, layout)
        return Image(
            path=path,
            sha256=_segments_sha256(elf),
            build_id=_build_id(note.data()),
            sections=sections,
            code_bytes=code_bytes,
            symbols=symbols,
            functions=tuple(sorted(functions)),
        )


def code_sections(layout: ImageLayout) -> frozenset[str]:
    """Gives the names of the sections that hold code and tables of module and kernels."""
    return frozenset({*_CODE_SECTIONS, *(f".{memory}_text" for memory in layout.code_memories)})


def _build_id(note: bytes) -> bytes:
    name_bytes, id_bytes, _ = struct.unpack_from("<3I", note)
    start = 12 + (name_bytes + 3) // 4 * 4
    return note[start : start + id_bytes]


def _segments_sha256(elf: ELFFile) -> str:
    digest = hashlib.sha256()
    for segment in elf.iter_segments("PT_LOAD"):
        numbers = (segment["p_vaddr"], segment["p_paddr"], segment["p_filesz"], segment["p_memsz"])
        digest.update(struct.pack("<4I", *numbers))
        digest.update(segment.data())
    return digest.hexdigest()


def _section_sizes(elf: ELFFile, layout: ImageLayout) -> tuple[dict[str, MemorySections], int]:
    sizes: dict[str, dict[str, int]] = {}
    code_bytes = 0
    counted = code_sections(layout)
    for section in elf.iter_sections():
        size = section["sh_size"]
        if not section["sh_flags"] & SH_FLAGS.SHF_ALLOC or size == 0:
            continue
        if section.name.startswith(_FIRMWARE_PREFIX):
            continue
        code_bytes += size if section.name in counted else 0
        memory = layout.memory_at(section["sh_addr"])
        if memory is None:
            raise ValueError(f"section {section.name} lies outside of all memories")
        kinds = sizes.setdefault(memory, {})
        kind = _kind(section.name, section["sh_type"])
        kinds[kind] = kinds.get(kind, 0) + size
    return {name: MemorySections(**sizes[name]) for name in sorted(sizes)}, code_bytes


def _kind(name: str, section_type: str) -> str:
    if section_type == "SHT_NOBITS":
        return "bss_bytes"
    suffix = name.rsplit("_", 1)[1]
    return f"{suffix}_bytes"
