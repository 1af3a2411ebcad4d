/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

/* The dot product of int16 numbers with an offset and int16 weights; sums wrap. */
static inline int32_t helia_nn_svdf_dot(const int16_t *values, int32_t offset, const int16_t *weights, int32_t count)
{
    int32_t sum = 0;
#if defined(HELIA_NN_MVE)
    int32_t total = 0;
    for (; count > 0; count -= 8)
    {
        const mve_pred16_t valid = vctp16q((uint32_t)count);
        const int16x8_t factors = vldrhq_z_s16(weights, valid);
        sum = vmladavaq_s16(sum, vldrhq_z_s16(values, valid), factors);
        total = vaddvaq_s16(total, factors);
        values += 8;
        weights += 8;
    }
    return (int32_t)((uint32_t)sum + (uint32_t)offset * (uint32_t)total);
#elif defined(HELIA_NN_DSP)
    uint32_t total = 0;
    if (offset != 0)
    {
        /* A number with its offset may not fit into 16 bits. */
        for (int32_t i = 0; i < count; i++)
        {
            total += (uint32_t)weights[i];
        }
    }
#pragma GCC unroll 4
    for (int32_t i = count / 2; i > 0; i--)
    {
        sum = helia_nn_smlad(helia_nn_load_word(values), helia_nn_load_word(weights), sum);
        values += 2;
        weights += 2;
    }
    if (count % 2 != 0)
    {
        sum = __smlabb(*values, *weights, sum);
    }
    return (int32_t)((uint32_t)sum + (uint32_t)offset * total);
#else
    for (int32_t i = 0; i < count; i++)
    {
        sum += weights[i] * (values[i] + offset);
    }
    return sum;
#endif
}

typedef int16_t helia_nn_svdf_value;
#include "support_svdf.h"

arm_cmsis_nn_status helia_nn_svdf_s16(const helia_nn_svdf_params *params,
                                      const int8_t *input,
                                      const int8_t *weights_feature,
                                      const int16_t *weights_time,
                                      const int32_t *bias,
                                      int16_t *state,
                                      int8_t *output)
{
    return helia_nn_svdf(params, input, weights_feature, weights_time, bias, state, output);
}
