/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The folded start values of a depthwise convolution. Runs at initialisation at most, so there is no Helium body.
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

arm_cmsis_nn_status arm_depthwise_convolve_weight_sum(
    int32_t *vector_sum_buf,
    int8_t *scratch_buf,
    const int8_t *rhs,
    const cmsis_nn_dw_conv_params *dw_conv_params,
    const cmsis_nn_dims *input_dims,
    const cmsis_nn_dims *filter_dims,
    const cmsis_nn_dims *output_dims,
    const int32_t lhs_offset,
    const int32_t *bias_data)
{
    (void)scratch_buf;
    (void)dw_conv_params;
    (void)input_dims;
    const int32_t channels = output_dims->c;
    if (channels != filter_dims->c)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t channel = 0; channel < channels; channel++)
    {
        int32_t sum = 0;
        for (int32_t tap = 0; tap < filter_dims->h * filter_dims->w; tap++)
        {
            sum += rhs[tap * channels + channel];
        }
        vector_sum_buf[channel] = (bias_data != NULL ? bias_data[channel] : 0) + lhs_offset * sum;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
