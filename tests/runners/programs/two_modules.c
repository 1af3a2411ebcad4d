/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two generated modules in one image on a Cortex-M55: both are initialised, then run in turns. The exit code says what
 * went wrong, 0 for nothing. `samples.h` has an input and the output that both must give.
 */
#include <string.h>

#include "left_model.h"
#include "right_model.h"
#include "samples.h"

/* From the linker script of the kernel tests. */
extern uint32_t driver_stack_top[], driver_bss_start[], driver_bss_end[];

void Reset_Handler(void);

static left_model_context_t left;
static right_model_context_t right;

static void leave(uint32_t code)
{
    const uint32_t block[2] = {0x20026u /* ADP_Stopped_ApplicationExit */, code};
    register uint32_t r0 __asm("r0") = 0x20u; /* SYS_EXIT_EXTENDED */
    register const void *r1 __asm("r1") = block;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    for (;;)
    {
    }
}

static void fault_handler(void)
{
    leave(90);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))driver_stack_top, Reset_Handler, fault_handler, fault_handler, fault_handler, fault_handler,
    fault_handler,                    fault_handler, fault_handler, fault_handler, fault_handler, fault_handler,
    fault_handler,                    fault_handler, fault_handler, fault_handler,
};

static uint32_t run_left(void)
{
    memcpy(left.inputs[0].data, sample_input, sizeof sample_input);
    if (left_model_run(&left) != left_status_ok)
    {
        return 1;
    }
    return memcmp(left.outputs[0].data, sample_output, sizeof sample_output) == 0 ? 0 : 2;
}

static uint32_t run_right(void)
{
    memcpy(right.inputs[0].data, sample_input, sizeof sample_input);
    if (right_model_run(&right) != right_status_ok)
    {
        return 3;
    }
    return memcmp(right.outputs[0].data, sample_output, sizeof sample_output) == 0 ? 0 : 4;
}

__attribute__((noinline)) static void run_both(void)
{
    memset(driver_bss_start, 0, (size_t)((uint8_t *)driver_bss_end - (uint8_t *)driver_bss_start));
    uint32_t code = left_model_init(&left) != 0 || right_model_init(&right) != 0 ? 5 : 0;
    for (int turn = 0; turn < 2 && code == 0; turn++)
    {
        code = run_left();
        code = code == 0 ? run_right() : code;
    }
    leave(code);
}

__attribute__((naked)) void Reset_Handler(void)
{
    /* Floating point and vector registers on before any compiled code may use them. */
    __asm volatile("ldr r0, =0xE000ED88\n"
                   "ldr r1, [r0]\n"
                   "orr r1, r1, #0xF00000\n"
                   "str r1, [r0]\n"
                   "dsb\n"
                   "isb\n"
                   "b %0\n"
                   ".ltorg\n" ::"i"(run_both));
}
