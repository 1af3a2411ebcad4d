# SPDX-License-Identifier: Apache-2.0
"""Modules whose arenas the application brings: binding, its status codes, and the binaries of constants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from host_module import build_module, run_program
from module_program import STAGED, c_bytes, check, converted, run_application, written

from helia_aot.api import Conversion

EXTERNAL = {"allocate_arenas": False}
COLD_AND_STAGED = [
    {"type": "constant", "attributes": {"memory": "MRAM"}},
    {"type": "constant", "id": ["2", "4"], "attributes": {"memory": "MRAM", "constant_destination_memory": "DTCM"}},
]  # fmt: skip


def buffers(conversion: Conversion) -> str:
    """C definitions of a suitable buffer for every region, in tables `bufs` and `sizes`."""
    arenas = conversion.memory_plan.arenas
    lines = [f"static _Alignas(64) uint8_t b{a.region_id}[{a.used_bytes} + 64];" for a in arenas]
    lines.append("static void *bufs[] = {" + ", ".join(f"b{a.region_id}" for a in arenas) + "};")
    lines.append("static size_t sizes[] = {" + ", ".join(str(a.used_bytes) for a in arenas) + "};")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def sample(
    digits_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[np.ndarray, np.ndarray]:
    """An input, and the output of a module with arenas of its own."""
    conversion = converted(digits_model)
    x = np.random.default_rng(5).integers(-128, 128, (1, 16, 16, 1), np.int8)
    program = build_module(conversion, tmp_path_factory.mktemp("reference"))
    return x, run_program(program, conversion, [x])[0]


@pytest.mark.parametrize(
    ("rules", "bulk"),
    [([], False), (STAGED, True), (COLD_AND_STAGED, True)],
    ids=["cold", "staged", "both"],
)
def test_bound_arenas_compute_what_internal_ones_do(
    rules: list[object],
    bulk: bool,
    digits_model: Path,
    sample: tuple[np.ndarray, np.ndarray],
    tmp_path: Path,
) -> None:
    conversion = converted(digits_model, memory={**EXTERNAL, "tensors": rules})
    x, expected = sample
    module = written(conversion, tmp_path)
    load = "".join(
        f'    f = fopen("m/{arena["storage"]["sidecar"]["filename"]}", "rb");\n'
        + check(f"f && fread(b{arena['region_id']}, 1, {arena['used']}, f) == {arena['used']}", 9)
        + "    fclose(f);\n"
        for arena in conversion.residency["arenas"]["constant"]
        if arena["kind"] == "cold"
    )
    bind = (
        check("m_bind_arenas(bufs, sizes, m_num_arena_buffers) == m_status_ok", 1)
        if bulk
        else "    for (int i = 0; i < (int)m_num_arena_buffers; i++) {\n"
        + check("m_bind_arena((m_arena_region_t)i, bufs[i], sizes[i]) == m_status_ok", 1)
        + "    }\n"
    )
    main = (
        '#include "m_model.h"\n#include <stdio.h>\n#include <string.h>\n'
        f"{buffers(conversion)}static m_model_context_t ctx;\n"
        f"static const uint8_t x[] = {{{c_bytes(x)}}}, y[] = {{{c_bytes(expected)}}};\n"
        f"int main(void) {{\n    FILE *f = NULL;\n    (void)f;\n{load}{bind}"
        + check("m_model_init(&ctx) == m_status_ok", 2)
        + "    memcpy(ctx.inputs[0].data, x, sizeof x);\n"
        + check("m_model_run(&ctx) == m_status_ok", 3)
        + check("memcmp(ctx.outputs[0].data, y, sizeof y) == 0", 4)
        + "    return 0;\n}\n"
    )
    assert run_application(main, [module], tmp_path).returncode == 0


def test_every_misuse_of_binding_has_its_status(digits_model: Path, tmp_path: Path) -> None:
    conversion = converted(digits_model, memory=EXTERNAL)
    assert conversion.memory_plan.arenas[0].used_bytes > 64
    module = written(conversion, tmp_path)
    main = (
        f'#include "m_model.h"\n#include <string.h>\n{buffers(conversion)}'
        "static m_model_context_t ctx;\nint main(void) {\n"
        + check("m_model_init(&ctx) == m_status_context_arena_unbound", 1)
        + check("m_context_init(&ctx) == 10", 2)
        + check("m_model_run(&ctx) == m_status_not_initialized", 3)
        + check("m_hydrate_constants(&ctx) == m_status_hydrate_uninited_context", 4)
        + check("m_bind_arena(m_num_arena_buffers, b0, sizes[0]) == 1", 5)
        + check(
            "m_bind_arena((m_arena_region_t)-1, b0, sizes[0]) == m_status_bind_unknown_region", 6
        )
        + check("m_bind_arena(m_arena_dtcm, NULL, sizes[0]) == 2", 7)
        + check("m_bind_arena(m_arena_dtcm, b0, sizes[0] - 1) == 3", 8)
        + check("m_bind_arena(m_arena_dtcm, b0 + 8, sizes[0]) == 4", 9)
        + check("m_arena_buffers[m_arena_dtcm] == NULL", 10)
        + check("m_bind_arenas(NULL, sizes, m_num_arena_buffers) == 100", 11)
        + check("m_bind_arenas(bufs, NULL, m_num_arena_buffers) == 100", 12)
        + check("m_bind_arenas(bufs, sizes, m_num_arena_buffers + 1) == 101", 13)
        + "    sizes[1]--;\n"
        + check("m_bind_arenas(bufs, sizes, m_num_arena_buffers) == m_status_bind_undersized", 14)
        + check("m_arena_buffers[0] == NULL && m_arena_buffers[1] == NULL", 15)
        + "    sizes[1]++;\n"
        + check("m_bind_arena(m_arena_dtcm, b0, sizes[0]) == 0", 16)
        + check("m_model_init(&ctx) == m_status_context_arena_unbound", 17)
        + check("m_bind_arena(m_arena_const_dtcm, b1, sizes[1]) == 0", 18)
        + check("m_model_init(&ctx) == m_status_ok", 19)
        + check("ctx.arena_buffers[m_arena_dtcm] == b0", 20)
        + "    return 0;\n}\n"
    )
    assert run_application(main, [module], tmp_path).returncode == 0


def test_bind_codes_are_the_published_ones(digits_model: Path) -> None:
    text = next(
        f.text for f in converted(digits_model).module.files if f.path.endswith("m_context.h")
    )
    published = {
        "ok": 0, "bind_unknown_region": 1, "bind_null_buffer": 2, "bind_undersized": 3, "bind_misaligned": 4,
        "context_arena_unbound": 10, "hydrate_uninited_context": 11, "hydrate_null_blob": 12, "null_context": 13,
        "not_initialized": 14, "bind_bulk_null_argument": 100, "bind_bulk_wrong_count": 101, "hydration_required": 200,
    }  # fmt: skip
    for name, code in published.items():
        assert f"m_status_{name} = {code}" in text


def test_no_storage_of_arenas_is_emitted(digits_model: Path) -> None:
    conversion = converted(digits_model, memory={**EXTERNAL, "tensors": COLD_AND_STAGED})
    texts = {f.path: f.text for f in conversion.module.files if f.binary is None}
    assert "m_arena_dtcm_buffer" not in "".join(texts.values())
    assert "m_arena_const_mram__blob[" not in "".join(texts.values())
    # the source of what is staged stays the module's
    assert "m_arena_const_dtcm__blob[" in texts["src/m_constants.c"]
    assert [blob.symbol for blob in conversion.module.constant_blobs] == [
        "m_arena_const_dtcm__blob"
    ]


def test_internal_modules_have_no_binding(digits_model: Path) -> None:
    conversion = converted(digits_model)
    assert not any("m_bind_arena" in file.text for file in conversion.module.files)
    assert not any(file.path.endswith(".bin") for file in conversion.module.files)
