/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of 3x3 depthwise outputs on Helium in assembly, 16 lanes at a time. Compilers keep the nine weight vectors of the loop
 * in stack slots and lose half of the speed.
 *
 * Products are 16-bit. Two of them are added (no weight is -128, so the sum fits), then widened into the four accumulators.
 * An accumulator of odd 16-bit lanes takes one instruction for it: the high half of the doubled product with 2^15 is the
 * 32-bit lane shifted right by 16, which is its upper 16-bit lane, and VQDMLAH adds it. Even lanes take VMOVLB and an
 * addition, done by VADD or by VMLA with 1. Eight vector registers do not hold the accumulators, two pairs of products and
 * two operands, so the second input of each pair is loaded twice.
 *
 * The order of instructions lets consecutive ones use different pipelines of the core (load/store, integer, multiply), which
 * then overlap: about one instruction a cycle. Narrowing and storing a vector overlaps with the first products of the next.
 *
 * Registers: r0..r2 rows of the window, r3 weights of tap 4, r4 output, r5 output step, r6 = 1, r7 = 2^15, r8..r10 output stage,
 * r11 tap step, r12 scratch, lr count.
 *
 * The including file says how an input vector is loaded from column 0, 1, 2 (FIRST, SECOND, THIRD) of a row and moves the row
 * on to the next vector. A vector that is loaded twice is loaded by ..._KEEP, then by ..._AGAIN. It also says how a vector is
 * stored (STORE).
 */
#ifndef HELIA_NN_SUPPORT_DEPTHWISE_3X3_S8_H
#define HELIA_NN_SUPPORT_DEPTHWISE_3X3_S8_H

#include "support_depthwise_s8.h"

#if defined(HELIA_NN_MVE)

/* The arguments of a row, at the offsets that the assembly reads. */
typedef struct
{
    const int8_t *rows[3];         /* 0: where FIRST wants the rows to start. */
    const int8_t *middle_weights;  /* 12: weights of tap 4; the other numbers of the lanes are around them. */
    int8_t *output;                /* 16 */
    int32_t output_step;           /* 20 */
    int32_t count;                 /* 24: at least 1 */
    int32_t tap_step;              /* 28 */
    helia_nn_output_limits limits; /* 32, 36, 40 */
    uint32_t stored;               /* 44: bytes of a vector that are written, as in VPR.P0. */
} helia_nn_3x3_row;

_Static_assert(offsetof(helia_nn_3x3_row, limits) == 32 && offsetof(helia_nn_3x3_row, stored) == 44, "read by assembly");
_Static_assert(sizeof(helia_nn_lanes) == 192, "read by assembly");

/* The first part of a vector (START) and, between it, the last part of the vector before (END). */
#define HELIA_NN_3X3_VECTOR_START(START, END) \
    START("vldrb.u8 q0, [r3, #-48]\n")        \
    END("vqmovnt.s32 q4, q1\n")               \
    START("vldrb.u8 q6, [r3, #-64]\n")        \
    END("vqmovnt.s32 q5, q2\n")               \
    START(FIRST(q3, r0))                      \
    END("vqadd.s16 q4, q4, r8\n")             \
    START(SECOND_KEEP(q7, r0))                \
    END("vqmovunb.s16 q4, q4\n")              \
    START("vmullb.s8 q1, q7, q0\n")           \
    START(SECOND_AGAIN(q2, r0))               \
    START("vmullb.s8 q7, q3, q6\n")           \
    END("vqadd.s16 q5, q5, r8\n")             \
    START("vmullt.s8 q2, q2, q0\n")           \
    END("vqmovunt.s16 q4, q5\n")              \
    START("vmullt.s8 q5, q3, q6\n")           \
    START("vldrb.u8 q0, [r3, #-32]\n")        \
    START("vadd.i16 q5, q5, q2\n")            \
    START(THIRD(q2, r0))                      \
    START("vadd.i16 q1, q7, q1\n")            \
    START("vmullb.s8 q7, q2, q0\n")           \
    END("vqadd.u8 q4, q4, r9\n")              \
    START(FIRST_KEEP(q6, r1))                 \
    START("vmullt.s8 q2, q2, q0\n")           \
    START("vldrb.u8 q0, [r3, #-16]\n")        \
    START("vmullb.s8 q6, q6, q0\n")           \
    START(FIRST_AGAIN(q3, r1))                \
    START("vmullt.s8 q0, q3, q0\n")           \
    START("vldrw.u32 q3, [r3, #-208]\n")      \
    START("vadd.i16 q2, q2, q0\n")            \
    START("vqdmlah.s32 q3, q5, r7\n")         \
    START("vadd.i16 q0, q7, q6\n")            \
    START("vldrw.u32 q6, [r3, #-240]\n")      \
    END("vadd.i8 q4, q4, r10\n")              \
    END(STORE(q4))

