/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_pool_s8.h"

/* The largest numbers of one window. */
static void largest_of_area(const int16_t *first,
                            const helia_nn_pool_area *area,
                            int32_t row,
                            int32_t channels,
                            const cmsis_nn_activation *activation,
                            int16_t *output)
{
#if defined(HELIA_NN_MVE)
    const int16x8_t low = vdupq_n_s16((int16_t)activation->min);
    const int16x8_t high = vdupq_n_s16((int16_t)activation->max);
    for (int32_t c = 0; c < channels; c += 8)
    {
        const mve_pred16_t valid = vctp16q((uint32_t)(channels - c));
        const int16_t *from = first + c;
        int16x8_t largest = vdupq_n_s16(INT16_MIN);
        for (int32_t ky = area->h; ky > 0; ky--, from += row - area->w * channels)
        {
            for (int32_t kx = area->w; kx > 0; kx--, from += channels)
            {
                largest = vmaxq_s16(largest, vldrhq_z_s16(from, valid));
            }
        }
        vstrhq_p_s16(output + c, vminq_s16(vmaxq_s16(largest, low), high), valid);
    }
#else
    for (int32_t c = 0; c < channels; c++)
    {
        int32_t largest = INT16_MIN;
        for (int32_t ky = 0; ky < area->h; ky++)
        {
            for (int32_t kx = 0; kx < area->w; kx++)
            {
                largest = helia_nn_max(largest, first[ky * row + kx * channels + c]);
            }
        }
        output[c] = (int16_t)helia_nn_clamp(largest, activation->min, activation->max);
    }
#endif
}

arm_cmsis_nn_status arm_max_pool_s16(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int16_t *src,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *output_dims,
                                   int16_t *dst)
{
    (void)ctx;
    if (!helia_nn_pool_rule(pool_params, input_dims, filter_dims, output_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t channels = input_dims->c;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const helia_nn_pool_area area = helia_nn_pool_area_at(pool_params, input_dims, filter_dims, y, x);
                const int16_t *const first = src + (area.y * input_dims->w + area.x) * channels;
                largest_of_area(first, &area, input_dims->w * channels, channels, &pool_params->activation, dst);
                dst += channels;
            }
        }
        src += input_dims->h * input_dims->w * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
