/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_fully_connected_s16.h"

arm_cmsis_nn_status arm_fully_connected_s16(const cmsis_nn_context *ctx,
                           const cmsis_nn_fc_params *fc_params,
                           const cmsis_nn_per_tensor_quant_params *quant_params,
                           const cmsis_nn_dims *input_dims,
                           const int16_t *input_data,
                           const cmsis_nn_dims *filter_dims,
                           const int8_t *filter_data,
                           const cmsis_nn_dims *bias_dims,
                           const int64_t *bias_data,
                           const cmsis_nn_dims *output_dims,
                           int16_t *output_data)
{
    (void)ctx;
    (void)bias_dims;
    const int32_t depth = filter_dims->n;
    for (int32_t row = 0; row < input_dims->n; row++)
    {
        helia_nn_fully_connected_row_s16(&fc_params->activation,
                                         &quant_params->multiplier,
                                         &quant_params->shift,
                                         0,
                                         input_data + row * depth,
                                         depth,
                                         filter_data,
                                         bias_data,
                                         output_dims->c,
                                         output_data + row * output_dims->c);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
