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

#if defined(HELIA_NN_MVE_FLOAT)

/* The sums behind four outputs that lie side by side, added as sum_of() adds. */
static float32x4_t sums_of(const helia_nn_real *input, const walk *over, mve_pred16_t valid)
{
    float32x4_t total = vdupq_n_f32(0.0f);
    for (int32_t i = 0; i < over->extents[0]; i++)
    {
        for (int32_t j = 0; j < over->extents[1]; j++)
        {
            const helia_nn_real *from = input + i * over->strides[0] + j * over->strides[1];
            float32x4_t row = vdupq_n_f32(0.0f);
            for (int32_t k = 0; k < over->extents[2]; k++)
            {
                row = vaddq_f32(row, helia_nn_load_wide(from, valid));
                from += over->strides[2];
            }
            total = vaddq_f32(total, row);
        }
    }
    return total;
}

static float32x4_t extrema_of(const helia_nn_real *input, const walk *over, bool largest, mve_pred16_t valid)
{
    float32x4_t best = helia_nn_load_wide(input, valid);
    for (int32_t i = 0; i < over->extents[0]; i++)
    {
        for (int32_t j = 0; j < over->extents[1]; j++)
        {
            const helia_nn_real *from = input + i * over->strides[0] + j * over->strides[1];
            for (int32_t k = 0; k < over->extents[2]; k++)
            {
                const float32x4_t value = helia_nn_load_wide(from, valid);
                best = largest ? vmaxnmq_f32(best, value) : vminnmq_f32(best, value);
                from += over->strides[2];
            }
        }
    }
    return best;
}

#endif /* HELIA_NN_MVE_FLOAT */

/* The whole of an entry; the arguments are its own. */
static arm_cmsis_nn_status reduce(const helia_nn_real *input,
                                  const int32_t *kept_extents,
                                  const int32_t *kept_strides,
                                  const walk *over,
                                  int32_t operation,
                                  helia_nn_real *output)
{
    if (operation < HELIA_NN_REDUCE_SUM || operation > HELIA_NN_REDUCE_MIN)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const int32_t count = helia_nn_reduce_count(kept_extents);
    const float32_t behind = (float32_t)helia_nn_reduce_count(over->extents);
    const float32_t factor = operation == HELIA_NN_REDUCE_MEAN ? 1.0f / behind : 1.0f;
    const bool sums = operation < HELIA_NN_REDUCE_MAX;
    const bool largest = operation == HELIA_NN_REDUCE_MAX;
#if defined(HELIA_NN_MVE_FLOAT)
    const int32_t inner = kept_extents[2];
    if (kept_strides[2] == 1)
    {
        for (int32_t i = 0; i < count; i += inner)
        {
            const helia_nn_real *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
            for (int32_t c = 0; c < inner; c += 4)
            {
                const mve_pred16_t valid = vctp32q((uint32_t)(inner - c));
                const float32x4_t value = sums ? vmulq_n_f32(sums_of(from + c, over, valid), factor)
                                               : extrema_of(from + c, over, largest, valid);
                helia_nn_store_narrow(output + i + c, value, valid);
            }
        }
        return ARM_CMSIS_NN_SUCCESS;
    }
#endif
    for (int32_t i = 0; i < count; i++)
    {
        const helia_nn_real *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
        output[i] = (helia_nn_real)(sums ? sum_of(from, over) * factor : extremum_of(from, over, largest));
    }
    return ARM_CMSIS_NN_SUCCESS;
}
