/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status helia_nn_fully_connected_s16_s32(const cmsis_nn_fc_params *fc_params,
                                                     const cmsis_nn_per_channel_quant_params *quant_params,
                                                     const cmsis_nn_dims *input_dims,
                                                     const int16_t *input,
                                                     const cmsis_nn_dims *filter_dims,
                                                     const int8_t *filter,
                                                     const int32_t *bias,
                                                     int16_t *output)
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
            uint32_t sum = bias != NULL ? (uint32_t)bias[channel] : 0;
            for (int32_t i = 0; i < depth; i++)
            {
                sum += (uint32_t)(input[i] * weights[i]);
            }
            const int32_t scaled =
                helia_nn_requantize((int32_t)sum, quant_params->multiplier[channel], quant_params->shift[channel]);
            *output++ = (int16_t)helia_nn_clamp(scaled, fc_params->activation.min, fc_params->activation.max);
            weights += depth;
        }
        input += depth;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
