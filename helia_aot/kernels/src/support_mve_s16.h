/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Helium bodies of the layers with int16 activations and int8 weights, whose accumulators have 64 bits by definition.
 *
 * 511 products of 15 and 7 bits stay below 2^31, so rows up to that length are added up in 32 bits. With at most 255 products and
 * a bias up to 2^30 the whole accumulator has 32 bits, and the output stage runs on vectors.
 */
#ifndef HELIA_NN_SUPPORT_MVE_S16_H
#define HELIA_NN_SUPPORT_MVE_S16_H

#include "../include/arm_nnfunctions.h"
#include "support_requantize_s64.h"

#define HELIA_NN_MOST_PRODUCTS 511
#define HELIA_NN_FEW_PRODUCTS 255

/* From 64-bit accumulators to int16 outputs. */
typedef struct
{
    const int32_t *multiplier; /* One for each channel, or one in all. */
    const int32_t *shift;      /* As `multiplier`. */
    int32_t step;              /* 1 or 0: how many multipliers and shifts there are. */
    const int64_t *bias;       /* One for each channel, or NULL. */
    cmsis_nn_activation activation;
    bool narrow; /* As helia_nn_narrow_s16() says; false is always allowed. */
} helia_nn_output_s16;

#if defined(HELIA_NN_MVE)

/*
 * Whether accumulators have 32 bits and every shift is -2 or less.
 *
 * (a * m + 2^(r - 1)) >> r with r = 15 - shift of 17 and more equals rounding shift by r - 16 of (a * m) >> 16: the rounding
 * number is a multiple of 2^16, so dropping 16 bits first changes nothing. (a * m) >> 16 is VMULH by m * 2^16.
 */
static inline bool helia_nn_narrow_s16(const helia_nn_output_s16 *stage, int32_t channels, int32_t products)
{
    bool narrow = products <= HELIA_NN_FEW_PRODUCTS;
    for (int32_t c = 0; c < (stage->step != 0 ? channels : 1); c++)
    {
        narrow = narrow && stage->shift[c] <= -2;
    }
    for (int32_t c = 0; c < channels && stage->bias != NULL; c++)
    {
        narrow = narrow && stage->bias[c] <= (1 << 30) && stage->bias[c] >= -(1 << 30);
    }
    return narrow;
}

/* Stores the outputs of channels c..c + 3, those in `valid`, from their sums of products. */
static inline void helia_nn_store_s16(
    const helia_nn_output_s16 *stage, int32_t c, int32x4_t sums, mve_pred16_t valid, int16_t *output)
{
    int32x4_t multiplier = vdupq_n_s32(stage->multiplier[0]);
    int32x4_t shift = vdupq_n_s32(stage->shift[0]);
    if (stage->step != 0)
    {
        multiplier = vldrwq_z_s32(stage->multiplier + c, valid);
        shift = vldrwq_z_s32(stage->shift + c, valid);
    }
    if (stage->bias != NULL)
    {
        /* The lower halves. */
        const uint32x4_t offsets = vidupq_n_u32(0, 8);
        sums = vaddq_s32(sums, vldrwq_gather_offset_z_s32((const int32_t *)(stage->bias + c), offsets, valid));
    }
    /* The reduced multiplier, see helia_nn_reduced_multiplier(), times 2^16. */
    const int32x4_t reduced = vandq_s32(vqaddq_n_s32(multiplier, 1 << 15), vdupq_n_s32(-(1 << 16)));
    const int32x4_t scaled = vrshlq_s32(vmulhq_s32(sums, reduced), vaddq_n_s32(shift, 1));
    vstrhq_p_s32(output, helia_nn_clamp_s32x4(scaled, stage->activation.min, stage->activation.max), valid);
}

/* Stores one output from its sum of products, of any size. */
static inline void helia_nn_store_wide_s16(const helia_nn_output_s16 *stage, int32_t c, int64_t sum, int16_t *output)
{
    const int64_t value = sum + (stage->bias != NULL ? stage->bias[c] : 0);
    const int32_t reduced = helia_nn_reduced_multiplier(stage->multiplier[c * stage->step]);
    const int32_t scaled = helia_nn_requantize_s64(value, reduced, stage->shift[c * stage->step]);
    *output = (int16_t)helia_nn_clamp(scaled, stage->activation.min, stage->activation.max);
}

