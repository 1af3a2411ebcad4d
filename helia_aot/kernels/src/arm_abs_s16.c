/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status arm_abs_s16(
    const int16_t *input,
    const int32_t input_offset,
    int16_t *output,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const bool needs_rescale,
    const int32_t out_activation_min,
    const int32_t out_activation_max,
    const int32_t block_size)
{
    for (int32_t i = 0; i < block_size; i++)
    {
        const int32_t value = input[i] + input_offset;
        const int32_t magnitude = value < 0 ? -value : value;
        const int32_t scaled = needs_rescale ? helia_nn_requantize(magnitude, out_mult, out_shift) : magnitude;
        output[i] = (int16_t)helia_nn_clamp(scaled + out_offset, out_activation_min, out_activation_max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
