/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise 3x3 convolution for cores without Helium: each row of three taps is either inside the input, or partly, or not.
 */
#include "../include/arm_nnfunctions.h"
#include "support_depthwise_s8.h"

#if !defined(HELIA_NN_DSP)

/* Adds the taps x0..x1-1 of one filter row for all channels of a pixel; `input` is where tap 0 reads. */
static int32_t add_row(
    int32_t sum, const int8_t *input, const int8_t *filter, int32_t channels, int32_t x0, int32_t x1, int32_t offset)
{
    if (x0 == 0 && x1 == 3)
    {
        sum += (input[0] + offset) * filter[0];
        sum += (input[channels] + offset) * filter[channels];
        return sum + (input[2 * channels] + offset) * filter[2 * channels];
    }
    for (int32_t x = x0; x < x1; x++)
    {
        sum += (input[x * channels] + offset) * filter[x * channels];
    }
    return sum;
}

#endif

arm_cmsis_nn_status arm_depthwise_conv_3x3_s8(
    const cmsis_nn_context *ctx,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params,
    const cmsis_nn_dims *input_dims,
    const int8_t *input_data,
    const cmsis_nn_dims *filter_dims,
    const int8_t *filter_data,
    const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data,
    const cmsis_nn_dims *output_dims,
    int8_t *output_data)
{
    (void)ctx;
    (void)bias_dims;
    const cmsis_nn_tile padding = dw_conv_params->padding;
    const int32_t channels = input_dims->c;
    if (dw_conv_params->ch_mult != 1 || input_dims->n != 1 || output_dims->n != 1 || channels != output_dims->c ||
        channels != filter_dims->c || filter_dims->h != 3 || filter_dims->w != 3 || dw_conv_params->dilation.h != 1 ||
        dw_conv_params->dilation.w != 1 || padding.h > 1 || padding.w > 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
#if defined(HELIA_NN_DSP)
    helia_nn_depthwise_layer layer;
    if (!helia_nn_depthwise_layer_init(&layer,
                                       ctx,
                                       NULL,
                                       dw_conv_params,
                                       quant_params,
                                       input_dims,
                                       input_data,
                                       filter_dims,
                                       filter_data,
                                       bias_data,
                                       output_dims,
                                       output_data))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_depthwise_portable(&layer);
    return ARM_CMSIS_NN_SUCCESS;
#else
    const cmsis_nn_tile stride = dw_conv_params->stride;
    const int32_t offset = dw_conv_params->input_offset;
    const cmsis_nn_activation activation = dw_conv_params->activation;
    for (int32_t out_y = 0; out_y < output_dims->h; out_y++)
    {
        const int32_t in_y = out_y * stride.h - padding.h;
        const int32_t y0 = helia_nn_max(-in_y, 0);
        const int32_t y1 = helia_nn_min(input_dims->h - in_y, 3);
        for (int32_t out_x = 0; out_x < output_dims->w; out_x++)
        {
            const int32_t in_x = out_x * stride.w - padding.w;
            const int32_t x0 = helia_nn_max(-in_x, 0);
            const int32_t x1 = helia_nn_min(input_dims->w - in_x, 3);
            for (int32_t channel = 0; channel < channels; channel++)
            {
                int32_t sum = bias_data != NULL ? bias_data[channel] : 0;
                for (int32_t y = y0; y < y1; y++)
                {
                    const int32_t at = ((in_y + y) * input_dims->w + in_x) * channels + channel;
                    sum = add_row(
                        sum, input_data + at, filter_data + 3 * y * channels + channel, channels, x0, x1, offset);
                }
                const int32_t scaled =
                    helia_nn_requantize(sum, quant_params->multiplier[channel], quant_params->shift[channel]);
                *output_data++ = (int8_t)helia_nn_clamp(
                    scaled + dw_conv_params->output_offset, activation.min, activation.max);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
#endif
}
