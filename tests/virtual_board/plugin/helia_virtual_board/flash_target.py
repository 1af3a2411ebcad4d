# SPDX-License-Identifier: Apache-2.0
"""A target ``virtual_flash`` for pyOCD: a Cortex-M55 machine of whose RAM a part is written as flash.

``HELIA_VIRTUAL_FLASH`` names the linked flash algorithm (``flash_algorithm.c``); without it there is no such target.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from elftools.elf.elffile import ELFFile
from pyocd.core.memory_map import FlashRegion, MemoryMap, RamRegion
from pyocd.coresight.coresight_target import CoreSightTarget
from pyocd.target import TARGET

VARIABLE = "HELIA_VIRTUAL_FLASH"
NAME = "virtual_flash"
FLASH = 0x6000_0000
FLASH_BYTES = 4 << 20
BLOCK_BYTES = 0x1000
ALGORITHM = 0x2001_0000  # in data TCM; the stack and two page buffers follow
STOP = 0xE7FDBE00  # bkpt #0; b .


def _algorithm(path: str) -> dict[str, object]:
    with Path(path).open("rb") as stream:
        elf = ELFFile(stream)
        code = elf.get_section_by_name(".text").data()
        symbols = {
            symbol.name: symbol["st_value"]
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
        }
    code += bytes(-len(code) % 4)

    def at(name: str) -> int:
        return ALGORITHM + 4 + (symbols[name] | 1)

    buffers = ALGORITHM + 0x4000
    return {
        "load_address": ALGORITHM,
        "instructions": [STOP, *struct.unpack(f"<{len(code) // 4}I", code)],
        "pc_init": at("Init"),
        "pc_unInit": at("UnInit"),
        "pc_program_page": at("ProgramPage"),
        "pc_erase_sector": at("EraseSector"),
        "pc_eraseAll": 0xFFFFFFFF,  # there is none
        "static_base": ALGORITHM + 0x400,
        "begin_stack": ALGORITHM + 0x2000,
        "begin_data": buffers,
        "page_buffers": [buffers, buffers + BLOCK_BYTES],
        "page_size": BLOCK_BYTES,
        "min_program_length": 4,
        "analyzer_supported": False,
        "analyzer_address": 0,
    }


class VirtualFlashTarget(CoreSightTarget):
    """The memory map of ``mps3-an547``, its first DDR megabytes being flash."""

    VENDOR = "QEMU"

    def __init__(self, session) -> None:
        flash = FlashRegion(
            start=FLASH,
            length=FLASH_BYTES,
            sector_size=BLOCK_BYTES,
            page_size=BLOCK_BYTES,
            erased_byte_value=0xFF,
            algo=_algorithm(os.environ[VARIABLE]),
        )
        ram = [
            RamRegion(name="itcm", start=0, length=0x8_0000),
            RamRegion(name="dtcm", start=0x2000_0000, length=0x8_0000, is_default=True),
            RamRegion(name="sram", start=0x2100_0000, length=0x40_0000),
            RamRegion(name="ddr", start=0x6F00_0000, length=0x100_0000),
        ]
        super().__init__(session, MemoryMap(flash, *ram))


def register() -> None:
    """Makes the target known, if the environment names its algorithm."""
    if os.environ.get(VARIABLE):
        TARGET[NAME] = VirtualFlashTarget
