/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

/* Output positions that are gathered before one matrix product; the scratch size follows from it. */
#define COLUMNS 4

/* Gathers the patch of one output position for one group: `input` starts at the group's first channel. */
static void gather_group(const int8_t *input,
                         const cmsis_nn_dims *input_dims,
                         const cmsis_nn_dims *filter_dims,
                         const cmsis_nn_conv_params *params,
                         int32_t top,
                         int32_t left,
                         int8_t *column)
{
    const int32_t channels = filter_dims->c;
    for (int32_t ky = 0; ky < filter_dims->h; ky++)
    {
        const int32_t y = top + ky * params->dilation.h;
        for (int32_t kx = 0; kx < filter_dims->w; kx++, column += channels)
        {
            const int32_t x = left + kx * params->dilation.w;
            if (y < 0 || y >= input_dims->h || x < 0 || x >= input_dims->w)
            {
                helia_nn_fill(column, -params->input_offset, channels);
            }
            else
            {
                helia_nn_copy(column, input + (y * input_dims->w + x) * input_dims->c, channels);
            }
        }
    }
}

/* The convolution of `groups` parts of the channels, each with filters of its own. */
static HELIA_NN_COLD void convolve_groups(const helia_nn_output_stage *stage,
                                          const cmsis_nn_conv_params *params,
                                          const cmsis_nn_dims *input_dims,
                                          const int8_t *input,
                                          const cmsis_nn_dims *filter_dims,
                                          const int8_t *filter,
                                          const cmsis_nn_dims *output_dims,
                                          int8_t *output,
                                          int32_t groups,
                                          int8_t *column)
{
    const int32_t depth = filter_dims->w * filter_dims->h * filter_dims->c;
    const int32_t channels = output_dims->c / groups;
    const int32_t pixels = output_dims->h * output_dims->w;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t pixel = 0; pixel < pixels; pixel++)
        {
            const int32_t top = pixel / output_dims->w * params->stride.h - params->padding.h;
            const int32_t left = pixel % output_dims->w * params->stride.w - params->padding.w;
            helia_nn_output_stage part = *stage;
            for (int32_t group = 0; group < groups; group++)
            {
                const int8_t *const weights = filter + group * channels * depth;
                gather_group(input + group * filter_dims->c, input_dims, filter_dims, params, top, left, column);
                helia_nn_matmul_s8(column, depth, 1, weights, channels, depth, &part, output);
                part.sums = part.sums != NULL ? part.sums + channels : NULL;
                part.bias = part.bias != NULL ? part.bias + channels : NULL;
                part.multiplier += channels;
                part.shift += channels;
                output += channels;
            }
        }
        input += input_dims->h * input_dims->w * input_dims->c;
    }
}

arm_cmsis_nn_status arm_convolve_s8(const cmsis_nn_context *ctx,
                                    const cmsis_nn_context *weight_sum_ctx,
                                    const cmsis_nn_conv_params *conv_params,
                                    const cmsis_nn_per_channel_quant_params *quant_params,
                                    const cmsis_nn_dims *input_dims,
                                    const int8_t *input_data,
                                    const cmsis_nn_dims *filter_dims,
                                    const int8_t *filter_data,
                                    const cmsis_nn_dims *bias_dims,
                                    const int32_t *bias_data,
                                    const cmsis_nn_dims *upscale_dims,
                                    const cmsis_nn_dims *output_dims,
                                    int8_t *output_data)
{
    (void)bias_dims;
    const int32_t depth = filter_dims->w * filter_dims->h * input_dims->c;
    const int32_t column_bytes = helia_nn_column_bytes(input_dims, filter_dims);
    const int32_t groups = filter_dims->c > 0 ? input_dims->c / filter_dims->c : 0;
    if (ctx == NULL || ctx->buf == NULL || groups < 1 || groups * filter_dims->c != input_dims->c ||
        output_dims->c % groups != 0 || !helia_nn_no_upscale(upscale_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c);
    int8_t *const columns = (int8_t *)ctx->buf;
    if (groups > 1)
    {
        convolve_groups(&stage,
                        conv_params,
                        input_dims,
                        input_data,
                        filter_dims,
                        filter_data,
                        output_dims,
                        output_data,
                        groups,
                        columns);
        return ARM_CMSIS_NN_SUCCESS;
    }
    int32_t gathered = 0;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                helia_nn_gather_patch(input_data,
                                      input_dims,
                                      filter_dims,
                                      conv_params,
                                      y * conv_params->stride.h - conv_params->padding.h,
                                      x * conv_params->stride.w - conv_params->padding.w,
                                      columns + gathered * column_bytes);
                gathered++;
                if (gathered == COLUMNS)
                {
                    helia_nn_matmul_s8(
                        columns, column_bytes, gathered, filter_data, output_dims->c, depth, &stage, output_data);
                    output_data += gathered * output_dims->c;
                    gathered = 0;
                }
            }
        }
        input_data += input_dims->h * input_dims->w * input_dims->c;
    }
    helia_nn_matmul_s8(columns, column_bytes, gathered, filter_data, output_dims->c, depth, &stage, output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
