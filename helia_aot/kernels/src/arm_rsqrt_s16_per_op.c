/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status arm_rsqrt_s16_per_op(
    const int16_t *input,
    const int32_t input_offset,
    int16_t *output,
    const int32_t out_offset,
    const int32_t out_activation_min,
    const int32_t out_activation_max,
    const int32_t block_size,
    const int16_t *lut)
{
    for (int32_t i = 0; i < block_size; i++)
    {
        const int32_t value = helia_nn_clamp(input[i] + input_offset, 0, INT16_MAX);
        output[i] = (int16_t)helia_nn_clamp(lut[value] + out_offset, out_activation_min, out_activation_max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
