/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "internal.h"

#define ELEMENT int8_t
#define NUMBER int32_t
#define VALUE(params, scale, element)                                                                      \
    helia_nn_requantize((int32_t)((uint32_t)((element) + (scale)->offset) << (params)->left_shift), (scale)->multiplier, \
                        (scale)->shift)
#include "support_compare.h"

arm_cmsis_nn_status helia_nn_compare_s8(
    const int8_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int8_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t input1_offset,
    const int32_t input1_mult,
    const int32_t input1_shift,
    const int32_t input2_offset,
    const int32_t input2_mult,
    const int32_t input2_shift,
    const int32_t left_shift,
    const int32_t orders,
    bool *output_data,
    const cmsis_nn_dims *output_dims)
{
    const compare_params params = {
        .input1 = {input1_offset, input1_mult, input1_shift},
        .input2 = {input2_offset, input2_mult, input2_shift},
        .left_shift = left_shift,
        .orders = orders,
    };
    return compare(&params, input1_data, input1_dims, input2_data, input2_dims, output_data, output_dims);
}
