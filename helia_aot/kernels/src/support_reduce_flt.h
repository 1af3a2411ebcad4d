/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One number for all behind it, for the element type of the support_f32.h or support_f16.h before it; sums are kept in single
 * precision.
 */
#include "support_reduce.h"

typedef struct
{
    const int32_t *extents, *strides;
} walk;

/*
 * The sums of the rows are added to the sum of all before, so that the rounding error grows with the length of a row and the number
 * of rows, not with their product.
 */
static float32_t sum_of(const helia_nn_real *input, const walk *over)
{
    float32_t total = 0.0f;
    for (int32_t i = 0; i < over->extents[0]; i++)
    {
        for (int32_t j = 0; j < over->extents[1]; j++)
        {
            const helia_nn_real *from = input + i * over->strides[0] + j * over->strides[1];
            float32_t row = 0.0f;
            for (int32_t k = 0; k < over->extents[2]; k++)
            {
                row += (float32_t)*from;
                from += over->strides[2];
            }
            total += row;
        }
    }
    return total;
}

static float32_t extremum_of(const helia_nn_real *input, const walk *over, bool largest)
{
    float32_t best = (float32_t)*input;
    for (int32_t i = 0; i < over->extents[0]; i++)
    {
        for (int32_t j = 0; j < over->extents[1]; j++)
        {
            const helia_nn_real *from = input + i * over->strides[0] + j * over->strides[1];
            for (int32_t k = 0; k < over->extents[2]; k++)
            {
                const float32_t value = (float32_t)*from;
                best = (largest ? value > best : value < best) ? value : best;
                from += over->strides[2];
            }
        }
    }
    return best;
}
