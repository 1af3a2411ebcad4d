/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

#define ONE 1024 /* A weight of one. */

/* Rounds a sum with 20 fractional bits, halves away from zero. */
static int8_t rounded(int32_t sum)
{
    return (int8_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
}

arm_cmsis_nn_status helia_nn_resize_bilinear_s8(const int8_t *input,
                                                const cmsis_nn_dims *input_dims,
                                                const int32_t *rows,
                                                const int32_t *columns,
                                                int8_t *output,
                                                const cmsis_nn_dims *output_dims)
{
    const int32_t channels = input_dims->c;
    const int32_t row = input_dims->w * channels;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            const int8_t *const above = input + rows[3 * y] * row;
            const int8_t *const below = input + rows[3 * y + 1] * row;
            const int32_t down = rows[3 * y + 2];
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const int32_t left = columns[3 * x] * channels;
                const int32_t right = columns[3 * x + 1] * channels;
                const int32_t across = columns[3 * x + 2];
                const int32_t weight_above_left = (ONE - down) * (ONE - across);
                const int32_t weight_below_left = down * (ONE - across);
                const int32_t weight_above_right = (ONE - down) * across;
                const int32_t weight_below_right = down * across;
                for (int32_t c = 0; c < channels; c++)
                {
                    *output++ = rounded(above[left + c] * weight_above_left + below[left + c] * weight_below_left +
                                        above[right + c] * weight_above_right + below[right + c] * weight_below_right);
                }
            }
        }
        input += input_dims->h * row;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
