/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The hyperbolic tangent as 2 * logistic(2x) - 1.
 */
#include "../include/arm_nnfunctions.h"
#include "support_sigmoid_s16.h"

#define FRACTION_BITS 8

arm_cmsis_nn_status arm_tanh_s16(const int16_t *input,
                                 int16_t *output,
                                 const int32_t input_size,
                                 int32_t input_multiplier,
                                 int32_t input_left_shift)
{
    const int32_t half = 1 << 23; /* One half in Q24. */
    for (int32_t i = 0; i < input_size; i++)
    {
        const int32_t value = helia_nn_sigmoid_scaled(input[i], input_multiplier, input_left_shift);
        const uint32_t magnitude = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
        const int32_t sigmoid = (magnitude >> FRACTION_BITS) >= HELIA_NN_SIGMOID_SAMPLES - 1
            ? 0xFFFF << FRACTION_BITS
            : (int32_t)helia_nn_sigmoid_between(magnitude, FRACTION_BITS);
        const int32_t rounded = value >= 0 ? sigmoid - half + (1 << 7) : half - sigmoid + (1 << 7) - 1;
        output[i] = (int16_t)(rounded >> 8);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
