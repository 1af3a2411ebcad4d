/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_quantize.h"

arm_cmsis_nn_status arm_quantize_f32_s8(const float *input, int8_t *output, int32_t size, int32_t zero_point, float scale)
{
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (int8_t)helia_nn_quantize(input[i], scale, zero_point, INT8_MIN, INT8_MAX);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
