/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"

#include "support_add_n_flt.h"

arm_cmsis_nn_status helia_nn_add_n_f32(
    const void *const *inputs, const int32_t count, float32_t *output, const int32_t size)
{
    return add_n(inputs, count, output, size);
}
