/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_elementwise_flt.h"

arm_cmsis_nn_status helia_nn_mul_f16(
    const float16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims,
    float16_t out_activation_min,
    float16_t out_activation_max)
{
    const helia_nn_activation activation = {out_activation_min, out_activation_max};
    return helia_nn_broadcast(helia_nn_mul_vectors, input_1_data, input_1_dims, input_2_data, input_2_dims, activation,
                              output_data, output_dims);
}

#endif /* HELIA_NN_FLOAT16 */
