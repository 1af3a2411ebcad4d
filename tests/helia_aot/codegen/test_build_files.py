# SPDX-License-Identifier: Apache-2.0
"""Build files of each module type. Zephyr and NSX are stood in for by a few CMake functions, so that paths are real."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from module_program import converted, written

from helia_aot.version import __version__

# What the module uses of Zephyr's CMake, each as its documentation describes it.
ZEPHYR = """
cmake_minimum_required(VERSION 3.16)
project(app C)
function(zephyr_include_directories)
    include_directories(${ARGV})
    set_property(GLOBAL APPEND PROPERTY app_includes ${ARGV})
endfunction()
macro(zephyr_library_named name)
    set(ZEPHYR_CURRENT_LIBRARY ${name})
    add_library(${name} STATIC "")
endmacro()
function(zephyr_library_sources)
    target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGV})
endfunction()
function(zephyr_library_compile_options)
    target_compile_options(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGV})
endfunction()
set(CONFIG_NET_V1 ${enabled})
add_subdirectory(module/zephyr)
"""
NSX = """
cmake_minimum_required(VERSION 3.16)
project(app C)
add_library(board_flags INTERFACE)
target_compile_definitions(board_flags INTERFACE BOARD=1)
if(board)
    set(NSX_BOARD_FLAGS_TARGET board_flags)
endif()
set(NET_V1_ATTRIBUTES_HEADER ${CMAKE_CURRENT_SOURCE_DIR}/attributes.h)
add_subdirectory(module)
add_executable(app main.c)
target_link_libraries(app nsx::net.v1)
"""


def cmake(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("cmake")
    if program is None:
        pytest.skip("cmake is not installed")
    build = folder / "build"
    shutil.rmtree(build, ignore_errors=True)
    command = [program, "-S", str(folder), "-B", str(build), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        command = [program, "--build", str(build)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done


def module_of(kind: str, model: Path, folder: Path) -> Path:
    conversion = converted(model, module={"type": kind, "name": "net.v1"})
    return written(conversion, folder).rename(folder / "module")


def test_zephyr_module(digits_model: Path, tmp_path: Path) -> None:
    module = module_of("zephyr", digits_model, tmp_path)
    manifest = yaml.safe_load((module / "zephyr/module.yml").read_text())
    assert manifest["name"] == "net.v1"
    assert (module / manifest["build"]["cmake"] / "CMakeLists.txt").exists()
    assert "config NET_V1\n" in (module / manifest["build"]["kconfig"]).read_text()
    assert not (module / "CMakeLists.txt").exists()
    (tmp_path / "CMakeLists.txt").write_text(ZEPHYR)
    assert cmake(tmp_path, "-Denabled=ON").returncode == 0
    names = {path.name for path in (tmp_path / "build").rglob("*.a")}
    assert names == {"libnet.v1.a", "libm_kernels.a"}
    assert cmake(tmp_path, "-Denabled=OFF").returncode == 0
    assert not list((tmp_path / "build").rglob("*.a"))


def test_nsx_module(digits_model: Path, tmp_path: Path) -> None:
    module = module_of("nsx", digits_model, tmp_path)
    manifest = yaml.safe_load((module / "nsx-module.yaml").read_text())
    assert manifest["schema_version"] == 1
    assert manifest["module"] == {"name": "net.v1", "type": "algorithm", "version": __version__}
    assert manifest["build"]["cmake"]["targets"] == ["nsx::net.v1"]
    assert manifest["depends"]["required"] == []
    assert manifest["compatibility"]["socs"] == ["apollo510"]
    (tmp_path / "CMakeLists.txt").write_text(NSX)
    (tmp_path / "main.c").write_text(
        '#include "m_model.h"\nstatic m_model_context_t ctx;\nint main(void) { return m_model_init(&ctx); }\n'
    )
    (tmp_path / "attributes.h").write_text("#ifndef BOARD\n#error no board flags\n#endif\n")
    assert cmake(tmp_path, "-Dboard=ON").returncode == 0
    assert (tmp_path / "build" / "app").exists()
    (tmp_path / "attributes.h").write_text("#error the attributes header is included\n")
    assert "the attributes header is included" in cmake(tmp_path, "-Dboard=ON").stderr
    assert "NSX_BOARD_FLAGS_TARGET" in cmake(tmp_path, "-Dboard=OFF").stderr


def test_nsx_module_of_an_external_library_depends_on_it(digits_model: Path) -> None:
    conversion = converted(digits_model, module={"type": "nsx", "kernels": "external"})
    files = {file.path: file.text for file in conversion.module.files}
    assert yaml.safe_load(files["nsx-module.yaml"])["depends"]["required"] == ["nsx-cmsis-nn"]
    assert "nsx::cmsis_nn" in files["CMakeLists.txt"]


@pytest.mark.parametrize("kind", ["cmake", "zephyr", "nsx"])
def test_types_differ_in_build_files_alone(kind: str, digits_model: Path) -> None:
    files = {f.path: f.text for f in converted(digits_model, module={"type": kind}).module.files}
    plain = {f.path: f.text for f in converted(digits_model).module.files}
    c_files = {path for path in plain if path.endswith((".c", ".h"))}
    assert {path for path in files if path.endswith((".c", ".h"))} == c_files
    assert all(files[path] == plain[path] for path in c_files)
