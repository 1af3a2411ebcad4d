# SPDX-License-Identifier: Apache-2.0
"""What generated modules promise to the application that links them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from host_module import STRICT

from helia_aot.api import Conversion, convert, write_module
from helia_aot.config.convert import ConvertConfig

CC = shutil.which("cc") or "cc"


def conversion_of(path: Path, prefix: str, **module: object) -> Conversion:
    return convert(
        ConvertConfig.model_validate(
            {
                "model": {"path": path},
                "module": {"prefix": prefix, "name": prefix, **module},
                "memory": {"dump_residency_json": True},
            }
        )
    )


def compile_objects(module: Path, *flags: str) -> list[Path]:
    objects = module / "objects"
    objects.mkdir(exist_ok=True)
    sources = [*module.glob("src/*.c"), *module.glob("kernels/src/*.c")]
    for source in sorted(sources):
        command = [CC, *STRICT, *flags, "-c", str(source), "-o", str(objects / f"{source.stem}.o")]
        subprocess.run(command, check=True)
    return sorted(objects.glob("*.o"))


def external_symbols(objects: list[Path]) -> set[str]:
    run = subprocess.run(
        ["nm", "--defined-only", "-g", *map(str, objects)],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split()[2] for line in run.stdout.splitlines() if len(line.split()) == 3}


def test_every_symbol_has_the_prefix(digits_model: Path, tmp_path: Path) -> None:
    module = write_module(conversion_of(digits_model, "left"), tmp_path / "left")
    symbols = external_symbols(compile_objects(module, "-fno-sanitize=all"))
    assert symbols
    assert all(symbol.startswith("left_") for symbol in symbols)


def test_two_modules_link_into_one_image(digits_model: Path, tmp_path: Path) -> None:
    folders = [
        write_module(conversion_of(digits_model, prefix), tmp_path / prefix)
        for prefix in ("left", "right")
    ]
    main = tmp_path / "main.c"
    main.write_text(
        '#include "left_model.h"\n#include "right_model.h"\n'
        "static left_model_context_t a;\nstatic right_model_context_t b;\n"
        "int main(void) {\n"
        "    return left_model_init(&a) || right_model_init(&b) || left_model_run(&a) || right_model_run(&b);\n}\n"
    )
    includes = [f"-I{folder}/includes-api" for folder in folders]
    objects = [str(o) for folder in folders for o in compile_objects(folder)]
    program = tmp_path / "both"
    command = [CC, *STRICT, *includes, str(main), *objects, "-o", str(program)]
    subprocess.run(command, check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0


def test_misuse_gives_a_status(digits_model: Path, tmp_path: Path) -> None:
    folder = write_module(conversion_of(digits_model, "m"), tmp_path / "m")
    main = tmp_path / "main.c"
    main.write_text(
        '#include "m_model.h"\nstatic m_model_context_t ctx;\n'
        "static int calls;\n"
        "static void on_operator(int32_t op, m_operator_state_t state, int32_t status, void *user_data)\n"
        "{\n    (void)op;\n    if (status == 0 && user_data == &ctx && state == m_op_state_run_finished) { calls++; }\n}\n"
        "int main(void) {\n"
        "    if (m_model_run(NULL) != m_status_null_context) { return 1; }\n"
        "    if (m_model_init(NULL) != m_status_null_context) { return 2; }\n"
        "    if (m_model_run(&ctx) != m_status_not_initialized) { return 3; }\n"
        "    if (m_hydrate_constants(&ctx) != m_status_hydrate_uninited_context) { return 4; }\n"
        "    ctx.callback = on_operator;\n    ctx.user_data = &ctx;\n"
        "    if (m_model_init(&ctx) != m_status_ok || m_model_run(&ctx) != m_status_ok) { return 5; }\n"
        "    return calls == m_num_operators ? 0 : 6;\n}\n"
    )
    program = tmp_path / "program"
    objects = map(str, compile_objects(folder))
    command = [CC, *STRICT, f"-I{folder}/includes-api", str(main), *objects, "-o", str(program)]
    subprocess.run(command, check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0


def test_headers_compile_as_c_plus_plus(digits_model: Path, tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    folder = write_module(conversion_of(digits_model, "m"), tmp_path / "m")
    source = tmp_path / "app.cpp"
    source.write_text('#include "m_model.h"\nm_model_context_t ctx;\n')
    command = [
        compiler,
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{folder}/includes-api",
        "-c",
        str(source),
    ]
    subprocess.run([*command, "-o", str(tmp_path / "app.o")], check=True)


def test_placement_macros_reach_every_arena(digits_model: Path, tmp_path: Path) -> None:
    conversion = conversion_of(digits_model, "m")
    folder = write_module(conversion, tmp_path / "m")
    header = tmp_path / "placement.h"
    header.write_text(
        '#define M_PUT_IN_DTCM __attribute__((section(".dtcm_zero")))\n'
        '#define M_PUT_IN_DTCM_INIT __attribute__((section(".dtcm_data")))\n'
    )
    objects = compile_objects(folder, "-include", str(header), "-fno-sanitize=all")
    table = subprocess.run(
        ["objdump", "-t", *map(str, objects)], capture_output=True, text=True, check=True
    ).stdout
    placed = {
        line.split()[-1]: line.split()[-3]
        for line in table.splitlines()
        if "_arena_" in line and ".dtcm_" in line
    }
    wanted = {}
    for role, arenas in conversion.residency["arenas"].items():
        for arena in arenas:
            section = ".dtcm_data" if role == "constant" else ".dtcm_zero"
            wanted[arena["storage"]["runtime"]["symbol"]] = section
    assert placed == wanted


def test_the_build_file_builds_with_cmake(digits_model: Path, tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is not installed")
    folder = write_module(conversion_of(digits_model, "m"), tmp_path / "m")
    build = tmp_path / "build"
    subprocess.run([cmake, "-S", str(folder), "-B", str(build)], check=True, capture_output=True)
    subprocess.run([cmake, "--build", str(build)], check=True, capture_output=True)
    assert list(build.glob("*.a"))


def test_an_external_library_must_be_named_and_new_enough(
    digits_model: Path, tmp_path: Path
) -> None:
    conversion = conversion_of(digits_model, "m", kernels="external")
    assert not [file for file in conversion.module.files if file.path.startswith("kernels/")]
    folder = write_module(conversion, tmp_path / "m")
    bundled = write_module(conversion_of(digits_model, "k"), tmp_path / "k")
    source = next(folder.glob("src/m_conv_2d_*.c"))
    command = [CC, "-fsyntax-only", f"-I{bundled}/kernels/include", str(source)]

    def errors(*flags: str) -> str:
        return subprocess.run(
            [*command, *flags], capture_output=True, text=True, check=False
        ).stderr

    assert "define M_NS_CMSIS_NN_VERSION" in errors()
    assert "needs ns-cmsis-nn 7.37.0 or later" in errors("-DM_NS_CMSIS_NN_VERSION=73600")
    assert errors("-DM_NS_CMSIS_NN_VERSION=73700") == ""
