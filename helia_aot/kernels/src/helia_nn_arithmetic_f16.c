/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_arithmetic_flt.h"

arm_cmsis_nn_status helia_nn_arithmetic_f16(
    const float16_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const float16_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t operation,
    const float16_t low,
    const float16_t high,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims)
{
    return arithmetic(input1_data, input1_dims, input2_data, input2_dims, operation, low, high, output_data, output_dims);
}

#endif /* HELIA_NN_FLOAT16 */
