/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

/* Gives how many patches, from `left` on and `stride` apart, lie inside the row; `last` is the last possible start. */
static int32_t whole_positions(int32_t left, int32_t stride, int32_t last)
{
    return left < 0 || left > last ? 0 : (last - left) / stride + 1;
}

arm_cmsis_nn_status arm_convolve_1_x_n_s8(const cmsis_nn_context *ctx,
                                          const cmsis_nn_context *weight_sum_ctx,
                                          const cmsis_nn_conv_params *conv_params,
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
    const int32_t step = conv_params->stride.w * input_dims->c;
    if (ctx == NULL || ctx->buf == NULL || input_dims->h != 1 || filter_dims->h != 1 || output_dims->h != 1 ||
        conv_params->padding.h != 0 || conv_params->padding.w < 0 || conv_params->dilation.w != 1 || step % 4 != 0 ||
        filter_dims->c != input_dims->c)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c, filter_dims->h * filter_dims->w * filter_dims->c);
    const int32_t depth = filter_dims->w * input_dims->c;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        int32_t x = 0;
        while (x < output_dims->w)
        {
            const int32_t left = x * conv_params->stride.w - conv_params->padding.w;
            const int32_t whole = whole_positions(left, conv_params->stride.w, input_dims->w - filter_dims->w);
            if (whole > 0)
            {
                /* Patches inside the row are overlapping rows of a matrix: no copy. */
                const int32_t count = helia_nn_min(whole, output_dims->w - x);
                helia_nn_matmul_s8(input_data + left * input_dims->c,
                                   step,
                                   count,
                                   filter_data,
                                   output_dims->c,
                                   depth,
                                   &stage,
                                   output_data);
                output_data += count * output_dims->c;
                x += count;
            }
            else
            {
                helia_nn_gather_patch(
                    input_data, input_dims, filter_dims, conv_params, 0, left, (int8_t *)ctx->buf);
                helia_nn_matmul_s8(
                    (int8_t *)ctx->buf, depth, 1, filter_data, output_dims->c, depth, &stage, output_data);
                output_data += output_dims->c;
                x++;
            }
        }
        input_data += input_dims->w * input_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
