/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_broadcast.h"

static void
extremum_run(const void *params, const helia_nn_axis *axis, const void *input1, const void *input2, void *output)
{
    const bool largest = *(const bool *)params;
    const int64_t *a = input1;
    const int64_t *b = input2;
    int64_t *to = output;
    for (int32_t i = 0; i < axis->extent; i++)
    {
        const int64_t one = a[i * axis->stride1], two = b[i * axis->stride2];
        to[i] = (one > two) == largest ? one : two;
    }
}

arm_cmsis_nn_status helia_nn_extremum_s64(const int64_t *input1_data,
                                          const cmsis_nn_dims *input1_dims,
                                          const int64_t *input2_data,
                                          const cmsis_nn_dims *input2_dims,
                                          const bool largest,
                                          int64_t *output_data,
                                          const cmsis_nn_dims *output_dims)
{
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(input1_dims, input2_dims, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(&axes,
                          extremum_run,
                          &largest,
                          input1_data,
                          sizeof *input1_data,
                          input2_data,
                          sizeof *input2_data,
                          output_data,
                          sizeof *output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
