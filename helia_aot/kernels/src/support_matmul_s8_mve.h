/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium loops of the int8 matrix product; a part of support_matmul_s8.c.
 */
#ifndef HELIA_NN_SUPPORT_MATMUL_S8_MVE_H
#define HELIA_NN_SUPPORT_MATMUL_S8_MVE_H

#include "support_mve_s8.h"

static inline int32_t helia_nn_row_sum(const int8_t *row, int32_t depth)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; k += HELIA_NN_LANES)
    {
        sum = vaddvaq_s8(sum, vldrbq_z_s8(row + k, vctp8q((uint32_t)(depth - k))));
    }
    return sum;
}

/* What folded sums would hold for the block's channels. */
static inline int32x4_t helia_nn_start_of_block(const helia_nn_block *block,
                                                const helia_nn_output_stage *stage,
                                                int32_t channel,
                                                mve_pred16_t valid)
{
    const int32_t sums[4] = {
        helia_nn_row_sum(block->weights[0], block->depth),
        helia_nn_row_sum(block->weights[2], block->depth),
        helia_nn_row_sum(block->weights[1], block->depth),
        helia_nn_row_sum(block->weights[3], block->depth),
    };
    const int32x4_t bias = stage->bias != NULL ? vldrwq_z_s32(stage->bias + channel, valid) : vdupq_n_s32(0);
    return vmlaq_n_s32(bias, vld1q_s32(sums), stage->input_offset);
}

/* Lanes 1 and 2 change places: the order of `start`. */
static inline void helia_nn_set_start(helia_nn_block *block, int32x4_t start)
{
    static const uint32_t order[4] = {0, 8, 4, 12};
    vstrwq_scatter_offset_s32(block->start, vld1q_u32(order), start);
}

/* helia_nn_load_block() for blocks that are not whole, or without folded sums. */
static HELIA_NN_COLD void helia_nn_load_any_block(helia_nn_block *block,
                                                  const helia_nn_output_stage *stage,
                                                  const int8_t *rhs,
                                                  int32_t channel,
                                                  int32_t channels)
{
    const int32_t last = channels - 1 - channel;
    const mve_pred16_t valid = vctp32q((uint32_t)(last + 1));
    const int8_t *weights = rhs + channel * block->depth;
    block->stored = helia_nn_min(last + 1, 4);
    block->weights[0] = weights;
    block->weights[2] = weights + helia_nn_min(last, 1) * block->depth;
    block->weights[1] = weights + helia_nn_min(last, 2) * block->depth;
    block->weights[3] = weights + helia_nn_min(last, 3) * block->depth;
    if (stage->per_channel)
    {
        /* Shift -1 in unused lanes: any number that does not tell on the others. */
        vst1q_s32(block->multiplier, vldrwq_z_s32(stage->multiplier + channel, valid));
        vst1q_s32(block->shift, vpselq_s32(vldrwq_z_s32(stage->shift + channel, valid), vdupq_n_s32(-1), valid));
    }
    helia_nn_set_start(block,
                       stage->sums != NULL ? vldrwq_z_s32(stage->sums + channel, valid)
                                           : helia_nn_start_of_block(block, stage, channel, valid));
}

/* Fills the fields of channels `channel`..`channel + 3`; a channel past the last repeats the last and is not stored. */
static inline void helia_nn_load_block(helia_nn_block *block,
                                       const helia_nn_output_stage *stage,
                                       const int8_t *rhs,
                                       int32_t channel,
                                       int32_t channels)
{
    if (stage->sums == NULL || channel + 4 > channels)
    {
        helia_nn_load_any_block(block, stage, rhs, channel, channels);
        return;
    }
    const int32_t depth = block->depth;
    const int8_t *weights = rhs + channel * depth;
    block->stored = 4;
    block->weights[0] = weights;
    block->weights[2] = weights + depth;
    block->weights[1] = weights + 2 * depth;
    block->weights[3] = weights + 3 * depth;
    if (stage->per_channel)
    {
        vst1q_s32(block->multiplier, vld1q_s32(stage->multiplier + channel));
        vst1q_s32(block->shift, vld1q_s32(stage->shift + channel));
    }
    helia_nn_set_start(block, vld1q_s32(stage->sums + channel));
}

