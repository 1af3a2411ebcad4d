/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f32.h"

#include "support_embedding.h"

arm_cmsis_nn_status helia_nn_embedding_s8_f32(
    const int8_t *input,
    const int32_t *indices,
    const int32_t rows,
    const int32_t count,
    const int32_t row_size,
    const float32_t scale,
    float32_t *output)
{
    return embed(input, indices, rows, count, row_size, scale, output);
}
