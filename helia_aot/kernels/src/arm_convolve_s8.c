/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_groups_s8.h"

/* Output positions that are gathered before one matrix product; the scratch size follows from it. */
#define COLUMNS 4

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
        helia_nn_convolve_groups_s8(
            &stage, conv_params, input_dims, input_data, filter_dims, filter_data, output_dims, output_data, columns);
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
