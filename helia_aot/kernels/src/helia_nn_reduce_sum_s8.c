/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_reduce.h"

static int32_t sum_at(const int8_t *input, const int32_t *extents, const int32_t *strides)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < extents[0]; i++)
    {
        for (int32_t j = 0; j < extents[1]; j++)
        {
            const int8_t *from = input + i * strides[0] + j * strides[1];
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
static int32x4_t sums_at(const int8_t *input, const int32_t *extents, const int32_t *strides, mve_pred16_t valid)
{
    int32x4_t sums = vdupq_n_s32(0);
    for (int32_t i = 0; i < extents[0]; i++)
    {
        for (int32_t j = 0; j < extents[1]; j++)
        {
            const int8_t *from = input + i * strides[0] + j * strides[1];
            for (int32_t k = 0; k < extents[2]; k++)
            {
                sums = vaddq_s32(sums, vldrbq_z_s32(from, valid));
                from += strides[2];
            }
        }
    }
    return sums;
}

#endif

arm_cmsis_nn_status helia_nn_reduce_sum_s8(
    const int8_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t sum_offset,
    const int32_t multiplier,
    const int32_t shift,
    const int32_t output_offset,
    int8_t *output)
{
    const int32_t count = helia_nn_reduce_count(kept_extents);
#if defined(HELIA_NN_MVE)
    const int32_t inner = kept_extents[2];
    for (int32_t i = 0; i < count && kept_strides[2] == 1; i += inner)
    {
        const int8_t *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
        for (int32_t c = 0; c < inner; c += 4)
        {
            const mve_pred16_t valid = vctp32q((uint32_t)(inner - c));
            const int32x4_t sums = sums_at(from + c, reduced_extents, reduced_strides, valid);
            const int32x4_t scaled = helia_nn_requantize_n_s32x4(vaddq_n_s32(sums, sum_offset), multiplier, shift);
            vstrbq_p_s32(
                output + i + c, helia_nn_clamp_s32x4(vaddq_n_s32(scaled, output_offset), INT8_MIN, INT8_MAX), valid);
        }
    }
    if (kept_strides[2] == 1)
    {
        return ARM_CMSIS_NN_SUCCESS;
    }
#endif
    for (int32_t i = 0; i < count; i++)
    {
        const int8_t *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
        const int32_t sum = sum_at(from, reduced_extents, reduced_strides) + sum_offset;
        const int32_t scaled = helia_nn_requantize(sum, multiplier, shift);
        output[i] = (int8_t)helia_nn_clamp(scaled + output_offset, INT8_MIN, INT8_MAX);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
