/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Depthwise convolution of any shape. Taps outside the input are left out instead of read as padding.
 */
#include "../include/arm_nnfunctions.h"
#include "support_depthwise_s8.h"

#if !defined(HELIA_NN_DSP)

/* The filter taps of one output pixel that fall inside the input: first and one past the last, by row and column. */
typedef struct
{
    int32_t y0, y1, x0, x1;
    int32_t in_y, in_x; /* Input position of tap (0, 0), may be outside. */
} window;

/* Gives ceil(-start / step) limited to 0..taps: the first tap at or after position 0. */
static int32_t first_inside(int32_t start, int32_t step, int32_t taps)
{
    return start >= 0 ? 0 : helia_nn_min((-start + step - 1) / step, taps);
}

/* Gives one past the last tap before position `extent`. */
static int32_t end_inside(int32_t start, int32_t step, int32_t taps, int32_t extent)
{
    return start >= extent ? 0 : helia_nn_min((extent - 1 - start) / step + 1, taps);
}

static window window_at(const cmsis_nn_dw_conv_params *params,
                        const cmsis_nn_dims *input_dims,
                        const cmsis_nn_dims *filter_dims,
                        int32_t out_y,
                        int32_t out_x)
{
    const int32_t in_y = out_y * params->stride.h - params->padding.h;
    const int32_t in_x = out_x * params->stride.w - params->padding.w;
    return (window){
        .y0 = first_inside(in_y, params->dilation.h, filter_dims->h),
        .y1 = end_inside(in_y, params->dilation.h, filter_dims->h, input_dims->h),
        .x0 = first_inside(in_x, params->dilation.w, filter_dims->w),
        .x1 = end_inside(in_x, params->dilation.w, filter_dims->w, input_dims->w),
        .in_y = in_y,
        .in_x = in_x,
    };
}

/* What does not change between the pixels of a batch. */
typedef struct
{
    const cmsis_nn_dw_conv_params *params;
    const cmsis_nn_per_channel_quant_params *quant;
    const int8_t *input;
    int32_t input_w;
    int32_t input_channels;
    const int8_t *filter;
    int32_t filter_w;
    const int32_t *bias;
} layer;

#if defined(HELIA_NN_MVE)

/* Four output channels from `channel` on; their input channels are four in a row (ch_mult 1) or one for all. */
static int32x4_t accumulate(const layer *layer, const window *window, int32_t channel, mve_pred16_t valid)
{
    const int32_t ch_mult = layer->params->ch_mult;
    const int32_t channels = layer->input_channels * ch_mult;
    const int32_t offset = layer->params->input_offset;
    const int8_t *input = layer->input + channel / ch_mult;
    int32x4_t sum = layer->bias != NULL ? vldrwq_z_s32(layer->bias + channel, valid) : vdupq_n_s32(0);
    for (int32_t y = window->y0; y < window->y1; y++)
    {
        const int32_t in_y = window->in_y + y * layer->params->dilation.h;
        for (int32_t x = window->x0; x < window->x1; x++)
        {
            const int32_t in_x = window->in_x + x * layer->params->dilation.w;
            const int8_t *value = input + (in_y * layer->input_w + in_x) * layer->input_channels;
            const int32x4_t weights =
                vldrbq_z_s32(layer->filter + (y * layer->filter_w + x) * channels + channel, valid);
            if (ch_mult == 1)
            {
                const int32x4_t values = vaddq_n_s32(vldrbq_z_s32(value, valid), offset);
                sum = vaddq_s32(sum, vmulq_s32(values, weights));
            }
            else
            {
                sum = vmlaq_n_s32(sum, weights, *value + offset);
            }
        }
    }
    return sum;
}

