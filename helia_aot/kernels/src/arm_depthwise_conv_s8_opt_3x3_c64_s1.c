/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_depthwise_3x3_s8.h"

#define CHANNELS 64

#if defined(HELIA_NN_MVE)

/* Slices of 16 channels: the columns of a window are 16 bytes apart. */
#define FIRST(q, row) "vldrb.u8 " #q ", [" #row ", #" STEP "]!\n"
#define FIRST_KEEP(q, row) FIRST(q, row)
#define FIRST_AGAIN(q, row) "vldrb.u8 " #q ", [" #row "]\n"
#define SECOND(q, row) "vldrb.u8 " #q ", [" #row ", #16]\n"
#define SECOND_KEEP(q, row) SECOND(q, row)
#define SECOND_AGAIN(q, row) SECOND(q, row)
#define THIRD(q, row) "vldrb.u8 " #q ", [" #row ", #32]\n"
#define THIRD_KEEP(q, row) THIRD(q, row)
#define THIRD_AGAIN(q, row) THIRD(q, row)
#define STEP "16"
#define STORE(q) "vstrb.8 " #q ", [r4], #64\n"

HELIA_NN_DEFINE_3X3_ROW(row_of_64_channels)
#include "support_depthwise_3x3_undef.h"

static void depthwise_3x3_c64_s1(const helia_nn_depthwise_layer *layer)
{
    helia_nn_depthwise_slice slice = helia_nn_depthwise_slice_init(layer);
    while (helia_nn_depthwise_slice_next(&slice, layer))
    {
        if (slice.quick)
        {
            helia_nn_3x3_slice_rows(&slice, layer, -HELIA_NN_LANES, row_of_64_channels);
        }
        else
        {
            helia_nn_depthwise_slice_rows(&slice, layer);
        }
    }
}

#endif

arm_cmsis_nn_status arm_depthwise_conv_s8_opt_3x3_c64_s1(
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
                                       filter_dims, filter_data, bias_data, output_dims, output_data) ||
        layer.filter_h != 3 || layer.filter_w != 3 || layer.dilation_w != 1 || layer.channels != CHANNELS ||
        layer.stride_h != 1 || layer.stride_w != 1 || layer.pad_h > 1 || layer.pad_w > 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
#if defined(HELIA_NN_MVE)
    depthwise_3x3_c64_s1(&layer);
#else
    helia_nn_depthwise_portable(&layer);
#endif
    return ARM_CMSIS_NN_SUCCESS;
}
