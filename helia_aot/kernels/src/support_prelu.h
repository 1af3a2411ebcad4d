/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * PReLU with broadcasting of the slopes, for the element type that the including file defines as ELEMENT, LOAD_4 and STORE_4. The
 * slopes are int8 numbers.
 */
#include "support_broadcast.h"

typedef struct
{
    int32_t input_offset, alpha_offset, output_offset;
    int32_t identity_multiplier, identity_shift; /* For inputs from zero on. */
    int32_t alpha_multiplier, alpha_shift;       /* For the product of a negative input and its slope. */
} prelu_params;

#define LOWEST (-(1 << (8 * (int32_t)sizeof(ELEMENT) - 1)))

static void prelu_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const prelu_params p = *(const prelu_params *)params;
    const ELEMENT *input = input1;
    const int8_t *alpha = input2;
    ELEMENT *to = output;
#if defined(HELIA_NN_MVE)
    for (int32_t left = axis->extent; left > 0; left -= 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)left);
        const int32x4_t value = vaddq_n_s32(axis->stride1 == 0 ? vdupq_n_s32(*input) : LOAD_4(input, valid), p.input_offset);
        const int32x4_t slope =
            vaddq_n_s32(axis->stride2 == 0 ? vdupq_n_s32(*alpha) : vldrbq_z_s32(alpha, valid), p.alpha_offset);
        const int32x4_t kept = helia_nn_requantize_n_s32x4(value, p.identity_multiplier, p.identity_shift);
        const int32x4_t bent =
            helia_nn_requantize_n_s32x4(vmulq_s32(value, slope), p.alpha_multiplier, p.alpha_shift);
        const int32x4_t scaled = vaddq_n_s32(vpselq_s32(bent, kept, vcmpltq_n_s32(value, 0)), p.output_offset);
        STORE_4(to, helia_nn_clamp_s32x4(scaled, LOWEST, -LOWEST - 1), valid);
        input += 4 * axis->stride1;
        alpha += 4 * axis->stride2;
        to += 4;
    }
#else
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const int32_t value = input[i * axis->stride1] + p.input_offset;
        const int32_t slope = alpha[i * axis->stride2] + p.alpha_offset;
        const int32_t scaled = value >= 0 ? helia_nn_requantize(value, p.identity_multiplier, p.identity_shift)
                                          : helia_nn_requantize(value * slope, p.alpha_multiplier, p.alpha_shift);
        to[i] = (ELEMENT)helia_nn_clamp(scaled + p.output_offset, LOWEST, -LOWEST - 1);
    }
#endif
}
