/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_requantize_s64.h"

arm_cmsis_nn_status arm_depthwise_conv_s16(const cmsis_nn_context *ctx,
                                           const cmsis_nn_dw_conv_params *dw_conv_params,
                                           const cmsis_nn_per_channel_quant_params *quant_params,
                                           const cmsis_nn_dims *input_dims,
                                           const int16_t *input_data,
                                           const cmsis_nn_dims *filter_dims,
                                           const int8_t *filter_data,
                                           const cmsis_nn_dims *bias_dims,
                                           const int64_t *bias_data,
                                           const cmsis_nn_dims *output_dims,
                                           int16_t *output_data)
{
    (void)ctx;
    (void)bias_dims;
    const int32_t multiple = dw_conv_params->ch_mult;
    const int32_t channels = output_dims->c;
    if (multiple < 1 || input_dims->c * multiple != channels)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const cmsis_nn_tile stride = dw_conv_params->stride;
    const cmsis_nn_tile dilation = dw_conv_params->dilation;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t out_y = 0; out_y < output_dims->h; out_y++)
        {
            for (int32_t out_x = 0; out_x < output_dims->w; out_x++)
            {
                const int32_t top = out_y * stride.h - dw_conv_params->padding.h;
                const int32_t left = out_x * stride.w - dw_conv_params->padding.w;
                for (int32_t c = 0; c < channels; c++)
                {
                    int64_t sum = bias_data != NULL ? bias_data[c] : 0;
                    for (int32_t ky = 0; ky < filter_dims->h; ky++)
                    {
                        const int32_t y = top + ky * dilation.h;
                        if (y < 0 || y >= input_dims->h)
                        {
                            continue;
                        }
                        for (int32_t kx = 0; kx < filter_dims->w; kx++)
                        {
                            const int32_t x = left + kx * dilation.w;
                            if (x >= 0 && x < input_dims->w)
                            {
                                const int32_t value = input_data[(y * input_dims->w + x) * input_dims->c + c / multiple];
                                sum += value * filter_data[(ky * filter_dims->w + kx) * channels + c];
                            }
                        }
                    }
                    const int32_t multiplier = helia_nn_reduced_multiplier(quant_params->multiplier[c]);
                    const int32_t scaled = helia_nn_requantize_s64(sum, multiplier, quant_params->shift[c]);
                    *output_data++ = (int16_t)helia_nn_clamp(
                        scaled, dw_conv_params->activation.min, dw_conv_params->activation.max);
                }
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
