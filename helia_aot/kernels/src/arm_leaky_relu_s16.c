/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

/* Rounds the magnitude of the product, whatever the sign of the slope. */
static int32_t bend(int32_t value, int32_t multiplier, int32_t shift)
{
    return multiplier < 0 ? -helia_nn_requantize(value, -multiplier, shift) : helia_nn_requantize(value, multiplier, shift);
}

arm_cmsis_nn_status arm_leaky_relu_s16(const int16_t *input,
                                       const int32_t input_offset,
                                       const int32_t output_offset,
                                       const int32_t output_multiplier_alpha,
                                       const int32_t output_shift_alpha,
                                       const int32_t output_multiplier_identity,
                                       const int32_t output_shift_identity,
                                       int16_t *output,
                                       const int32_t output_size)
{
#if defined(HELIA_NN_MVE)
    if (output_multiplier_alpha >= 0)
    {
        for (int32_t left = output_size; left > 0; left -= 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)left);
            const int32x4_t value = vsubq_n_s32(vldrhq_z_s32(input, valid), input_offset);
            const int32x4_t kept = helia_nn_requantize_n_s32x4(value, output_multiplier_identity, output_shift_identity);
            const int32x4_t bent = helia_nn_requantize_n_s32x4(value, output_multiplier_alpha, output_shift_alpha);
            const int32x4_t scaled = vaddq_n_s32(vpselq_s32(bent, kept, vcmpltq_n_s32(value, 0)), output_offset);
            vstrhq_p_s32(output, helia_nn_clamp_s32x4(scaled, INT16_MIN, INT16_MAX), valid);
            input += 4;
            output += 4;
        }
        return ARM_CMSIS_NN_SUCCESS;
    }
#endif
    for (int32_t i = 0; i < output_size; i++)
    {
        const int32_t value = input[i] - input_offset;
        const int32_t scaled = value >= 0 ? helia_nn_requantize(value, output_multiplier_identity, output_shift_identity)
                                          : bend(value, output_multiplier_alpha, output_shift_alpha);
        output[i] = (int16_t)helia_nn_clamp(scaled + output_offset, INT16_MIN, INT16_MAX);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
