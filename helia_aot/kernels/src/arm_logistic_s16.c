/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_sigmoid_s16.h"

#define FRACTION_BITS 9

arm_cmsis_nn_status arm_logistic_s16(const int16_t *input,
                                     int16_t *output,
                                     const int32_t input_size,
                                     int32_t input_multiplier,
                                     int32_t input_left_shift)
{
    for (int32_t i = 0; i < input_size; i++)
    {
        const int32_t value = helia_nn_sigmoid_scaled(input[i], input_multiplier, input_left_shift);
        const uint32_t magnitude = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
        const uint32_t sigmoid = (magnitude >> FRACTION_BITS) >= HELIA_NN_SIGMOID_SAMPLES - 1
            ? UINT32_C(0x7FFF) << 10
            : helia_nn_sigmoid_between(magnitude, FRACTION_BITS);
        /* Q25 to Q15, halves up; of a negative input one minus it, halves down. */
        const uint32_t rounded = value >= 0 ? sigmoid + (1u << 9) : (1u << 25) - sigmoid + (1u << 9) - 1u;
        output[i] = (int16_t)(rounded >> 10);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
