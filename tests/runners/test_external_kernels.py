# SPDX-License-Identifier: Apache-2.0
"""A kernel library of the user's: here the bundled one again, as a folder of sources and as an archive."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY
from tflite_models import ModelBuilder

from helia_aot.api import Conversion, convert
from helia_aot.config.convert import ConvertConfig
from helia_aot.platforms.registry import load_platform
from runners.base import MeasureSettings
from runners.build import CORE_FLAGS
from runners.errors import RunnerError
from runners.kernel_library import KernelLibrary, read_library
from runners.measure import random_stimulus
from runners.simulator.simulator import SimulatorRunner
from runners.toolchain import find_arm_compiler

pytestmark = pytest.mark.usefixtures("tools")
KERNELS = REPOSITORY / "helia_aot" / "kernels"
PLATFORM = "apollo510_evb"


@pytest.fixture(scope="module")
def conversions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Conversion]:
    """A sum of two inputs: one kernel, which compiles quickly."""
    builder = ModelBuilder()
    inputs = [
        builder.tensor((1, 8, 8, 16), scale=0.1, zero_point=0),
        builder.tensor((1, 8, 8, 16), scale=0.2, zero_point=0),
    ]
    model = tmp_path_factory.mktemp("model") / "add.tflite"
    model.write_bytes(
        builder.build(inputs=inputs, outputs=[builder.add(*inputs, scale=0.3, zero_point=0)])
    )
    return {
        kernels: convert(
            ConvertConfig.model_validate(
                {
                    "model": {"path": str(model)},
                    "module": {"kernels": kernels},
                    "platform": {"name": PLATFORM},
                }
            )
        )
        for kernels in ("bundled", "external")
    }


def library(tmp_path: Path, form: str, conversion: Conversion) -> KernelLibrary:
    """The sources that the module needs, which saves compiling the others."""
    sources = [
        KERNELS / "src" / name for name in conversion.module.kernel_sources if name.endswith(".c")
    ]
    common = {"dialect": "ns-cmsis-nn", "version": "7.37.0"}
    if form == "sources":
        copy = tmp_path / "library"
        shutil.copytree(KERNELS / "include", copy / "include")
        (copy / "src").mkdir()
        for path in (*sources, *(KERNELS / "src").glob("*.h")):
            shutil.copy(path, copy / "src")
        return KernelLibrary(**common, includes=[copy / "include"], sources=[copy])
    compiler, archive = find_arm_compiler(), tmp_path / "libkernels.a"
    flags = [*CORE_FLAGS["cortex-m55"], "-mthumb", "-O3", f"-I{KERNELS / 'include'}"]
    for source in sources:
        subprocess.run(
            [compiler.path, *flags, "-c", source, "-o", tmp_path / f"{source.stem}.o"], check=True
        )
    tool = shutil.which("arm-none-eabi-ar")
    assert tool is not None
    subprocess.run([tool, "rcs", archive, *sorted(tmp_path.glob("*.o"))], check=True)
    return KernelLibrary(**common, includes=[KERNELS / "include"], archive=archive)


@pytest.mark.parametrize("form", ["sources", "archive"])
def test_a_library_is_measured_like_the_bundled_one(tmp_path, conversions, form):
    external = conversions["external"]
    settings = MeasureSettings(per_operator=True)
    stimulus = random_stimulus(external.module.inputs)
    own = SimulatorRunner(
        load_platform(PLATFORM), kernels=library(tmp_path, form, conversions["bundled"])
    )
    bundled = SimulatorRunner(load_platform(PLATFORM))
    found = own.measure(external, stimulus, settings)
    expected = bundled.measure(conversions["bundled"], stimulus, settings)
    assert found.measurement.status == "ok", found.measurement.reason
    np.testing.assert_array_equal(found.outputs[0], expected.outputs[0])
    assert abs(found.measurement.best_cycles / expected.measurement.best_cycles - 1) < 0.02
    assert found.measurement.code_bytes == pytest.approx(expected.measurement.code_bytes, rel=0.1)
    assert own.identity().kernel_library.startswith("external ns-cmsis-nn 7.37.0 ")
    assert own.identity() != bundled.identity()


def test_a_module_and_its_kernels_must_fit(tmp_path, conversions):
    stimulus = random_stimulus(conversions["external"].module.inputs)
    own = SimulatorRunner(
        load_platform(PLATFORM), kernels=library(tmp_path, "sources", conversions["bundled"])
    )
    with pytest.raises(RunnerError, match="would not be measured"):
        own.measure(conversions["bundled"], stimulus, MeasureSettings())
    with pytest.raises(RunnerError, match=r"runner\.kernels"):
        SimulatorRunner(load_platform(PLATFORM)).measure(
            conversions["external"], stimulus, MeasureSettings()
        )


def test_another_dialect_is_an_error_of_the_library(tmp_path):
    (tmp_path / "arm_nnfunctions.h").write_text(
        "int arm_convolve_s8(const void *ctx, const void *conv_params);\n"
    )
    (tmp_path / "kernels.c").write_text("int x;\n")
    other = KernelLibrary(
        dialect="ns-cmsis-nn", version="7.37.0", includes=[tmp_path], sources=[tmp_path]
    )
    with pytest.raises(RunnerError, match="does not have the calls of ns-cmsis-nn"):
        SimulatorRunner(load_platform(PLATFORM), kernels=other)


def test_a_library_that_does_not_compile_is_the_rigs_fault(tmp_path, conversions):
    broken = library(tmp_path, "sources", conversions["bundled"])
    (tmp_path / "library" / "src" / "broken.c").write_text("this is not C\n")
    external = conversions["external"]
    stimulus = random_stimulus(external.module.inputs)
    runner = SimulatorRunner(load_platform(PLATFORM), kernels=broken)
    measurement = runner.measure(external, stimulus, MeasureSettings()).measurement
    assert (measurement.status, measurement.stage) == ("rig_bad", "build")
    assert "the kernel library: library/source0/src/broken.c does not compile" in measurement.reason
    whole = broken.model_copy(update={"exclude": ["*/broken.c"]})
    files = read_library(whole)
    assert len(files.sources) == len(read_library(broken).sources) - 1
    runner = SimulatorRunner(load_platform(PLATFORM), kernels=whole)
    assert runner.measure(external, stimulus, MeasureSettings()).measurement.status == "ok"


def test_all_missing_files_are_named(tmp_path):
    wrong = KernelLibrary(
        dialect="ns-cmsis-nn", version="7.37.0", includes=[tmp_path / "a"], archive=tmp_path / "b.a"
    )
    (tmp_path / "kernels.c").write_text("int x;\n")
    with pytest.raises(RunnerError, match=r"no source matches \*_f16\.c"):
        read_library(
            KernelLibrary(
                dialect="ns-cmsis-nn",
                version="7.37.0",
                includes=[tmp_path],
                sources=[tmp_path],
                exclude=["*_f16.c"],
            )
        )
    with pytest.raises(RunnerError) as caught:
        read_library(wrong)
    assert [problem.where for problem in caught.value.problems] == [
        "kernels.includes",
        "kernels.archive",
    ]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "either sources or an archive"),
        ({"sources": ["a"], "archive": "b"}, "either sources or an archive"),
        ({"archive": "b", "exclude": ["*.c"]}, "an archive has none"),
    ],
)
def test_either_sources_or_an_archive(parts, message):
    with pytest.raises(ValueError, match=message):
        KernelLibrary(dialect="ns-cmsis-nn", version="7.37.0", includes=["x"], **parts)
