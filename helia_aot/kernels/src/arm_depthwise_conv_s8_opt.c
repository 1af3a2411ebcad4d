/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The generic optimised depthwise entry. It has two bodies: layers with a channel count that is not a multiple of 4 go to the
 * planar one where its rule holds; all others gather the inputs of some output pixels, 16 channels at a time, tap after tap.
 */
#include "../include/arm_nnfunctions.h"
#include "support_depthwise_s8.h"

/* Output pixels that are gathered before they are computed; the scratch size follows from it. */
#define COLUMNS 8

int32_t arm_depthwise_conv_s8_opt_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims)
{
#if defined(HELIA_NN_MVE)
    const int32_t channels = input_dims->c;
    const int32_t sets = helia_nn_depthwise_lane_sets(channels);
    const int32_t taps = filter_dims->h * filter_dims->w;
    const int32_t lanes_bytes = (int32_t)sizeof(helia_nn_lanes) + HELIA_NN_LANES * taps;
    const int32_t columns = lanes_bytes + COLUMNS * HELIA_NN_LANES * taps;
    if (channels % 4 == 0 || sets > 16)
    {
        return columns;
    }
    const bool column = input_dims->w == 1 && filter_dims->w == 1;
    const int32_t width = column ? input_dims->h : input_dims->w;
    const int32_t filter_w = column ? filter_dims->h : filter_dims->w;
    const int32_t filter_h = column ? 1 : filter_dims->h;
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

/* Writes the inputs of an output pixel, 16 channels for each tap, to `column`; (top, left) is where its window starts. */
static void gather_column(
    const helia_nn_depthwise_layer *layer, const helia_nn_depthwise_slice *slice, int32_t top, int32_t left, int8_t *column)
{
    const int8x16_t padding = vdupq_n_s8((int8_t)-layer->input_offset);
    const int32_t input_w = layer->input_w;
    const int32_t filter_w = layer->filter_w;
    const int32_t step = layer->dilation_w;
    const int32_t step_bytes = step * layer->channels;
    for (int32_t row = top; row < top + layer->filter_h; row++)
    {
        if (row < 0 || row >= layer->input_h)
        {
            column = helia_nn_fill_vectors(column, padding, filter_w);
            continue;
        }
        const int8_t *input = layer->input + (row * input_w + left) * layer->channels + slice->first_channel;
        for (int32_t at = left; at < left + filter_w * step; at += step)
        {
            vstrbq_s8(column, at < 0 || at >= input_w ? padding : vldrbq_z_s8(input, slice->valid));
            column += HELIA_NN_LANES;
            input += step_bytes;
        }
    }
}

/* As gather_column(), for a window inside the input. */
static void gather_inside(
    const helia_nn_depthwise_layer *layer, const helia_nn_depthwise_slice *slice, int32_t top, int32_t left, int8_t *column)
{
    const int32_t filter_w = layer->filter_w;
    const int32_t step_bytes = layer->dilation_w * layer->channels;
    const mve_pred16_t valid = slice->valid;
    const int32_t next_row = layer->input_w * layer->channels - filter_w * step_bytes;
    const int8_t *input = layer->input + (top * layer->input_w + left) * layer->channels + slice->first_channel;
    for (int32_t row = layer->filter_h; row > 0; row--)
    {
        for (int32_t tap = filter_w; tap > 0; tap--)
        {
            vstrbq_s8(column, valid == 0xFFFF ? vldrbq_s8(input) : vldrbq_z_s8(input, valid));
            column += HELIA_NN_LANES;
            input += step_bytes;
        }
        input += next_row;
    }
}

/* Computes a slice. A column is a row with all taps of the filter, one after the other. */
static void compute_slice(const helia_nn_depthwise_layer *layer, const helia_nn_depthwise_slice *slice)
{
    const int32_t taps = layer->filter_h * layer->filter_w;
    const helia_nn_row_ring columns = {.slots = slice->slots, .slot_count = 1};
    helia_nn_depthwise_row row = {
        .lanes = slice->lanes,
        .ring = &columns,
        .filter_w = taps,
        .tap_step = HELIA_NN_LANES,
        .step = HELIA_NN_LANES * taps,
        .limits = helia_nn_output_limits_of(layer),
        .output = layer->output + slice->first_channel,
        .output_step = layer->channels,
        .stored = slice->valid,
    };
    const int32_t last_top = layer->input_h - layer->filter_h;
    const int32_t last_left = layer->input_w - 1 - (layer->filter_w - 1) * layer->dilation_w;
    int32_t top = -layer->pad_h;
    int32_t left = -layer->pad_w;
    int32_t x = 0;
    for (int32_t pixels = layer->output_h * layer->output_w; pixels > 0; pixels -= COLUMNS)
    {
        row.count = helia_nn_min(pixels, COLUMNS);
        for (int32_t i = 0; i < row.count; i++)
        {
            const bool inside = top >= 0 && top <= last_top && left >= 0 && left <= last_left;
            (inside ? gather_inside : gather_column)(layer, slice, top, left, columns.slots + i * row.step);
            left += layer->stride_w;
            x++;
            if (x == layer->output_w)
            {
                x = 0;
                left = -layer->pad_w;
                top += layer->stride_h;
            }
        }
        if (slice->quick)
        {
            helia_nn_depthwise_row_quick(&row);
        }
        else
        {
            helia_nn_depthwise_row_any(&row);
        }
        row.output += row.count * layer->channels;
    }
}

static void depthwise_by_columns(const helia_nn_depthwise_layer *layer)
{
    helia_nn_depthwise_slice slice = helia_nn_depthwise_slice_init(layer);
    while (helia_nn_depthwise_slice_next(&slice, layer))
    {
        compute_slice(layer, &slice);
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