/* Computes all channels of one output pixel, up to four at a time. */
static void compute_pixel(const layer *layer, const window *window, int8_t *output)
{
    const int32_t ch_mult = layer->params->ch_mult;
    const cmsis_nn_activation activation = layer->params->activation;
    /* A group of lanes never crosses from one input channel to the next, except where each output has its own. */
    const int32_t group = ch_mult == 1 ? layer->input_channels : ch_mult;
    const int32_t channels = layer->input_channels * ch_mult;
    for (int32_t first = 0; first < channels; first += group)
    {
        for (int32_t channel = first; channel < first + group; channel += 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)(first + group - channel));
            const int32x4_t sum = accumulate(layer, window, channel, valid);
            const int32x4_t multiplier = vldrwq_z_s32(layer->quant->multiplier + channel, valid);
            const int32x4_t shift = vldrwq_z_s32(layer->quant->shift + channel, valid);
            const int32x4_t scaled =
                vaddq_n_s32(helia_nn_requantize_s32x4(sum, multiplier, shift), layer->params->output_offset);
            vstrbq_p_s32(output + channel, helia_nn_clamp_s32x4(scaled, activation.min, activation.max), valid);
        }
    }
}

#else

static int32_t accumulate(const layer *layer, const window *window, int32_t channel)
{
    const int32_t ch_mult = layer->params->ch_mult;
    const int32_t channels = layer->input_channels * ch_mult;
    const int8_t *input = layer->input + channel / ch_mult;
    int32_t sum = layer->bias != NULL ? layer->bias[channel] : 0;
    for (int32_t y = window->y0; y < window->y1; y++)
    {
        const int32_t in_y = window->in_y + y * layer->params->dilation.h;
        for (int32_t x = window->x0; x < window->x1; x++)
        {
            const int32_t in_x = window->in_x + x * layer->params->dilation.w;
            const int32_t value = input[(in_y * layer->input_w + in_x) * layer->input_channels];
            sum += (value + layer->params->input_offset) *
                   layer->filter[(y * layer->filter_w + x) * channels + channel];
        }
    }
    return sum;
}

static void compute_pixel(const layer *layer, const window *window, int8_t *output)
{
    const cmsis_nn_activation activation = layer->params->activation;
    for (int32_t channel = 0; channel < layer->input_channels * layer->params->ch_mult; channel++)
    {
        const int32_t sum = accumulate(layer, window, channel);
        const int32_t scaled =
            helia_nn_requantize(sum, layer->quant->multiplier[channel], layer->quant->shift[channel]);
        output[channel] =
            (int8_t)helia_nn_clamp(scaled + layer->params->output_offset, activation.min, activation.max);
    }
}

#endif

#endif /* HELIA_NN_DSP */

arm_cmsis_nn_status arm_depthwise_conv_s8(
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
    if (dw_conv_params->ch_mult < 1 || input_dims->c * dw_conv_params->ch_mult != output_dims->c ||
        filter_dims->c != output_dims->c || input_dims->n != output_dims->n)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
#if defined(HELIA_NN_DSP)
    const cmsis_nn_dims one_input = {1, input_dims->h, input_dims->w, input_dims->c};
    const cmsis_nn_dims one_output = {1, output_dims->h, output_dims->w, output_dims->c};
    helia_nn_depthwise_layer layer;
    helia_nn_depthwise_layer_of(
        &layer, ctx, NULL, dw_conv_params, quant_params, &one_input, input_data, filter_dims, filter_data, bias_data,
        &one_output, output_data);
    for (int32_t batch = 0; batch < input_dims->n; batch++)
    {
        helia_nn_depthwise_portable(&layer);
        layer.input += input_dims->h * input_dims->w * input_dims->c;
        layer.output += output_dims->h * output_dims->w * output_dims->c;
    }
#else
    layer layer = {
        .params = dw_conv_params,
        .quant = quant_params,
        .input = input_data,
        .input_w = input_dims->w,
        .input_channels = input_dims->c,
        .filter = filter_data,
        .filter_w = filter_dims->w,
        .bias = bias_data,
    };
    for (int32_t batch = 0; batch < input_dims->n; batch++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const window window = window_at(dw_conv_params, input_dims, filter_dims, y, x);
                compute_pixel(&layer, &window, output_data);
                output_data += output_dims->c;
            }
        }
        layer.input += input_dims->h * input_dims->w * input_dims->c;
    }
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
