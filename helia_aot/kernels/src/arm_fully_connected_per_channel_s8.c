/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_matmul_s8.h"

arm_cmsis_nn_status arm_fully_connected_per_channel_s8(const cmsis_nn_context *ctx,
                                                       const cmsis_nn_fc_params *fc_params,
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
    const helia_nn_output_stage stage = {
        .sums = ctx != NULL ? (const int32_t *)ctx->buf : NULL,
        .bias = bias_data,
        .input_offset = fc_params->input_offset,
        .multiplier = quant_params->multiplier,
        .shift = quant_params->shift,
        .per_channel = true,
        .shifts_right = helia_nn_all_negative(quant_params->shift, output_dims->c),
        .output_offset = fc_params->output_offset,
        .activation = fc_params->activation,
#if defined(HELIA_NN_DSP)
        /* The constants of a layer say what they say for many rows only. */
        .kind = input_dims->n == 1
                    ? HELIA_NN_OUTPUTS_ANY
                    : helia_nn_output_kind_of(ctx != NULL && ctx->buf != NULL ? (const int32_t *)ctx->buf : bias_data,
                                              quant_params->multiplier,
                                              quant_params->shift,
                                              true,
                                              output_dims->c,
                                              filter_dims->n),
#endif
    };
    /* Int8 models have symmetric weights. */
    if (fc_params->filter_offset != 0)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_matmul_s8(input_data,
                       filter_dims->n,
                       input_dims->n,
                       filter_data,
                       output_dims->c,
                       filter_dims->n,
                       &stage,
                       output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
