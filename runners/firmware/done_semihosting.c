/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The simulator's end: result struct and outputs go to a file of the emulator's working directory, then it exits.
 */
#include "firmware.h"

#define SYS_OPEN 0x01u
#define SYS_WRITE 0x05u
#define SYS_EXIT 0x18u
#define OPEN_WRITE_BINARY 5u
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

static const char dump_name[] = "dump.bin";

static uint32_t semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void write_block(uint32_t file, const void *data, uint32_t size_bytes)
{
    const uintptr_t block[3] = {file, (uintptr_t)data, size_bytes};
    semihosting(SYS_WRITE, block);
}

/* QEMU has no caches, and the timing model has its own on. */
void helia_prepare_caches(void)
{
}

uint32_t helia_caches_on(void)
{
    return 0;
}

/* A dump that is not complete is what the host reports; so there is nothing to do here about a failed write. */
__attribute__((noreturn, noinline)) void helia_done(void)
{
    const uintptr_t open_block[3] = {(uintptr_t)dump_name, OPEN_WRITE_BINARY, sizeof(dump_name) - 1u};
    const uint32_t file = semihosting(SYS_OPEN, open_block);
    write_block(file, &helia_result, sizeof(helia_result));
    write_block(file, helia_outputs, helia_total_output_bytes);
    semihosting(SYS_EXIT, (const void *)ADP_STOPPED_APPLICATION_EXIT);
    for (;;)
    {
    }
}
