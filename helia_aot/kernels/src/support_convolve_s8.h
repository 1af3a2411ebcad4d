/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the int8 convolution entries share: argument rules, the output stage, and the gathering of input patches.
 */
#ifndef HELIA_NN_SUPPORT_CONVOLVE_S8_H
#define HELIA_NN_SUPPORT_CONVOLVE_S8_H

#include "support_matmul_s8.h"

#include <string.h>

static inline helia_nn_output_stage helia_nn_conv_output_stage(const cmsis_nn_context *weight_sum_ctx,
                                                               const cmsis_nn_conv_params *params,
                                                               const cmsis_nn_per_channel_quant_params *quant,
                                                               const int32_t *bias,
                                                               int32_t channels)
{
    return (helia_nn_output_stage){
        .sums = weight_sum_ctx != NULL ? (const int32_t *)weight_sum_ctx->buf : NULL,
        .bias = bias,
        .input_offset = params->input_offset,
        .multiplier = quant->multiplier,
        .shift = quant->shift,
        .per_channel = true,
        .shifts_right = helia_nn_all_negative(quant->shift, channels),
        .output_offset = params->output_offset,
        .activation = params->activation,
    };
}

static inline bool helia_nn_no_dilation(const cmsis_nn_conv_params *params)
{
    return params->dilation.w == 1 && params->dilation.h == 1;
}

static inline bool helia_nn_no_padding(const cmsis_nn_conv_params *params)
{
    return params->padding.w == 0 && params->padding.h == 0;
}

/* Upscaling of the input is not part of the library: NULL or all ones. */
static inline bool helia_nn_no_upscale(const cmsis_nn_dims *upscale)
{
    return upscale == NULL || (upscale->w <= 1 && upscale->h <= 1);
}

static inline bool helia_nn_pointwise(const cmsis_nn_conv_params *params,
                                      const cmsis_nn_dims *input,
                                      const cmsis_nn_dims *filter)
{
    return filter->w == 1 && filter->h == 1 && filter->c == input->c && helia_nn_no_padding(params) &&
           helia_nn_no_dilation(params);
}

/* Bytes between two im2col columns, see arm_convolve_s8_get_buffer_size(). */
static inline int32_t helia_nn_column_bytes(const cmsis_nn_dims *input, const cmsis_nn_dims *filter)
{
    return (filter->w * filter->h * input->c + 7) & ~7;
}

/*
 * Gathers the input patch of one output position into `column`: K_H * K_W * C_IN bytes. Positions outside the input hold the
 * input zero point. `top` and `left` are the patch's first row and column and may be outside.
 */
static inline void helia_nn_gather_patch(const int8_t *input,
                                         const cmsis_nn_dims *input_dims,
                                         const cmsis_nn_dims *filter_dims,
                                         const cmsis_nn_conv_params *params,
                                         int32_t top,
                                         int32_t left,
                                         int8_t *column)
{
    const int32_t channels = input_dims->c;
    const int zero_point = (int)-params->input_offset;
    const int32_t row_bytes = filter_dims->w * channels;
    for (int32_t ky = 0; ky < filter_dims->h; ky++)
    {
        const int32_t y = top + ky * params->dilation.h;
        if (y < 0 || y >= input_dims->h)
        {
            memset(column, zero_point, (size_t)row_bytes);
            column += row_bytes;
            continue;
        }
        const int8_t *row = input + y * input_dims->w * channels;
        if (params->dilation.w == 1 && left >= 0 && left + filter_dims->w <= input_dims->w)
        {
            memcpy(column, row + left * channels, (size_t)row_bytes);
            column += row_bytes;
            continue;
        }
        for (int32_t kx = 0; kx < filter_dims->w; kx++)
        {
            const int32_t x = left + kx * params->dilation.w;
            if (x < 0 || x >= input_dims->w)
            {
                memset(column, zero_point, (size_t)channels);
            }
            else
            {
                memcpy(column, row + x * channels, (size_t)channels);
            }
            column += channels;
        }
    }
}

#endif /* HELIA_NN_SUPPORT_CONVOLVE_S8_H */
