/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define ELEMENT int64_t
#define NUMBER int64_t
#define VALUE(params, scale, element) ((NUMBER)(element))
#include "support_compare.h"

arm_cmsis_nn_status helia_nn_compare_s64(
    const int64_t *input1_data,
    const cmsis_nn_dims *input1_dims,
    const int64_t *input2_data,
    const cmsis_nn_dims *input2_dims,
    const int32_t orders,
    bool *output_data,
    const cmsis_nn_dims *output_dims)
{
    const compare_params params = {.orders = orders};
    return compare(&params, input1_data, input1_dims, input2_data, input2_dims, output_data, output_dims);
}
