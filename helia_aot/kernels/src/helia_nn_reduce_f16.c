/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_reduce_flt.h"

arm_cmsis_nn_status helia_nn_reduce_f16(
    const float16_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t operation,
    float16_t *output)
{
    const walk over = {reduced_extents, reduced_strides};
    return reduce(input, kept_extents, kept_strides, &over, operation, output);
}

#endif /* HELIA_NN_FLOAT16 */