/* The rest of a vector. */
#define HELIA_NN_3X3_VECTOR_REST  \
    "vqdmlah.s32 q3, q2, r7\n"    \
    "vldrb.u8 q4, [r3, #0]\n"     \
    "vmovlb.s16 q7, q5\n"         \
    "vqdmlah.s32 q6, q1, r7\n"    \
    "vmovlb.s16 q5, q1\n"         \
    "vldrw.u32 q1, [r3, #-224]\n" \
    "vadd.i32 q1, q1, q7\n"       \
    "vqdmlah.s32 q6, q0, r7\n"    \
    "vldrw.u32 q7, [r3, #-256]\n" \
    "vmla.s32 q7, q5, r6\n"       \
    "vmovlb.s16 q5, q0\n"         \
    "vmla.s32 q7, q5, r6\n"       \
    "vmovlb.s16 q5, q2\n"         \
    SECOND(q2, r1)                \
    "vmullt.s8 q0, q2, q4\n"      \
    "vadd.i32 q1, q1, q5\n"       \
    "vldrb.u8 q5, [r3, #16]\n"    \
    "vmullb.s8 q4, q2, q4\n"      \
    THIRD_KEEP(q2, r1)            \
    "vmullb.s8 q2, q2, q5\n"      \
    "vadd.i16 q4, q4, q2\n"       \
    "vqdmlah.s32 q6, q4, r7\n"    \
    THIRD_AGAIN(q2, r1)           \
    "vmullt.s8 q5, q2, q5\n"      \
    "vldrb.u8 q2, [r3, #32]\n"    \
    "vmovlb.s16 q4, q4\n"         \
    "vmla.s32 q7, q4, r6\n"       \
    "vadd.i16 q4, q0, q5\n"       \
    "vqdmlah.s32 q3, q4, r7\n"    \
    FIRST(q5, r2)                 \
    "vmovlb.s16 q4, q4\n"         \
    "vmullt.s8 q0, q5, q2\n"      \
    "vadd.i32 q1, q1, q4\n"       \
    SECOND_KEEP(q4, r2)           \
    "vmullb.s8 q5, q5, q2\n"      \
    "vldrb.u8 q2, [r3, #48]\n"    \
    "vmullb.s8 q4, q4, q2\n"      \
    "vadd.i16 q4, q5, q4\n"       \
    SECOND_AGAIN(q5, r2)          \
    "vmullt.s8 q5, q5, q2\n"      \
    "vmovlb.s16 q2, q4\n"         \
    "vqdmlah.s32 q6, q4, r7\n"    \
    "vadd.i16 q4, q0, q5\n"       \
    "vldrb.u8 q5, [r3, #64]\n"    \
    "vqdmlah.s32 q3, q4, r7\n"    \
    "vmovlb.s16 q4, q4\n"         \
    THIRD(q0, r2)                 \
    "vmla.s32 q7, q2, r6\n"       \
    "vadd.i32 q1, q1, q4\n"       \
    "vmullb.s8 q4, q0, q5\n"      \
    "vldrw.u32 q2, [r3, #-192]\n" \
    "vmullt.s8 q5, q0, q5\n"      \
    "vmovlb.s16 q0, q4\n"         \
    "vqdmlah.s32 q3, q5, r7\n"    \
    "vadd.i32 q7, q7, q0\n"       \
    "vldrw.u32 q0, [r3, #-128]\n" \
    "vqrdmulh.s32 q2, q7, q2\n"   \
    "vmovlb.s16 q5, q5\n"         \
    "vqdmlah.s32 q2, q2, r6\n"    \
    "vadd.i32 q1, q1, q5\n"       \
    "vldrw.u32 q7, [r3, #-176]\n" \
    "vqdmlah.s32 q6, q4, r7\n"    \
    "vldrw.u32 q5, [r3, #-160]\n" \
    "vrshl.s32 q4, q2, q0\n"      \
    "vqrdmulh.s32 q2, q6, q7\n"   \
    "vldrw.u32 q0, [r3, #-96]\n"  \
    "vqrdmulh.s32 q5, q1, q5\n"   \
    "vqmovnb.s32 q4, q4\n"        \
    "vqdmlah.s32 q5, q5, r6\n"    \
    "vldrw.u32 q1, [r3, #-144]\n" \
    "vqrdmulh.s32 q6, q3, q1\n"   \
    "vrshl.s32 q5, q5, q0\n"      \
    "vqdmlah.s32 q2, q2, r6\n"    \
    "vqmovnb.s32 q5, q5\n"        \
    "vqdmlah.s32 q6, q6, r6\n"    \
    "vldrw.u32 q0, [r3, #-112]\n" \
    "vrshl.s32 q1, q2, q0\n"      \
    "vldrw.u32 q2, [r3, #-80]\n"  \
    "vrshl.s32 q2, q6, q2\n"

