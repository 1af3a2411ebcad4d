/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_requantize_s64.h"

#if defined(HELIA_NN_DSP)

/* Taps whose products of 2^22 add up in 32 bits. */
#define MOST_TAPS 256

/* The sums of four channels from `channel` on, with ch_mult 1, for the output whose first tap is at (top, left). */
static void sums_of_4(const cmsis_nn_dw_conv_params *params,
                      const cmsis_nn_dims *input_dims,
                      const int16_t *input,
                      const cmsis_nn_dims *filter_dims,
                      const int8_t *filter,
                      int32_t top,
                      int32_t left,
                      int32_t channel,
                      int32_t sums[4])
{
    const int32_t channels = input_dims->c;
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int32_t ky = 0; ky < filter_dims->h; ky++)
    {
        const int32_t y = top + ky * params->dilation.h;
        if (y < 0 || y >= input_dims->h)
        {
            continue;
        }
        const int16_t *const row = input + y * input_dims->w * channels + channel;
        const int8_t *weights = filter + ky * filter_dims->w * channels + channel;
        for (int32_t x = left; x < left + filter_dims->w * params->dilation.w; x += params->dilation.w)
        {
            if (x >= 0 && x < input_dims->w)
            {
                const uint32_t first = helia_nn_load_word(row + x * channels);
                const uint32_t second = helia_nn_load_word(row + x * channels + 2);
                const uint32_t word = helia_nn_load_word(weights);
                const uint32_t even = helia_nn_even_bytes(0, word);
                const uint32_t odd = helia_nn_odd_bytes(0, word);
                sum0 = helia_nn_smlabb(first, even, sum0);
                sum1 = __smlatb((int32_t)first, (int32_t)odd, sum1);
                sum2 = __smlabt((int32_t)second, (int32_t)even, sum2);
                sum3 = helia_nn_smlatt(second, odd, sum3);
            }
            weights += channels;
        }
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

#endif

/* Gives the output of a channel for the sum of its products. */
static int16_t output_of(const cmsis_nn_dw_conv_params *params,
                         const cmsis_nn_per_channel_quant_params *quant,
                         const int64_t *bias,
                         int64_t sum,
                         int32_t channel)
{
    const int64_t start = bias != NULL ? bias[channel] : 0;
    const int32_t multiplier = helia_nn_reduced_multiplier(quant->multiplier[channel]);
    const int32_t scaled = helia_nn_requantize_s64(sum + start, multiplier, quant->shift[channel]);
    return (int16_t)helia_nn_clamp(scaled, params->activation.min, params->activation.max);
}

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
                int32_t c = 0;
#if defined(HELIA_NN_DSP)
                for (; multiple == 1 && filter_dims->h * filter_dims->w <= MOST_TAPS && c + 4 <= channels; c += 4)
                {
                    int32_t sums[4];
                    sums_of_4(
                        dw_conv_params, input_dims, input_data, filter_dims, filter_data, top, left, c, sums);
                    for (int32_t i = 0; i < 4; i++)
                    {
                        *output_data++ = output_of(dw_conv_params, quant_params, bias_data, sums[i], c + i);
                    }
                }
#endif
                for (; c < channels; c++)
                {
                    int64_t sum = 0;
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
                    *output_data++ = output_of(dw_conv_params, quant_params, bias_data, sum, c);
                }
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
