/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_add_s8.h"

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *input_1_vect,
    const int8_t *input_2_vect,
    const int32_t input_1_offset,
    const int32_t input_1_mult,
    const int32_t input_1_shift,
    const int32_t input_2_offset,
    const int32_t input_2_mult,
    const int32_t input_2_shift,
    const int32_t left_shift,
    int8_t *output,
    const int32_t out_offset,
    const int32_t out_mult,
    const int32_t out_shift,
    const int32_t out_activation_min,
    const int32_t out_activation_max,
    const int32_t block_size)
{
    const helia_nn_add_params params = {
        .input1 = {input_1_offset, input_1_mult, input_1_shift},
        .input2 = {input_2_offset, input_2_mult, input_2_shift},
        .output = {out_offset, out_mult, out_shift},
        .left_shift = left_shift,
        .activation_min = out_activation_min,
        .activation_max = out_activation_max,
    };
    helia_nn_add_vectors(&params, input_1_vect, input_2_vect, output, block_size);
    return ARM_CMSIS_NN_SUCCESS;
}
