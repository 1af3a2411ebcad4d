/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_elementwise_flt.h"

arm_cmsis_nn_status arm_prelu_f16(
    const cmsis_nn_dims *input_dims,
    const float16_t *input,
    const cmsis_nn_dims *alpha_dims,
    const float16_t *alpha,
    const cmsis_nn_dims *output_dims,
    float16_t *output)
{
    return helia_nn_broadcast(
        helia_nn_prelu_vectors, input, input_dims, alpha, alpha_dims, HELIA_NN_NO_LIMIT, output, output_dims);
}

#endif /* HELIA_NN_FLOAT16 */
