/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The exponential function in single precision, scalar and vector, without the C library.
 *
 * exp(x) = 2^n * e^r with n = round(x / ln 2) and |r| <= ln(2) / 2. ln 2 is subtracted in two parts, the first short enough
 * for n * part to be exact. e^r is its Taylor polynomial of degree 7, whose remainder is below 6e-9 of the value.
 */
#ifndef HELIA_NN_SUPPORT_EXP_F32_H
#define HELIA_NN_SUPPORT_EXP_F32_H

#include "support_flt.h"

#define HELIA_NN_EXP_LOWEST (-87.0f)  /* e^x is 1.6e-38 here, the end of the normal range; smaller x give this too. */
#define HELIA_NN_EXP_HIGHEST 88.0f    /* e^x is 1.7e38 here; larger x give this too. */
#define HELIA_NN_LOG2_E 1.44269504f
#define HELIA_NN_LN2_HIGH 0.693359375f     /* nine bits */
#define HELIA_NN_LN2_LOW (-2.12194440e-4f) /* ln 2 minus the high part */

/* Gives e^x; relative error below 2e-7. */
static inline float32_t helia_nn_exp(float32_t x)
{
    x = helia_nn_limit(x, HELIA_NN_EXP_LOWEST, HELIA_NN_EXP_HIGHEST);
    const float32_t scaled = x * HELIA_NN_LOG2_E;
    const int32_t n = (int32_t)(scaled < 0.0f ? scaled - 0.5f : scaled + 0.5f);
    const float32_t r = (x - (float32_t)n * HELIA_NN_LN2_HIGH) - (float32_t)n * HELIA_NN_LN2_LOW;
    float32_t sum = 1.0f / 5040.0f;
    sum = sum * r + 1.0f / 720.0f;
    sum = sum * r + 1.0f / 120.0f;
    sum = sum * r + 1.0f / 24.0f;
    sum = sum * r + 1.0f / 6.0f;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    /* 2^n has the exponent field n + 127, which is 1 to 254 here. */
    const uint32_t bits = (uint32_t)(n + 127) << 23;
    float32_t power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

#if defined(HELIA_NN_MVE_FLOAT)

/* Gives e^x in each lane, as helia_nn_exp() up to rounding. */
static inline float32x4_t helia_nn_exp_vector(float32x4_t x)
{
    x = vminnmq_f32(vmaxnmq_f32(x, vdupq_n_f32(HELIA_NN_EXP_LOWEST)), vdupq_n_f32(HELIA_NN_EXP_HIGHEST));
    const int32x4_t n = vcvtaq_s32_f32(vmulq_n_f32(x, HELIA_NN_LOG2_E));
    const float32x4_t whole = vcvtq_f32_s32(n);
    float32x4_t r = vfmaq_n_f32(x, whole, -HELIA_NN_LN2_HIGH);
    r = vfmaq_n_f32(r, whole, -HELIA_NN_LN2_LOW);
    float32x4_t sum = vfmasq_n_f32(vdupq_n_f32(1.0f / 5040.0f), r, 1.0f / 720.0f);
    sum = vfmasq_n_f32(sum, r, 1.0f / 120.0f);
    sum = vfmasq_n_f32(sum, r, 1.0f / 24.0f);
    sum = vfmasq_n_f32(sum, r, 1.0f / 6.0f);
    sum = vfmasq_n_f32(sum, r, 0.5f);
    sum = vfmasq_n_f32(sum, r, 1.0f);
    sum = vfmasq_n_f32(sum, r, 1.0f);
    const int32x4_t bits = vshlq_n_s32(vaddq_n_s32(n, 127), 23);
    return vmulq_f32(sum, vreinterpretq_f32_s32(bits));
}

#endif /* HELIA_NN_MVE_FLOAT */

#endif /* HELIA_NN_SUPPORT_EXP_F32_H */
