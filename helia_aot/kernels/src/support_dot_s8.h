/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dot product of int8 numbers with an offset and int8 weights.
 */
#ifndef HELIA_NN_SUPPORT_DOT_S8_H
#define HELIA_NN_SUPPORT_DOT_S8_H

#include "internal.h"

static inline int32_t helia_nn_dot_s8(const int8_t *values, int32_t offset, const int8_t *weights, int32_t count)
{
    int32_t sum = 0;
#if defined(HELIA_NN_MVE)
    int32_t total = 0;
    for (int32_t i = count / 16; i > 0; i--)
    {
        const int8x16_t factors = vldrbq_s8(weights);
        sum = vmladavaq_s8(sum, vldrbq_s8(values), factors);
        total = vaddvaq_s8(total, factors);
        values += 16;
        weights += 16;
    }
    if (count % 16 != 0)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)(count % 16));
        const int8x16_t factors = vldrbq_z_s8(weights, valid);
        sum = vmladavaq_s8(sum, vldrbq_z_s8(values, valid), factors);
        total = vaddvaq_s8(total, factors);
    }
    return sum + offset * total;
#elif defined(HELIA_NN_DSP)
    const uint32_t offsets = helia_nn_twice(offset);
#pragma GCC unroll 2
    for (int32_t i = count / 4; i > 0; i--)
    {
        const uint32_t bytes = helia_nn_load_word(values), factors = helia_nn_load_word(weights);
        sum = helia_nn_smlad(helia_nn_even_bytes(offsets, bytes), helia_nn_even_bytes(0, factors), sum);
        sum = helia_nn_smlad(helia_nn_odd_bytes(offsets, bytes), helia_nn_odd_bytes(0, factors), sum);
        values += 4;
        weights += 4;
    }
    for (int32_t i = count % 4; i > 0; i--)
    {
        sum += (*values++ + offset) * *weights++;
    }
    return sum;
#else
    for (int32_t i = 0; i < count; i++)
    {
        sum += (values[i] + offset) * weights[i];
    }
    return sum;
#endif
}

#endif /* HELIA_NN_SUPPORT_DOT_S8_H */
