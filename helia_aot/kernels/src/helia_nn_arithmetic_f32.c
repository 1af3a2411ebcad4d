/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"

#include "support_arithmetic_flt.h"

arm_cmsis_nn_status helia_nn_arithmetic_f32(
    const float32_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const float32_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t operation,
    const float32_t low,
    const float32_t high,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims)
{
    return arithmetic(input1_data, input1_dims, input2_data, input2_dims, operation, low, high, output_data, output_dims);
}
