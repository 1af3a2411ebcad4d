/*
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support_f16.h"

#if defined(HELIA_NN_FLOAT16)

#include "support_reduce_flt.h"

arm_cmsis_nn_status helia_nn_reduce_f16(
    const float16_t *input,
    const int32_t *kept_extents,
    const int32_t *kept_strides,
    const int32_t *reduced_extents,
    const int32_t *reduced_strides,
    const int32_t operation,
    float16_t *output)
{
    if (operation < HELIA_NN_REDUCE_SUM || operation > HELIA_NN_REDUCE_MIN)
    {
        return ARM_CMSIS_NN_ARG_ERROR;
    }
    const walk over = {reduced_extents, reduced_strides};
    const int32_t count = helia_nn_reduce_count(kept_extents);
    const float32_t factor = operation == HELIA_NN_REDUCE_MEAN ? 1.0f / (float32_t)helia_nn_reduce_count(reduced_extents) : 1.0f;
    for (int32_t i = 0; i < count; i++)
    {
        const float16_t *const from = input + helia_nn_reduce_start(i, kept_extents, kept_strides);
        output[i] = (float16_t)(operation < HELIA_NN_REDUCE_MAX ? sum_of(from, &over) * factor
                                                           : extremum_of(from, &over, operation == HELIA_NN_REDUCE_MAX));
    }
    return ARM_CMSIS_NN_SUCCESS;
}

#endif /* HELIA_NN_FLOAT16 */
