/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status helia_nn_fully_connected_offsets_s8(const cmsis_nn_fc_params *fc_params,
                                                        const cmsis_nn_per_tensor_quant_params *quant_params,
                                                        const cmsis_nn_dims *input_dims,
                                                        const int8_t *input,
                                                        const cmsis_nn_dims *filter_dims,
                                                        const int8_t *filter,
                                                        const int32_t *bias,
                                                        int8_t *output)
{
    const int32_t rows = input_dims->n, depth = filter_dims->n, channels = filter_dims->c;
    if (rows < 1 || depth < 1 || channels < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < rows; row++)
    {
        const int8_t *weights = filter;
        for (int32_t channel = 0; channel < channels; channel++)
        {
            int32_t sum = bias != NULL ? bias[channel] : 0;
            for (int32_t i = 0; i < depth; i++)
            {
                sum += (input[i] + fc_params->input_offset) * (weights[i] + fc_params->filter_offset);
            }
            const int32_t scaled = helia_nn_requantize(sum, quant_params->multiplier, quant_params->shift);
            *output++ = (int8_t)helia_nn_clamp(
                scaled + fc_params->output_offset, fc_params->activation.min, fc_params->activation.max);
            weights += depth;
        }
        input += depth;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
