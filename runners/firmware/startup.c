/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From reset to main for Cortex-M4 and Cortex-M55, and from a fault to the result struct.
 *
 * Interrupts are off from the first instruction on, whatever ran before.
 */
#include "firmware.h"

#define CCR (*(volatile uint32_t *)0xE000ED14u)
#define CFSR (*(volatile uint32_t *)0xE000ED28u)
#define HFSR (*(volatile uint32_t *)0xE000ED2Cu)
#define MMFAR (*(volatile uint32_t *)0xE000ED34u)
#define BFAR (*(volatile uint32_t *)0xE000ED38u)
#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define CPACR_FULL_CP10_CP11 (0xFu << 20)
#define CCR_BP (1u << 18)  /* branch prediction */
#define CCR_LOB (1u << 19) /* low-overhead loops and branch future */
#define CFSR_MSTKERR (1u << 4)
#define CFSR_STKERR (1u << 12)
#define CFSR_STKOF (1u << 20)

#define STACK_PAINT 0xa5a5a5a5u
#define STACK_GUARD_WORDS 4u
#define FAULT_STACK_WORDS 64u

/* From the linker script. */
extern uint32_t helia_stack_limit[];
extern uint32_t helia_stack_top[];
typedef struct
{
    const uint32_t *load;
    uint32_t *start;
    uint32_t size_bytes;
} copy_entry_t;
typedef struct
{
    uint32_t *start;
    uint32_t size_bytes;
} zero_entry_t;
extern const copy_entry_t helia_copy_table_start[];
extern const copy_entry_t helia_copy_table_end[];
extern const zero_entry_t helia_zero_table_start[];
extern const zero_entry_t helia_zero_table_end[];

void helia_reset(void);
void helia_fault(void);
void helia_start(void);
void helia_record_fault(const uint32_t *frame);

/* A stack of its own, since a fault may come from the other one being full. */
uint32_t helia_fault_stack[FAULT_STACK_WORDS] HELIA_HARNESS __attribute__((aligned(8)));

/* System exceptions only: no interrupt is ever enabled. */
typedef struct
{
    const uint32_t *stack_top;
    void (*handlers[15])(void); /* from exception 1, reset */
} vector_table_t;

__attribute__((section(".helia.vectors"), used)) static const vector_table_t vectors = {
    helia_stack_top,
    {
        helia_reset, helia_fault, helia_fault, helia_fault, helia_fault, /* NMI, hard fault, memory, bus */
        helia_fault, helia_fault, NULL, NULL, NULL,                      /* usage, secure */
        helia_fault, helia_fault, NULL, helia_fault, helia_fault,        /* SVC, debug, PendSV, SysTick */
    },
};

/* The FPU comes first: with hard-float the compiler may save vector registers in any prologue. */
__attribute__((naked, used)) void helia_reset(void)
{
    __asm volatile("cpsid i             \n"
                   "ldr r0, =0xE000ED88 \n"
                   "ldr r1, [r0]        \n"
                   "orr r1, r1, %0      \n"
                   "str r1, [r0]        \n"
                   "dsb                 \n"
                   "isb                 \n"
#if __ARM_ARCH >= 8
                   "ldr r0, =helia_stack_limit \n"
                   "msr msplim, r0      \n"
#endif
                   "b helia_start       \n"
                   ".ltorg              \n" ::"i"(CPACR_FULL_CP10_CP11));
}

static void paint_stack(void)
{
    uint32_t *const end = (uint32_t *)__builtin_frame_address(0) - 32;
    for (volatile uint32_t *word = helia_stack_limit; word < end; word++)
    {
        *word = STACK_PAINT;
    }
}

static void init_memories(void)
{
    for (const copy_entry_t *entry = helia_copy_table_start; entry < helia_copy_table_end; entry++)
    {
        for (uint32_t i = 0; i < entry->size_bytes / 4u; i++)
        {
            entry->start[i] = entry->load[i];
        }
    }
    for (const zero_entry_t *entry = helia_zero_table_start; entry < helia_zero_table_end; entry++)
    {
        for (uint32_t i = 0; i < entry->size_bytes / 4u; i++)
        {
            entry->start[i] = 0u;
        }
    }
}

__attribute__((noreturn, used)) void helia_start(void)
{
#if __ARM_ARCH >= 8
    CCR |= CCR_LOB | CCR_BP;
    __asm volatile("dsb\n isb");
#endif
    helia_prepare_caches();
    paint_stack();
    init_memories();
    main();
    __builtin_unreachable();
}

uint32_t helia_stack_size_bytes(void)
{
    return (uint32_t)((uintptr_t)helia_stack_top - (uintptr_t)helia_stack_limit);
}

uint32_t helia_stack_used_bytes(void)
{
    const volatile uint32_t *word = helia_stack_limit;
    while (word < helia_stack_top && *word == STACK_PAINT)
    {
        word++;
    }
    return (uint32_t)((uintptr_t)helia_stack_top - (uintptr_t)word);
}

bool helia_stack_guard_intact(void)
{
    return helia_stack_used_bytes() + STACK_GUARD_WORDS * 4u <= helia_stack_size_bytes();
}

__attribute__((naked, used)) void helia_fault(void)
{
    __asm volatile("mov r0, sp          \n"
#if __ARM_ARCH >= 8
                   "movs r1, #0         \n"
                   "msr msplim, r1      \n"
#endif
                   "ldr r1, =helia_fault_stack \n"
                   "add r1, r1, %0      \n"
                   "mov sp, r1          \n"
                   "b helia_record_fault \n"
                   ".ltorg              \n" ::"i"(FAULT_STACK_WORDS * 4u));
}

__attribute__((noreturn, used)) void helia_record_fault(const uint32_t *frame)
{
    helia_result.cfsr = CFSR;
    helia_result.hfsr = HFSR;
    helia_result.mmfar = MMFAR;
    helia_result.bfar = BFAR;
    helia_result.fault_sp = (uint32_t)(uintptr_t)frame;
    if ((helia_result.cfsr & (CFSR_MSTKERR | CFSR_STKERR | CFSR_STKOF)) == 0u)
    {
        helia_result.fault_lr = frame[5];
        helia_result.fault_pc = frame[6];
        helia_result.fault_psr = frame[7];
    }
    helia_result.stack_used_bytes = helia_stack_used_bytes();
    helia_result.failed_operator = helia_running_operator();
    helia_result.status = HELIA_STATUS_FAULT;
    helia_done();
}
