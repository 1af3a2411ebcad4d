/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Binds the firmware to one module. `helia_module.h` is written for each build: it includes the module's header and
 * defines the names used here, HELIA_INPUT_BYTES, HELIA_OUTPUT_BYTES and HELIA_OPERATOR_IDS being lists.
 */
#include "firmware.h"
#include "helia_module.h"

#define PADDED(bytes) (((bytes) + 15u) & ~15u)

static HELIA_CONTEXT_TYPE context;
static helia_on_operator_t user_callback;
static uint32_t position; /* of the operator in the schedule */
static const int32_t operator_ids[HELIA_N_OPERATORS] = {HELIA_OPERATOR_IDS};

const uint32_t helia_n_operators = HELIA_N_OPERATORS;
const uint32_t helia_n_inputs = HELIA_N_INPUTS;
const uint32_t helia_n_outputs = HELIA_N_OUTPUTS;
const uint32_t helia_input_bytes[] = {HELIA_INPUT_BYTES};
const uint32_t helia_output_bytes[] = {HELIA_OUTPUT_BYTES};
const uint32_t helia_total_input_bytes = HELIA_TOTAL_INPUT_BYTES;
const uint32_t helia_stimulus_bytes = sizeof(helia_stimulus_header_t) + HELIA_TOTAL_INPUT_BYTES;
const uint32_t helia_total_output_bytes = HELIA_TOTAL_OUTPUT_BYTES;

volatile uint32_t helia_markers[2u + 2u * HELIA_N_OPERATORS] HELIA_HARNESS;
__attribute__((aligned(16))) uint8_t
    helia_stimulus[sizeof(helia_stimulus_header_t) + HELIA_TOTAL_INPUT_BYTES] HELIA_HARNESS;

/* The linker script puts the guards right before and after the outputs. */
__attribute__((section(".bss.harness.guard_before"), aligned(16)))
uint32_t helia_outputs_guard_before[HELIA_GUARD_WORDS];
__attribute__((section(".bss.harness.outputs"), aligned(16))) uint8_t helia_outputs[PADDED(HELIA_TOTAL_OUTPUT_BYTES)];
__attribute__((section(".bss.harness.guard_after"), aligned(16)))
uint32_t helia_outputs_guard_after[HELIA_GUARD_WORDS];

/* The module reports node ids; the markers count operators in execution order. */
static void on_callback(int32_t op, HELIA_STATE_TYPE state, int32_t status, void *user_data)
{
    (void)status;
    (void)user_data;
    if (state == HELIA_STATE_RUN_FINISHED)
    {
        user_callback((int32_t)position, false);
        position++;
    }
    else if (state == HELIA_STATE_RUN_STARTED)
    {
        const bool expected = position < HELIA_N_OPERATORS && operator_ids[position] == op;
        user_callback(expected ? (int32_t)position : -1, true);
    }
}

bool helia_module_layout_matches(void)
{
    bool matches = true;
    for (uint32_t i = 0; i < HELIA_N_INPUTS; i++)
    {
        matches = matches && context.inputs[i].size == helia_input_bytes[i];
    }
    for (uint32_t i = 0; i < HELIA_N_OUTPUTS; i++)
    {
        matches = matches && context.outputs[i].size == helia_output_bytes[i];
    }
    return matches;
}

int32_t helia_module_init(void)
{
    return HELIA_INIT(&context);
}

int32_t helia_module_run(helia_on_operator_t on_operator)
{
    user_callback = on_operator;
    position = 0;
    context.callback = on_operator != NULL ? on_callback : NULL;
    return HELIA_RUN(&context);
}

void *helia_module_input(uint32_t index)
{
    return context.inputs[index].data;
}

const void *helia_module_output(uint32_t index)
{
    return context.outputs[index].data;
}
