/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"

#include "support_log_softmax_flt.h"

arm_cmsis_nn_status helia_nn_log_softmax_f32(
    const float32_t *input, const int32_t num_rows, const int32_t row_size, float32_t *output)
{
    return log_softmax(input, num_rows, row_size, output);
}
