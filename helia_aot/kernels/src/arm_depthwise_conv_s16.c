/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_mve_s16.h"
#include "support_requantize_s64.h"

#if defined(HELIA_NN_DSP)
#include "support_output_s16_dsp.h"
#endif

#if defined(HELIA_NN_MVE) || defined(HELIA_NN_DSP)

/* The taps of one window that are inside the input, as a rectangle. */
typedef struct
{
    const int16_t *x;
    const int8_t *weights;
    int32_t rows, columns;
    int32_t x_step, x_row_step; /* Numbers from tap to tap, and from the end of a row to the next one. */
    int32_t weight_row_step;
} window_taps;

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

#endif

#if defined(HELIA_NN_MVE)

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

#if defined(HELIA_NN_DSP)

/* Groups of four channels that are prepared at a time. */
#define MOST_GROUPS (HELIA_NN_PREPARED_CHANNELS / 4)

/* The first channel of a group; the last group may share channels with the one before. */
static inline int32_t channel_of(int32_t group, int32_t channels)
{
    return helia_nn_min(4 * group, channels - 4);
}

/* Prepares `groups` groups from `first` on. */
static void prepare_groups(const cmsis_nn_per_channel_quant_params *quant,
                           const int64_t *bias,
                           int32_t first,
                           int32_t groups,
                           int32_t channels,
                           helia_nn_prepared_s16 *prepared)
{
    prepared->quick = true;
    for (int32_t i = 0; i < 4 * groups; i++)
    {
        const int32_t channel = channel_of(first + i / 4, channels) + i % 4;
        const int64_t start = bias != NULL ? bias[channel] : 0;
        helia_nn_prepare_s16(prepared, i, start, quant->multiplier[channel], quant->shift[channel]);
    }
}

/* Adds the products of four channels, each with its own input or all with the one at `x`; inlined so that this becomes known. */
static inline __attribute__((always_inline)) void add_taps(
    bool shared, const window_taps *taps, const int16_t *x, const int8_t *weights, int32_t channels, int32_t sums[4])
{
    const int32_t x_step = taps->x_step, columns = taps->columns;
    int32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    for (int32_t row = taps->rows; row > 0; row--)
    {
#pragma GCC unroll 3
        for (int32_t column = columns; column > 0; column--)
        {
            const uint32_t first = shared ? helia_nn_twice(*x) : helia_nn_load_word(x);
            const uint32_t second = shared ? first : helia_nn_load_word(x + 2);
            const uint32_t word = helia_nn_load_word(weights);
            const uint32_t even = helia_nn_even_bytes(0, word), odd = helia_nn_odd_bytes(0, word);
            sum0 = helia_nn_smlabb(first, even, sum0);
            sum1 = __smlatb((int32_t)first, (int32_t)odd, sum1);
            sum2 = __smlabt((int32_t)second, (int32_t)even, sum2);
            sum3 = helia_nn_smlatt(second, odd, sum3);
            x += x_step;
            weights += channels;
        }
        x += taps->x_row_step;
        weights += taps->weight_row_step;
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

/* Some groups of a pixel. */
static __attribute__((noinline)) void groups_of_pixel(const cmsis_nn_dw_conv_params *params,
                                           const cmsis_nn_per_channel_quant_params *quant,
                                           const int64_t *bias,
                                           const helia_nn_prepared_s16 *prepared,
                                           const window_taps *taps,
                                           int32_t first,
                                           int32_t groups,
                                           int32_t channels,
                                           int16_t *output)
{
    for (int32_t g = 0; g < groups; g++)
    {
        const int32_t channel = channel_of(first + g, channels);
        int32_t sums[4] = {0};
        if (prepared->quick)
        {
            memcpy(sums, prepared->start + 4 * g, sizeof sums);
        }
        if (params->ch_mult == 1)
        {
            add_taps(false, taps, taps->x + channel, taps->weights + channel, channels, sums);
        }
        else
        {
            add_taps(true, taps, taps->x + channel / params->ch_mult, taps->weights + channel, channels, sums);
        }
        if (prepared->quick)
        {
            helia_nn_prepared_outputs_s16(prepared, 4 * g, 4, sums, &params->activation, output + channel);
            continue;
        }
        for (int32_t i = 0; i < 4; i++)
        {
            output[channel + i] = output_of(params, quant, bias, sums[i], channel + i);
        }
    }
}

/* Whether the whole layer was done: four channels at a time have one input each, or one in all, and there are few enough taps. */
static bool convolve_fours(const cmsis_nn_dw_conv_params *params,
                           const cmsis_nn_per_channel_quant_params *quant,
                           const cmsis_nn_dims *input_dims,
                           const int16_t *input,
                           const cmsis_nn_dims *filter_dims,
                           const int8_t *filter,
                           const int64_t *bias,
                           const cmsis_nn_dims *output_dims,
                           int16_t *output)
{
    const int32_t channels = output_dims->c, inputs = input_dims->c;
    const cmsis_nn_tile dilation = params->dilation;
    if ((params->ch_mult != 1 && params->ch_mult % 4 != 0) || channels < 4 || filter_dims->h * filter_dims->w > HELIA_NN_PREPARED_PRODUCTS)
    {
        return false;
    }
    for (int32_t first = 0; first < (channels + 3) / 4; first += MOST_GROUPS)
    {
        const int32_t groups = helia_nn_min((channels + 3) / 4 - first, MOST_GROUPS);
        helia_nn_prepared_s16 prepared;
        window_taps taps = {.x_step = dilation.w * inputs};
        int16_t *to = output;
        prepare_groups(quant, bias, first, groups, channels, &prepared);
        for (int32_t row = 0; row < output_dims->n * output_dims->h; row++)
        {
            const int32_t n = row / output_dims->h;
            const int32_t top = (row - n * output_dims->h) * params->stride.h - params->padding.h;
            int32_t first_row;
            taps.rows = taps_inside(top, dilation.h, filter_dims->h, input_dims->h, &first_row);
            const int16_t *const from = input + (n * input_dims->h + top + first_row * dilation.h) * input_dims->w * inputs;
            for (int32_t x = 0; x < output_dims->w; x++, to += channels)
            {
                const int32_t left = x * params->stride.w - params->padding.w;
                int32_t first_column;
                taps.columns = taps_inside(left, dilation.w, filter_dims->w, input_dims->w, &first_column);
                taps.x = from + (left + first_column * dilation.w) * inputs;
                taps.weights = filter + (first_row * filter_dims->w + first_column) * channels;
                taps.x_row_step = (dilation.h * input_dims->w - taps.columns * dilation.w) * inputs;
                taps.weight_row_step = (filter_dims->w - taps.columns) * channels;
                groups_of_pixel(params, quant, bias, &prepared, &taps, first, groups, channels, to);
            }
        }
    }
    return true;
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
#if defined(HELIA_NN_MVE)
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
#elif defined(HELIA_NN_DSP)
    if (convolve_fours(dw_conv_params,
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
#endif
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
