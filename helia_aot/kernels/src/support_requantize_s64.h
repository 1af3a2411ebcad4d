/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a 64-bit accumulator to an output: TensorFlow Lite Micro takes the multiplier with 16 bits there and rounds once, halves up.
 */
#ifndef HELIA_NN_SUPPORT_REQUANTIZE_S64_H
#define HELIA_NN_SUPPORT_REQUANTIZE_S64_H

#include "internal.h"

/* Gives the 16-bit multiplier; the largest one where rounding would overflow. */
static inline int32_t helia_nn_reduced_multiplier(int32_t multiplier)
{
    return multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
}

/* Requantises with a reduced multiplier; shift as in helia_nn_requantize(), below 15; |value| below 2^48. */
static inline int32_t helia_nn_requantize_s64(int64_t value, int32_t reduced_multiplier, int32_t shift)
{
    const int32_t right = 15 - shift;
#if defined(HELIA_NN_DSP)
    if (value == (int32_t)value)
    {
        /* One multiplication instead of three. */
        return (int32_t)(((int64_t)(int32_t)value * reduced_multiplier + (INT64_C(1) << (right - 1))) >> right);
    }
#endif
    return (int32_t)((value * reduced_multiplier + (INT64_C(1) << (right - 1))) >> right);
}

/* The dot products of int16 numbers with two rows of int8 weights, added to `sums`. */
static inline void
helia_nn_dots_s16_s8(const int16_t *values, const int8_t *weights0, const int8_t *weights1, int32_t count, int64_t sums[2])
{
#if defined(HELIA_NN_MVE)
    int64_t sum0 = sums[0], sum1 = sums[1];
    /* Whole vectors without predicates: the compiler makes a low-overhead loop of it. */
    for (int32_t i = count / 8; i > 0; i--)
    {
        const int16x8_t now = vldrhq_s16(values);
        sum0 = vmlaldavaq_s16(sum0, now, vldrbq_s16(weights0));
        sum1 = vmlaldavaq_s16(sum1, now, vldrbq_s16(weights1));
        values += 8;
        weights0 += 8;
        weights1 += 8;
    }
    if (count % 8 != 0)
    {
        const mve_pred16_t valid = vctp16q((uint32_t)(count % 8));
        const int16x8_t now = vldrhq_z_s16(values, valid);
        sum0 = vmlaldavaq_s16(sum0, now, vldrbq_z_s16(weights0, valid));
        sum1 = vmlaldavaq_s16(sum1, now, vldrbq_z_s16(weights1, valid));
    }
    sums[0] = sum0;
    sums[1] = sum1;
#else
    /* 2^8 products of 2^22 fit into 32 bits. */
    while (count > 0)
    {
        const int32_t now = helia_nn_min(count, 256);
        int32_t part0 = 0, part1 = 0;
        int32_t i = 0;
#if defined(HELIA_NN_DSP)
        for (; i + 4 <= now; i += 4)
        {
            const uint32_t first = helia_nn_load_word(values + i), second = helia_nn_load_word(values + i + 2);
            const uint32_t word0 = helia_nn_load_word(weights0 + i), word1 = helia_nn_load_word(weights1 + i);
            part0 = helia_nn_add_4_products(first, second, word0, part0);
            part1 = helia_nn_add_4_products(first, second, word1, part1);
        }
#endif
        for (; i < now; i++)
        {
            part0 += values[i] * weights0[i];
            part1 += values[i] * weights1[i];
        }
        sums[0] += part0;
        sums[1] += part1;
        values += now;
        weights0 += now;
        weights1 += now;
        count -= now;
    }
#endif
}

#endif /* HELIA_NN_SUPPORT_REQUANTIZE_S64_H */
