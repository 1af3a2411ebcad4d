/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_mve_s16.h"
#include "support_requantize_s64.h"

#if defined(HELIA_NN_MVE)

/* The taps of one window that are inside the input, as a rectangle. */
typedef struct
{
    const int16_t *x;
    const int8_t *weights;
    int32_t rows, columns;
    int32_t x_step, x_row_step; /* Numbers from tap to tap, and from the end of a row to the next one. */
    int32_t weight_row_step;
} window_taps;

/* Up to eight channels from `c` on; `whole` says that there are eight. */
static inline void eight_channels(
    const helia_nn_output_s16 *stage, const window_taps *taps, int32_t c, int32_t channels, bool whole, int16_t *output)
{
    const int16_t *x = taps->x + c;
    const int8_t *weights = taps->weights + c;
    const mve_pred16_t valid = vctp16q((uint32_t)(channels - c));
    int32x4x2_t sums = {{vdupq_n_s32(0), vdupq_n_s32(0)}};
    for (int32_t row = taps->rows; row > 0; row--)
    {
        for (int32_t column = taps->columns; column > 0; column--)
        {
            const int16x8_t value = whole ? vldrhq_s16(x) : vldrhq_z_s16(x, valid);
            const int16x8_t weight = whole ? vldrbq_s16(weights) : vldrbq_z_s16(weights, valid);
            sums.val[0] = vaddq_s32(sums.val[0], vmullbq_int_s16(value, weight));
            sums.val[1] = vaddq_s32(sums.val[1], vmulltq_int_s16(value, weight));
            x += taps->x_step;
            weights += channels;
        }
        x += taps->x_row_step;
        weights += taps->weight_row_step;
    }
    /* Even and odd channels come together again. */
    int32_t ordered[8];
    vst2q_s32(ordered, sums);
    if (stage->narrow)
    {
        helia_nn_store_s16(stage, c, vld1q_s32(ordered), vctp32q((uint32_t)(channels - c)), output + c);
        if (channels - c > 4)
        {
            helia_nn_store_s16(
                stage, c + 4, vld1q_s32(ordered + 4), vctp32q((uint32_t)(channels - c - 4)), output + c + 4);
        }
        return;
    }
    for (int32_t i = 0; i < helia_nn_min(channels - c, 8); i++)
    {
        helia_nn_store_wide_s16(stage, c + i, ordered[i], output + c + i);
    }
}

/* The taps along one axis that are inside the input: gives how many, and the first one. */
static int32_t taps_inside(int32_t start, int32_t dilation, int32_t filter, int32_t input, int32_t *first)
{
    int32_t count = 0;
    *first = 0;
    for (int32_t k = 0; k < filter; k++)
    {
        const int32_t at = start + k * dilation;
        if (at >= 0 && at < input)
        {
            *first = count == 0 ? k : *first;
            count++;
        }
    }
    return count;
}

/* Whether the whole layer was done: one output for each input channel, and few enough taps. */
static bool convolve_channels(const cmsis_nn_dw_conv_params *params,
                              const cmsis_nn_per_channel_quant_params *quant,
                              const cmsis_nn_dims *input_dims,
                              const int16_t *input,
                              const cmsis_nn_dims *filter_dims,
                              const int8_t *filter,
                              const int64_t *bias,
                              const cmsis_nn_dims *output_dims,
                              int16_t *output)
{
    const int32_t channels = output_dims->c;
    if (params->ch_mult != 1 || filter_dims->h * filter_dims->w > HELIA_NN_MOST_PRODUCTS)
    {
        return false;
    }
    helia_nn_output_s16 stage = {.multiplier = quant->multiplier,
                                 .shift = quant->shift,
                                 .step = 1,
                                 .bias = bias,
                                 .activation = params->activation,
                                 .narrow = false};
    stage.narrow = helia_nn_narrow_s16(&stage, channels, filter_dims->h * filter_dims->w);
    const cmsis_nn_tile dilation = params->dilation;
    window_taps taps = {.x_step = dilation.w * channels};
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            const int32_t top = y * params->stride.h - params->padding.h;
            int32_t first_row;
            taps.rows = taps_inside(top, dilation.h, filter_dims->h, input_dims->h, &first_row);
            for (int32_t x = 0; x < output_dims->w; x++, output += channels)
            {
                const int32_t left = x * params->stride.w - params->padding.w;
                int32_t first;
                taps.columns = taps_inside(left, dilation.w, filter_dims->w, input_dims->w, &first);
                taps.x = input + ((top + first_row * dilation.h) * input_dims->w + left + first * dilation.w) * channels;
                taps.weights = filter + (first_row * filter_dims->w + first) * channels;
                taps.x_row_step = (dilation.h * input_dims->w - taps.columns * dilation.w) * channels;
                taps.weight_row_step = (filter_dims->w - taps.columns) * channels;
                int32_t c = 0;
                for (; c + 8 <= channels; c += 8)
                {
                    eight_channels(&stage, &taps, c, channels, true, output);
                }
                if (c < channels)
                {
                    eight_channels(&stage, &taps, c, channels, false, output);
                }
            }
        }
        input += input_dims->h * input_dims->w * channels;
    }
    return true;
}

#else

static bool convolve_channels(const cmsis_nn_dw_conv_params *params,
                              const cmsis_nn_per_channel_quant_params *quant,
                              const cmsis_nn_dims *input_dims,
                              const int16_t *input,
                              const cmsis_nn_dims *filter_dims,
                              const int8_t *filter,
                              const int64_t *bias,
                              const cmsis_nn_dims *output_dims,
                              int16_t *output)
{
    (void)params;
    (void)quant;
    (void)input_dims;
    (void)input;
    (void)filter_dims;
    (void)filter;
    (void)bias;
    (void)output_dims;
    (void)output;
    return false;
}

#endif

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
    if (convolve_channels(dw_conv_params,
                          quant_params,
                          input_dims,
                          input_data,
                          filter_dims,
                          filter_data,
                          bias_data,
                          output_dims,
                          output_data))
    {
        return ARM_CMSIS_NN_SUCCESS;
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
