/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"

#include "support_elementary_flt.h"

arm_cmsis_nn_status helia_nn_elementary_f32(
    const float32_t *input, const int32_t function, float32_t *output, const int32_t size)
{
    return elementary(input, function, output, size);
}
