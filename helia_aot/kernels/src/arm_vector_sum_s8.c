/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#include <stddef.h>

arm_cmsis_nn_status arm_vector_sum_s8(int32_t *vector_sum_buf,
                                      const int32_t vector_cols,
                                      const int32_t vector_rows,
                                      const int8_t *vector_data,
                                      const int32_t lhs_offset,
                                      const int32_t rhs_offset,
                                      const int32_t *bias_data)
{
    for (int32_t row = 0; row < vector_rows; row++)
    {
        int32_t sum = vector_cols * rhs_offset;
        for (int32_t col = 0; col < vector_cols; col++)
        {
            sum += *vector_data++;
        }
        vector_sum_buf[row] = lhs_offset * sum + (bias_data != NULL ? bias_data[row] : 0);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
