/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of one row and what LOG_SOFTMAX shares with it, for the element type of the support_f32.h or support_f16.h before it; computed in single precision.
 *
 * The exponentials are computed twice, so that no buffer is needed and f16 outputs are rounded once.
 */
#ifndef HELIA_NN_SUPPORT_SOFTMAX_FLT_H
#define HELIA_NN_SUPPORT_SOFTMAX_FLT_H

#include "support_exp_f32.h"

#if defined(HELIA_NN_MVE_FLOAT)

static inline float32_t helia_nn_sum_of_lanes(float32x4_t value)
{
    float32_t lanes[4];
    vst1q_f32(lanes, value);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

/* Gives the sum of e^(x - top) and in `top` the largest element. */
static inline float32_t helia_nn_exp_sum(const helia_nn_real *input, int32_t size, float32_t *top)
{
    float32x4_t largest = vdupq_n_f32((float32_t)input[0]);
    for (int32_t i = 0; i < size; i += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)(size - i));
        largest = vmaxnmq_m_f32(largest, largest, helia_nn_load_wide(input + i, valid), valid);
    }
    *top = vmaxnmvq_f32((float32_t)input[0], largest);
    float32x4_t sums = vdupq_n_f32(0.0f);
    for (int32_t i = 0; i < size; i += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)(size - i));
        const float32x4_t value = helia_nn_exp_vector(vsubq_n_f32(helia_nn_load_wide(input + i, valid), *top));
        sums = vaddq_m_f32(sums, sums, value, valid);
    }
    return helia_nn_sum_of_lanes(sums);
}

static inline void helia_nn_softmax_row(const helia_nn_real *input, int32_t size, helia_nn_real *output)
{
    float32_t top;
    const float32_t factor = 1.0f / helia_nn_exp_sum(input, size, &top);
    for (int32_t i = 0; i < size; i += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)(size - i));
        const float32x4_t value = helia_nn_exp_vector(vsubq_n_f32(helia_nn_load_wide(input + i, valid), top));
        helia_nn_store_narrow(output + i, vmulq_n_f32(value, factor), valid);
    }
}

#else

static inline float32_t helia_nn_exp_sum(const helia_nn_real *input, int32_t size, float32_t *top)
{
    *top = (float32_t)input[0];
    for (int32_t i = 1; i < size; i++)
    {
        *top = (float32_t)input[i] > *top ? (float32_t)input[i] : *top;
    }
    float32_t sum = 0.0f;
    for (int32_t i = 0; i < size; i++)
    {
        sum += helia_nn_exp((float32_t)input[i] - *top);
    }
    return sum;
}

static inline void helia_nn_softmax_row(const helia_nn_real *input, int32_t size, helia_nn_real *output)
{
    float32_t top;
    const float32_t sum = helia_nn_exp_sum(input, size, &top);
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (helia_nn_real)(helia_nn_exp((float32_t)input[i] - top) / sum);
    }
}

#endif /* HELIA_NN_MVE_FLOAT */

#endif /* HELIA_NN_SUPPORT_SOFTMAX_FLT_H */
