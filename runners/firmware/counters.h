/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The counters of the core: the one that times, the second clock that it is checked against, and the events.
 *
 * Register addresses and bits: Armv7-M and Armv8-M architecture reference manuals (DWT, SysTick, PMU).
 */
#ifndef HELIA_COUNTERS_H
#define HELIA_COUNTERS_H

#include "result.h"

#define DEMCR (*(volatile uint32_t *)0xE000EDFCu)
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL (*(volatile uint32_t *)0xE0001000u)
#define DWT_CYCCNT (*(volatile uint32_t *)0xE0001004u)
#define DWT_CTRL_CYCCNTENA 1u

#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)
#define SYST_CSR_ENABLE 1u
#define SYST_CSR_CORE_CLOCK 4u
#define SYST_MAX 0x00ffffffu

/* SysTick counts core clocks down, without an interrupt, and wraps after 2^24 of them. */
__attribute__((always_inline)) static inline uint32_t second_clock(void)
{
    return SYST_MAX - SYST_CVR;
}

#if defined(HELIA_COUNT_TIMER_TICKS)
/* For virtual boards, which have no cycle counter: the timer's 24 bits on top, so that differences wrap as 32 bits. */
#define HELIA_COUNTER HELIA_COUNTER_TIMER
#define TIMING_COUNTER (second_clock() << 8)
#else
#define HELIA_COUNTER HELIA_COUNTER_CYCCNT
#define TIMING_COUNTER DWT_CYCCNT
#endif

static inline void enable_counters(void)
{
    SYST_CSR = 0;
    SYST_RVR = SYST_MAX;
    SYST_CVR = 0;
    SYST_CSR = SYST_CSR_ENABLE | SYST_CSR_CORE_CLOCK;
    DEMCR |= DEMCR_TRCENA;
    DWT_CYCCNT = 0;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
}

#if defined(HELIA_DEVICE) && __ARM_ARCH >= 8
#define PMU_EVCNTR(n) (*(volatile uint32_t *)(0xE0003000u + 4u * (n)))
#define PMU_EVTYPER(n) (*(volatile uint32_t *)(0xE0003400u + 4u * (n)))
#define PMU_CNTENSET (*(volatile uint32_t *)0xE0003C00u)
#define PMU_CNTENCLR (*(volatile uint32_t *)0xE0003C20u)
#define PMU_TYPE (*(volatile uint32_t *)0xE0003E00u)
#define PMU_CTRL (*(volatile uint32_t *)0xE0003E04u)
#define PMU_CTRL_ENABLE 1u
#define PMU_CTRL_RESET_EVENTS 2u
#define PMU_COUNTERS(type) ((type) & 0xffu)
#define PMU_EVENT_CHAIN 0x1Eu

/* Even counters count, the odd one behind each counts its overflows: 32 bits together. */
static inline void start_events(void)
{
    static const uint16_t events[HELIA_EVENTS] = HELIA_EVENT_NUMBERS;
    if (PMU_COUNTERS(PMU_TYPE) < 2u * HELIA_EVENTS)
    {
        return;
    }
    for (uint32_t i = 0; i < HELIA_EVENTS; i++)
    {
        PMU_EVTYPER(2u * i) = events[i];
        PMU_EVTYPER(2u * i + 1u) = PMU_EVENT_CHAIN;
    }
    PMU_CTRL = PMU_CTRL_ENABLE | PMU_CTRL_RESET_EVENTS;
    PMU_CNTENSET = (1u << (2u * HELIA_EVENTS)) - 1u;
}

static inline void stop_events(helia_result_t *result)
{
    if (PMU_COUNTERS(PMU_TYPE) < 2u * HELIA_EVENTS)
    {
        return;
    }
    PMU_CNTENCLR = (1u << (2u * HELIA_EVENTS)) - 1u;
    for (uint32_t i = 0; i < HELIA_EVENTS; i++)
    {
        result->events[i] = (PMU_EVCNTR(2u * i + 1u) << 16) | (PMU_EVCNTR(2u * i) & 0xffffu);
    }
    result->n_events = HELIA_EVENTS;
}
#else
static inline void start_events(void)
{
}

static inline void stop_events(helia_result_t *result)
{
    (void)result;
}
#endif

#endif /* HELIA_COUNTERS_H */
