/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_functions_f32.h"

#include "support_softmax_flt.h"

arm_cmsis_nn_status helia_nn_log_softmax_f32(
    const float32_t *input, const int32_t num_rows, const int32_t row_size, float32_t *output)
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
            output[i] = (float32_t)(((float32_t)input[i] - top) - logarithm);
        }
        input += row_size;
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
