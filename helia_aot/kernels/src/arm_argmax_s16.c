/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int16_t
#define IS_BETTER(a, b) ((a) > (b))
#include "support_arg_extremum.h"

arm_cmsis_nn_status arm_argmax_s16(
    const int16_t *input_data, const cmsis_nn_dims *input_dims, const int32_t axis, int32_t *output_data)
{
    return arg_extremum(input_data, input_dims, axis, output_data);
}
