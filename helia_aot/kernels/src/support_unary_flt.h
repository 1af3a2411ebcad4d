/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions of one element, for the element type of the support_f32.h or support_f16.h before it; computed in single precision.
 */
#ifndef HELIA_NN_SUPPORT_UNARY_FLT_H
#define HELIA_NN_SUPPORT_UNARY_FLT_H

#include "support_exp_f32.h"

/* 1 / (1 + e^-80) is 1 and 1 / (1 + e^80) is 2e-35: larger arguments change nothing that counts. */
#define HELIA_NN_LOGISTIC_RANGE 80.0f
/* tanh(x) = x * P(x^2) below this, with the first terms of its series; the next one is below 6e-8 of the value. */
#define HELIA_NN_TANH_SERIES 0.3f
#define HELIA_NN_TANH_3 (-1.0f / 3.0f)
#define HELIA_NN_TANH_5 (2.0f / 15.0f)
#define HELIA_NN_TANH_7 (-17.0f / 315.0f)
#define HELIA_NN_TANH_9 (62.0f / 2835.0f)

#if defined(HELIA_NN_MVE_FLOAT)

/*
 * Gives 1 / x for x in [1, 2^125]. Subtracting its bits from a constant negates the exponent and gives a start within 13 %; each
 * Newton step squares the relative error.
 */
static inline float32x4_t helia_nn_reciprocal(float32x4_t x)
{
    float32x4_t r = vreinterpretq_f32_s32(vsubq_s32(vdupq_n_s32(0x7EF311C7), vreinterpretq_s32_f32(x)));
    for (int32_t step = 0; step < 3; step++)
    {
        r = vfmaq_f32(r, r, vfmsq_f32(vdupq_n_f32(1.0f), x, r));
    }
    return r;
}

static inline float32x4_t helia_nn_logistic_vector(float32x4_t x)
{
    x = vmaxnmq_f32(x, vdupq_n_f32(-HELIA_NN_LOGISTIC_RANGE));
    return helia_nn_reciprocal(vaddq_n_f32(helia_nn_exp_vector(vnegq_f32(x)), 1.0f));
}

static inline float32x4_t helia_nn_tanh_vector(float32x4_t x)
{
    const float32x4_t limit = vdupq_n_f32(HELIA_NN_LOGISTIC_RANGE / 2.0f);
    const float32x4_t power = helia_nn_exp_vector(vmulq_n_f32(vminnmq_f32(x, limit), 2.0f));
    const float32x4_t far = vfmaq_n_f32(vdupq_n_f32(1.0f), helia_nn_reciprocal(vaddq_n_f32(power, 1.0f)), -2.0f);
    const float32x4_t square = vmulq_f32(x, x);
    float32x4_t sum = vfmasq_n_f32(vmulq_n_f32(square, HELIA_NN_TANH_9), vdupq_n_f32(1.0f), HELIA_NN_TANH_7);
    sum = vfmasq_n_f32(sum, square, HELIA_NN_TANH_5);
    sum = vfmasq_n_f32(sum, square, HELIA_NN_TANH_3);
    const float32x4_t near = vfmaq_f32(x, vmulq_f32(sum, square), x);
    return vpselq_f32(near, far, vcmpltq_n_f32(vabsq_f32(x), HELIA_NN_TANH_SERIES));
}

static inline float32x4_t helia_nn_hard_swish_vector(float32x4_t x)
{
    const float32x4_t gate = vminnmq_f32(vmaxnmq_f32(vaddq_n_f32(x, 3.0f), vdupq_n_f32(0.0f)), vdupq_n_f32(6.0f));
    return vmulq_n_f32(vmulq_f32(x, gate), 1.0f / 6.0f);
}

#define HELIA_NN_MAP(name)                                                                                                    \
    static inline void helia_nn_##name##_elements(const helia_nn_real *input, helia_nn_real *output, int32_t size)            \
    {                                                                                                                         \
        for (; size > 0; size -= 4)                                                                                           \
        {                                                                                                                     \
            const mve_pred16_t valid = vctp32q((uint32_t)size);                                                               \
            helia_nn_store_narrow(output, helia_nn_##name##_vector(helia_nn_load_wide(input, valid)), valid);                 \
            input += 4;                                                                                                       \
            output += 4;                                                                                                      \
        }                                                                                                                     \
    }

#else

static inline float32_t helia_nn_logistic_of(float32_t x)
{
    return 1.0f / (1.0f + helia_nn_exp(-(x < -HELIA_NN_LOGISTIC_RANGE ? -HELIA_NN_LOGISTIC_RANGE : x)));
}

static inline float32_t helia_nn_tanh_of(float32_t x)
{
    if (x < HELIA_NN_TANH_SERIES && x > -HELIA_NN_TANH_SERIES)
    {
        const float32_t square = x * x;
        float32_t sum = square * HELIA_NN_TANH_9 + HELIA_NN_TANH_7;
        sum = sum * square + HELIA_NN_TANH_5;
        sum = sum * square + HELIA_NN_TANH_3;
        return x + sum * square * x;
    }
    return 1.0f - 2.0f / (1.0f + helia_nn_exp(2.0f * x));
}

static inline float32_t helia_nn_hard_swish_of(float32_t x)
{
    return x * helia_nn_limit(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f);
}

#define HELIA_NN_MAP(name)                                                                                                    \
    static inline void helia_nn_##name##_elements(const helia_nn_real *input, helia_nn_real *output, int32_t size)            \
    {                                                                                                                         \
        for (int32_t i = 0; i < size; i++)                                                                                    \
        {                                                                                                                     \
            output[i] = (helia_nn_real)helia_nn_##name##_of((float32_t)input[i]);                                             \
        }                                                                                                                     \
    }

#endif /* HELIA_NN_MVE_FLOAT */

HELIA_NN_MAP(logistic)
HELIA_NN_MAP(tanh)
HELIA_NN_MAP(hard_swish)

#undef HELIA_NN_MAP

#endif /* HELIA_NN_SUPPORT_UNARY_FLT_H */
