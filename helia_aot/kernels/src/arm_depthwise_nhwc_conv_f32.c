/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_depthwise_flt.h"

arm_cmsis_nn_status arm_depthwise_nhwc_conv_f32(
    const cmsis_nn_context *ctx,
    const cmsis_nn_dw_conv_params_f32 *dw_conv_params,
    const cmsis_nn_dims *input_dims,
    const float32_t *input,
    const cmsis_nn_dims *filter_dims,
    const float32_t *kernel,
    const cmsis_nn_dims *bias_dims,
    const float32_t *bias,
    const cmsis_nn_dims *output_dims,
    float32_t *output)
{
    (void)ctx;
    (void)bias_dims;
    const helia_nn_depthwise layer = {
        .params = dw_conv_params,
        .input = input_dims,
        .filter = filter_dims,
        .output = output_dims,
        .kernel = kernel,
        .bias = bias,
    };
    if (!helia_nn_depthwise_rule(&layer))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_depthwise_run(&layer, input, output);
    return ARM_CMSIS_NN_SUCCESS;
}
