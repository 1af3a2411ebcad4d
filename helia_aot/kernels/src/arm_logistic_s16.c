/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_sigmoid_s16.h"

#define LOGISTIC_FRACTION_BITS 9

arm_cmsis_nn_status arm_logistic_s16(const int16_t *input,
                                     int16_t *output,
                                     const int32_t input_size,
                                     int32_t input_multiplier,
                                     int32_t input_left_shift)
{
#if defined(HELIA_NN_MVE)
    for (int32_t i = 0; i < input_size; i += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)(input_size - i));
        const int32x4_t value =
            helia_nn_sigmoid_scaled_s32x4(vldrhq_z_s32(input + i, valid), input_multiplier, input_left_shift);
        const int32x4_t sigmoid = helia_nn_sigmoid_between_s32x4(value, LOGISTIC_FRACTION_BITS, 0x7FFF << 10);
        const mve_pred16_t negative = vcmpltq_n_s32(value, 0);
        /* Q25 to Q15, halves up; of a negative input one minus it, halves down. */
        const int32x4_t mirrored = vsubq_s32(vdupq_n_s32((1 << 25) + (1 << 9) - 1), sigmoid);
        const int32x4_t rounded = vpselq_s32(mirrored, vaddq_n_s32(sigmoid, 1 << 9), negative);
        vstrhq_p_s32(output + i, vshrq_n_s32(rounded, 10), valid);
    }
#else
    for (int32_t i = 0; i < input_size; i++)
    {
        const int32_t value = helia_nn_sigmoid_scaled(input[i], input_multiplier, input_left_shift);
        const uint32_t magnitude = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
        const uint32_t sigmoid = (magnitude >> LOGISTIC_FRACTION_BITS) >= HELIA_NN_SIGMOID_SAMPLES - 1
            ? UINT32_C(0x7FFF) << 10
            : helia_nn_sigmoid_between(magnitude, LOGISTIC_FRACTION_BITS);
        /* Q25 to Q15, halves up; of a negative input one minus it, halves down. */
        const uint32_t rounded = value >= 0 ? sigmoid + (1u << 9) : (1u << 25) - sigmoid + (1u << 9) - 1u;
        output[i] = (int16_t)(rounded >> 10);
    }
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
