/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium building blocks of the int8 kernels: dot products of one or two input rows with four weight rows, and the output
 * stage of four channels.
 *
 * VMLADAV multiplies 16 pairs and adds them up in a core register, so the reduction runs along the input depth. It and a load
 * go through different pipelines of the core; the loops below alternate the two, two input rows by two weight rows at a time,
 * which needs exactly one load for each multiply-accumulate.
 */
#ifndef HELIA_NN_SUPPORT_MVE_S8_H
#define HELIA_NN_SUPPORT_MVE_S8_H

#include "support_matmul_s8.h"

#define HELIA_NN_LANES 16

/* What the output stage needs of four channels; channels past the last are not stored. */
typedef struct
{
    int32x4_t start;
    int32x4_t multiplier;
    int32x4_t left;           /* 0.. */
    int32x4_t negative_right; /* ..0 */
    int32x4_t min;
    int32x4_t max;
    int32_t output_offset;
    mve_pred16_t stored;
} helia_nn_channel_block;

/* Gives the weight rows of four channels; a channel past the last repeats the last. */
static inline void helia_nn_weight_rows(
    const int8_t *weights[4], const int8_t *rhs, int32_t channel, int32_t channels, int32_t depth)
{
    for (int32_t i = 0; i < 4; i++)
    {
        weights[i] = rhs + helia_nn_min(channel + i, channels - 1) * depth;
    }
}

static inline int32_t helia_nn_row_sum(const int8_t *row, int32_t depth)
{
    int32_t sum = 0;
    for (int32_t k = 0; k < depth; k += HELIA_NN_LANES)
    {
        sum = vaddvaq_s8(sum, vldrbq_z_s8(row + k, vctp8q((uint32_t)(depth - k))));
    }
    return sum;
}

static inline helia_nn_channel_block helia_nn_load_channel_block(
    const helia_nn_output_stage *stage, const int8_t *const weights[4], int32_t channel, int32_t channels, int32_t depth)
{
    helia_nn_channel_block block;
    block.stored = vctp32q((uint32_t)(channels - channel));
    if (stage->sums != NULL)
    {
        block.start = vldrwq_z_s32(stage->sums + channel, block.stored);
    }
    else
    {
        block.start = vdupq_n_s32(0);
        for (int32_t i = 0; i < 4; i++)
        {
            const int32x4_t sum = vdupq_n_s32(helia_nn_row_sum(weights[i], depth) * stage->input_offset);
            block.start = vpselq_s32(sum, block.start, (mve_pred16_t)(0xF << (4 * i)));
        }
        if (stage->bias != NULL)
        {
            block.start = vaddq_s32(block.start, vldrwq_z_s32(stage->bias + channel, block.stored));
        }
    }
    int32x4_t shift;
    if (stage->per_channel)
    {
        block.multiplier = vldrwq_z_s32(stage->multiplier + channel, block.stored);
        shift = vldrwq_z_s32(stage->shift + channel, block.stored);
    }
    else
    {
        block.multiplier = vdupq_n_s32(stage->multiplier[0]);
        shift = vdupq_n_s32(stage->shift[0]);
    }
    block.left = vmaxq_s32(shift, vdupq_n_s32(0));
    block.negative_right = vminq_s32(shift, vdupq_n_s32(0));
    block.output_offset = stage->output_offset;
    block.min = vdupq_n_s32(stage->activation.min);
    block.max = vdupq_n_s32(stage->activation.max);
    return block;
}

/* Requantises four accumulators and stores the valid channels. */
static inline void helia_nn_store_block(int32x4_t sums, const helia_nn_channel_block *block, int8_t *output)
{
    int32x4_t value = vshlq_s32(vaddq_s32(sums, block->start), block->left);
    value = vqrdmulhq_s32(value, block->multiplier);
    value = helia_nn_divide_by_power_of_two_s32x4(value, block->negative_right);
    value = vaddq_n_s32(value, block->output_offset);
    value = vminq_s32(vmaxq_s32(value, block->min), block->max);
    vstrbq_p_s32(output, value, block->stored);
}

/* Puts two core registers into lanes 0 and 2, or 1 and 3. */
#define HELIA_NN_SET_LANES_02(vector, a, b) __asm("vmov %q0[2], %q0[0], %1, %2" : "+w"(vector) : "r"(a), "r"(b))
#define HELIA_NN_SET_LANES_13(vector, a, b) __asm("vmov %q0[3], %q0[1], %1, %2" : "+w"(vector) : "r"(a), "r"(b))

