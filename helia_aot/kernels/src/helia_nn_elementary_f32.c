/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_functions_f32.h"

static float32_t value_of(int32_t function, float32_t x)
{
    switch (function)
    {
        case HELIA_NN_EXP:
            return helia_nn_exp_of(x);
        case HELIA_NN_LOG:
            return helia_nn_log_of(x);
        case HELIA_NN_SIN:
            return helia_nn_sine(x, 0);
        case HELIA_NN_COS:
            return helia_nn_sine(x, 1);
        case HELIA_NN_ELU:
            return helia_nn_elu_of(x);
        case HELIA_NN_GELU:
            return helia_nn_gelu_of(x);
        default:
            return helia_nn_gelu_tanh_of(x);
    }
}

arm_cmsis_nn_status helia_nn_elementary_f32(
    const float32_t *input, const int32_t function, float32_t *output, const int32_t size)
{
    if (function < HELIA_NN_EXP || function > HELIA_NN_GELU_TANH)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        output[i] = (helia_nn_real)value_of(function, (float32_t)input[i]);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
