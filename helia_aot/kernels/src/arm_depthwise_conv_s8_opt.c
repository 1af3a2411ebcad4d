/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The generic optimised depthwise entry. It has two bodies: layers with a channel count that is not a multiple of 4 go to the
 * planar one where its rule holds, all others gather the inputs of up to four output pixels and share each weight among them.
 */
#include "../include/arm_nnfunctions.h"
#include "support_depthwise_s8.h"

#define COLUMNS 4

int32_t arm_depthwise_conv_s8_opt_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims)
{
#if defined(HELIA_NN_MVE)
    const int32_t channels = input_dims->c;
    const int32_t sets = helia_nn_depthwise_lane_sets(channels);
    const int32_t taps = filter_dims->h * filter_dims->w;
    const int32_t columns = COLUMNS * taps * channels;
    if (channels % 4 == 0 || sets > 16)
    {
        return columns;
    }
    const bool column = input_dims->w == 1 && filter_dims->w == 1;
    const int32_t width = column ? input_dims->h : input_dims->w;
    const int32_t filter_w = column ? filter_dims->h : filter_dims->w;
    const int32_t filter_h = column ? 1 : filter_dims->h;
    const int32_t lanes_bytes = (int32_t)sizeof(helia_nn_lanes) + HELIA_NN_LANES * taps;
    const int32_t slot_bytes = (width + 2 * (filter_w - 1)) * channels + HELIA_NN_LANES;
    return helia_nn_max(columns, sets * lanes_bytes + filter_h * slot_bytes);
#else
    (void)input_dims;
    (void)filter_dims;
    return 0;
#endif
}

#if defined(HELIA_NN_MVE)

/* Tells whether the planar body is used; its scratch must fit into what can be said without padding and dilation. */
static bool use_planar(const helia_nn_depthwise_layer *layer)
{
    return layer->channels % 4 != 0 && helia_nn_depthwise_planar_rule(layer) &&
           helia_nn_depthwise_row_pixels(layer) <= layer->input_w + 2 * (layer->filter_w - 1);
}

static void fill(int8_t *to, int8_t value, int32_t bytes)
{
    for (int32_t i = 0; i < bytes; i += HELIA_NN_LANES)
    {
        vstrbq_p_s8(to + i, vdupq_n_s8(value), vctp8q((uint32_t)(bytes - i)));
    }
}

static void copy(int8_t *to, const int8_t *from, int32_t bytes)
{
    for (int32_t i = 0; i < bytes; i += HELIA_NN_LANES)
    {
        const mve_pred16_t valid = vctp8q((uint32_t)(bytes - i));
        vstrbq_p_s8(to + i, vldrbq_z_s8(from + i, valid), valid);
    }
}

/* Writes the inputs of output pixel (y, x) to `column`: all channels of the first tap, then of the next. */
static void gather_column(const helia_nn_depthwise_layer *layer, int32_t y, int32_t x, int8_t *column)
{
    const int32_t channels = layer->channels;
    const int32_t top = y * layer->stride_h - layer->pad_h;
    const int32_t left = x * layer->stride_w - layer->pad_w;
    const int32_t right = left + (layer->filter_w - 1) * layer->dilation_w;
    const int8_t padding = (int8_t)-layer->input_offset;
    for (int32_t row = top; row < top + layer->filter_h; row++)
    {
        const int8_t *input = layer->input + (row * layer->input_w + left) * channels;
        const int32_t row_bytes = layer->filter_w * channels;
        if (row < 0 || row >= layer->input_h)
        {
            fill(column, padding, row_bytes);
            column += row_bytes;
        }
        else if (layer->dilation_w == 1 && left >= 0 && right < layer->input_w)
        {
            copy(column, input, row_bytes);
            column += row_bytes;
        }
        else
        {
            for (int32_t at = left; at <= right; at += layer->dilation_w)
            {
                if (at < 0 || at >= layer->input_w)
                {
                    fill(column, padding, channels);
                }
                else
                {
                    copy(column, input + (at - left) * channels, channels);
                }
                column += channels;
            }
        }
    }
}

/* Gives the start values of four channels. */
static int32x4_t start_values(const helia_nn_depthwise_layer *layer, int32_t channel, mve_pred16_t valid)
{
    if (layer->sums != NULL)
    {
        return vldrwq_z_s32(layer->sums + channel, valid);
    }
    int32x4_t weight_sum = vdupq_n_s32(0);
    for (int32_t tap = 0; tap < layer->filter_h * layer->filter_w; tap++)
    {
        weight_sum = vaddq_s32(weight_sum, vldrbq_z_s32(layer->filter + tap * layer->channels + channel, valid));
    }
    const int32x4_t bias = layer->bias != NULL ? vldrwq_z_s32(layer->bias + channel, valid) : vdupq_n_s32(0);
    return vmlaq_n_s32(bias, weight_sum, layer->input_offset);
}

