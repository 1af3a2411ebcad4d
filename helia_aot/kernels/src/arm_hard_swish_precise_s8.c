/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status arm_hard_swish_precise_s8(
    const int8_t *input,
    const int32_t input_offset,
    const int32_t output_offset,
    const int32_t output_multiplier,
    const int32_t output_shift,
    const int32_t relu_q3,
    const int32_t relu_q6,
    const int32_t prescale,
    int8_t *output,
    const int32_t output_size)
{
    if (prescale < 0 || prescale > 15)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < output_size; i++)
    {
        const int32_t value = (input[i] + input_offset) * (1 << prescale);
        const int32_t gate = helia_nn_clamp(value + relu_q3, 0, relu_q6);
        const int32_t scaled = helia_nn_requantize(value * gate, output_multiplier, output_shift);
        output[i] = (int8_t)helia_nn_clamp(scaled + output_offset, INT8_MIN, INT8_MAX);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
