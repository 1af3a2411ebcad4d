# SPDX-License-Identifier: Apache-2.0
"""The code of every source file, from the linker's map."""

from __future__ import annotations

from pathlib import Path

from module_program import converted

from runners.base import MeasureSettings
from runners.link_map import read_link_map
from runners.measure import random_stimulus
from runners.registry import create_runner

MAP = """Discarded input sections

 .text.gone     0x00000000        0x8 objects/module/a.o

Memory Configuration

Linker script and memory map

.module_text    0x00000040       0x30
 *(.text .text.*)
 .text.short    0x00000040        0xa objects/module/a.o
 *fill*         0x0000004a        0x2
 .text.a_function_with_a_long_name
                0x0000004c       0x10 objects/module/b.o
 .text          0x0000005c        0x0 objects/module/c.o
 .text.more     0x0000005c       0x14 objects/module/a.o

.kernel_text    0x00000070        0x8
 .text.arm_add  0x00000070        0x8 helia_kernels.a(arm_add_s8.c.obj)

.firmware_text  0x00000078       0x20
 .text.main     0x00000078       0x20 objects/firmware/main.o
"""


def test_parts_are_summed_by_source_and_fill_belongs_to_what_is_before_it(tmp_path: Path) -> None:
    path = tmp_path / "image.map"
    path.write_text(MAP, "utf-8")
    found = read_link_map(path, {".module_text", ".kernel_text"}, {"objects/module/a.o": "aot_a"})
    assert found == {"aot_a": 0xA + 2 + 0x14, "arm_add_s8": 8, "b": 0x10}


def test_the_parts_of_a_measurement_are_its_code(digits_model: Path) -> None:
    conversion = converted(digits_model)
    runner = create_runner("simulator", conversion.platform)
    stimulus = random_stimulus(conversion.module.inputs)
    measurement = runner.measure(conversion, stimulus, MeasureSettings()).measurement
    parts = measurement.source_code_bytes
    assert sum(parts.values()) == measurement.code_bytes
    sources = {Path(file.path).stem for file in conversion.module.files if file.path.endswith(".c")}
    assert set(parts) <= sources
    prefix = conversion.module.prefix
    assert {f"{prefix}_{kind}" for kind in ("model", "context", "tensors")} <= set(parts)
    kernels = {Path(name).stem for name in conversion.module.kernel_sources}
    assert set(parts) & kernels
