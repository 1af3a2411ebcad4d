# SPDX-License-Identifier: Apache-2.0
"""A small module written by hand with the interface of generated ones, and ways to break it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np

from helia_aot.codegen.module import (
    ConstantBlob,
    EmittedFile,
    Module,
    ModuleOperator,
    ModuleTensor,
)
from helia_aot.platforms.schema import Platform

SIZE = 64
WEIGHTS = bytes(np.random.default_rng(7).integers(0, 256, SIZE, dtype=np.uint8))

MODEL_H = """
#ifndef HAND_MODEL_H
#define HAND_MODEL_H
#include <stddef.h>
#include <stdint.h>
#include "hand_platform.h"
enum { hand_num_operators = 2, hand_num_inputs = 1, hand_num_outputs = 1 };
typedef enum { hand_op_state_init_started, hand_op_state_init_finished,
               hand_op_state_run_started, hand_op_state_run_finished } hand_operator_state_t;
typedef struct { int8_t *data; size_t size; } hand_tensor_io_t;
typedef void (*hand_callback_t)(int32_t op, hand_operator_state_t state, int32_t status, void *user_data);
typedef struct {
    hand_callback_t callback;
    void *user_data;
    hand_tensor_io_t inputs[hand_num_inputs];
    hand_tensor_io_t outputs[hand_num_outputs];
} hand_model_context_t;
int32_t hand_model_init(hand_model_context_t *context);
int32_t hand_model_run(hand_model_context_t *context);
int8_t *hand_arena(void);
#endif
"""

PLATFORM_H = "\n".join(
    f"#ifndef HAND_PUT_IN_{memory}{suffix}\n#define HAND_PUT_IN_{memory}{suffix}\n#endif"
    for memory in ("DTCM", "SRAM", "MRAM", "ITCM")
    for suffix in ("", "_INIT")
)

MODEL_C = """
#include "../includes-api/hand_model.h"
#include "../kernels/include/hand_kernels.h"
extern const uint8_t hand_arena_const_mram__blob[64];
extern uint8_t hand_arena_const_dtcm__blob[64];
HAND_PUT_IN_DTCM static int8_t arena[@ARENA@];
HAND_PUT_IN_SRAM static int8_t staged[64];

int8_t *hand_arena(void) { return arena; }

int32_t hand_model_init(hand_model_context_t *context) {
    for (int i = 0; i < 64; i++) { staged[i] = (int8_t)hand_arena_const_mram__blob[i]; }
    context->inputs[0] = (hand_tensor_io_t){arena, 64};
    context->outputs[0] = (hand_tensor_io_t){arena + 64, @OUTPUT_SIZE@};
    return 0;
}

static int32_t run_op(int op) {
    @BODY@
    if (op == 0) { hand_add(arena, staged, arena + 128, 64); }
    else { hand_add(arena + 128, (const int8_t *)hand_arena_const_dtcm__blob, arena + 64, 64); }
    return 0;
}

int32_t hand_model_run(hand_model_context_t *context) {
    static const int32_t ids[2] = {4, 9};
    for (int op = 0; op < 2; op++) {
        if (context->callback) { context->callback(ids[op], hand_op_state_run_started, 0, context->user_data); }
        int32_t status = run_op(op);
        if (context->callback) { context->callback(ids[op], hand_op_state_run_finished, status, context->user_data); }
        if (status != 0) { return status; }
    }
    return 0;
}
"""

KERNELS_H = """
#include <stdint.h>
void hand_add(const int8_t *a, const int8_t *b, int8_t *out, int32_t n);
"""

KERNEL_C = """
#include "../include/hand_kernels.h"
void hand_add(const int8_t *a, const int8_t *b, int8_t *out, int32_t n) {
    for (int32_t i = 0; i < n; i++) { out[i] = (int8_t)(a[i] + b[i]); }
}
"""

CONSTANTS_C = """
#include "../includes-api/hand_platform.h"
#include <stdint.h>
extern const uint8_t hand_arena_const_mram__blob[64];
HAND_PUT_IN_MRAM_INIT _Alignas(16) const uint8_t hand_arena_const_mram__blob[64] = {@BYTES@};
extern uint8_t hand_arena_const_dtcm__blob[64];
HAND_PUT_IN_DTCM_INIT _Alignas(16) uint8_t hand_arena_const_dtcm__blob[64] = {@BYTES@};
""".replace("@BYTES@", ",".join(str(byte) for byte in WEIGHTS))

BODIES = {
    "fault": '(void)op; __asm volatile("udf #5");',
    "hang": 'while (op == 1) { __asm volatile("nop"); }',
    "error": "if (op == 1) { return -3; }",
    "unstable": "staged[3]++;",
    "stray": "extern uint8_t helia_outputs[64]; helia_outputs[64 + op] = 1;",
    "lockup": '(void)op; *(volatile uint32_t *)0xE000ED08 = 0x50000000; __asm volatile("dsb\\n udf #5");',
    "stack": "volatile char big[32768]; big[0] = 1; big[32767] = (char)op; (void)big;",
    "undefined": "extern void hand_nowhere(void); hand_nowhere();",
    "syntax": "this is not C",
}


@dataclass(frozen=True)
class HandConversion:
    """What a runner reads of a conversion."""

    platform: Platform
    module: Module
    memory_plan: SimpleNamespace


def hand_conversion(
    platform: Platform, body: str = "", *, arena_bytes: int = 256, output_size: int = SIZE
) -> HandConversion:
    """Gives the module for a platform; ``body`` is a key of BODIES or empty for the one that works."""
    model_c = MODEL_C.replace("@BODY@", BODIES[body] if body else "")
    model_c = model_c.replace("@ARENA@", str(arena_bytes)).replace(
        "@OUTPUT_SIZE@", str(output_size)
    )
    files = {
        "includes-api/hand_model.h": MODEL_H,
        "includes-api/hand_platform.h": PLATFORM_H,
        "kernels/include/hand_kernels.h": KERNELS_H,
        "kernels/src/hand_add.c": KERNEL_C,
        "src/hand_constants.c": CONSTANTS_C,
        "src/hand_model.c": model_c,
    }
    tensor = ModuleTensor("0", "x", (1, SIZE), "int8", SIZE, 1.0, 0)
    module = Module(
        name="hand",
        prefix="hand",
        files=tuple(EmittedFile(path, text) for path, text in sorted(files.items())),
        constant_blobs=(
            ConstantBlob("hand_arena_const_mram__blob", "mram", 16, True, WEIGHTS),
            ConstantBlob("hand_arena_const_dtcm__blob", "dtcm", 16, False, WEIGHTS),
        ),
        kernel_sources=("hand_add.c",),
        inputs=(tensor,),
        outputs=(replace(tensor, id="1", name="y"),),
        operators=(
            ModuleOperator("0:sum", "4", "ADD", "hand_add", 0),
            ModuleOperator("0:y", "9", "ADD", "hand_add", 0),
        ),
    )
    return HandConversion(platform, module, SimpleNamespace(arenas=()))


def expected_output(x: np.ndarray) -> np.ndarray:
    """Gives what the working module computes."""
    weights = np.frombuffer(WEIGHTS, np.int8)
    return (x.astype(np.int32) + 2 * weights.astype(np.int32)).astype(np.int8)
