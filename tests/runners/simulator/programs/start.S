/* SPDX-License-Identifier: Apache-2.0 */
/* Vector table and start of the timing test programs: turns the FPU on, calls `program`, leaves by semihosting. */
    .syntax unified
    .thumb
    .section .vectors, "a"
    .word __stack_top
    .word reset + 1
    .rept 14
    .word fault + 1
    .endr

    .text
    .thumb_func
    .global reset
reset:
    ldr r0, =0xe000ed88         /* CPACR */
    ldr r1, [r0]
    orr r1, r1, #0xf << 20
    str r1, [r0]
    dsb
    isb
    ldr r0, =0xe000ed14         /* CCR: low-overhead loop cache on (LOB, bit 19) */
    ldr r1, [r0]
    orr r1, r1, #1 << 19
    str r1, [r0]
    dsb
    isb
    bl program
    movs r0, #0x18              /* SYS_EXIT */
    ldr r1, =0x20026            /* ADP_Stopped_ApplicationExit */
    bkpt 0xab
    b .
    .thumb_func
fault:
    movs r0, #0x18
    ldr r1, =0x20023            /* ADP_Stopped_RunTimeErrorUnknown: a non-zero exit */
    bkpt 0xab
    b .
    .pool
