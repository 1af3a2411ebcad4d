/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"
#include "support_reduce_flt.h"

arm_cmsis_nn_status helia_nn_reduce_f32(
    const float32_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t operation,
    float32_t *output)
{
    const walk over = {reduced_extents, reduced_strides};
    return reduce(input, kept_extents, kept_strides, &over, operation, output);
}
