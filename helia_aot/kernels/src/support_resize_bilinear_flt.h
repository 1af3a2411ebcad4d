/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bilinear resize, for the element type of the support_f32.h or support_f16.h before it; interpolated in single precision.
 */
static arm_cmsis_nn_status resize_bilinear(
    const helia_nn_real *input,
    const cmsis_nn_dims *input_dims,
    const int32_t *rows,
    const float32_t *row_weights,
    const int32_t *columns,
    const float32_t *column_weights,
    helia_nn_real *output,
    const cmsis_nn_dims *output_dims)
{
    const int32_t channels = input_dims->c;
    const int32_t row = input_dims->w * channels;
    for (int32_t n = 0; n < output_dims->n; n++)
    {
        for (int32_t y = 0; y < output_dims->h; y++)
        {
            const helia_nn_real *const above = input + rows[2 * y] * row;
            const helia_nn_real *const below = input + rows[2 * y + 1] * row;
            const float32_t down = row_weights[y];
            for (int32_t x = 0; x < output_dims->w; x++)
            {
                const int32_t left = columns[2 * x] * channels;
                const int32_t right = columns[2 * x + 1] * channels;
                const float32_t across = column_weights[x];
                for (int32_t c = 0; c < channels; c++)
                {
                    const float32_t upper =
                        (float32_t)above[left + c] * (1.0f - across) + (float32_t)above[right + c] * across;
                    const float32_t lower =
                        (float32_t)below[left + c] * (1.0f - across) + (float32_t)below[right + c] * across;
                    *output++ = (helia_nn_real)(upper * (1.0f - down) + lower * down);
                }
            }
        }
        input += input_dims->h * row;
    }
    return ARM_CMSIS_NN_SUCCESS;
}
