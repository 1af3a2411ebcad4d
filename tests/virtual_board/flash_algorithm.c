/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A flash algorithm for a range of RAM that stands for flash: erasing sets bits, programming clears them.
 */
#include <stdint.h>

#define SECTOR_BYTES 4096u
#define ENTRY __attribute__((section(".text.entry"), used, noinline))

ENTRY int Init(uint32_t address, uint32_t clock, uint32_t function)
{
    (void)address, (void)clock, (void)function;
    return 0;
}

ENTRY int UnInit(uint32_t function)
{
    (void)function;
    return 0;
}

ENTRY int EraseSector(uint32_t address)
{
    volatile uint32_t *const words = (volatile uint32_t *)address;
    for (uint32_t i = 0; i < SECTOR_BYTES / 4u; i++)
    {
        words[i] = 0xffffffffu;
    }
    return 0;
}

ENTRY int ProgramPage(uint32_t address, uint32_t size, const uint8_t *data)
{
    volatile uint8_t *const bytes = (volatile uint8_t *)address;
    for (uint32_t i = 0; i < size; i++)
    {
        bytes[i] &= data[i];
    }
    return 0;
}
