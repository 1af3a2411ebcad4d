/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium building blocks of the int8 matrix product.
 *
 * VMLADAV multiplies 16 pairs of bytes and adds them up in a core register with an even number, so the reduction runs along
 * the depth and a register block is (rows of input) x (channels) core registers. A vector instruction holds its pipeline for
 * two cycles, and loads, multiplications and the rest have a pipeline each: the loops are written in assembly so that a load
 * and a multiply-accumulate alternate, which no compiler of today arranges by itself.
 *
 * Constraints: Te for accumulators, l (r0-r7) for the addresses of stores that narrow. At most twelve core registers are in
 * use, so that the code also compiles with a frame pointer.
 */
#ifndef HELIA_NN_SUPPORT_MVE_S8_H
#define HELIA_NN_SUPPORT_MVE_S8_H

#include "support_matmul_s8.h"

#define HELIA_NN_LANES 16

/*
 * All that the assembly needs to know of four channels and two rows. The offsets are written out in the assembly text and
 * checked below.
 */
typedef struct
{
    int32_t start[4]; /* Of channels 0, 2, 1, 3: the order in which VMOV fills lanes. */
    int32_t multiplier[4];
    int32_t shift[4];
    int32_t min[4];
    int32_t max[4];
    int32_t output_offset;
    int32_t one;
    const int8_t *weights[4]; /* Of channels 0, 2, 1, 3. */
    int32_t depth;
    int32_t stored; /* How many of the four channels exist. */
    const int8_t *x0;
    const int8_t *x1;
    int8_t *out0;
    int8_t *out1;
    int32_t blocks; /* Rounds of the loop over channel blocks or over pairs of rows. */
    /* For the loops over all channels. */
    const int32_t *next_multiplier;
    const int32_t *next_shift;
    int32_t quant_step; /* Bytes from one block's multipliers and shifts to the next one's. */
    int32_t overlap;    /* Bytes by which a row's last vector reaches beyond its end. */
    const int8_t *next_weights;
} helia_nn_block;

_Static_assert(offsetof(helia_nn_block, multiplier) == 16, "used in assembly");
_Static_assert(offsetof(helia_nn_block, shift) == 32, "used in assembly");
_Static_assert(offsetof(helia_nn_block, min) == 48, "used in assembly");
_Static_assert(offsetof(helia_nn_block, max) == 64, "used in assembly");
_Static_assert(offsetof(helia_nn_block, output_offset) == 80, "used in assembly");
_Static_assert(offsetof(helia_nn_block, weights) == 88, "used in assembly");
_Static_assert(offsetof(helia_nn_block, depth) == 104, "used in assembly");
_Static_assert(offsetof(helia_nn_block, x0) == 112, "used in assembly");
_Static_assert(offsetof(helia_nn_block, out0) == 120, "used in assembly");
_Static_assert(offsetof(helia_nn_block, blocks) == 128, "used in assembly");
_Static_assert(offsetof(helia_nn_block, next_multiplier) == 132, "used in assembly");
_Static_assert(offsetof(helia_nn_block, quant_step) == 140, "used in assembly");
_Static_assert(offsetof(helia_nn_block, next_weights) == 148, "used in assembly");

/* Fills the fields that are the same for all channels. */
static inline void helia_nn_prepare_block(helia_nn_block *block, const helia_nn_output_stage *stage, int32_t depth)
{
    vst1q_s32(block->min, vdupq_n_s32(stage->activation.min));
    vst1q_s32(block->max, vdupq_n_s32(stage->activation.max));
    if (!stage->per_channel)
    {
        vst1q_s32(block->multiplier, vdupq_n_s32(stage->multiplier[0]));
        vst1q_s32(block->shift, vdupq_n_s32(stage->shift[0]));
    }
    block->output_offset = stage->output_offset;
    block->one = 1;
    block->depth = depth;
}

/*
 * The output stage in assembly, for one vector of accumulators `q` and right shifts 1..31. VQDMLAH adds to q the high half of
 * 2 * q * 1: -1 to negative lanes and 0 to others, what rounding away from zero needs, without the integer pipeline.
 */
#define HELIA_NN_ASM_SCALE(q, multiplier) "vqrdmulh.s32 " q ", " q ", " multiplier "\n\t"
#define HELIA_NN_ASM_AWAY(q, one) "vqdmlah.s32 " q ", " q ", " one "\n\t"
#define HELIA_NN_ASM_ADD(q, other) "vadd.i32 " q ", " q ", " other "\n\t"
#define HELIA_NN_ASM_SHIFT(q, shift) "vrshl.s32 " q ", " q ", " shift "\n\t"
#define HELIA_NN_ASM_CLAMP_LOW(q, min) "vmax.s32 " q ", " q ", " min "\n\t"
#define HELIA_NN_ASM_CLAMP_HIGH(q, max) "vmin.s32 " q ", " q ", " max "\n\t"

/*
 * Two rows (q6, q7) at once; needs the vectors `a` and `b` and two core registers free, leaves the bytes in the low parts of the
 * lanes. `multiplier` and `shift` are the addresses of four numbers each. The integer pipeline has the most to do: it starts as
 * early as it can and has no gap.
 */
#define HELIA_NN_ASM_OUTPUT_2_IN(multiplier, shift, a, b)                                                                     \
    "vldrw.32 " a ", " multiplier "\n\t"                                                                                      \
    "ldrd %[s0], %[s1], [%[block], #80]\n\t" HELIA_NN_ASM_SCALE("q6", a)                                                      \
    "vldrw.32 " b ", " shift "\n\t" HELIA_NN_ASM_AWAY("q6", "%[s1]") HELIA_NN_ASM_SHIFT("q6", b)                             \
    HELIA_NN_ASM_SCALE("q7", a) HELIA_NN_ASM_ADD("q6", "%[s0]")                                                               \
    "vldrw.32 " a ", [%[block], #48]\n\t" HELIA_NN_ASM_AWAY("q7", "%[s1]") HELIA_NN_ASM_CLAMP_LOW("q6", a)                   \
    HELIA_NN_ASM_SHIFT("q7", b)                                                                                               \
    "vldrw.32 " b ", [%[block], #64]\n\t" HELIA_NN_ASM_CLAMP_HIGH("q6", b) HELIA_NN_ASM_ADD("q7", "%[s0]")                   \
    HELIA_NN_ASM_CLAMP_LOW("q7", a) HELIA_NN_ASM_CLAMP_HIGH("q7", b)

#define HELIA_NN_ASM_OUTPUT_2(multiplier, shift) HELIA_NN_ASM_OUTPUT_2_IN(multiplier, shift, "q0", "q1")

#endif /* HELIA_NN_SUPPORT_MVE_S8_H */
