/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_blockwise_flt.h"

arm_cmsis_nn_status helia_nn_fully_connected_blockwise_f32(const helia_nn_blockwise_params *params,
                                                           const cmsis_nn_activation_f32 *activation,
                                                           const float32_t *input,
                                                           const int8_t *weights,
                                                           const float32_t *scales,
                                                           const float32_t *bias,
                                                           float32_t *output)
{
    if (!helia_nn_blockwise_rule(params))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_blockwise(params, activation, input, weights, scales, bias, output);
    return ARM_CMSIS_NN_SUCCESS;
}
