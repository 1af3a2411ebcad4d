/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of length 1, for the element type of the support_f32.h or support_f16.h before it; computed in single precision.
 */
#include "support_functions_f32.h"

/* Rows shorter than this are divided by it. */
#define HELIA_NN_SHORTEST_ROW 1e-6f

static arm_cmsis_nn_status l2_normalize(
    const helia_nn_real *input, const int32_t num_rows, const int32_t row_size, helia_nn_real *output)
{
    if (num_rows < 1 || row_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        float32_t squares = 0.0f;
        for (int32_t i = 0; i < row_size; i++)
        {
            squares += (float32_t)input[i] * (float32_t)input[i];
        }
        const float32_t root = helia_nn_root(squares);
        const float32_t length = root > HELIA_NN_SHORTEST_ROW ? root : HELIA_NN_SHORTEST_ROW;
        for (int32_t i = 0; i < row_size; i++)
        {
            output[i] = (helia_nn_real)((float32_t)input[i] / length);
        }
        input += row_size;
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
