/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status arm_rsqrt_s16_universal(
    const int16_t *input,
    const int32_t input_offset,
    int16_t *output,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const bool needs_rescale,
    const int32_t out_activation_min,
    const int32_t out_activation_max,
    const int32_t block_size,
    const int32_t *lut)
{
    for (int32_t i = 0; i < block_size; i++)
    {
        const int32_t value = helia_nn_clamp(input[i] + input_offset, 0, INT16_MAX);
        int32_t root = lut[value];
        if (value > 0 && needs_rescale)
        {
            root = helia_nn_requantize(root, out_mult, out_shift);
        }
        /* A root far outside must not overflow with the offset. */
        root = helia_nn_clamp(root, -(1 << 24), 1 << 24);
        output[i] = (int16_t)helia_nn_clamp(root + out_offset, out_activation_min, out_activation_max);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
