/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Logarithm of the softmax along rows, for the element type of the support_f32.h or support_f16.h before it; computed in single
 * precision.
 */
#include "support_functions_f32.h"
#include "support_softmax_flt.h"

static arm_cmsis_nn_status log_softmax(
    const helia_nn_real *input, const int32_t num_rows, const int32_t row_size, helia_nn_real *output)
{
    if (num_rows < 1 || row_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        float32_t top;
        const float32_t sum = helia_nn_exp_sum(input, row_size, &top);
        const float32_t logarithm = helia_nn_log_of(sum);
        for (int32_t i = 0; i < row_size; i++)
        {
            output[i] = (helia_nn_real)(((float32_t)input[i] - top) - logarithm);
        }
        input += row_size;
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
