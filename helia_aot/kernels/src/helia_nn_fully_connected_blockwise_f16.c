/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_blockwise_flt.h"

arm_cmsis_nn_status helia_nn_fully_connected_blockwise_f16(const helia_nn_blockwise_params *params,
                                                           const cmsis_nn_activation_f16 *activation,
                                                           const float16_t *input,
                                                           const int8_t *weights,
                                                           const float32_t *scales,
                                                           const float16_t *bias,
                                                           float16_t *output)
{
    if (!helia_nn_blockwise_rule(params))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_blockwise(params, activation, input, weights, scales, bias, output);
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
