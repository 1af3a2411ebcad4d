/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_resize_bilinear_flt.h"

arm_cmsis_nn_status helia_nn_resize_bilinear_f16(
    const float16_t *input,
    const cmsis_nn_dims *input_dims,
    const int32_t *rows,
    const float32_t *row_weights,
    const int32_t *columns,
    const float32_t *column_weights,
    float16_t *output,
    const cmsis_nn_dims *output_dims)
{
    return resize_bilinear(input, input_dims, rows, row_weights, columns, column_weights, output, output_dims);
}

#endif /* HELIA_NN_FLOAT16 */
