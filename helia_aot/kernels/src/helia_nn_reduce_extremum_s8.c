/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../include/arm_nnfunctions.h"
#include "support_reduce.h"

static int8_t extremum_at(const int8_t *input, const int32_t *extents, const int32_t *strides, bool largest)
{
    int8_t best = *input;
    for (int32_t i = 0; i < extents[0]; i++)
    {
        for (int32_t j = 0; j < extents[1]; j++)
        {
            const int8_t *from = input + i * strides[0] + j * strides[1];
            for (int32_t k = 0; k < extents[2]; k++)
            {
                best = (largest ? *from > best : *from < best) ? *from : best;
                from += strides[2];
            }
        }
    }
    return best;
}

arm_cmsis_nn_status helia_nn_reduce_extremum_s8(
    const int8_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const bool largest,
    int8_t *output)
{
    const int32_t count = helia_nn_reduce_count(kept_extents);
    for (int32_t i = 0; i < count; i++)
    {
        const int8_t *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
        output[i] = extremum_at(from, reduced_extents, reduced_strides, largest);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