static void store_outputs(const helia_nn_depthwise_layer *layer, int32x4_t sum, int32_t channel, mve_pred16_t valid, int8_t *output)
{
    const int32x4_t multiplier = vldrwq_z_s32(layer->multiplier + channel, valid);
    const int32x4_t shift = vldrwq_z_s32(layer->shift + channel, valid);
    const int32x4_t scaled = vaddq_n_s32(helia_nn_requantize_s32x4(sum, multiplier, shift), layer->output_offset);
    vstrbq_p_s32(output + channel, helia_nn_clamp_s32x4(scaled, layer->activation.min, layer->activation.max), valid);
}

/* Computes all channels of `pixels` (1..COLUMNS) output pixels; missing columns are computed and not stored. */
static void compute_pixels(const helia_nn_depthwise_layer *layer, const int8_t *columns, int32_t pixels, int8_t *output)
{
    const int32_t channels = layer->channels;
    const int32_t taps = layer->filter_h * layer->filter_w;
    const int32_t column_bytes = taps * channels;
    for (int32_t channel = 0; channel < channels; channel += 4)
    {
        const mve_pred16_t valid = vctp32q((uint32_t)(channels - channel));
        int32x4_t sum0 = start_values(layer, channel, valid);
        int32x4_t sum1 = sum0;
        int32x4_t sum2 = sum0;
        int32x4_t sum3 = sum0;
        const int8_t *weights = layer->filter + channel;
        const int8_t *column0 = columns + channel;
        const int8_t *column1 = column0 + (pixels > 1 ? column_bytes : 0);
        const int8_t *column2 = column1 + (pixels > 2 ? column_bytes : 0);
        const int8_t *column3 = column2 + (pixels > 3 ? column_bytes : 0);
        for (int32_t tap = taps; tap > 0; tap--)
        {
            const int32x4_t weight = vldrbq_z_s32(weights, valid);
            sum0 = vaddq_s32(sum0, vmulq_s32(vldrbq_z_s32(column0, valid), weight));
            sum1 = vaddq_s32(sum1, vmulq_s32(vldrbq_z_s32(column1, valid), weight));
            sum2 = vaddq_s32(sum2, vmulq_s32(vldrbq_z_s32(column2, valid), weight));
            sum3 = vaddq_s32(sum3, vmulq_s32(vldrbq_z_s32(column3, valid), weight));
            weights += channels;
            column0 += channels;
            column1 += channels;
            column2 += channels;
            column3 += channels;
        }
        store_outputs(layer, sum0, channel, valid, output);
        if (pixels > 1)
        {
            store_outputs(layer, sum1, channel, valid, output + channels);
        }
        if (pixels > 2)
        {
            store_outputs(layer, sum2, channel, valid, output + 2 * channels);
        }
        if (pixels > 3)
        {
            store_outputs(layer, sum3, channel, valid, output + 3 * channels);
        }
    }
}

static void depthwise_by_columns(const helia_nn_depthwise_layer *layer)
{
    int8_t *const columns = layer->scratch;
    const int32_t column_bytes = layer->filter_h * layer->filter_w * layer->channels;
    int8_t *output = layer->output;
    int32_t gathered = 0;
    for (int32_t y = 0; y < layer->output_h; y++)
    {
        for (int32_t x = 0; x < layer->output_w; x++)
        {
            gather_column(layer, y, x, columns + gathered * column_bytes);
            gathered++;
            if (gathered == COLUMNS)
            {
                compute_pixels(layer, columns, COLUMNS, output);
                output += COLUMNS * layer->channels;
                gathered = 0;
            }
        }
    }
    if (gathered > 0)
    {
        compute_pixels(layer, columns, gathered, output);
    }
}

#endif

arm_cmsis_nn_status arm_depthwise_conv_s8_opt(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
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
    (void)bias_dims;
    helia_nn_depthwise_layer layer;
    if (!helia_nn_depthwise_layer_init(&layer, ctx, weight_sum_ctx, dw_conv_params, quant_params, input_dims, input_data,
                                       filter_dims, filter_data, bias_data, output_dims, output_data))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
#if defined(HELIA_NN_MVE)
    if (use_planar(&layer))
    {
        helia_nn_depthwise_planar(&layer);
    }
    else
    {
        depthwise_by_columns(&layer);
    }
#else
    helia_nn_depthwise_portable(&layer);
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
