# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hand_module import hand_conversion

from helia_aot.api import convert
from helia_aot.codegen.module import ConstantBlob, Module
from helia_aot.config.convert import ConvertConfig
from helia_aot.platforms.registry import load_platform
from runners.build import CORE_FLAGS, Builder, render_constants
from runners.failure import CandidateFailure
from runners.layout import render_placement_header
from runners.objects import Compiler, ObjectCache, Source, run_tool
from runners.simulator.machines import machine_layout
from runners.toolchain import find_arm_compiler

pytestmark = pytest.mark.usefixtures("tools")

PLATFORM = load_platform("apollo510_evb")
LAYOUT = machine_layout(PLATFORM)


def build(module: Module, directory: Path):
    directory.mkdir(exist_ok=True)
    return Builder(find_arm_compiler(), PLATFORM.core, LAYOUT, "done_semihosting.c").build(
        module, directory
    )


def digits_module(digits_model: Path) -> Module:
    config = {"model": {"path": digits_model}, "platform": {"name": PLATFORM.name}}
    return convert(ConvertConfig.model_validate(config)).module


def objects_of(path: Path) -> dict[str, tuple[str, int, int, bytes]]:
    """Gives section, flags, alignment and bytes of every data object of an object file."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        found = {}
        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            if symbol["st_info"]["type"] == "STT_OBJECT":
                section = elf.get_section(symbol["st_shndx"])
                start, size = symbol["st_value"], symbol["st_size"]
                data = section.data()[start : start + size]
                alignment = section["sh_addralign"]
                found[symbol.name] = (section.name, section["sh_flags"], alignment, data)
        return found


@pytest.mark.parametrize("source", ["hand", "digits"])
def test_linked_constants_equal_the_compiled_ones(source, tmp_path, digits_model):
    module = hand_conversion(PLATFORM).module if source == "hand" else digits_module(digits_model)
    tree = {f"module/{file.path}": file.text.encode() for file in module.files}
    tree["placement.h"] = render_placement_header(module.prefix, LAYOUT).encode()
    tree["constants.s"] = render_constants(module.constant_blobs, LAYOUT).encode()
    for index, blob in enumerate(module.constant_blobs):
        tree[f"module/constants_{index}.bin"] = blob.data
    flags = ("-mthumb", "-mcpu=cortex-m55", "-fdata-sections")
    constants = f"module/src/{module.prefix}_constants.c"
    sources = [
        Source(constants, "compiled.o", flags, ("placement.h",)),
        Source("constants.s", "linked.o", flags),
    ]
    Compiler(find_arm_compiler(), ObjectCache(tmp_path / "cache")).compile(sources, tree, tmp_path)
    linked = objects_of(tmp_path / "linked.o")
    assert linked == objects_of(tmp_path / "compiled.o")
    assert {blob.symbol: blob.data for blob in module.constant_blobs} == {
        name: data for name, (_, _, _, data) in linked.items()
    }


def test_image_is_the_same_in_any_directory_and_from_any_cache(tmp_path, digits_model, monkeypatch):
    module = digits_module(digits_model)
    warm = build(module, tmp_path / "one").image
    monkeypatch.setenv("HELIA_CACHE_DIR", str(tmp_path / "other cache"))
    cold = build(module, tmp_path / "another directory")
    assert cold.compiled > 0
    assert cold.image.sha256 == warm.sha256
    assert cold.image.build_id == warm.build_id
    assert str(tmp_path).encode() not in cold.image.path.read_bytes()


def test_warm_build_compiles_nothing(tmp_path, digits_model):
    module = digits_module(digits_model)
    build(module, tmp_path / "one")
    assert build(module, tmp_path / "two").compiled == 0


def test_one_changed_byte_of_a_constant_changes_the_image_and_compiles_nothing(tmp_path):
    module = hand_conversion(PLATFORM).module
    first = build(module, tmp_path / "one")
    blob = module.constant_blobs[0]
    changed = replace(blob, data=bytes([blob.data[0] ^ 1]) + blob.data[1:])
    blobs = (changed, *module.constant_blobs[1:])
    second = build(replace(module, constant_blobs=blobs), tmp_path / "two")
    assert second.compiled == 0
    assert second.image.sha256 != first.image.sha256


def test_sizes_are_those_of_module_and_library(tmp_path):
    image = build(hand_conversion(PLATFORM).module, tmp_path).image
    dtcm, sram = image.sections["dtcm"], image.sections["sram"]
    assert (dtcm.data_bytes, dtcm.bss_bytes) == (64, 256)
    assert (sram.data_bytes, sram.bss_bytes) == (0, 64)
    code = image.sections[LAYOUT.code]
    assert LAYOUT.code == "mram"
    assert 0 < image.code_bytes <= code.text_bytes + code.rodata_bytes - 64


def test_overflow_names_the_memory_and_the_bytes(tmp_path):
    size = PLATFORM.memories["dtcm"].size_bytes
    module = hand_conversion(PLATFORM, arena_bytes=size + 64).module
    with pytest.raises(CandidateFailure, match="exceeds dtcm by 128 bytes") as caught:
        build(module, tmp_path)
    assert (caught.value.status, caught.value.stage) == ("plan_bad", "link")
    assert caught.value.evidence["overflow_bytes"] == {"dtcm": 128}


def test_a_full_memory_still_fits(tmp_path):
    size = PLATFORM.memories["dtcm"].size_bytes
    image = build(hand_conversion(PLATFORM, arena_bytes=size - 64).module, tmp_path).image
    assert image.sections["dtcm"].total_bytes == size


def test_initial_values_of_ram_data_count_as_non_volatile_memory(tmp_path):
    module = hand_conversion(PLATFORM).module
    big = ConstantBlob("big", "mram", 16, True, bytes(PLATFORM.memories["mram"].size_bytes - 100))
    with pytest.raises(CandidateFailure, match="exceeds mram by"):
        build(replace(module, constant_blobs=(*module.constant_blobs, big)), tmp_path)


def test_missing_function_is_named(tmp_path):
    with pytest.raises(CandidateFailure, match="undefined reference to `hand_nowhere'"):
        build(hand_conversion(PLATFORM, "undefined").module, tmp_path)


def test_variables_in_a_memory_that_cannot_be_written_do_not_link(tmp_path):
    module = hand_conversion(PLATFORM).module
    files = tuple(
        replace(file, text=file.text.replace("HAND_PUT_IN_SRAM ", "HAND_PUT_IN_MRAM "))
        for file in module.files
    )
    with pytest.raises(CandidateFailure, match="mram cannot be written"):
        build(replace(module, files=files), tmp_path)


@pytest.mark.parametrize("core", ["cortex-m55", "cortex-m4"])
def test_firmware_compiles_without_warnings(core, tmp_path):
    platform = load_platform({"cortex-m55": "apollo510_evb", "cortex-m4": "apollo4p_evb"}[core])
    layout = machine_layout(platform)
    builder = Builder(find_arm_compiler(), core, layout, "done_semihosting.c")
    builder.build(hand_conversion(platform).module, tmp_path)
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-std=c11")
    flags = (*CORE_FLAGS[core], "-mthumb", *strict, "-Imodule/includes-api")
    for source in sorted((tmp_path / "firmware").glob("*.c")):
        command = [find_arm_compiler().path, *flags, "-c", f"firmware/{source.name}"]
        assert run_tool([*command, "-o", "out.o"], tmp_path, source.name) is None
