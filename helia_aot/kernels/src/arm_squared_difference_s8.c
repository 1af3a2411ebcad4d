/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int8_t
#define LOAD_4(from, valid) vldrbq_z_s32(from, valid)
#define STORE_4(to, value, valid) vstrbq_p_s32(to, value, valid)
#define COMBINE(a, b) (((a) - (b)) * ((a) - (b)))
#define COMBINE_4(a, b) vmulq_s32(vsubq_s32(a, b), vsubq_s32(a, b))
#include "support_add_broadcast.h"

arm_cmsis_nn_status arm_squared_difference_s8(
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
    int8_t *output_data,
    const cmsis_nn_dims *output_dims,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max)
{
    const helia_nn_add_params params = COMBINE_PARAMS;
    return combine(&params, input1_data, input1_dims, input2_data, input2_dims, output_data, output_dims);
}
