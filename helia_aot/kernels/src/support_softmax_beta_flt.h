/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Softmax of rows whose differences are multiplied first, for the element type of the support_f32.h or support_f16.h before it; computed
 * in single precision.
 */
#include "support_exp_f32.h"

static arm_cmsis_nn_status softmax_beta(
    const helia_nn_real *input, const int32_t num_rows, const int32_t row_size, const float32_t beta, helia_nn_real *output)
{
    if (num_rows < 1 || row_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        float32_t top = (float32_t)input[0];
        for (int32_t i = 1; i < row_size; i++)
        {
            top = (float32_t)input[i] > top ? (float32_t)input[i] : top;
        }
        float32_t sum = 0.0f;
        for (int32_t i = 0; i < row_size; i++)
        {
            sum += helia_nn_exp(((float32_t)input[i] - top) * beta);
        }
        for (int32_t i = 0; i < row_size; i++)
        {
            output[i] = (helia_nn_real)(helia_nn_exp(((float32_t)input[i] - top) * beta) / sum);
        }
        input += row_size;
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
