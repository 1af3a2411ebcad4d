/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Transpose convolution, output by output: tap k of the filter reaches output o from input (o + padding - k) / stride, where that is
 * a whole number inside the input.
 */
#include "../include/arm_nnfunctions.h"
#include "support_dot_s8.h"

arm_cmsis_nn_status helia_nn_transpose_conv_s8(const cmsis_nn_conv_params *conv_params,
                           const cmsis_nn_per_channel_quant_params *quant_params,
                           const cmsis_nn_dims *input_dims,
                           const int8_t *input_data,
                           const cmsis_nn_dims *filter_dims,
                           const int8_t *filter_data,
                           const int32_t *bias_data,
                           const cmsis_nn_dims *output_dims,
                           int8_t *output_data)
{
    const int32_t depth = input_dims->c;
    const cmsis_nn_tile stride = conv_params->stride;
    if (filter_dims->c != depth || stride.w < 1 || stride.h < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t out_y = 0; out_y < output_dims->h; out_y++)
        {
            const int32_t below = out_y + conv_params->padding.h;
            for (int32_t out_x = 0; out_x < output_dims->w; out_x++)
            {
                const int32_t right = out_x + conv_params->padding.w;
                for (int32_t c = 0; c < output_dims->c; c++)
                {
                    const int8_t *const filter = filter_data + c * filter_dims->h * filter_dims->w * depth;
                    int32_t sum = bias_data != NULL ? bias_data[c] : 0;
                    for (int32_t ky = below % stride.h; ky < filter_dims->h && ky <= below; ky += stride.h)
                    {
                        const int32_t y = (below - ky) / stride.h;
                        if (y >= input_dims->h)
                        {
                            continue;
                        }
                        for (int32_t kx = right % stride.w; kx < filter_dims->w && kx <= right; kx += stride.w)
                        {
                            const int32_t x = (right - kx) / stride.w;
                            if (x >= input_dims->w)
                            {
                                continue;
                            }
                            const int8_t *const pixel = input_data + (y * input_dims->w + x) * depth;
                            const int8_t *const weights = filter + (ky * filter_dims->w + kx) * depth;
                            sum += helia_nn_dot_s8(pixel, conv_params->input_offset, weights, depth);
                        }
                    }
                    const int32_t scaled = helia_nn_requantize(sum, quant_params->multiplier[c], quant_params->shift[c]);
                    *output_data++ = (int8_t)helia_nn_clamp(
                        scaled + conv_params->output_offset, conv_params->activation.min, conv_params->activation.max);
                }
            }
        }
        input_data += input_dims->h * input_dims->w * depth;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
