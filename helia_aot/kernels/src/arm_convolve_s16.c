/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_fully_connected_s16.h"

#if defined(HELIA_NN_DSP)
#include "support_output_s16_dsp.h"
#endif

/* The taps of a window that are inside the input along one axis: from `first` on, `count` of them. */
typedef struct
{
    int32_t first, count;
} taps;

static taps taps_inside(int32_t start, int32_t dilation, int32_t filter, int32_t input)
{
    const int32_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
    const int32_t end = start >= input ? 0 : helia_nn_min(filter, (input - start + dilation - 1) / dilation);
    return (taps){first, helia_nn_max(end - first, 0)};
}

/* Adds up one window for two filters. */
static void sums_of_window(const cmsis_nn_conv_params *params,
                           const cmsis_nn_dims *input_dims,
                           const int16_t *input,
                           const cmsis_nn_dims *filter_dims,
                           const int8_t *filter0,
                           const int8_t *filter1,
                           int32_t top,
                           int32_t left,
                           int64_t sums[2])
{
    const int32_t channels = filter_dims->c;
    const taps rows = taps_inside(top, params->dilation.h, filter_dims->h, input_dims->h);
    const taps columns = taps_inside(left, params->dilation.w, filter_dims->w, input_dims->w);
    for (int32_t y = rows.first; y < rows.first + rows.count; y++)
    {
        const int16_t *const row = input + (top + y * params->dilation.h) * input_dims->w * input_dims->c;
        const int32_t first = (y * filter_dims->w + columns.first) * channels;
        const int16_t *values = row + (left + columns.first * params->dilation.w) * input_dims->c;
        if (params->dilation.w == 1 && channels == input_dims->c)
        {
            helia_nn_dots_s16_s8(values, filter0 + first, filter1 + first, columns.count * channels, sums);
            continue;
        }
        for (int32_t x = 0; x < columns.count; x++)
        {
            const int32_t at = first + x * channels;
            helia_nn_dots_s16_s8(values, filter0 + at, filter1 + at, channels, sums);
            values += params->dilation.w * input_dims->c;
        }
    }
}

/* Gives one output: the sum with its bias, requantised and limited. */
static int16_t output_of(
    const cmsis_nn_conv_params *params, const cmsis_nn_bias_data *bias, int64_t sum, int32_t c, int32_t multiplier, int32_t shift)
{
    const void *const data = bias != NULL ? bias->data : NULL;
    int32_t scaled;
    if (bias != NULL && bias->is_int32_bias)
    {
        const int64_t start = data != NULL ? ((const int32_t *)data)[c] : 0;
        scaled = helia_nn_requantize((int32_t)(uint32_t)(uint64_t)(sum + start), multiplier, shift);
    }
    else
    {
        const int64_t start = data != NULL ? ((const int64_t *)data)[c] : 0;
        scaled = helia_nn_requantize_s64(sum + start, helia_nn_reduced_multiplier(multiplier), shift);
    }
    return (int16_t)helia_nn_clamp(scaled, params->activation.min, params->activation.max);
}

#if defined(HELIA_NN_MVE) || defined(HELIA_NN_DSP)

#if defined(HELIA_NN_MVE)

#define MOST_DEPTH HELIA_NN_MOST_PRODUCTS

static void copy_or_zero(int16_t *target, const int16_t *source, int32_t count)
{
    for (int32_t i = 0; i < count; i += 8)
    {
        const mve_pred16_t valid = vctp16q((uint32_t)(count - i));
        vstrhq_p_s16(target + i, source != NULL ? vldrhq_z_s16(source + i, valid) : vdupq_n_s16(0), valid);
    }
}

#else

/* Numbers of a window on the stack, at most. */
#define MOST_DEPTH 1024

static void copy_or_zero(int16_t *target, const int16_t *source, int32_t count)
{
    if (source != NULL)
    {
        memcpy(target, source, (size_t)count * sizeof *target);
    }
    else
    {
        memset(target, 0, (size_t)count * sizeof *target);
    }
}

#endif

