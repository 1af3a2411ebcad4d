/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_sum_s8.h"

arm_cmsis_nn_status helia_nn_cumulative_sum_s8(const int8_t *input,
                                               const int32_t outer,
                                               const int32_t extent,
                                               const int32_t inner,
                                               const bool exclusive,
                                               const bool reverse,
                                               const int32_t input_offset,
                                               const int32_t multiplier,
                                               const int32_t shift,
                                               const int32_t output_offset,
                                               int8_t *output)
{
    if (outer < 1 || extent < 1 || inner < 1)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t first = reverse ? (extent - 1) * inner : 0, step = reverse ? -inner : inner;
    for (int32_t i = 0; i < outer * inner; i++)
    {
        int32_t at = i / inner * extent * inner + i % inner + first;
        int32_t sum = helia_nn_sum_with(0, input_offset);
        for (int32_t k = 0; k < extent; k++)
        {
            const int32_t with = helia_nn_sum_with(sum, input_offset + input[at]);
            output[at] = helia_nn_sum_output(exclusive ? sum : with, multiplier, shift, output_offset);
            sum = with;
            at += step;
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