/* Four dot products: rows x0 and x1 with weight rows w0 and w1; sums[i][j] of x_i with w_j. */
static inline void helia_nn_dot_2x2(const int8_t *x0,
                                    const int8_t *x1,
                                    const int8_t *w0,
                                    const int8_t *w1,
                                    int32_t depth,
                                    int32_t sums[2][2])
{
    int32_t sum00 = 0, sum01 = 0, sum10 = 0, sum11 = 0;
    if (depth >= HELIA_NN_LANES)
    {
        /* One block is always in flight: its first two vectors are loaded while the block before is multiplied. */
        __asm volatile("vldrb.8 q0, [%[x0]], #16\n\t"
                       "vldrb.8 q2, [%[w0]], #16\n\t"
                       "wls lr, %[more], 2f\n"
                       "1:\n\t"
                       "vldrb.8 q1, [%[x1]], #16\n\t"
                       "vmladava.s8 %[s00], q0, q2\n\t"
                       "vldrb.8 q3, [%[w1]], #16\n\t"
                       "vmladava.s8 %[s10], q1, q2\n\t"
                       "vldrb.8 q2, [%[w0]], #16\n\t"
                       "vmladava.s8 %[s01], q0, q3\n\t"
                       "vldrb.8 q0, [%[x0]], #16\n\t"
                       "vmladava.s8 %[s11], q1, q3\n\t"
                       "le lr, 1b\n"
                       "2:\n\t"
                       "vldrb.8 q1, [%[x1]], #16\n\t"
                       "vmladava.s8 %[s00], q0, q2\n\t"
                       "vldrb.8 q3, [%[w1]], #16\n\t"
                       "vmladava.s8 %[s10], q1, q2\n\t"
                       "vmladava.s8 %[s01], q0, q3\n\t"
                       "vmladava.s8 %[s11], q1, q3\n\t"
                       : [x0] "+r"(x0),
                         [x1] "+r"(x1),
                         [w0] "+r"(w0),
                         [w1] "+r"(w1),
                         [s00] "+Te"(sum00),
                         [s01] "+Te"(sum01),
                         [s10] "+Te"(sum10),
                         [s11] "+Te"(sum11)
                       : [more] "r"(depth / HELIA_NN_LANES - 1)
                       : "q0", "q1", "q2", "q3", "lr", "memory");
    }
    const int32_t tail = depth % HELIA_NN_LANES;
    if (tail > 0)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)tail);
        const int8x16_t a0 = vldrbq_z_s8(x0, valid);
        const int8x16_t b0 = vldrbq_z_s8(w0, valid);
        sum00 = vmladavaq_s8(sum00, a0, b0);
        const int8x16_t a1 = vldrbq_z_s8(x1, valid);
        sum10 = vmladavaq_s8(sum10, a1, b0);
        const int8x16_t b1 = vldrbq_z_s8(w1, valid);
        sum01 = vmladavaq_s8(sum01, a0, b1);
        sum11 = vmladavaq_s8(sum11, a1, b1);
    }
    sums[0][0] = sum00;
    sums[0][1] = sum01;
    sums[1][0] = sum10;
    sums[1][1] = sum11;
}

/* Rows x0 and x1 with four weight rows; lane c of sums_i is x_i with weights[c]. */
static inline void helia_nn_dot_2x4(const int8_t *x0,
                                    const int8_t *x1,
                                    const int8_t *const weights[4],
                                    int32_t depth,
                                    int32x4_t *sums0,
                                    int32x4_t *sums1)
{
    int32_t even[2][2], odd[2][2];
    int32x4_t lanes0 = vuninitializedq_s32(), lanes1 = vuninitializedq_s32();
    helia_nn_dot_2x2(x0, x1, weights[0], weights[2], depth, even);
    HELIA_NN_SET_LANES_02(lanes0, even[0][0], even[0][1]);
    HELIA_NN_SET_LANES_02(lanes1, even[1][0], even[1][1]);
    helia_nn_dot_2x2(x0, x1, weights[1], weights[3], depth, odd);
    HELIA_NN_SET_LANES_13(lanes0, odd[0][0], odd[0][1]);
    HELIA_NN_SET_LANES_13(lanes1, odd[1][0], odd[1][1]);
    *sums0 = lanes0;
    *sums1 = lanes1;
}

/* One row with four weight rows. */
static inline int32x4_t helia_nn_dot_1x4(const int8_t *x, const int8_t *const weights[4], int32_t depth)
{
    const int8_t *w0 = weights[0], *w1 = weights[1], *w2 = weights[2], *w3 = weights[3];
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    /* Tail-predicated loop: the last round works on what is left of the depth. */
    __asm volatile("wlstp.8 lr, %[depth], 2f\n"
                   "1:\n\t"
                   "vldrb.8 q0, [%[x]], #16\n\t"
                   "vldrb.8 q1, [%[w0]], #16\n\t"
                   "vmladava.s8 %[s0], q0, q1\n\t"
                   "vldrb.8 q2, [%[w1]], #16\n\t"
                   "vmladava.s8 %[s1], q0, q2\n\t"
                   "vldrb.8 q1, [%[w2]], #16\n\t"
                   "vmladava.s8 %[s2], q0, q1\n\t"
                   "vldrb.8 q2, [%[w3]], #16\n\t"
                   "vmladava.s8 %[s3], q0, q2\n\t"
                   "letp lr, 1b\n"
                   "2:\n\t"
                   : [x] "+r"(x),
                     [w0] "+r"(w0),
                     [w1] "+r"(w1),
                     [w2] "+r"(w2),
                     [w3] "+r"(w3),
                     [s0] "+Te"(sum0),
                     [s1] "+Te"(sum1),
                     [s2] "+Te"(sum2),
                     [s3] "+Te"(sum3)
                   : [depth] "r"(depth)
                   : "q0", "q1", "q2", "lr", "memory");
    int32x4_t lanes = vuninitializedq_s32();
    HELIA_NN_SET_LANES_02(lanes, sum0, sum2);
    HELIA_NN_SET_LANES_13(lanes, sum1, sum3);
    return lanes;
}

#endif /* HELIA_NN_SUPPORT_MVE_S8_H */
