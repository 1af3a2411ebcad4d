/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_depthwise_s8.h"

#if defined(HELIA_NN_MVE)

static void depthwise_channelwise(const helia_nn_depthwise_layer *layer)
{
    helia_nn_depthwise_slice slice = helia_nn_depthwise_slice_init(layer);
    while (helia_nn_depthwise_slice_next(&slice, layer))
    {
        helia_nn_depthwise_slice_rows(&slice, layer);
    }
}

#endif

arm_cmsis_nn_status arm_depthwise_conv_s8_opt_channelwise(
    const cmsis_nn_context *ctx,
    const cmsis_nn_context *weight_sum_ctx,
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
    (void)bias_dims;
    helia_nn_depthwise_layer layer;
    if (!helia_nn_depthwise_layer_init(&layer, ctx, weight_sum_ctx, dw_conv_params, quant_params, input_dims, input_data,
                                       filter_dims, filter_data, bias_data, output_dims, output_data))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
#if defined(HELIA_NN_MVE)
    depthwise_channelwise(&layer);
#else
    helia_nn_depthwise_portable(&layer);
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
