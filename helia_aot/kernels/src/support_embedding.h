/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows of int8 numbers as real ones, for the element type of the support_f32.h or support_f16.h before it.
 */

static arm_cmsis_nn_status embed(const int8_t *input,
                                 const int32_t *indices,
                                 const int32_t rows,
                                 const int32_t count,
                                 const int32_t row_size,
                                 const float32_t scale,
                                 helia_nn_real *output)
{
    for (int32_t i = 0; i < count; i++)
    {
        if (indices[i] < 0 || indices[i] >= rows)
        {
            return ARM_CMSIS_NN_ARG_ERROR;
        }
    }
    for (int32_t i = 0; i < count; i++)
    {
        const int8_t *const from = input + indices[i] * row_size;
        for (int32_t k = 0; k < row_size; k++)
        {
            output[k] = (helia_nn_real)(scale * (float32_t)from[k]);
        }
        output += row_size;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
