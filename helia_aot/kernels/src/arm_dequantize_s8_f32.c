/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

arm_cmsis_nn_status arm_dequantize_s8_f32(const int8_t *input, float *output, int32_t size, int32_t zero_point, float scale)
{
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = scale * (float)(input[i] - zero_point);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
