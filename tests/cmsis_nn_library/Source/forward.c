/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for CMSIS-NN: its calls, checked for what its interface asks of a caller, on top of the bundled kernels,
 * which are linked with the prefix own_. LARGER_BUFFERS makes its convolutions want more scratch than release 7.0.0.
 */
#include <stddef.h>

#include "arm_nnfunctions.h"

#ifndef LARGER_BUFFERS
#define LARGER_BUFFERS 0
#endif

#if defined(__ARM_FEATURE_MVE)
#define HAS_MVE 1
#else
#define HAS_MVE 0
#endif
#if defined(__ARM_FEATURE_DSP) && !HAS_MVE
#define HAS_DSP_ONLY 1
#else
#define HAS_DSP_ONLY 0
#endif

static const cmsis_nn_context NONE = {NULL, 0};
static int32_t columns[4096];

static int is_missing(const cmsis_nn_context *ctx, int32_t needed)
{
    return needed > 0 && (ctx->buf == NULL || ctx->size < needed);
}

arm_cmsis_nn_status own_arm_convolve_s8(
    const cmsis_nn_context *, const cmsis_nn_context *, const cmsis_nn_conv_params *,
    const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
    const int8_t *, const cmsis_nn_dims *, const int32_t *, const cmsis_nn_dims *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status own_arm_convolve_s16(
    const cmsis_nn_context *, const cmsis_nn_conv_params *, const cmsis_nn_per_channel_quant_params *,
    const cmsis_nn_dims *, const int16_t *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
    const cmsis_nn_bias_data *, const cmsis_nn_dims *, int16_t *);
arm_cmsis_nn_status own_arm_depthwise_conv_s8(
    const cmsis_nn_context *, const cmsis_nn_dw_conv_params *, const cmsis_nn_per_channel_quant_params *,
    const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
    const int32_t *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status own_arm_fully_connected_s8(
    const cmsis_nn_context *, const cmsis_nn_fc_params *, const cmsis_nn_per_tensor_quant_params *,
    const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
    const int32_t *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status own_arm_fully_connected_per_channel_s8(
    const cmsis_nn_context *, const cmsis_nn_fc_params *, const cmsis_nn_per_channel_quant_params *,
    const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *,
    const int32_t *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status own_arm_avgpool_s8(
    const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *, const int8_t *,
    const cmsis_nn_dims *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status own_arm_max_pool_s8(
    const cmsis_nn_context *, const cmsis_nn_pool_params *, const cmsis_nn_dims *, const int8_t *,
    const cmsis_nn_dims *, const cmsis_nn_dims *, int8_t *);
arm_cmsis_nn_status own_arm_add_s8(
    const int8_t *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *, int32_t, int32_t, int32_t, int32_t,
    int32_t, int32_t, int32_t, int8_t *, const cmsis_nn_dims *, int32_t, int32_t, int32_t, int32_t, int32_t);
arm_cmsis_nn_status own_arm_mul_s8(
    const int8_t *, const cmsis_nn_dims *, const int8_t *, const cmsis_nn_dims *, int32_t, int32_t, int8_t *,
    const cmsis_nn_dims *, int32_t, int32_t, int32_t, int32_t, int32_t);
void own_arm_softmax_s8(const int8_t *, int32_t, int32_t, int32_t, int32_t, int32_t, int8_t *);

int32_t arm_convolve_s8_get_buffer_size(const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims)
{
    const int32_t column = filter_dims->w * filter_dims->h * input_dims->c;
    return LARGER_BUFFERS + (HAS_MVE ? 4 * ((column + 15) / 16) * 16 : 4 * ((column + 3) / 4) * 4);
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims)
{
    (void)output_dims;
    const int is_point = filter_dims->w == 1 && filter_dims->h == 1 && conv_params->padding.w == 0 &&
                         conv_params->padding.h == 0 && conv_params->dilation.w == 1 && conv_params->dilation.h == 1;
    if (!is_point) {
        return arm_convolve_s8_get_buffer_size(input_dims, filter_dims);
    }
    return HAS_DSP_ONLY && conv_params->stride.w == 1 && conv_params->stride.h == 1 ? 4 * input_dims->c : 0;
}

arm_cmsis_nn_status arm_convolve_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data, const cmsis_nn_dims *upscale_dims, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    const cmsis_nn_context scratch = {columns, sizeof(columns)};
    if (is_missing(ctx, arm_convolve_s8_get_buffer_size(input_dims, filter_dims))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return own_arm_convolve_s8(
        &scratch, &NONE, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims, bias_data,
        upscale_dims, output_dims, output_data);
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    const cmsis_nn_context scratch = {columns, sizeof(columns)};
    const int32_t needed = arm_convolve_wrapper_s8_get_buffer_size(conv_params, input_dims, filter_dims, output_dims);
    if (is_missing(ctx, needed) || input_dims->c != filter_dims->c) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return own_arm_convolve_s8(
        &scratch, &NONE, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims, bias_data,
        NULL, output_dims, output_data);
}

int32_t arm_convolve_wrapper_s16_get_buffer_size(
    const cmsis_nn_conv_params *conv_params, const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims)
{
    (void)conv_params;
    (void)output_dims;
    const int32_t column = filter_dims->w * filter_dims->h * input_dims->c;
    return HAS_MVE ? 8 * ((column + 7) / 8) * 8 : 4 * column;
}

arm_cmsis_nn_status arm_convolve_wrapper_s16(
    const cmsis_nn_context *ctx, const cmsis_nn_conv_params *conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int16_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const cmsis_nn_bias_data *bias_data, const cmsis_nn_dims *output_dims, int16_t *output_data)
{
    if (is_missing(ctx, arm_convolve_wrapper_s16_get_buffer_size(conv_params, input_dims, filter_dims, output_dims))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return own_arm_convolve_s16(
        &NONE, conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims, bias_data,
        output_dims, output_data);
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(
    const cmsis_nn_dw_conv_params *dw_conv_params, const cmsis_nn_dims *input_dims, const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims)
{
    const int32_t taps = filter_dims->w * filter_dims->h;
    const int is_small = taps == 9 && dw_conv_params->padding.w <= 1 && dw_conv_params->padding.h <= 1;
    if (input_dims->c != output_dims->c || input_dims->n != 1 || dw_conv_params->dilation.w != 1 ||
        dw_conv_params->dilation.h != 1) {
        return 0;
    }
    return HAS_MVE ? 4 * 124 * taps : HAS_DSP_ONLY && !is_small ? 2 * input_dims->c * taps : 0;
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_per_channel_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    if (is_missing(
            ctx, arm_depthwise_conv_wrapper_s8_get_buffer_size(dw_conv_params, input_dims, filter_dims, output_dims))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return own_arm_depthwise_conv_s8(
        &NONE, dw_conv_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims, bias_data,
        output_dims, output_data);
}

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter_dims)
{
    return HAS_MVE ? 4 * filter_dims->c : 0;
}

/* The buffer must hold what arm_vector_sum_s8 writes: bias + input offset * sum of the weights. */
static int has_wrong_sums(
    const cmsis_nn_context *ctx, int32_t input_offset, const cmsis_nn_dims *filter_dims, const int8_t *filter_data,
    const int32_t *bias_data)
{
    const int32_t needed = arm_fully_connected_s8_get_buffer_size(filter_dims);
    if (needed == 0 || is_missing(ctx, needed)) {
        return needed != 0;
    }
    for (int32_t channel = 0; channel < filter_dims->c; channel++) {
        int32_t sum = 0;
        for (int32_t column = 0; column < filter_dims->n; column++) {
            sum += filter_data[channel * filter_dims->n + column];
        }
        if (((const int32_t *)ctx->buf)[channel] != input_offset * sum + (bias_data ? bias_data[channel] : 0)) {
            return 1;
        }
    }
    return 0;
}

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_tensor_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    if (has_wrong_sums(ctx, fc_params->input_offset, filter_dims, filter_data, bias_data)) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return own_arm_fully_connected_s8(
        &NONE, fc_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims, bias_data,
        output_dims, output_data);
}

arm_cmsis_nn_status arm_fully_connected_per_channel_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_fc_params *fc_params,
    const cmsis_nn_per_channel_quant_params *quant_params, const cmsis_nn_dims *input_dims, const int8_t *input_data,
    const cmsis_nn_dims *filter_dims, const int8_t *filter_data, const cmsis_nn_dims *bias_dims,
    const int32_t *bias_data, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    if (has_wrong_sums(ctx, fc_params->input_offset, filter_dims, filter_data, bias_data)) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return own_arm_fully_connected_per_channel_s8(
        &NONE, fc_params, quant_params, input_dims, input_data, filter_dims, filter_data, bias_dims, bias_data,
        output_dims, output_data);
}

int32_t arm_avgpool_s8_get_buffer_size(const int dim_dst_width, const int ch_src)
{
    (void)dim_dst_width;
    return HAS_DSP_ONLY ? 4 * ch_src : 0;
}

arm_cmsis_nn_status arm_avgpool_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params, const cmsis_nn_dims *input_dims,
    const int8_t *input_data, const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    if (is_missing(ctx, arm_avgpool_s8_get_buffer_size(output_dims->w, input_dims->c))) {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    return own_arm_avgpool_s8(&NONE, pool_params, input_dims, input_data, filter_dims, output_dims, output_data);
}

arm_cmsis_nn_status arm_max_pool_s8(
    const cmsis_nn_context *ctx, const cmsis_nn_pool_params *pool_params, const cmsis_nn_dims *input_dims,
    const int8_t *input_data, const cmsis_nn_dims *filter_dims, const cmsis_nn_dims *output_dims, int8_t *output_data)
{
    (void)ctx;
    return own_arm_max_pool_s8(&NONE, pool_params, input_dims, input_data, filter_dims, output_dims, output_data);
}

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *input_1_vect, const int8_t *input_2_vect, const int32_t input_1_offset, const int32_t input_1_mult,
    const int32_t input_1_shift, const int32_t input_2_offset, const int32_t input_2_mult, const int32_t input_2_shift,
    const int32_t left_shift, int8_t *output, const int32_t out_offset, const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max, const int32_t block_size)
{
    const cmsis_nn_dims flat = {1, 1, 1, block_size};
    return own_arm_add_s8(
        input_1_vect, &flat, input_2_vect, &flat, input_1_offset, input_1_mult, input_1_shift, input_2_offset,
        input_2_mult, input_2_shift, left_shift, output, &flat, out_offset, out_mult, out_shift, out_activation_min,
        out_activation_max);
}

arm_cmsis_nn_status arm_elementwise_mul_s8(
    const int8_t *input_1_vect, const int8_t *input_2_vect, const int32_t input_1_offset, const int32_t input_2_offset,
    int8_t *output, const int32_t out_offset, const int32_t out_mult, const int32_t out_shift,
    const int32_t out_activation_min, const int32_t out_activation_max, const int32_t block_size)
{
    const cmsis_nn_dims flat = {1, 1, 1, block_size};
    return own_arm_mul_s8(
        input_1_vect, &flat, input_2_vect, &flat, input_1_offset, input_2_offset, output, &flat, out_offset, out_mult,
        out_shift, out_activation_min, out_activation_max);
}

void arm_softmax_s8(
    const int8_t *input, const int32_t num_rows, const int32_t row_size, const int32_t mult, const int32_t shift,
    const int32_t diff_min, int8_t *output)
{
    own_arm_softmax_s8(input, num_rows, row_size, mult, shift, diff_min, output);
}
