/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_sum_s8.h"

arm_cmsis_nn_status helia_nn_add_n_s8(const void *const *inputs,
                                      const int32_t count,
                                      const int32_t input_offset,
                                      const int32_t multiplier,
                                      const int32_t shift,
                                      const int32_t output_offset,
                                      int8_t *output,
                                      const int32_t size)
{
    if (count < 1 || size < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    for (int32_t i = 0; i < size; i++)
    {
        int32_t sum = helia_nn_sum_with(0, input_offset);
        for (int32_t k = 0; k < count; k++)
        {
            sum = helia_nn_sum_with(sum, input_offset + ((const int8_t *)inputs[k])[i]);
        }
        output[i] = helia_nn_sum_output(sum, multiplier, shift, output_offset);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
