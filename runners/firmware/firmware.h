/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the firmware share. The same parts serve the simulator and a board; only `done_*.c` differs.
 */
#ifndef HELIA_FIRMWARE_H
#define HELIA_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "result.h"

/** Buffers that only the measurement needs; startup leaves them alone, since a host fills the stimulus before. */
#define HELIA_HARNESS __attribute__((section(".bss.harness")))

/* Markers: a 32-bit store to helia_markers[k] is event k; the value is the cycle counter, for a host that reads it. */
#define HELIA_MARK_WINDOW_OPEN 0u
#define HELIA_MARK_WINDOW_CLOSE 1u
#define HELIA_MARK_OPERATOR_START(op) (2u + 2u * (uint32_t)(op))
#define HELIA_MARK_OPERATOR_END(op) (3u + 2u * (uint32_t)(op))

#define HELIA_GUARD_WORDS 4u
#define HELIA_GUARD_VALUE 0x600dca7eu

/** Callback by position in the schedule (-1: not the operator expected there); `started` is false when it ends. */
typedef void (*helia_on_operator_t)(int32_t op, bool started);

/* Defined by module_glue.c, the one part that sees the module's headers. */
extern const uint32_t helia_n_operators;
extern const uint32_t helia_n_inputs;
extern const uint32_t helia_n_outputs;
extern const uint32_t helia_input_bytes[];
extern const uint32_t helia_output_bytes[];
extern const uint32_t helia_total_output_bytes;
extern const uint32_t helia_total_input_bytes; /* with padding */
extern const uint32_t helia_stimulus_bytes;    /* header and inputs */
extern volatile uint32_t helia_markers[];
extern uint8_t helia_stimulus[];
extern uint8_t helia_outputs[];
extern uint32_t helia_outputs_guard_before[HELIA_GUARD_WORDS];
extern uint32_t helia_outputs_guard_after[HELIA_GUARD_WORDS];

/** True if the module's inputs and outputs have the linked counts and sizes; call it after init. */
bool helia_module_layout_matches(void);
int32_t helia_module_init(void);
int32_t helia_module_run(helia_on_operator_t on_operator); /* NULL: without callback */
void *helia_module_input(uint32_t index);
const void *helia_module_output(uint32_t index);

/* Defined by main.c. */
extern helia_result_t helia_result;
int main(void);
int32_t helia_running_operator(void); /* -1 for none */

/* Defined by startup.c. */
uint32_t helia_stack_size_bytes(void);
uint32_t helia_stack_used_bytes(void);
bool helia_stack_guard_intact(void);

/* Defined by done_*.c. */

/** Empties the core's caches and turns them on where the target needs it; before anything else is in memory. */
void helia_prepare_caches(void);

/** Gives the HELIA_CACHE_* bits of the core's caches that are on. */
uint32_t helia_caches_on(void);

/** Ends the run; does not return. */
__attribute__((noreturn, noinline)) void helia_done(void);

#endif /* HELIA_FIRMWARE_H */