/* Gathers one window; what is outside the input is 0. */
static void gather_window(const cmsis_nn_conv_params *params,
                          const cmsis_nn_dims *input_dims,
                          const int16_t *input,
                          const cmsis_nn_dims *filter_dims,
                          int32_t top,
                          int32_t left,
                          int16_t *window)
{
    const int32_t channels = input_dims->c;
    const taps columns = taps_inside(left, params->dilation.w, filter_dims->w, input_dims->w);
    const bool joined = params->dilation.w == 1;
    for (int32_t ky = 0; ky < filter_dims->h; ky++, window += filter_dims->w * channels)
    {
        const int32_t y = top + ky * params->dilation.h;
        if (y < 0 || y >= input_dims->h || columns.count < filter_dims->w)
        {
            copy_or_zero(window, NULL, filter_dims->w * channels);
        }
        if (y < 0 || y >= input_dims->h)
        {
            continue;
        }
        const int32_t runs = joined ? helia_nn_min(columns.count, 1) : columns.count;
        const int32_t length = (joined ? columns.count : 1) * channels;
        for (int32_t kx = columns.first; kx < columns.first + runs; kx++)
        {
            const int32_t x = left + kx * params->dilation.w;
            copy_or_zero(window + kx * channels, input + (y * input_dims->w + x) * channels, length);
        }
    }
}

#if defined(HELIA_NN_DSP)

_Static_assert(HELIA_NN_PREPARED_PRODUCTS <= HELIA_NN_NARROW_DEPTH && HELIA_NN_PREPARED_CHANNELS <= HELIA_NN_CHUNK,
               "rules of helia_nn_narrow_sums_s16_s8()");

/* The layer where its windows are short: block by block of channels, whose constants are prepared. */
static void convolve_short_windows(const cmsis_nn_conv_params *params,
                                   const cmsis_nn_per_channel_quant_params *quant,
                                   const cmsis_nn_dims *input_dims,
                                   const int16_t *input,
                                   const cmsis_nn_dims *filter_dims,
                                   const int8_t *filter,
                                   const int64_t *bias,
                                   const cmsis_nn_dims *output_dims,
                                   int16_t *output)
{
    const int32_t depth = filter_dims->h * filter_dims->w * filter_dims->c, channels = output_dims->c;
    const bool pointwise = depth == input_dims->c && params->padding.w == 0 && params->padding.h == 0;
    for (int32_t first = 0; first < channels; first += HELIA_NN_PREPARED_CHANNELS)
    {
        const int32_t now = helia_nn_min(channels - first, HELIA_NN_PREPARED_CHANNELS);
        const int8_t *const weights = filter + first * depth;
        helia_nn_prepared_s16 prepared = {.quick = true};
        int16_t window[HELIA_NN_PREPARED_PRODUCTS];
        int32_t sums[HELIA_NN_PREPARED_CHANNELS];
        int16_t *to = output + first;
        for (int32_t i = 0; i < now; i++)
        {
            const int64_t start = bias != NULL ? bias[first + i] : 0;
            helia_nn_prepare_s16(&prepared, i, start, quant->multiplier[first + i], quant->shift[first + i]);
        }
        for (int32_t position = 0; position < output_dims->n * output_dims->h * output_dims->w; position++, to += channels)
        {
            const int32_t row = position / output_dims->w, n = row / output_dims->h;
            const int32_t top = (row - n * output_dims->h) * params->stride.h - params->padding.h;
            const int32_t left = (position - row * output_dims->w) * params->stride.w - params->padding.w;
            const int16_t *const image = input + n * input_dims->h * input_dims->w * input_dims->c;
            const int16_t *values = window;
            if (pointwise)
            {
                values = image + (top * input_dims->w + left) * input_dims->c;
            }
            else
            {
                gather_window(params, input_dims, image, filter_dims, top, left, window);
            }
            if (prepared.quick)
            {
                helia_nn_narrow_sums_s16_s8(values, weights, now, depth, prepared.start, sums);
                helia_nn_prepared_outputs_s16(&prepared, 0, now, sums, &params->activation, to);
            }
            else
            {
                helia_nn_fully_connected_row_s16(&params->activation,
                                                 quant->multiplier + first,
                                                 quant->shift + first,
                                                 1,
                                                 values,
                                                 depth,
                                                 weights,
                                                 bias != NULL ? bias + first : NULL,
                                                 now,
                                                 to);
            }
        }
    }
}

#endif

