/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_softmax_flt.h"

arm_cmsis_nn_status arm_softmax_f16(const float16_t *input, int32_t num_rows, int32_t row_size, float16_t *output)
{
    if (num_rows < 1 || row_size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t row = 0; row < num_rows; row++)
    {
        helia_nn_softmax_row(input + row * row_size, row_size, output + row * row_size);
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