/* The output stage of any shifts, for lanes in the order of the channels; gives the bytes in the low parts of the lanes. */
static inline int32x4_t helia_nn_block_output(const helia_nn_block *block, int32x4_t value)
{
    value = helia_nn_requantize_s32x4(value, vld1q_s32(block->multiplier), vld1q_s32(block->shift));
    value = vaddq_n_s32(value, block->output_offset);
    return vminq_s32(vmaxq_s32(value, vld1q_s32(block->min)), vld1q_s32(block->max));
}

/* Whether all shifts of the block go right: the short output stage in assembly is exact for these alone. */
static inline bool helia_nn_block_shifts_right(const helia_nn_block *block)
{
    return vmaxvq_s32(INT32_MIN, vld1q_s32(block->shift)) < 0;
}

/* One row (q6); needs q0-q3 and two core registers free. */
#define HELIA_NN_ASM_OUTPUT_1                                                                                                 \
    "vldrw.32 q0, [%[block], #16]\n\t"                                                                                        \
    "ldrd %[s0], %[s1], [%[block], #80]\n\t" HELIA_NN_ASM_SCALE("q6", "q0")                                                   \
    "vldrw.32 q1, [%[block], #32]\n\t" HELIA_NN_ASM_AWAY("q6", "%[s1]")                                                       \
    "vldrw.32 q3, [%[block], #48]\n\t" HELIA_NN_ASM_SHIFT("q6", "q1")                                                        \
    "vldrw.32 q0, [%[block], #64]\n\t" HELIA_NN_ASM_ADD("q6", "%[s0]") HELIA_NN_ASM_CLAMP_LOW("q6", "q3")                     \
    HELIA_NN_ASM_CLAMP_HIGH("q6", "q0")

/*
 * The depth of two rows by two channels: s0, s1 of row x0 and s2, s3 of row x1. One vector of each is always in flight: the
 * first two are loaded while those before are multiplied.
 */
#define HELIA_NN_ASM_DEPTH_2X2                                                                                                \
    "vldrb.8 q0, [%[x0]], #16\n\t"                                                                                            \
    "mov %[s2], %[s0]\n\t"                                                                                                    \
    "vldrb.8 q2, [%[w0]], #16\n\t"                                                                                            \
    "mov %[s3], %[s1]\n\t"                                                                                                    \
    "wls lr, %[more], 2f\n"                                                                                                   \
    "1:\n\t"                                                                                                                  \
    "vldrb.8 q1, [%[x1]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s0], q0, q2\n\t"                                                                                           \
    "vldrb.8 q3, [%[w1]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s2], q1, q2\n\t"                                                                                           \
    "vldrb.8 q2, [%[w0]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s1], q0, q3\n\t"                                                                                           \
    "vldrb.8 q0, [%[x0]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s3], q1, q3\n\t"                                                                                           \
    "le lr, 1b\n"                                                                                                             \
    "2:\n\t"                                                                                                                  \
    "vldrb.8 q1, [%[x1]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s0], q0, q2\n\t"                                                                                           \
    "vldrb.8 q3, [%[w1]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s2], q1, q2\n\t"                                                                                           \
    "vmladava.s8 %[s1], q0, q3\n\t"                                                                                           \
    "vmladava.s8 %[s3], q1, q3\n\t"                                                                                           \
    "wlstp.8 lr, %[tail], 4f\n"                                                                                               \
    "3:\n\t"                                                                                                                  \
    "vldrb.8 q0, [%[x0]]\n\t"                                                                                                 \
    "vldrb.8 q2, [%[w0]]\n\t"                                                                                                 \
    "vmladava.s8 %[s0], q0, q2\n\t"                                                                                           \
    "vldrb.8 q1, [%[x1]]\n\t"                                                                                                 \
    "vmladava.s8 %[s2], q1, q2\n\t"                                                                                           \
    "vldrb.8 q3, [%[w1]]\n\t"                                                                                                 \
    "vmladava.s8 %[s1], q0, q3\n\t"                                                                                           \
    "vmladava.s8 %[s3], q1, q3\n\t"                                                                                           \
    "letp lr, 3b\n"                                                                                                           \
    "4:\n\t"

