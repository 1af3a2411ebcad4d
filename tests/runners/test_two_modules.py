# SPDX-License-Identifier: Apache-2.0
"""Two modules with different prefixes, kernels and placement in one image, run on an emulated Cortex-M55."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY
from host_module import build_module, run_program
from module_program import STAGED, c_bytes, converted, written

from runners.toolchain import find_arm_compiler, find_emulator

pytestmark = pytest.mark.usefixtures("tools")

PROGRAM = Path(__file__).parent / "programs" / "two_modules.c"
LINKER_SCRIPTS = REPOSITORY / "tests" / "kernels"
FLAGS = (
    "-mcpu=cortex-m55",
    "-mthumb",
    "-mfloat-abi=hard",
    "-std=c11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
)
COLD = [{"type": "constant", "attributes": {"memory": "MRAM"}}]


@pytest.fixture(scope="module")
def built(digits_model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """The image, and the output that was expected of it."""
    folder = tmp_path_factory.mktemp("two")
    left = converted(digits_model, "left", memory={"tensors": COLD})
    right = converted(
        digits_model, "right", memory={"tensors": STAGED}, optimization={"kernel": "generic"}
    )
    x = np.random.default_rng(11).integers(-128, 128, (1, 16, 16, 1), np.int8)
    (folder / "host").mkdir()
    expected = run_program(build_module(left, folder / "host"), left, [x])[0]
    modules = [written(conversion, folder) for conversion in (left, right)]
    (folder / "samples.h").write_text(
        f"static const uint8_t sample_input[] = {{{c_bytes(x)}}};\n"
        f"static const uint8_t sample_output[] = {{{c_bytes(expected)}}};\n"
    )
    sources = [p for m in modules for p in (*m.glob("src/*.c"), *m.glob("kernels/src/*.c"))]
    includes = [f"-I{folder}", *(f"-I{module}/includes-api" for module in modules)]
    link = ["-nostartfiles", "--specs=nano.specs", "-L", str(LINKER_SCRIPTS), "-T", "mps3_an547.ld"]
    image = folder / "both.elf"
    command = [
        find_arm_compiler().path,
        *FLAGS,
        *includes,
        str(PROGRAM),
        *map(str, sorted(sources)),
    ]
    subprocess.run([*command, *link, "-o", str(image)], check=True)
    return image, expected


def run_image(image: Path) -> int:
    command = [find_emulator().path, "-M", "mps3-an547", "-display", "none", "-monitor", "none"]
    command += ["-serial", "none", "-semihosting-config", "enable=on,target=native"]
    return subprocess.run([*command, "-kernel", str(image)], timeout=60, check=False).returncode


def test_both_compute_in_turns_what_one_computes_alone(built: tuple[Path, np.ndarray]) -> None:
    assert run_image(built[0]) == 0


def test_a_wrong_output_would_be_seen(built: tuple[Path, np.ndarray], tmp_path: Path) -> None:
    image, expected = built
    content = image.read_bytes()
    sample = expected.tobytes()
    assert content.count(sample) == 1
    wrong = tmp_path / "wrong.elf"
    wrong.write_bytes(content.replace(sample, sample[:-1] + bytes([sample[-1] ^ 1])))
    assert run_image(wrong) == 2
