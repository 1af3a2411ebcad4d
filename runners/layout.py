# SPDX-License-Identifier: Apache-2.0
"""Where the parts of an image go: regions of the target and the linker script made from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined, Template

if TYPE_CHECKING:
    from helia_aot.platforms.schema import Platform

STACK_BYTES = 16384
"""Stack and variables of the firmware. The Apollo510's data TCM has 512 KB of which its platform
offers 496 KB to modules; the rest is this."""

MIN_STACK_BYTES = 8192
VECTOR_BYTES = 64


@dataclass(frozen=True)
class Region:
    """A range of addresses.

    Attributes:
        name: Name in the linker script: a memory's, or ``STACK``, ``HARNESS``, ``BOOT``.
        origin: First address.
        size_bytes: Length.
    """

    name: str
    origin: int
    size_bytes: int

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.origin + self.size_bytes

    def overlaps(self, other: Region) -> bool:
        """Tells whether the two share an address."""
        return self.origin < other.end and other.origin < self.end


@dataclass(frozen=True)
class ImageLayout:
    """Where everything of an image goes.

    Attributes:
        memories: The platform's memories, at their addresses on the target.
        stack: Stack and variables of the firmware.
        harness: Stimulus, outputs, markers and result.
        vectors: Name of the region that starts with the vector table.
        code: Memory of machine code and tables.
        load: Memory that holds the initial values of RAM data.
        constant_memories: Memories that only hold constants.
        data_memories: Memories with variables; the last one takes what the module did not place.
        code_memories: Memories that code of the module can be placed in.
        boot: A region for the vector table alone, where no memory of the platform is there.
    """

    memories: tuple[Region, ...]
    stack: Region
    harness: Region
    vectors: str
    code: str
    load: str
    constant_memories: tuple[str, ...]
    data_memories: tuple[str, ...]
    code_memories: tuple[str, ...]
    boot: Region | None = None

    @property
    def regions(self) -> tuple[Region, ...]:
        """All regions of the linker script."""
        extra = (self.boot,) if self.boot is not None else ()
        return (*extra, *self.memories, self.stack, self.harness)

    def memory_at(self, address: int) -> str | None:
        """Gives the platform memory that holds an address; None outside of all."""
        for region in self.memories:
            if region.origin <= address < region.end:
                return region.name
        return None


def plan_layout(
    platform: Platform, *, origins: dict[str, int], code: str, harness: Region, reset_address: int
) -> ImageLayout:
    """Gives the layout of images for a platform.

    Args:
        platform: The target; each memory keeps its size.
        origins: Address of each memory.
        code: Name of the memory that code runs from.
        harness: Range for what the measurement needs, outside all memories.
        reset_address: Where the core reads its vector table.

    Raises:
        ValueError: If two regions overlap.
    """
    memories = tuple(
        Region(name, origins[name], memory.size_bytes) for name, memory in platform.memories.items()
    )
    volatile = [name for name, memory in platform.memories.items() if memory.volatile]
    stack_memory = _stack_memory(platform)
    stack_origin = next(region.end for region in memories if region.name == stack_memory)
    at_reset = [region.name for region in memories if region.origin == reset_address]
    layout = ImageLayout(
        memories=memories,
        stack=Region("STACK", stack_origin, STACK_BYTES),
        harness=harness,
        vectors=at_reset[0] if at_reset else "BOOT",
        code=code,
        load=next((name for name in platform.memories if name not in volatile), code),
        constant_memories=tuple(name for name in platform.memories if name not in volatile),
        data_memories=(*(name for name in volatile if name != stack_memory), stack_memory),
        code_memories=tuple(
            name for name, memory in platform.memories.items() if memory.executable
        ),
        boot=None if at_reset else Region("BOOT", reset_address, VECTOR_BYTES),
    )
    _check_overlaps(layout.regions)
    return layout


def _stack_memory(platform: Platform) -> str:
    order = [*platform.preferred_memory_order, *platform.memories]
    tcm = [name for name in order if platform.memories[name].tcm]
    return (tcm or order)[0]


def _check_overlaps(regions: Sequence[Region]) -> None:
    for index, region in enumerate(regions):
        for other in regions[index + 1 :]:
            if region.overlaps(other):
                raise ValueError(f"the regions {region.name} and {other.name} overlap")


def render_linker_script(layout: ImageLayout) -> str:
    """Gives the linker script of a layout; equal layouts give equal text."""
    return _template().render(
        regions=layout.regions,
        vector_region=layout.vectors,
        code=layout.code,
        load=layout.load,
        constant_memories=layout.constant_memories,
        data_memories=layout.data_memories,
        code_memories=layout.code_memories,
        min_stack_bytes=MIN_STACK_BYTES,
    )


@cache
def _template() -> Template:
    text = resources.files("runners").joinpath("firmware", "image.ld.j2").read_text("utf-8")
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(text)


def constant_section(memory: str, layout: ImageLayout) -> str:
    """Gives the input section of initialised data placed in a memory."""
    kind = "rodata" if memory in layout.constant_memories else "data"
    return f".{kind}.helia.{memory}"


def code_section(memory: str) -> str:
    """Gives the input section of functions placed in a memory."""
    return f".text.helia.{memory}"


def render_placement_header(prefix: str, layout: ImageLayout) -> str:
    """Gives the header, included before every module source, that makes placement real.

    Args:
        prefix: The module's prefix.
        layout: The target; macros are defined for each of its memories.
    """
    lines = ["/* Sections for the module's placement macros. */"]
    for memory in (region.name for region in layout.memories):
        macro = f"{prefix.upper()}_PUT_IN_{memory.upper()}"
        sections = {
            macro: f".bss.helia.{memory}",
            f"{macro}_INIT": constant_section(memory, layout),
        }
        if memory in layout.code_memories:
            sections[f"{macro}_CODE"] = code_section(memory)
        lines += [
            f'#define {name} __attribute__((section("{section}")))'
            for name, section in sections.items()
        ]
    return "\n".join(lines) + "\n"
