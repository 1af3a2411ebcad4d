# SPDX-License-Identifier: Apache-2.0
"""The generated test case: it passes on what the model computes, and fails on anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from host_module import build_module, run_program
from module_program import STAGED, converted, run_application, written

from helia_aot.errors import ConfigError

MAIN = """
#include "m_test_case.h"
int main(void)
{
    const int32_t unprepared = m_test_case_run();
    const int32_t init = m_test_case_init();
    const int32_t first = m_test_case_run();
    if (unprepared != 14 || init != 0 || first != m_test_case_run()) { return 99; }
    return first == M_TEST_CASE_MISMATCH ? 1 : (int)first;
}
"""
PRINT = """
#include <stdio.h>
#define M_PRINTF(...) printf(__VA_ARGS__)
"""


@pytest.fixture(scope="module")
def golden(digits_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """An input and what the module itself computes for it."""
    conversion = converted(digits_model)
    shape = conversion.module.inputs[0].shape
    stimulus = np.random.default_rng(3).integers(-128, 128, shape, dtype=np.int8)
    program = build_module(conversion, tmp_path_factory.mktemp("golden"))
    return {"input_0": stimulus, "output_0": run_program(program, conversion, [stimulus])[0]}


def module_with_test(
    model: Path, folder: Path, arrays: dict[str, np.ndarray], **settings: object
) -> Any:
    np.savez(folder / "golden.npz", **arrays)
    test = {"enabled": True, "golden_data": folder / "golden.npz", **settings}
    return converted(model, test=test)


@pytest.mark.parametrize(
    ("offset", "tolerance", "code"), [(0, 0, 0), (1, 1, 0), (1, 1.9, 0), (1, 0, 1), (-2, 1, 1)]
)
def test_it_passes_within_the_tolerance_only(
    golden: dict[str, np.ndarray],
    digits_model: Path,
    tmp_path: Path,
    offset: int,
    tolerance: float,
    code: int,
) -> None:
    shifted = golden["output_0"].copy()
    at = int(np.argmax(np.abs(shifted.astype(np.int32).reshape(-1)) < 100))
    shifted.reshape(-1)[at] += offset
    conversion = module_with_test(
        digits_model, tmp_path, {**golden, "output_0": shifted}, tolerance=tolerance
    )
    module = written(conversion, tmp_path)
    (tmp_path / "print.h").write_text(PRINT)
    ran = run_application(MAIN, [module], tmp_path, "-include", str(tmp_path / "print.h"))
    assert ran.returncode == code
    line = f"output 0, element {at}: {golden['output_0'].reshape(-1)[at]}, expected "
    assert ran.stdout.decode().count(line) == 2 * code
    assert "src/m_test_case.c" in (module / "CMakeLists.txt").read_text()


def test_without_a_test_nothing_is_added(digits_model: Path) -> None:
    paths = [file.path for file in converted(digits_model).module.files]
    assert not any("test_case" in path for path in paths)


def test_every_mismatch_of_the_data_is_told(
    golden: dict[str, np.ndarray], digits_model: Path, tmp_path: Path
) -> None:
    arrays = {"input_0": golden["input_0"][0], "labels": np.zeros(3)}
    with pytest.raises(ConfigError) as caught:
        module_with_test(digits_model, tmp_path, arrays)
    told = [problem.reason for problem in caught.value.problems]
    assert [problem.where for problem in caught.value.problems] == ["test.golden_data"] * 3
    assert told[0].startswith("input_0 is int8 [")
    assert told[1:] == ["output_0 is missing", "labels is no input or output of the model"]


@pytest.mark.parametrize("content", [None, b"", b"PK nonsense", b"\x93NUMPY"])
def test_a_file_that_is_no_npz_is_told(
    digits_model: Path, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "golden.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"test.golden_data: .*golden\.npz"):
        converted(digits_model, test={"enabled": True, "golden_data": path})


def test_it_copies_staged_constants_where_init_does_not(
    golden: dict[str, np.ndarray], digits_model: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "golden.npz", **golden)
    conversion = converted(
        digits_model,
        memory={"tensors": STAGED, "auto_hydrate_constants": False},
        test={"enabled": True, "golden_data": tmp_path / "golden.npz", "tolerance": 0},
    )
    assert run_application(MAIN, [written(conversion, tmp_path)], tmp_path).returncode == 0