/* One pass of two rows by two channels of a block; `start` and `weights` are the offsets of the two channels' fields. */
#define HELIA_NN_ASM_PASS_2X2(start, weights)                                                                                 \
    "ldrd %[x0], %[x1], [%[block], #112]\n\t"                                                                                 \
    "ldrd %[w0], %[w1], [%[block], #" weights "]\n\t"                                                                         \
    "ldrd %[s0], %[s1], [%[block], #" start "]\n\t" HELIA_NN_ASM_DEPTH_2X2

/*
 * `rows` rows (an even number) with the block's four channels, requantised and stored; depth 16 and more.
 *
 * VMOV fills lanes 0 and 2, or lanes 1 and 3, from two core registers. So the first pass takes channels 0 and 2, the second 1
 * and 3, and `start` and `weights` are in that order.
 */
static inline void helia_nn_block_deep_rows(
    helia_nn_block *block, const int8_t *x, int32_t x_step, int8_t *out, int32_t out_step, int32_t rows)
{
    const int32_t more = (int32_t)((uint32_t)block->depth / HELIA_NN_LANES) - 1;
    const int32_t tail = (int32_t)((uint32_t)block->depth % HELIA_NN_LANES);
    for (; rows > 0; rows -= 2)
    {
        int32_t s0, s1, s2, s3;
        const int8_t *x0, *x1, *w0, *w1;
        block->x0 = x;
        block->x1 = x + x_step;
        block->out0 = out;
        block->out1 = out + out_step;
        x += 2 * x_step;
        out += 2 * out_step;
        __asm volatile(HELIA_NN_ASM_PASS_2X2("0", "88")
                       "vmov q6[2], q6[0], %[s0], %[s1]\n\t"
                       "vmov q7[2], q7[0], %[s2], %[s3]\n\t" HELIA_NN_ASM_PASS_2X2("8", "96")
                       "vmov q6[3], q6[1], %[s0], %[s1]\n\t"
                       "vmov q7[3], q7[1], %[s2], %[s3]\n\t" HELIA_NN_ASM_OUTPUT_2("[%[block], #16]", "[%[block], #32]")
                       "ldrd %[x0], %[x1], [%[block], #120]\n\t"
                       "ldr %[w0], [%[block], #108]\n\t"
                       "vctp.32 %[w0]\n\t"
                       "vpstt\n\t"
                       "vstrbt.32 q6, [%[x0]]\n\t"
                       "vstrbt.32 q7, [%[x1]]\n\t"
                       : [s0] "=&Te"(s0),
                         [s1] "=&Te"(s1),
                         [s2] "=&Te"(s2),
                         [s3] "=&Te"(s3),
                         [x0] "=&l"(x0),
                         [x1] "=&l"(x1),
                         [w0] "=&r"(w0),
                         [w1] "=&r"(w1)
                       : [block] "r"(block), [more] "r"(more), [tail] "r"(tail)
                       : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q6", "q7", "lr", "memory");
    }
}

/*
 * Rows block->x0 and block->x1 with `block->blocks` (1 or more) whole blocks of channels; depth 16 and more. The `next_*` fields
 * say where the first channel's numbers are.
 */
static inline void helia_nn_pair_all_channels(helia_nn_block *block, const int32_t *start)
{
    const int32_t more = (int32_t)((uint32_t)block->depth / HELIA_NN_LANES) - 1;
    const int32_t tail = (int32_t)((uint32_t)block->depth % HELIA_NN_LANES);
    int32_t s0, s1, s2, s3;
    const int8_t *x0, *x1, *w0, *w1;
    __asm volatile("5:\n\t"
                   "ldr %[s2], [%[block], #104]\n\t" /* depth */
                   "ldr %[w0], [%[block], #148]\n\t" /* weights */
                   "ldrd %[x0], %[x1], [%[block], #112]\n\t"
                   "ldr %[s0], [%[start]]\n\t"
                   "add %[w1], %[w0], %[s2], lsl #1\n\t"
                   "ldr %[s1], [%[start], #8]\n\t" HELIA_NN_ASM_DEPTH_2X2
                   "vmov q6[2], q6[0], %[s0], %[s1]\n\t"
                   "ldr %[s0], [%[block], #104]\n\t"
                   "vmov q7[2], q7[0], %[s2], %[s3]\n\t"
                   "ldr %[w0], [%[block], #148]\n\t"
                   "ldrd %[x0], %[x1], [%[block], #112]\n\t"
                   "add %[w0], %[s0]\n\t"
                   "ldr %[s1], [%[start], #12]\n\t"
                   "add %[w1], %[w0], %[s0], lsl #1\n\t"
                   "ldr %[s0], [%[start], #4]\n\t" HELIA_NN_ASM_DEPTH_2X2
                   "ldrd %[x0], %[x1], [%[block], #132]\n\t" /* multipliers, shifts */
                   "vmov q6[3], q6[1], %[s0], %[s1]\n\t"
                   "add %[w1], %[tail]\n\t"
                   "vmov q7[3], q7[1], %[s2], %[s3]\n\t"
                   "str %[w1], [%[block], #148]\n\t" HELIA_NN_ASM_OUTPUT_2("[%[x0]], #16", "[%[x1]], #16")
                   "strd %[x0], %[x1], [%[block], #132]\n\t"
                   "ldrd %[x0], %[x1], [%[block], #120]\n\t" /* outputs */
                   "ldr %[s2], [%[block], #128]\n\t"         /* blocks */
                   "vstrb.32 q6, [%[x0]], #4\n\t"
                   "add %[start], #16\n\t"
                   "subs %[s2], #1\n\t"
                   "vstrb.32 q7, [%[x1]], #4\n\t"
                   "str %[s2], [%[block], #128]\n\t"
                   "strd %[x0], %[x1], [%[block], #120]\n\t"
                   "bne 5b\n\t"
                   : [s0] "=&Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [x0] "=&l"(x0),
                     [x1] "=&l"(x1),
                     [w0] "=&r"(w0),
                     [w1] "=&r"(w1),
                     [start] "+r"(start)
                   : [block] "r"(block), [more] "r"(more), [tail] "r"(tail)
                   : "q0", "q1", "q2", "q3", "q6", "q7", "lr", "cc", "memory");
}

/* One vector of a row with four weight rows. */
#define HELIA_NN_ASM_STEP_1X4                                                                                                 \
    "vldrb.8 q0, [%[x]], #16\n\t"                                                                                             \
    "vldrb.8 q1, [%[w0]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s0], q0, q1\n\t"                                                                                           \
    "vldrb.8 q2, [%[w1]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s1], q0, q2\n\t"                                                                                           \
    "vldrb.8 q1, [%[w2]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s2], q0, q1\n\t"                                                                                           \
    "vldrb.8 q2, [%[w3]], #16\n\t"                                                                                            \
    "vmladava.s8 %[s3], q0, q2\n\t"

/* One row with the block's four channels, any depth: a tail-predicated loop, whose last round takes what is left. */
static inline void helia_nn_block_1_row(helia_nn_block *block, const int8_t *row, int8_t *out)
{
    int32_t s0, s1, s2, s3;
    const int8_t *x, *w0, *w1, *w2, *w3;
    block->x0 = row;
    block->out0 = out;
    __asm volatile("ldr %[x], [%[block], #112]\n\t"
                   "ldr %[s3], [%[block], #104]\n\t"
                   "ldrd %[w0], %[w2], [%[block], #88]\n\t"
                   "ldrd %[w1], %[w3], [%[block], #96]\n\t"
                   "wlstp.8 lr, %[s3], 2f\n\t"
                   "ldrd %[s0], %[s2], [%[block], #0]\n\t"
                   "ldrd %[s1], %[s3], [%[block], #8]\n"
                   "1:\n\t" HELIA_NN_ASM_STEP_1X4 "letp lr, 1b\n"
                   "2:\n\t"
                   "vmov q6[2], q6[0], %[s0], %[s2]\n\t"
                   "vmov q6[3], q6[1], %[s1], %[s3]\n\t" HELIA_NN_ASM_OUTPUT_1
                   "ldr %[w0], [%[block], #108]\n\t"
                   "ldr %[x], [%[block], #120]\n\t"
                   "vctp.32 %[w0]\n\t"
                   "vpst\n\t"
                   "vstrbt.32 q6, [%[x]]\n\t"
                   : [s0] "=&Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [x] "=&l"(x),
                     [w0] "=&r"(w0),
                     [w1] "=&r"(w1),
                     [w2] "=&r"(w2),
                     [w3] "=&r"(w3)
                   : [block] "r"(block)
                   : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q6", "lr", "memory");
}

/*
 * One row of any depth with `block->blocks` (1 or more) whole blocks of channels. `weights` and `start` are those of the first
 * channel; `block->next_*` say where the multipliers and shifts are.
 */
static inline void helia_nn_row_all_channels(
    helia_nn_block *block, const int8_t *row, const int8_t *weights, const int32_t *start, int8_t *out)
{
    int32_t s0, s1, s2, s3;
    const int8_t *x, *w1, *w2, *w3;
    block->x0 = row;
    __asm volatile("1:\n\t"
                   "ldr %[s0], [%[block], #104]\n\t" /* depth */
                   "ldr %[x], [%[block], #112]\n\t"
                   "add %[w1], %[w0], %[s0]\n\t"
                   "add %[w2], %[w1], %[s0]\n\t"
                   "add %[w3], %[w2], %[s0]\n\t"
                   "wlstp.8 lr, %[s0], 3f\n\t"
                   "ldrd %[s0], %[s1], [%[start]], #8\n\t"
                   "ldrd %[s2], %[s3], [%[start]], #8\n"
                   "2:\n\t" HELIA_NN_ASM_STEP_1X4 "letp lr, 2b\n"
                   "3:\n\t"
                   "ldrd %[w1], %[w2], [%[block], #132]\n\t" /* multipliers, shifts */
                   "vmov q6[2], q6[0], %[s0], %[s2]\n\t"
                   "vldrw.32 q0, [%[w1]]\n\t"
                   "vmov q6[3], q6[1], %[s1], %[s3]\n\t"
                   "ldrd %[s0], %[s1], [%[block], #80]\n\t" HELIA_NN_ASM_SCALE("q6", "q0")
                   "vldrw.32 q1, [%[w2]]\n\t" HELIA_NN_ASM_AWAY("q6", "%[s1]")
                   "ldrd %[s2], %[s3], [%[block], #140]\n\t" /* step of multipliers and shifts, overlap */
                   "add %[w1], %[s2]\n\t" HELIA_NN_ASM_SHIFT("q6", "q1")
                   "add %[w2], %[s2]\n\t"
                   "vldrw.32 q3, [%[block], #48]\n\t" HELIA_NN_ASM_ADD("q6", "%[s0]")
                   "ldr %[s1], [%[block], #128]\n\t"
                   "vldrw.32 q0, [%[block], #64]\n\t" HELIA_NN_ASM_CLAMP_LOW("q6", "q3")
                   "strd %[w1], %[w2], [%[block], #132]\n\t" HELIA_NN_ASM_CLAMP_HIGH("q6", "q0")
                   "subs %[s1], #1\n\t"
                   "sub %[w0], %[w3], %[s3]\n\t" /* the next block starts where this one's last row ends */
                   "vstrb.32 q6, [%[out]], #4\n\t"
                   "str %[s1], [%[block], #128]\n\t"
                   "bne 1b\n\t"
                   : [s0] "=&Te"(s0),
                     [s1] "=&Te"(s1),
                     [s2] "=&Te"(s2),
                     [s3] "=&Te"(s3),
                     [x] "=&r"(x),
                     [w0] "+r"(weights),
                     [w1] "=&r"(w1),
                     [w2] "=&r"(w2),
                     [w3] "=&r"(w3),
                     [start] "+r"(start),
                     [out] "+l"(out)
                   : [block] "r"(block)
                   : "q0", "q1", "q2", "q3", "q6", "lr", "cc", "memory");
}

#define HELIA_NN_ASM_MAC(sum, x, w) "vmladava.s8 %[" sum "], " x ", " w "\n\t"

/*
 * `block->blocks` times two rows of 16 bytes or less with the block's four channels: the weights stay in registers.
 *
 * `x` advances by `x_step` and `out` by `out_step` bytes a row. The scaling of the first row runs between the multiplications
 * of the second.
 */
static inline void helia_nn_block_shallow_rows(
    const helia_nn_block *block, const int8_t *x, int32_t x_step, int8_t *out, int32_t out_step)
{
    int32_t s0, s1, s2, s3;
    __asm volatile("vctp.8 %[depth]\n\t"
                   "ldrd %[s0], %[s1], [%[block], #88]\n\t"
                   "ldrd %[s2], %[s3], [%[block], #96]\n\t"
                   "vpstttt\n\t"
                   "vldrbt.8 q0, [%[s0]]\n\t"
                   "vldrbt.8 q1, [%[s1]]\n\t"
                   "vldrbt.8 q2, [%[s2]]\n\t"
                   "vldrbt.8 q3, [%[s3]]\n\t"
                   "ldr %[s0], [%[block], #128]\n\t"
                   "wls lr, %[s0], 2f\n"
                   "1:\n\t"
                   "vctp.8 %[depth]\n\t"
                   "vpst\n\t"
                   "vldrbt.8 q4, [%[x]]\n\t"
                   "ldrd %[s0], %[s1], [%[block], #0]\n\t"
                   "ldrd %[s2], %[s3], [%[block], #8]\n\t"
                   "add %[x], %[x_step]\n\t" HELIA_NN_ASM_MAC("s0", "q4", "q0") HELIA_NN_ASM_MAC("s1", "q4", "q1")
                   "vpst\n\t"
                   "vldrbt.8 q5, [%[x]]\n\t" HELIA_NN_ASM_MAC("s2", "q4", "q2") HELIA_NN_ASM_MAC("s3", "q4", "q3")
                   "add %[x], %[x_step]\n\t"
                   "vldrw.32 q4, [%[block], #16]\n\t"
                   "vmov q6[2], q6[0], %[s0], %[s1]\n\t"
                   "ldrd %[s0], %[s1], [%[block], #0]\n\t"
                   "vmov q6[3], q6[1], %[s2], %[s3]\n\t"
                   "ldrd %[s2], %[s3], [%[block], #8]\n\t" HELIA_NN_ASM_MAC("s0", "q5", "q0")
                   HELIA_NN_ASM_SCALE("q6", "q4") HELIA_NN_ASM_MAC("s1", "q5", "q1") HELIA_NN_ASM_AWAY("q6", "%[one]")
                   "vldrw.32 q4, [%[block], #32]\n\t" HELIA_NN_ASM_MAC("s2", "q5", "q2") HELIA_NN_ASM_MAC("s3", "q5", "q3")
                   HELIA_NN_ASM_SHIFT("q6", "q4")
                   "vldrw.32 q5, [%[block], #16]\n\t"
                   "vmov q7[2], q7[0], %[s0], %[s1]\n\t"
                   "vmov q7[3], q7[1], %[s2], %[s3]\n\t"
                   "ldr %[s0], [%[block], #80]\n\t" HELIA_NN_ASM_SCALE("q7", "q5")
                   "ldr %[s1], [%[block], #108]\n\t" HELIA_NN_ASM_ADD("q6", "%[s0]")
                   HELIA_NN_ASM_AWAY("q7", "%[one]")
                   "vldrw.32 q5, [%[block], #48]\n\t" HELIA_NN_ASM_SHIFT("q7", "q4") HELIA_NN_ASM_CLAMP_LOW("q6", "q5")
                   "vldrw.32 q4, [%[block], #64]\n\t" HELIA_NN_ASM_ADD("q7", "%[s0]") HELIA_NN_ASM_CLAMP_HIGH("q6", "q4")
                   "vctp.32 %[s1]\n\t" HELIA_NN_ASM_CLAMP_LOW("q7", "q5")
                   "vpst\n\t"
                   "vstrbt.32 q6, [%[out]]\n\t" HELIA_NN_ASM_CLAMP_HIGH("q7", "q4")
                   "add %[out], %[out_step]\n\t"
                   "vpst\n\t"
                   "vstrbt.32 q7, [%[out]]\n\t"
                   "add %[out], %[out_step]\n\t"
                   "le lr, 1b\n"
                   "2:\n\t"
                   : [s0] "=&Te"(s0), [s1] "=&Te"(s1), [s2] "=&Te"(s2), [s3] "=&Te"(s3), [x] "+r"(x), [out] "+l"(out)
                   : [block] "r"(block),
                     [depth] "r"(block->depth),
                     [x_step] "r"(x_step),
                     [out_step] "r"(out_step),
                     [one] "r"(1)
                   : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "memory");
}

/* Loads and multiplies one vector of weights with one of the input. */
#define HELIA_NN_ASM_STEP(sum, x, w) "vldrb.8 " w ", [%[w]], #16\n\t" HELIA_NN_ASM_MAC(sum, x, w)

/* The same for the last vector of a row: it ends where the row ends, so it overlaps the one before by `overlap` bytes. */
#define HELIA_NN_ASM_LAST_STEP(sum, x, w) "sub %[w], %[overlap]\n\t" HELIA_NN_ASM_STEP(sum, x, w)

/* One channel: all vectors of its weights. */
#define HELIA_NN_ASM_ROW_2(sum) HELIA_NN_ASM_STEP(sum, "q0", "q4") HELIA_NN_ASM_STEP(sum, "q3", "q5")
#define HELIA_NN_ASM_ROW_2_TAIL(sum) HELIA_NN_ASM_STEP(sum, "q0", "q4") HELIA_NN_ASM_LAST_STEP(sum, "q3", "q5")
#define HELIA_NN_ASM_ROW_3_TAIL(sum)                                                                                          \
    HELIA_NN_ASM_STEP(sum, "q0", "q4") HELIA_NN_ASM_STEP(sum, "q1", "q5") HELIA_NN_ASM_LAST_STEP(sum, "q3", "q4")
#define HELIA_NN_ASM_ROW_4(sum)                                                                                               \
    HELIA_NN_ASM_STEP(sum, "q0", "q4")                                                                                        \
    HELIA_NN_ASM_STEP(sum, "q1", "q5") HELIA_NN_ASM_STEP(sum, "q2", "q4") HELIA_NN_ASM_STEP(sum, "q3", "q5")
#define HELIA_NN_ASM_ROW_4_TAIL(sum)                                                                                          \
    HELIA_NN_ASM_STEP(sum, "q0", "q4")                                                                                        \
    HELIA_NN_ASM_STEP(sum, "q1", "q5") HELIA_NN_ASM_STEP(sum, "q2", "q4") HELIA_NN_ASM_LAST_STEP(sum, "q3", "q5")

/*
 * Rows of 17 to 64 bytes with all whole blocks of four channels: a row stays in q0-q3, the weights stream by once a row.
 *
 * `load` loads the row except its last 16 bytes, which go to q3 with the lanes that `load` already has set to 0; `sequence` is
 * one of those above.
 */
#define HELIA_NN_CHANNELS_FUNCTION(name, load, sequence)                                                                      \
    static void name(helia_nn_block *block,                                                                                   \
                     const helia_nn_output_stage *stage,                                                                      \
                     const int8_t *lhs,                                                                                       \
                     int32_t lhs_stride,                                                                                      \
                     int32_t rows,                                                                                            \
                     const int8_t *rhs,                                                                                       \
                     int8_t *output,                                                                                          \
                     int32_t output_stride)                                                                                   \
    {                                                                                                                         \
        const int32_t overlap = -block->depth & (HELIA_NN_LANES - 1);                                                         \
        for (; rows > 0; rows--, lhs += lhs_stride, output += output_stride)                                                  \
        {                                                                                                                     \
            int32_t s0, s1, s2, s3;                                                                                           \
            const int32_t *start = stage->sums, *multiplier = stage->multiplier, *shift = stage->shift;                       \
            const int8_t *weights = rhs;                                                                                      \
            int8_t *out = output;                                                                                             \
            block->x0 = lhs;                                                                                                  \
            __asm volatile("ldrd %[s0], %[s1], [%[block], #108]\n\t"                                                          \
                           "ldr %[s0], [%[block], #104]\n\t"                                                                  \
                           "vctp.8 %[overlap]\n\t"                                                                            \
                           "add %[s0], %[s1]\n\t"                                                                             \
                           "vpnot\n\t"                                                                                        \
                           "ldr %[s2], [%[block], #128]\n\t"                                                                  \
                           "vpst\n\t"                                                                                         \
                           "vldrbt.8 q3, [%[s0], #-16]\n\t"                                                                   \
                           "dls lr, %[s2]\n\t" load "1:\n\t"                                                                 \
                           "ldrd %[s0], %[s1], [%[start]], #8\n\t" sequence("s0")                                            \
                           "ldrd %[s2], %[s3], [%[start]], #8\n\t" sequence("s1") sequence("s2") sequence("s3")              \
                           "vldrw.32 q4, [%[multiplier]], #16\n\t"                                                           \
                           "vmov q6[2], q6[0], %[s0], %[s2]\n\t"                                                             \
                           "ldrd %[s0], %[s2], [%[block], #80]\n\t"                                                          \
                           "vmov q6[3], q6[1], %[s1], %[s3]\n\t"                                                             \
                           "vldrw.32 q5, [%[shift]], #16\n\t" HELIA_NN_ASM_SCALE("q6", "q4")                                 \
                           "vldrw.32 q4, [%[block], #48]\n\t" HELIA_NN_ASM_AWAY("q6", "%[s2]")                               \
                           HELIA_NN_ASM_SHIFT("q6", "q5")                                                                     \
                           "vldrw.32 q5, [%[block], #64]\n\t" HELIA_NN_ASM_ADD("q6", "%[s0]")                                \
                           HELIA_NN_ASM_CLAMP_LOW("q6", "q4") HELIA_NN_ASM_CLAMP_HIGH("q6", "q5")                             \
                           "vstrb.32 q6, [%[out]], #4\n\t"                                                                   \
                           "le lr, 1b\n\t"                                                                                   \
                           : [s0] "=&Te"(s0),                                                                                 \
                             [s1] "=&Te"(s1),                                                                                 \
                             [s2] "=&Te"(s2),                                                                                 \
                             [s3] "=&Te"(s3),                                                                                 \
                             [w] "+r"(weights),                                                                               \
                             [start] "+r"(start),                                                                             \
                             [multiplier] "+r"(multiplier),                                                                   \
                             [shift] "+r"(shift),                                                                             \
                             [out] "+l"(out)                                                                                  \
                           : [block] "r"(block), [overlap] "r"(overlap)                                                       \
                           : HELIA_NN_PREDICATE "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "lr", "memory");              \
        }                                                                                                                     \
    }

#define HELIA_NN_ASM_LOAD_1 "vldrb.8 q0, [%[s1]]\n\t"
#define HELIA_NN_ASM_LOAD_2 HELIA_NN_ASM_LOAD_1 "vldrb.8 q1, [%[s1], #16]\n\t"
#define HELIA_NN_ASM_LOAD_3 HELIA_NN_ASM_LOAD_2 "vldrb.8 q2, [%[s1], #32]\n\t"

HELIA_NN_CHANNELS_FUNCTION(helia_nn_channels_32, HELIA_NN_ASM_LOAD_1, HELIA_NN_ASM_ROW_2)
HELIA_NN_CHANNELS_FUNCTION(helia_nn_channels_64, HELIA_NN_ASM_LOAD_3, HELIA_NN_ASM_ROW_4)
HELIA_NN_CHANNELS_FUNCTION(helia_nn_channels_to_32, HELIA_NN_ASM_LOAD_1, HELIA_NN_ASM_ROW_2_TAIL)
HELIA_NN_CHANNELS_FUNCTION(helia_nn_channels_to_48, HELIA_NN_ASM_LOAD_2, HELIA_NN_ASM_ROW_3_TAIL)
HELIA_NN_CHANNELS_FUNCTION(helia_nn_channels_to_64, HELIA_NN_ASM_LOAD_3, HELIA_NN_ASM_ROW_4_TAIL)

#endif /* HELIA_NN_SUPPORT_MATMUL_S8_MVE_H */
