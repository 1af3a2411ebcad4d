/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_elementwise_flt.h"

arm_cmsis_nn_status arm_maximum_f16(
    const cmsis_nn_context *ctx,
    const float16_t *input_1_data,
    const cmsis_nn_dims *input_1_dims,
    const float16_t *input_2_data,
    const cmsis_nn_dims *input_2_dims,
    float16_t *output_data,
    const cmsis_nn_dims *output_dims)
{
    (void)ctx;
    return helia_nn_broadcast(helia_nn_larger_vectors, input_1_data, input_1_dims, input_2_data, input_2_dims,
                              HELIA_NN_NO_LIMIT, output_data, output_dims);
}

#endif /* HELIA_NN_FLOAT16 */
