/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Multiplication with rescaling and broadcasting, for the element type that the including file defines:
 *
 *   ELEMENT          type of an element
 *   LOAD_4, STORE_4  vector load and store of four elements as int32 under a predicate
 */
#include "support_broadcast.h"

#if defined(HELIA_NN_DSP)
#include "support_output_dsp.h"
#endif

typedef struct
{
    int32_t offset1, offset2;
    int32_t offset, multiplier, shift;
    int32_t activation_min, activation_max;
} mul_params;

#if defined(HELIA_NN_DSP)

/* A run of bytes, whose products stay below 2^16; the shift is 2 to 31 to the right, see helia_nn_rounded_shift(). */
static void multiply_bytes(const mul_params *params, const helia_nn_axis *axis, const int8_t *a, const int8_t *b, int8_t *output)
{
    const mul_params p = *params;
    const int32_t power = helia_nn_shift_power(p.shift);
    const int32_t step1 = axis->stride1 == 0 ? 0 : 1, step2 = axis->stride2 == 0 ? 0 : 1;
    const cmsis_nn_activation activation = {p.activation_min, p.activation_max};
#pragma GCC unroll 2
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const int32_t scaled = helia_nn_smmulr(2 * (*a + p.offset1) * (*b + p.offset2), p.multiplier);
        output[i] = (int8_t)__ssat(helia_nn_rounded_shift(scaled, power, p.offset), 8);
        a += step1;
        b += step2;
    }
    helia_nn_activate(&activation, output, axis->extent);
}

#endif

static void
multiply_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const mul_params p = *(const mul_params *)params;
#if defined(HELIA_NN_DSP)
    if (sizeof(ELEMENT) == 1 && p.multiplier >= 0 && p.shift <= -2 && p.shift >= -31)
    {
        multiply_bytes(params, axis, input1, input2, output);
        return;
    }
#endif
    const ELEMENT *a = input1;
    const ELEMENT *b = input2;
    ELEMENT *to = output;
    const int32_t first1 = *a + p.offset1;
    const int32_t first2 = *b + p.offset2;
#if defined(HELIA_NN_MVE)
    for (int32_t left = axis->extent; left > 0; left -= 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)left);
        const int32x4_t value1 = axis->stride1 == 0 ? vdupq_n_s32(first1) : vaddq_n_s32(LOAD_4(a, valid), p.offset1);
        const int32x4_t value2 = axis->stride2 == 0 ? vdupq_n_s32(first2) : vaddq_n_s32(LOAD_4(b, valid), p.offset2);
        const int32x4_t scaled = helia_nn_requantize_n_s32x4(vmulq_s32(value1, value2), p.multiplier, p.shift);
        STORE_4(to, helia_nn_clamp_s32x4(vaddq_n_s32(scaled, p.offset), p.activation_min, p.activation_max), valid);
        a += 4 * axis->stride1;
        b += 4 * axis->stride2;
        to += 4;
    }
#else
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const int32_t value1 = axis->stride1 == 0 ? first1 : a[i] + p.offset1;
        const int32_t value2 = axis->stride2 == 0 ? first2 : b[i] + p.offset2;
        const int32_t scaled = helia_nn_requantize(value1 * value2, p.multiplier, p.shift);
        to[i] = (ELEMENT)helia_nn_clamp(scaled + p.offset, p.activation_min, p.activation_max);
    }
#endif
}
