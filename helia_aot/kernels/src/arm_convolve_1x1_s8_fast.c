/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_convolve_s8.h"

arm_cmsis_nn_status arm_convolve_1x1_s8_fast(const cmsis_nn_context *ctx,
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
    if (!helia_nn_pointwise(conv_params, input_dims, filter_dims) || conv_params->stride.w != 1 ||
        conv_params->stride.h != 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const helia_nn_output_stage stage =
        helia_nn_conv_output_stage(weight_sum_ctx, conv_params, quant_params, bias_data, output_dims->c, filter_dims->h * filter_dims->w * filter_dims->c);
    helia_nn_matmul_s8(input_data,
                       input_dims->c,
                       input_dims->n * input_dims->h * input_dims->w,
                       filter_data,
                       output_dims->c,
                       input_dims->c,
                       &stage,
                       output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
