/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_softmax_beta_flt.h"

arm_cmsis_nn_status helia_nn_softmax_beta_f16(
    const float16_t *input, const int32_t num_rows, const int32_t row_size, const float32_t beta, float16_t *output)
{
    return softmax_beta(input, num_rows, row_size, beta, output);
}

#endif /* HELIA_NN_FLOAT16 */
