/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

arm_cmsis_nn_status arm_convolve_1x1_out_s8(const cmsis_nn_context *ctx,
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
    const bool whole_input = helia_nn_no_padding(conv_params) && helia_nn_no_dilation(conv_params) &&
                             filter_dims->w == input_dims->w && filter_dims->h <= input_dims->h;
    if ((!whole_input && (ctx == NULL || ctx->buf == NULL)) || output_dims->w != 1 || output_dims->h != 1 ||
        (conv_params->stride.w * input_dims->c) % 4 != 0 || filter_dims->c != input_dims->c)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c, filter_dims->h * filter_dims->w * filter_dims->c);
    const int32_t depth = filter_dims->w * filter_dims->h * input_dims->c;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        const int8_t *patch = input_data;
        if (!whole_input)
        {
            helia_nn_gather_patch(input_data,
                                  input_dims,
                                  filter_dims,
                                  conv_params,
                                  -conv_params->padding.h,
                                  -conv_params->padding.w,
                                  (int8_t *)ctx->buf);
            patch = (const int8_t *)ctx->buf;
        }
        helia_nn_matmul_s8(patch, depth, 1, filter_data, output_dims->c, depth, &stage, output_data);
        input_data += input_dims->h * input_dims->w * input_dims->c;
        output_data += output_dims->c;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
