/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"

#include "support_l2_normalize_flt.h"

arm_cmsis_nn_status helia_nn_l2_normalize_f32(
    const float32_t *input, const int32_t num_rows, const int32_t row_size, float32_t *output)
{
    return l2_normalize(input, num_rows, row_size, output);
}
