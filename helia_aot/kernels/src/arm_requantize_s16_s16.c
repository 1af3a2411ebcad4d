/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status arm_requantize_s16_s16(
    const int16_t *input,
    int16_t *output,
    int32_t size,
    int32_t effective_scale_multiplier,
    int32_t effective_scale_shift,
    int32_t input_zeropoint,
    int32_t output_zeropoint)
{
#if defined(HELIA_NN_MVE)
    for (int32_t left = size; left > 0; left -= 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)left);
        const int32x4_t value = vsubq_n_s32(vldrhq_z_s32(input, valid), input_zeropoint);
        const int32x4_t scaled = helia_nn_requantize_n_s32x4(value, effective_scale_multiplier, effective_scale_shift);
        vstrhq_p_s32(output, helia_nn_clamp_s32x4(vaddq_n_s32(scaled, output_zeropoint), INT16_MIN, INT16_MAX), valid);
        input += 4;
        output += 4;
    }
#else
    for (int32_t i = 0; i < size; i++)
    {
        const int32_t scaled =
            helia_nn_requantize(input[i] - input_zeropoint, effective_scale_multiplier, effective_scale_shift);
        output[i] = (int16_t)helia_nn_clamp(scaled + output_zeropoint, INT16_MIN, INT16_MAX);
    }
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
