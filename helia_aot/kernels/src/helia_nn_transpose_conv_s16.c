/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Transpose convolution, output by output: tap k of the filter reaches output o from input (o + padding - k) / stride, where that is
 * a whole number inside the input.
 */
#include "../include/arm_nnfunctions.h"
#include "support_requantize_s64.h"

arm_cmsis_nn_status helia_nn_transpose_conv_s16(const cmsis_nn_conv_params *conv_params,
                           const cmsis_nn_per_channel_quant_params *quant_params,
                           const cmsis_nn_dims *input_dims,
                           const int16_t *input_data,
                           const cmsis_nn_dims *filter_dims,
                           const int8_t *filter_data,
                           const int64_t *bias_data,
                           const cmsis_nn_dims *output_dims,
                           int16_t *output_data)
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
                for (int32_t c = 0; c < output_dims->c; c += 2)
                {
                    /* Two channels share a pass over the input; a last one is computed twice over. */
                    const int32_t next = helia_nn_min(c + 1, output_dims->c - 1);
                    const int8_t *const filter0 = filter_data + c * filter_dims->h * filter_dims->w * depth;
                    const int8_t *const filter1 = filter_data + next * filter_dims->h * filter_dims->w * depth;
                    int64_t sums[2] = {bias_data != NULL ? bias_data[c] : 0, bias_data != NULL ? bias_data[next] : 0};
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
                            const int16_t *const pixel = input_data + (y * input_dims->w + x) * depth;
                            const int32_t at = (ky * filter_dims->w + kx) * depth;
                            helia_nn_dots_s16_s8(pixel, filter0 + at, filter1 + at, depth, sums);
                        }
                    }
                    for (int32_t k = c; k <= next; k++)
                    {
                        const int32_t multiplier = helia_nn_reduced_multiplier(quant_params->multiplier[k]);
                        const int32_t scaled = helia_nn_requantize_s64(sums[k - c], multiplier, quant_params->shift[k]);
                        *output_data++ = (int16_t)helia_nn_clamp(scaled + conv_params->output_offset,
                                                                 conv_params->activation.min,
                                                                 conv_params->activation.max);
                    }
                }
            }
        }
        input_data += input_dims->h * input_dims->w * depth;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
