/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

arm_cmsis_nn_status arm_convolve_1x1_s8(const cmsis_nn_context *ctx,
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
    (void)ctx;
    (void)bias_dims;
    if (!helia_nn_pointwise(conv_params, input_dims, filter_dims))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c, filter_dims->h * filter_dims->w * filter_dims->c);
    const int32_t row_bytes = input_dims->w * input_dims->c;
    for (int32_t n = 0; n < input_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            /* The pixels of one output row are `stride.w` input pixels apart. */
            helia_nn_matmul_s8(input_data + y * conv_params->stride.h * row_bytes,
                               conv_params->stride.w * input_dims->c,
                               output_dims->w,
                               filter_data,
                               output_dims->c,
                               input_dims->c,
                               &stage,
                               output_data);
            output_data += output_dims->w * output_dims->c;
        }
        input_data += input_dims->h * row_bytes;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