/* The sums of products of a row (1..511 long) with four rows of weights. */
static inline int32x4_t helia_nn_dots_4_s16(
    const int16_t *x, const int8_t *w0, const int8_t *w1, const int8_t *w2, const int8_t *w3, int32_t depth)
{
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int32x4_t sums;
    __asm volatile("dlstp.16 lr, %[depth]\n"
                   "1:\n\t"
                   "vldrh.u16 q0, [%[x]], #16\n\t"
                   "vldrb.s16 q1, [%[w0]], #8\n\t"
                   "vmladava.s16 %[s0], q0, q1\n\t"
                   "vldrb.s16 q2, [%[w1]], #8\n\t"
                   "vmladava.s16 %[s1], q0, q2\n\t"
                   "vldrb.s16 q1, [%[w2]], #8\n\t"
                   "vmladava.s16 %[s2], q0, q1\n\t"
                   "vldrb.s16 q2, [%[w3]], #8\n\t"
                   "vmladava.s16 %[s3], q0, q2\n\t"
                   "letp lr, 1b\n\t"
                   "vmov %q[sums][2], %q[sums][0], %[s0], %[s2]\n\t"
                   "vmov %q[sums][3], %q[sums][1], %[s1], %[s3]\n\t"
                   : [s0] "+&Te"(s0),
                     [s1] "+&Te"(s1),
                     [s2] "+&Te"(s2),
                     [s3] "+&Te"(s3),
                     [x] "+r"(x),
                     [w0] "+l"(w0),
                     [w1] "+l"(w1),
                     [w2] "+l"(w2),
                     [w3] "+l"(w3),
                     [sums] "=&w"(sums)
                   : [depth] "r"(depth)
                   : "q0", "q1", "q2", "lr", "memory");
    return sums;
}

/* Four channels from `c` on for accumulators of 64 bits; `last` is how many more than one there are. */
static HELIA_NN_COLD void helia_nn_wide_block_s16(const helia_nn_output_s16 *stage,
                                                  const int16_t *x,
                                                  const int8_t *const w[4],
                                                  int32_t depth,
                                                  int32_t c,
                                                  int32_t last,
                                                  int16_t *output)
{
    int64_t wide[4] = {0, 0, 0, 0};
    for (int32_t k = 0; k < depth; k += HELIA_NN_MOST_PRODUCTS - 7)
    {
        int32_t parts[4];
        const int32_t count = helia_nn_min(depth - k, HELIA_NN_MOST_PRODUCTS - 7);
        vst1q_s32(parts, helia_nn_dots_4_s16(x + k, w[0] + k, w[1] + k, w[2] + k, w[3] + k, count));
        for (int32_t i = 0; i < 4; i++)
        {
            wide[i] += parts[i];
        }
    }
    for (int32_t i = 0; i <= last; i++)
    {
        helia_nn_store_wide_s16(stage, c + i, wide[i], output + c + i);
    }
}

/* A row of any length with all channels: `weights` has `channels` rows of `depth` numbers. */
static inline void helia_nn_row_s16(const helia_nn_output_s16 *stage,
                                    const int16_t *x,
                                    const int8_t *weights,
                                    int32_t depth,
                                    int32_t channels,
                                    int16_t *output)
{
    int32_t c = 0;
    const bool narrow = stage->narrow;
    for (; narrow && c + 4 <= channels; c += 4, weights += 4 * depth)
    {
        const int32x4_t sums = helia_nn_dots_4_s16(
            x, weights, weights + depth, weights + 2 * depth, weights + 3 * depth, depth);
        helia_nn_store_s16(stage, c, sums, vctp32q(4), output + c);
    }
    for (; c < channels; c += 4, weights += 4 * depth)
    {
        const int32_t last = helia_nn_min(channels - 1 - c, 3);
        const int8_t *const w[4] = {
            weights, weights + helia_nn_min(last, 1) * depth, weights + helia_nn_min(last, 2) * depth, weights + last * depth};
        if (narrow)
        {
            const int32x4_t sums = helia_nn_dots_4_s16(x, w[0], w[1], w[2], w[3], depth);
            helia_nn_store_s16(stage, c, sums, vctp32q((uint32_t)(last + 1)), output + c);
        }
        else
        {
            helia_nn_wide_block_s16(stage, x, w, depth, c, last, output);
        }
    }
}

#endif /* HELIA_NN_MVE */

#endif /* HELIA_NN_SUPPORT_MVE_S16_H */