/* Whether the whole layer was done: ungrouped, an int64 bias or none, and a window that fits on the stack. */
static bool convolve_windows(const cmsis_nn_conv_params *params,
                             const cmsis_nn_per_channel_quant_params *quant,
                             const cmsis_nn_dims *input_dims,
                             const int16_t *input,
                             const cmsis_nn_dims *filter_dims,
                             const int8_t *filter,
                             const cmsis_nn_bias_data *bias,
                             const cmsis_nn_dims *output_dims,
                             int16_t *output)
{
    const int32_t depth = filter_dims->h * filter_dims->w * filter_dims->c;
    const bool narrow_bias = bias != NULL && bias->is_int32_bias;
    if (filter_dims->c != input_dims->c || narrow_bias || depth > MOST_DEPTH)
    {
        return false;
    }
#if defined(HELIA_NN_DSP)
    if (depth <= HELIA_NN_PREPARED_PRODUCTS)
    {
        convolve_short_windows(params,
                               quant,
                               input_dims,
                               input,
                               filter_dims,
                               filter,
                               bias != NULL ? bias->data : NULL,
                               output_dims,
                               output);
        return true;
    }
#endif
    int16_t window[MOST_DEPTH];
#if defined(HELIA_NN_MVE)
    helia_nn_output_s16 stage = {.multiplier = quant->multiplier,
                                 .shift = quant->shift,
                                 .step = 1,
                                 .bias = bias != NULL ? bias->data : NULL,
                                 .activation = params->activation,
                                 .narrow = false};
    stage.narrow = helia_nn_narrow_s16(&stage, output_dims->c, depth);
#endif
    const bool pointwise = depth == input_dims->c && params->padding.w == 0 && params->padding.h == 0;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++, output += output_dims->c)
            {
                const int32_t top = y * params->stride.h - params->padding.h;
                const int32_t left = x * params->stride.w - params->padding.w;
                const int16_t *row = input + (top * input_dims->w + left) * input_dims->c;
                if (!pointwise)
                {
                    gather_window(params, input_dims, input, filter_dims, top, left, window);
                    row = window;
                }
#if defined(HELIA_NN_MVE)
                helia_nn_row_s16(&stage, row, filter, depth, output_dims->c, output);
#else
                helia_nn_fully_connected_row_s16(&params->activation,
                                                 quant->multiplier,
                                                 quant->shift,
                                                 1,
                                                 row,
                                                 depth,
                                                 filter,
                                                 bias != NULL ? bias->data : NULL,
                                                 output_dims->c,
                                                 output);
#endif
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
    return true;
}

#else

static bool convolve_windows(const cmsis_nn_conv_params *params,
                             const cmsis_nn_per_channel_quant_params *quant,
                             const cmsis_nn_dims *input_dims,
                             const int16_t *input,
                             const cmsis_nn_dims *filter_dims,
                             const int8_t *filter,
                             const cmsis_nn_bias_data *bias,
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

arm_cmsis_nn_status arm_convolve_s16(const cmsis_nn_context *ctx,
                                     const cmsis_nn_conv_params *conv_params,
                                     const cmsis_nn_per_channel_quant_params *quant_params,
                                     const cmsis_nn_dims *input_dims,
                                     const int16_t *input_data,
                                     const cmsis_nn_dims *filter_dims,
                                     const int8_t *filter_data,
                                     const cmsis_nn_dims *bias_dims,
                                     const cmsis_nn_bias_data *bias_data,
                                     const cmsis_nn_dims *output_dims,
                                     int16_t *output_data)
{
    (void)ctx;
    (void)bias_dims;
    const int32_t groups = filter_dims->c > 0 ? input_dims->c / filter_dims->c : 0;
    if (groups < 1 || groups * filter_dims->c != input_dims->c || output_dims->c % groups != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    if (convolve_windows(conv_params,
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
    const int32_t taps_of_channel = filter_dims->h * filter_dims->w * filter_dims->c;
    const int32_t channels_of_group = output_dims->c / groups;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const int32_t top = y * conv_params->stride.h - conv_params->padding.h;
                const int32_t left = x * conv_params->stride.w - conv_params->padding.w;
                for (int32_t c = 0; c < output_dims->c;)
                {
                    /* Two channels of one group share a pass over the input; a last one is computed twice over. */
                    const int32_t group = c / channels_of_group;
                    const int32_t next = helia_nn_min(c + 1, (group + 1) * channels_of_group - 1);
                    int64_t sums[2] = {0, 0};
                    sums_of_window(conv_params,
                                   input_dims,
                                   input_data + group * filter_dims->c,
                                   filter_dims,
                                   filter_data + c * taps_of_channel,
                                   filter_data + next * taps_of_channel,
                                   top,
                                   left,
                                   sums);
                    for (int32_t k = 0; c <= next; c++, k++)
                    {
                        *output_data++ = output_of(
                            conv_params, bias_data, sums[k], c, quant_params->multiplier[c], quant_params->shift[c]);
                    }
                }
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
