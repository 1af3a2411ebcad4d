# SPDX-License-Identifier: Apache-2.0
"""Copying staged constants: by init, by the application, by its own function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from module_program import STAGED, check, converted, run_application, written

import helia_aot.pipeline
from helia_aot.memory.requests import TensorRequest

INCLUDE = '#include "m_model.h"\n#include <string.h>\nstatic m_model_context_t ctx;\n'


def run(model: Path, folder: Path, main: str, memory: dict[str, Any]) -> int:
    module = written(converted(model, memory={"tensors": STAGED, **memory}), folder)
    return run_application(INCLUDE + main, [module], folder).returncode


def test_without_automatic_copies_a_run_needs_one(digits_model: Path, tmp_path: Path) -> None:
    main = (
        "int main(void) {\n"
        + check("m_hydrate_constants(&ctx) == m_status_hydrate_uninited_context", 1)
        + check("m_mark_hydrated(NULL) == m_status_hydrate_uninited_context", 2)
        + check("m_model_init(&ctx) == m_status_ok", 3)
        + check("m_model_run(&ctx) == m_status_hydration_required", 4)
        + check("m_model_run(&ctx) == 200", 5)
        + check("m_hydrate_constants(&ctx) == m_status_ok", 6)
        + check("m_model_run(&ctx) == m_status_ok", 7)
        + check("m_model_init(&ctx) == m_status_ok", 8)  # a new start needs a new copy
        + check("m_model_run(&ctx) == m_status_hydration_required", 9)
        + check("m_mark_hydrated(&ctx) == m_status_ok", 10)  # by other means
        + check("m_model_run(&ctx) == m_status_ok", 11)
        + "    return 0;\n}\n"
    )
    assert run(digits_model, tmp_path, main, {"auto_hydrate_constants": False}) == 0


def test_init_copies_by_default(digits_model: Path, tmp_path: Path) -> None:
    main = (
        "extern const uint8_t m_arena_const_dtcm__blob[];\nint main(void) {\n"
        + check("m_model_init(&ctx) == m_status_ok", 1)
        + "    const void *copy = ctx.arena_buffers[m_arena_const_dtcm];\n"
        + check("copy != m_arena_const_dtcm__blob", 2)
        + check("!memcmp(copy, m_arena_const_dtcm__blob, ctx.arena_sizes[m_arena_const_dtcm])", 3)
        + check("m_model_run(&ctx) == m_status_ok", 4)
        + "    return 0;\n}\n"
    )
    assert run(digits_model, tmp_path, main, {}) == 0


def test_an_application_can_copy_with_a_function_of_its_own(
    digits_model: Path, tmp_path: Path
) -> None:
    main = (
        "static int calls;\nint32_t m_hydrate_constants(m_model_context_t *c)\n"
        "{\n    calls++;\n    return c == &ctx && calls == 1 ? m_status_ok : 77;\n}\n"
        "int main(void) {\n"
        + check("m_model_init(&ctx) == m_status_ok", 1)
        + check("calls == 1 && m_model_run(&ctx) == m_status_ok", 2)
        + check("m_model_init(&ctx) == 77", 3)  # its status stops init
        + check("m_model_run(&ctx) == m_status_not_initialized", 4)
        + "    return 0;\n}\n"
    )
    assert run(digits_model, tmp_path, main, {}) == 0


def test_a_missing_buffer_is_named(digits_model: Path, tmp_path: Path) -> None:
    main = (
        "static const void *none[m_num_arena_buffers];\nint main(void) {\n"
        + check("m_model_init(&ctx) == m_status_ok", 1)
        + "    ctx.arena_buffers = none;\n"
        + check("m_hydrate_constants(&ctx) == m_status_hydrate_null_blob", 2)
        + "    return 0;\n}\n"
    )
    assert run(digits_model, tmp_path, main, {}) == 0


def test_modules_that_stage_nothing_never_ask_for_it(digits_model: Path, tmp_path: Path) -> None:
    main = (
        "int main(void) {\n"
        + check("m_model_init(&ctx) == m_status_ok && m_model_run(&ctx) == m_status_ok", 1)
        + "    return 0;\n}\n"
    )
    assert run(digits_model, tmp_path, main, {"auto_hydrate_constants": False, "tensors": []}) == 0


@pytest.fixture
def _persistent_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives every module state of 40 bytes; no operator here has any of its own."""
    original = helia_aot.pipeline.requests_of

    def with_state(*args: Any) -> list[TensorRequest]:
        return [*original(*args), TensorRequest("state", "persistent", 40)]

    monkeypatch.setattr(helia_aot.pipeline, "requests_of", with_state)


@pytest.mark.usefixtures("_persistent_tensor")
def test_init_clears_state_that_lasts_between_runs(digits_model: Path, tmp_path: Path) -> None:
    main = (
        "int main(void) {\n"
        + check("m_model_init(&ctx) == m_status_ok", 1)
        + "    int8_t *state = ctx.tensor_ptrs[m_tensor_state];\n"
        + "    memset(state, 5, 40);\n"
        + check("m_model_run(&ctx) == m_status_ok && state[39] == 5", 2)
        + check("m_model_init(&ctx) == m_status_ok && state[0] == 0 && state[39] == 0", 3)
        + "    return 0;\n}\n"
    )
    assert run(digits_model, tmp_path, main, {}) == 0
