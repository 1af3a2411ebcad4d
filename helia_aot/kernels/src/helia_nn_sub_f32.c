/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_elementwise_flt.h"

arm_cmsis_nn_status helia_nn_sub_f32(
    const float32_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float32_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float32_t *output_data,
    const cmsis_nn_dims *output_dims,
    float32_t out_activation_min,
    float32_t out_activation_max)
{
    const helia_nn_activation activation = {out_activation_min, out_activation_max};
    return helia_nn_broadcast(helia_nn_sub_vectors, input_1_data, input_1_dims, input_2_data, input_2_dims, activation,
                              output_data, output_dims);
}
