/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A board's caches, and its end: the core loops where the host's breakpoint stands.
 *
 * The caches are those of the core (Armv8-M); a chip's own ones are the board file's business (`setup`).
 */
#include "firmware.h"

#if __ARM_ARCH >= 8
#define CCR (*(volatile uint32_t *)0xE000ED14u)
#define CLIDR (*(volatile uint32_t *)0xE000ED78u)
#define CCSIDR (*(volatile uint32_t *)0xE000ED80u)
#define CSSELR (*(volatile uint32_t *)0xE000ED84u)
#define ICIALLU (*(volatile uint32_t *)0xE000EF50u)
#define DCISW (*(volatile uint32_t *)0xE000EF60u)
#define DCCSW (*(volatile uint32_t *)0xE000EF6Cu)
#define CCR_DC (1u << 16)
#define CCR_IC (1u << 17)
#define CLIDR_INSTRUCTION 1u
#define CLIDR_DATA 2u

/* Writes every set and way of the level 1 data cache to a maintenance register. */
static void each_data_line(volatile uint32_t *operation)
{
    CSSELR = 0;
    __asm volatile("dsb" ::: "memory");
    const uint32_t geometry = CCSIDR;
    const uint32_t line_shift = (geometry & 7u) + 4u;
    const uint32_t last_way = (geometry >> 3) & 0x3ffu;
    const uint32_t last_set = (geometry >> 13) & 0x7fffu;
    const uint32_t way_shift = last_way != 0u ? (uint32_t)__builtin_clz(last_way) : 0u;
    for (uint32_t set = 0; set <= last_set; set++)
    {
        for (uint32_t way = 0; way <= last_way; way++)
        {
            *operation = (way << way_shift) | (set << line_shift);
        }
    }
    __asm volatile("dsb\n isb" ::: "memory");
}

/*
 * The host has written behind the caches: what a bootloader left in them is of no use, and must not be written back.
 * The stack is in tightly coupled memory, so none of it is lost.
 */
void helia_prepare_caches(void)
{
    const uint32_t present = CLIDR & (CLIDR_INSTRUCTION | CLIDR_DATA);
    CCR &= ~(CCR_IC | CCR_DC);
    __asm volatile("dsb\n isb" ::: "memory");
    if ((present & CLIDR_INSTRUCTION) != 0u)
    {
        ICIALLU = 0;
        __asm volatile("dsb\n isb" ::: "memory");
        CCR |= CCR_IC;
    }
    if ((present & CLIDR_DATA) != 0u)
    {
        each_data_line(&DCISW);
        CCR |= CCR_DC;
    }
    __asm volatile("dsb\n isb" ::: "memory");
}

uint32_t helia_caches_on(void)
{
    return ((CCR & CCR_IC) != 0u ? HELIA_CACHE_INSTRUCTION : 0u) | ((CCR & CCR_DC) != 0u ? HELIA_CACHE_DATA : 0u);
}

static void clean_data_cache(void)
{
    if ((CCR & CCR_DC) != 0u)
    {
        each_data_line(&DCCSW);
    }
}
#else
void helia_prepare_caches(void)
{
}

uint32_t helia_caches_on(void)
{
    return 0;
}

static void clean_data_cache(void)
{
}
#endif

/* The host's breakpoint. Not a sleep: a sleeping core may hide from the probe. */
__attribute__((noreturn, noinline, used)) void helia_stop(void)
{
    for (;;)
    {
        __asm volatile("nop");
    }
}

/* The host reads memory behind the data cache. */
__attribute__((noreturn, noinline)) void helia_done(void)
{
    __asm volatile("dsb" ::: "memory");
    clean_data_cache();
    helia_stop();
}
