/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From real numbers to quantised ones and back.
 */
#ifndef HELIA_NN_SUPPORT_QUANTIZE_H
#define HELIA_NN_SUPPORT_QUANTIZE_H

#include "internal.h"

/* Beyond the reach of int16 with any zero point. */
#define HELIA_NN_FURTHEST 70000.0f

/*
 * Rounds to the nearest integer, halves away from zero; limits numbers far outside int16, and takes 0 for what is no number.
 *
 * A limit comes before the conversion to an integer, where an overflow would be undefined; the fraction is exact.
 */
static inline int32_t helia_nn_round(float value)
{
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
    int32_t whole;
    __asm("vcvta.s32.f32 %0, %1" : "=t"(whole) : "t"(value));
    return helia_nn_clamp(whole, -70000, 70000);
#else
    value = value == value ? value : 0.0f;
    value = value > -HELIA_NN_FURTHEST ? value : -HELIA_NN_FURTHEST;
    value = value < HELIA_NN_FURTHEST ? value : HELIA_NN_FURTHEST;
    const int32_t whole = (int32_t)value;
    const float fraction = value - (float)whole;
    return whole + (fraction >= 0.5f ? 1 : fraction <= -0.5f ? -1 : 0);
#endif
}

/* Gives `value / scale` rounded plus the zero point, within [low, high]. */
static inline int32_t helia_nn_quantize(float value, float scale, int32_t zero_point, int32_t low, int32_t high)
{
    return helia_nn_clamp(helia_nn_round(value / scale) + zero_point, low, high);
}

#endif /* HELIA_NN_SUPPORT_QUANTIZE_H */
