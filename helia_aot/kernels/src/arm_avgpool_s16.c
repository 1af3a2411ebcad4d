/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Average pooling. The mean of the inputs inside the window is rounded to nearest, halves away from zero.
 */
#include "../include/arm_nnfunctions.h"
#include "support_pool_s8.h"

/* Gives the rounded mean. */
static int16_t mean(int32_t sum, int32_t count, const cmsis_nn_activation *activation)
{
    const int32_t value = (sum + (sum > 0 ? count / 2 : -(count / 2))) / count;
    return (int16_t)helia_nn_clamp(value, activation->min, activation->max);
}

/* The means of one window. */
static void mean_of_area(const int16_t *first,
                         const helia_nn_pool_area *area,
                         int32_t row,
                         int32_t channels,
                         const cmsis_nn_activation *activation,
                         int16_t *output)
{
    const int32_t count = area->h * area->w;
#if defined(HELIA_NN_MVE)
    for (int32_t c = 0; c < channels; c += 8)
    {
        const int32_t left = helia_nn_min(channels - c, 8);
        const mve_pred16_t valid = vctp16q((uint32_t)left);
        const int16_t *from = first + c;
        int32x4x2_t sums = {{vdupq_n_s32(0), vdupq_n_s32(0)}};
        for (int32_t ky = area->h; ky > 0; ky--, from += row - area->w * channels)
        {
            for (int32_t kx = area->w; kx > 0; kx--, from += channels)
            {
                const int16x8_t value = vldrhq_z_s16(from, valid);
                sums.val[0] = vaddq_s32(sums.val[0], vmovlbq_s16(value));
                sums.val[1] = vaddq_s32(sums.val[1], vmovltq_s16(value));
            }
        }
        /* Even and odd channels come together again. */
        int32_t ordered[8];
        vst2q_s32(ordered, sums);
        for (int32_t i = 0; i < left; i++)
        {
            output[c + i] = mean(ordered[i], count, activation);
        }
    }
#else
    for (int32_t c = 0; c < channels; c++)
    {
        int32_t sum = 0;
        for (int32_t ky = 0; ky < area->h; ky++)
        {
            for (int32_t kx = 0; kx < area->w; kx++)
            {
                sum += first[ky * row + kx * channels + c];
            }
        }
        output[c] = mean(sum, count, activation);
    }
#endif
}

arm_cmsis_nn_status arm_avgpool_s16(const cmsis_nn_context *ctx,
                                   const cmsis_nn_pool_params *pool_params,
                                   const cmsis_nn_dims *input_dims,
                                   const int16_t *input_data,
                                   const cmsis_nn_dims *filter_dims,
                                   const cmsis_nn_dims *output_dims,
                                   int16_t *output_data)
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
                const int16_t *const first = input_data + (area.y * input_dims->w + area.x) * channels;
                mean_of_area(first, &area, input_dims->w * channels, channels, &pool_params->activation, output_data);
                output_data += channels;
            }
        }
        input_data += input_dims->h * input_dims->w * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
