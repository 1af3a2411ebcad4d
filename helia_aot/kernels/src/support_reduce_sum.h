/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sums over axes, requantised, for the element type that the including file defines:
 *
 *   ELEMENT          type of an element
 *   LOWEST, HIGHEST  its range
 *   LOAD_4, STORE_4  vector load and store of four elements as int32 under a predicate
 */
#include "support_reduce.h"

static int32_t sum_at(const ELEMENT *input, const int32_t *extents, const int32_t *strides)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < extents[0]; i++)
    {
        for (int32_t j = 0; j < extents[1]; j++)
        {
            const ELEMENT *from = input + i * strides[0] + j * strides[1];
            for (int32_t k = 0; k < extents[2]; k++)
            {
                sum += *from;
                from += strides[2];
            }
        }
    }
    return sum;
}

#if defined(HELIA_NN_MVE)

/* The sums of four outputs that lie side by side. */
static int32x4_t sums_at(const ELEMENT *input, const int32_t *extents, const int32_t *strides, mve_pred16_t valid)
{
    int32x4_t sums = vdupq_n_s32(0);
    for (int32_t i = 0; i < extents[0]; i++)
    {
        for (int32_t j = 0; j < extents[1]; j++)
        {
            const ELEMENT *from = input + i * strides[0] + j * strides[1];
            for (int32_t k = 0; k < extents[2]; k++)
            {
                sums = vaddq_s32(sums, LOAD_4(from, valid));
                from += strides[2];
            }
        }
    }
    return sums;
}

#endif

/* The whole of an entry; the arguments are its own. */
static arm_cmsis_nn_status reduce_sum(
    const ELEMENT *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t sum_offset,
    const int32_t multiplier,
    const int32_t shift,
    const int32_t output_offset,
    ELEMENT *output)
{
    const int32_t count = helia_nn_reduce_count(kept_extents);
#if defined(HELIA_NN_MVE)
    const int32_t inner = kept_extents[2];
    for (int32_t i = 0; i < count && kept_strides[2] == 1; i += inner)
    {
        const ELEMENT *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
        for (int32_t c = 0; c < inner; c += 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)(inner - c));
            const int32x4_t sums = sums_at(from + c, reduced_extents, reduced_strides, valid);
            const int32x4_t scaled = helia_nn_requantize_n_s32x4(vaddq_n_s32(sums, sum_offset), multiplier, shift);
            STORE_4(
                output + i + c, helia_nn_clamp_s32x4(vaddq_n_s32(scaled, output_offset), LOWEST, HIGHEST), valid);
        }
    }
    if (kept_strides[2] == 1)
    {
        return ARM_CMSIS_NN_SUCCESS;
    }
#endif
    for (int32_t i = 0; i < count; i++)
    {
        const ELEMENT *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
        const int32_t sum = sum_at(from, reduced_extents, reduced_strides) + sum_offset;
        const int32_t scaled = helia_nn_requantize(sum, multiplier, shift);
        output[i] = (ELEMENT)helia_nn_clamp(scaled + output_offset, LOWEST, HIGHEST);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
