/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Average pooling. The mean of the inputs inside the window is rounded to nearest, halves away from zero.
 */
#include "../include/arm_nnfunctions.h"
#include "support_pool_s8.h"

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
                for (int32_t c = 0; c < channels; c++)
                {
                    int32_t sum = 0;
                    for (int32_t ky = 0; ky < area.h; ky++)
                    {
                        for (int32_t kx = 0; kx < area.w; kx++)
                        {
                            sum += first[(ky * input_dims->w + kx) * channels + c];
                        }
                    }
                    const int32_t count = area.h * area.w;
                    const int32_t value = (sum + (sum > 0 ? count / 2 : -(count / 2))) / count;
                    *output_data++ =
                        (int16_t)helia_nn_clamp(value, pool_params->activation.min, pool_params->activation.max);
                }
            }
        }
        input_data += input_dims->h * input_dims->w * channels;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
