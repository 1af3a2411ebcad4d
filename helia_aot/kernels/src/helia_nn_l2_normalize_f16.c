/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_l2_normalize_flt.h"

arm_cmsis_nn_status helia_nn_l2_normalize_f16(
    const float16_t *input, const int32_t num_rows, const int32_t row_size, float16_t *output)
{
    return l2_normalize(input, num_rows, row_size, output);
}

#endif /* HELIA_NN_FLOAT16 */
