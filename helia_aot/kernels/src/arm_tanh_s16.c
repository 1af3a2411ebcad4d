/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The hyperbolic tangent as 2 * logistic(2x) - 1.
 */
#include "../include/arm_nnfunctions.h"
#include "support_sigmoid_s16.h"

#define TANH_FRACTION_BITS 8

arm_cmsis_nn_status arm_tanh_s16(const int16_t *input,
                                 int16_t *output,
                                 const int32_t input_size,
                                 int32_t input_multiplier,
                                 int32_t input_left_shift)
{
    const int32_t half = 1 << 23; /* One half in Q24. */
#if defined(HELIA_NN_MVE)
    for (int32_t i = 0; i < input_size; i += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)(input_size - i));
        const int32x4_t value =
            helia_nn_sigmoid_scaled_s32x4(vldrhq_z_s32(input + i, valid), input_multiplier, input_left_shift);
        const int32x4_t sigmoid = helia_nn_sigmoid_between_s32x4(value, TANH_FRACTION_BITS, 0xFFFF << TANH_FRACTION_BITS);
        const mve_pred16_t negative = vcmpltq_n_s32(value, 0);
        const int32x4_t mirrored = vsubq_s32(vdupq_n_s32(half + (1 << 7) - 1), sigmoid);
        const int32x4_t rounded = vpselq_s32(mirrored, vaddq_n_s32(sigmoid, (1 << 7) - half), negative);
        vstrhq_p_s32(output + i, vshrq_n_s32(rounded, 8), valid);
    }
#else
    for (int32_t i = 0; i < input_size; i++)
    {
        const int32_t value = helia_nn_sigmoid_scaled(input[i], input_multiplier, input_left_shift);
        const uint32_t magnitude = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
        const int32_t sigmoid = (magnitude >> TANH_FRACTION_BITS) >= HELIA_NN_SIGMOID_SAMPLES - 1
            ? 0xFFFF << TANH_FRACTION_BITS
            : (int32_t)helia_nn_sigmoid_between(magnitude, TANH_FRACTION_BITS);
        const int32_t rounded = value >= 0 ? sigmoid - half + (1 << 7) : half - sigmoid + (1 << 7) - 1;
        output[i] = (int16_t)(rounded >> 8);
    }
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
