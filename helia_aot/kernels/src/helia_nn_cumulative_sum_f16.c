/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_cumulative_sum_flt.h"

arm_cmsis_nn_status helia_nn_cumulative_sum_f16(
    const float16_t *input,
    const int32_t outer,
    const int32_t extent,
    const int32_t inner,
    const bool exclusive,
    const bool reverse,
    float16_t *output)
{
    return cumulative_sum(input, outer, extent, inner, exclusive, reverse, output);
}

#endif /* HELIA_NN_FLOAT16 */
