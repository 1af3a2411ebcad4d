/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int8_t
#define LOAD_4(from, valid) vldrbq_z_s32(from, valid)
#define STORE_4(to, value, valid) vstrbq_p_s32(to, value, valid)
#include "support_mul_broadcast.h"

arm_cmsis_nn_status arm_mul_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input2_offset,
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max)
{
    const mul_params params = {
        .offset1 = input1_offset,
        .offset2 = input2_offset,
        .offset = out_offset,
        .multiplier = out_mult,
        .shift = out_shift,
        .activation_min = out_activation_min,
        .activation_max = out_activation_max,
    };
    helia_nn_axes axes;
    if (!helia_nn_merge_axes(input1_dims, input2_dims, output_dims, &axes))
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    helia_nn_for_each_run(&axes,
                          multiply_run,
                          &params,
                          input1_data,
                          sizeof *input1_data,
                          input2_data,
                          sizeof *input2_data,
                          output_data,
                          sizeof *output_data);
    return ARM_CMSIS_NN_SUCCESS;
}
