/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status arm_relu_generic_s16(const int16_t *input,
                                         const int32_t input_offset,
                                         const int32_t output_offset,
                                         const int32_t output_multiplier,
                                         const int32_t output_shift,
                                         const int32_t act_min,
                                         const int32_t act_max,
                                         int16_t *output,
                                         const int32_t output_size)
{
#if defined(HELIA_NN_MVE)
    for (int32_t left = output_size; left > 0; left -= 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)left);
        const int32x4_t value = vsubq_n_s32(vldrhq_z_s32(input, valid), input_offset);
        const int32x4_t scaled = helia_nn_requantize_n_s32x4(value, output_multiplier, output_shift);
        vstrhq_p_s32(output, helia_nn_clamp_s32x4(vaddq_n_s32(scaled, output_offset), act_min, act_max), valid);
        input += 4;
        output += 4;
    }
#else
    for (int32_t i = 0; i < output_size; i++)
    {
        const int32_t scaled = helia_nn_requantize(input[i] - input_offset, output_multiplier, output_shift);
        output[i] = (int16_t)helia_nn_clamp(scaled + output_offset, act_min, act_max);
    }
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