#define HELIA_NN_ASSEMBLE(text) text
#define HELIA_NN_LEAVE_OUT(text)

/*
 * Defines `void name(const helia_nn_3x3_row *)`, which computes a row.
 *
 * Registers that compilers may keep for themselves are saved by hand, and so is VPR.P0, which they know no clobber for.
 */
#define HELIA_NN_DEFINE_3X3_ROW(name)                                                                                         \
    static inline void name(const helia_nn_3x3_row *arguments)                                                                \
    {                                                                                                                         \
        register const helia_nn_3x3_row *pointer __asm("r0") = arguments;                                                     \
        __asm volatile("vmrs r12, p0\n"                                                                                       \
                       "push {r4-r12, lr}\n"                                                                                  \
                       "ldrd r4, r5, [r0, #16]\n"                                                                             \
                       "ldrd lr, r11, [r0, #24]\n"                                                                            \
                       "ldrd r8, r9, [r0, #32]\n"                                                                             \
                       "ldrd r10, r12, [r0, #40]\n"                                                                           \
                       "ldr r3, [r0, #12]\n"                                                                                  \
                       "ldrd r1, r2, [r0, #4]\n"                                                                              \
                       "ldr r0, [r0]\n"                                                                                       \
                       "vmsr p0, r12\n"                                                                                       \
                       "mov r6, #1\n"                                                                                         \
                       "mov r7, #32768\n"                                                                                     \
                       "dls lr, lr\n"                                                                                         \
                       HELIA_NN_3X3_VECTOR_START(HELIA_NN_ASSEMBLE, HELIA_NN_LEAVE_OUT)                                       \
                       "b 2f\n"                                                                                               \
                       "1:\n"                                                                                                 \
                       HELIA_NN_3X3_VECTOR_START(HELIA_NN_ASSEMBLE, HELIA_NN_ASSEMBLE)                                        \
                       "2:\n"                                                                                                 \
                       HELIA_NN_3X3_VECTOR_REST                                                                               \
                       "le lr, 1b\n"                                                                                          \
                       HELIA_NN_3X3_VECTOR_START(HELIA_NN_LEAVE_OUT, HELIA_NN_ASSEMBLE)                                       \
                       "pop {r4-r12, lr}\n"                                                                                   \
                       "vmsr p0, r12\n"                                                                                       \
                       : "+r"(pointer)                                                                                        \
                       :                                                                                                      \
                       : "r1", "r2", "r3", "r12", "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7");            \
    }

/*
 * Computes all rows of a slice with quick lanes by `compute_row`, a function that HELIA_NN_DEFINE_3X3_ROW() made; `advance` is
 * what it wants added to the start of a row.
 */
static inline void helia_nn_3x3_slice_rows(const helia_nn_depthwise_slice *slice,
                                           const helia_nn_depthwise_layer *layer,
                                           int32_t advance,
                                           void (*compute_row)(const helia_nn_3x3_row *))
{
    const helia_nn_output_limits limits = helia_nn_output_limits_of(layer);
    helia_nn_3x3_row arguments = {
        .middle_weights = slice->lanes->weights + 4 * HELIA_NN_LANES,
        .output = layer->output + slice->first_channel,
        .output_step = layer->channels,
        .count = layer->output_w,
        .limits = limits,
        .stored = slice->valid,
    };
    const int32_t output_row_bytes = layer->output_w * layer->channels;
    int8_t *rows[3] = {slice->slots, slice->slots + slice->slot_bytes, slice->slots + 2 * slice->slot_bytes};
    int32_t bottom = -layer->pad_h; /* One past the last row that is loaded. */
    int32_t top = -layer->pad_h;
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        for (bottom = helia_nn_max(bottom, top); bottom < top + 3; bottom++)
        {
            int8_t *oldest = rows[0];
            rows[0] = rows[1];
            rows[1] = rows[2];
            rows[2] = oldest;
            helia_nn_depthwise_slice_load(slice, layer, bottom, oldest);
        }
        arguments.rows[0] = rows[0] + advance;
        arguments.rows[1] = rows[1] + advance;
        arguments.rows[2] = rows[2] + advance;
        compute_row(&arguments);
        arguments.output += output_row_bytes;
        top += layer->stride_h;
    }
}

#endif

#endif /* HELIA_NN_SUPPORT_DEPTHWISE_3X3_S8_H */
