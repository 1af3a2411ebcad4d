/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"

#define OUTPUT int8_t
#define STORE_OUTPUTS vstrbq_p_s32
#include "support_softmax_s8.h"

void arm_softmax_s8(
    const int8_t *input,
    const int32_t num_rows,
    const int32_t row_size,
    const int32_t mult,
    const int32_t shift,
    const int32_t diff_min,
    int8_t *output)
{
    for (int32_t row = 0; row < num_rows; row++)
    {
        softmax_row(input + row * row_size, row_size, mult, shift, diff_min, output + row * row_size);
    }
}
